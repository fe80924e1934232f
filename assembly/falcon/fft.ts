/**
 * The FFT of real polynomials modulo X^n + 1.
 *
 * A transform holds the values at half of the roots of X^n + 1 (the others are their conjugates),
 * with real and imaginary parts separate:
 *
 *   f64[n]   | Re f(w_0) Re f(w_1) ..  n/2 | Im f(w_0) Im f(w_1) ..  n/2 |
 *
 *   w_2u = exp(I pi bitrev(n/2 + u) / n), w_2u+1 = -w_2u       (bitrev over log2 n bits)
 *
 * Levels are processed two at a time (radix 4). This only fuses loads and stores: each value passes
 * through the same operations in the same order as level by level, so the results are bit-identical
 * (checked by fft.test.ts).
 */
import * as R from './real';
import { highHalves, lowHalves } from '../shared/lanes';
import { adjointProductIm, adjointProductRe, productIm, productRe } from './fpr';
import { ROOT_IM, ROOT_RE } from './fftTables.gen';

/**
 * One level on half-blocks of `half` complex values, where the whole transform is one block of 2 *
 * half.
 */
function fftTopLevel(a: usize, half: usize): void {
  const im = half << 4; // bytes from a real part to its imaginary part
  const wRe = v128.load64_splat(ROOT_RE, 8);
  const wIm = v128.load64_splat(ROOT_IM, 8);
  const far = a + (half << 3);
  for (let o: usize = 0; o < half << 3; o += 16) {
    const xRe = v128.load(a + o);
    const xIm = v128.load(a + o + im);
    const yRe = v128.load(far + o);
    const yIm = v128.load(far + o + im);
    const tRe = productRe(yRe, yIm, wRe, wIm);
    const tIm = productIm(yRe, yIm, wRe, wIm);
    v128.store(a + o, R.add(xRe, tRe));
    v128.store(a + o + im, R.add(xIm, tIm));
    v128.store(far + o, R.sub(xRe, tRe));
    v128.store(far + o + im, R.sub(xIm, tIm));
  }
}

/**
 * Two levels: `blocks` blocks of 4 * quarter complex values.
 *
 *   | x0: quarter | x1 | x2 | x3 |
 *
 * The first level takes (x0, x2) and (x1, x3) with root w, the second (x0, x1) with u and
 * (x2, x3) with v.
 */
function fftTwoLevels(a: usize, blocks: usize, quarter: usize, im: usize): void {
  const q = quarter << 3;
  let root = blocks << 3;
  let pair = blocks << 4;
  for (let b: usize = 0; b < blocks; b++) {
    const wRe = v128.load64_splat(ROOT_RE + root);
    const wIm = v128.load64_splat(ROOT_IM + root);
    const uRe = v128.load64_splat(ROOT_RE + pair);
    const uIm = v128.load64_splat(ROOT_IM + pair);
    const vRe = v128.load64_splat(ROOT_RE + pair, 8);
    const vIm = v128.load64_splat(ROOT_IM + pair, 8);
    root += 8;
    pair += 16;
    for (const end = a + q; a < end; a += 16) {
      const a1 = a + q;
      const a2 = a1 + q;
      const a3 = a2 + q;
      let yRe = v128.load(a2);
      let yIm = v128.load(a2 + im);
      let tRe = productRe(yRe, yIm, wRe, wIm);
      let tIm = productIm(yRe, yIm, wRe, wIm);
      let xRe = v128.load(a);
      let xIm = v128.load(a + im);
      const x0Re = R.add(xRe, tRe);
      const x0Im = R.add(xIm, tIm);
      const x2Re = R.sub(xRe, tRe);
      const x2Im = R.sub(xIm, tIm);
      yRe = v128.load(a3);
      yIm = v128.load(a3 + im);
      tRe = productRe(yRe, yIm, wRe, wIm);
      tIm = productIm(yRe, yIm, wRe, wIm);
      xRe = v128.load(a1);
      xIm = v128.load(a1 + im);
      const x1Re = R.add(xRe, tRe);
      const x1Im = R.add(xIm, tIm);
      const x3Re = R.sub(xRe, tRe);
      const x3Im = R.sub(xIm, tIm);
      tRe = productRe(x1Re, x1Im, uRe, uIm);
      tIm = productIm(x1Re, x1Im, uRe, uIm);
      v128.store(a, R.add(x0Re, tRe));
      v128.store(a + im, R.add(x0Im, tIm));
      v128.store(a1, R.sub(x0Re, tRe));
      v128.store(a1 + im, R.sub(x0Im, tIm));
      tRe = productRe(x3Re, x3Im, vRe, vIm);
      tIm = productIm(x3Re, x3Im, vRe, vIm);
      v128.store(a2, R.add(x2Re, tRe));
      v128.store(a2 + im, R.add(x2Im, tIm));
      v128.store(a3, R.sub(x2Re, tRe));
      v128.store(a3 + im, R.sub(x2Im, tIm));
    }
    a += 3 * q;
  }
}

/**
 * The last two levels, on blocks of four complex values. Partners of the last level share a vector,
 * so lanes are rearranged.
 */
function fftLastTwoLevels(a: usize, blocks: usize, im: usize): void {
  let root = blocks << 3;
  let pair = blocks << 4;
  for (const end = a + im; a < end; a += 32) {
    const wRe = v128.load64_splat(ROOT_RE + root);
    const wIm = v128.load64_splat(ROOT_IM + root);
    const uRe = v128.load(ROOT_RE + pair);
    const uIm = v128.load(ROOT_IM + pair);
    root += 8;
    pair += 16;
    const yRe = v128.load(a, 16);
    const yIm = v128.load(a + im, 16);
    let tRe = productRe(yRe, yIm, wRe, wIm);
    let tIm = productIm(yRe, yIm, wRe, wIm);
    const xRe = v128.load(a);
    const xIm = v128.load(a + im);
    const pRe = R.add(xRe, tRe);
    const pIm = R.add(xIm, tIm);
    const sRe = R.sub(xRe, tRe);
    const sIm = R.sub(xIm, tIm);
    const evenRe = lowHalves(pRe, sRe);
    const evenIm = lowHalves(pIm, sIm);
    const oddRe = highHalves(pRe, sRe);
    const oddIm = highHalves(pIm, sIm);
    tRe = productRe(oddRe, oddIm, uRe, uIm);
    tIm = productIm(oddRe, oddIm, uRe, uIm);
    const hRe = R.add(evenRe, tRe);
    const hIm = R.add(evenIm, tIm);
    const lRe = R.sub(evenRe, tRe);
    const lIm = R.sub(evenIm, tIm);
    v128.store(a, lowHalves(hRe, lRe));
    v128.store(a, highHalves(hRe, lRe), 16);
    v128.store(a + im, lowHalves(hIm, lIm));
    v128.store(a + im, highHalves(hIm, lIm), 16);
  }
}

/**
 * FFT, in place. The first level (root I) is the identity in this representation.
 *
 * Spec:   Falcon round 3, section 3.7; order of operations of the round-3 reference (falcon-fft.c)
 * Shape:  a: f64[n], coefficients -> transform
 * Bounds: 2 <= n <= 1024
 * Memory: none beyond a
 * Secret: a (no branch or index depends on it)
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
export function fft(a: usize, logn: i32): void {
  if (logn < 3) {
    if (logn == 2) fftOfFour(a);
    return;
  }
  const im: usize = (<usize>4) << logn;
  let blocks: usize = 1;
  if (!(logn & 1)) {
    // an odd number of levels
    fftTopLevel(a, (<usize>1) << (logn - 2));
    blocks = 2;
  }
  for (let quarter = im / (blocks << 5); quarter > 1; quarter >>= 2) {
    fftTwoLevels(a, blocks, quarter, im);
    blocks <<= 2;
  }
  fftLastTwoLevels(a, blocks, im);
}

/** The one level of n = 4. */
function fftOfFour(a: usize): void {
  const wRe = load<u64>(ROOT_RE, 8);
  const wIm = load<u64>(ROOT_IM, 8);
  const xRe = load<u64>(a);
  const yRe = load<u64>(a, 8);
  const xIm = load<u64>(a, 16);
  const yIm = load<u64>(a, 24);
  const tRe = R.sub1(R.mul1(yRe, wRe), R.mul1(yIm, wIm));
  const tIm = R.add1(R.mul1(yRe, wIm), R.mul1(yIm, wRe));
  store<u64>(a, R.add1(xRe, tRe));
  store<u64>(a, R.sub1(xRe, tRe), 8);
  store<u64>(a, R.add1(xIm, tIm), 16);
  store<u64>(a, R.sub1(xIm, tIm), 24);
}

/** Undoes `fftLastTwoLevels`, without scaling. */
function ifftFirstTwoLevels(a: usize, blocks: usize, im: usize): void {
  let root = blocks << 3;
  let pair = blocks << 4;
  for (const end = a + im; a < end; a += 32) {
    const wRe = v128.load64_splat(ROOT_RE + root);
    const wIm = v128.load64_splat(ROOT_IM + root);
    const uRe = v128.load(ROOT_RE + pair);
    const uIm = v128.load(ROOT_IM + pair);
    root += 8;
    pair += 16;
    let xRe = v128.load(a);
    let xIm = v128.load(a + im);
    let yRe = v128.load(a, 16);
    let yIm = v128.load(a + im, 16);
    const evenRe = lowHalves(xRe, yRe);
    const evenIm = lowHalves(xIm, yIm);
    const oddRe = highHalves(xRe, yRe);
    const oddIm = highHalves(xIm, yIm);
    const sRe = R.add(evenRe, oddRe);
    const sIm = R.add(evenIm, oddIm);
    let dRe = R.sub(evenRe, oddRe);
    let dIm = R.sub(evenIm, oddIm);
    const rRe = adjointProductRe(dRe, dIm, uRe, uIm);
    const rIm = adjointProductIm(dRe, dIm, uRe, uIm);
    xRe = lowHalves(sRe, rRe);
    xIm = lowHalves(sIm, rIm);
    yRe = highHalves(sRe, rRe);
    yIm = highHalves(sIm, rIm);
    dRe = R.sub(xRe, yRe);
    dIm = R.sub(xIm, yIm);
    v128.store(a, R.add(xRe, yRe));
    v128.store(a + im, R.add(xIm, yIm));
    v128.store(a, adjointProductRe(dRe, dIm, wRe, wIm), 16);
    v128.store(a + im, adjointProductIm(dRe, dIm, wRe, wIm), 16);
  }
}

/** Undoes `fftTwoLevels`, and multiplies by `scale` (a power of two). */
function ifftTwoLevels(a: usize, blocks: usize, quarter: usize, im: usize, scale: u64): void {
  const q = quarter << 3;
  const factor = i64x2.splat(scale);
  let root = blocks << 3;
  let pair = blocks << 4;
  for (let b: usize = 0; b < blocks; b++) {
    const wRe = v128.load64_splat(ROOT_RE + root);
    const wIm = v128.load64_splat(ROOT_IM + root);
    const uRe = v128.load64_splat(ROOT_RE + pair);
    const uIm = v128.load64_splat(ROOT_IM + pair);
    const vRe = v128.load64_splat(ROOT_RE + pair, 8);
    const vIm = v128.load64_splat(ROOT_IM + pair, 8);
    root += 8;
    pair += 16;
    for (const end = a + q; a < end; a += 16) {
      const a1 = a + q;
      const a2 = a1 + q;
      const a3 = a2 + q;
      let xRe = v128.load(a);
      let xIm = v128.load(a + im);
      let yRe = v128.load(a1);
      let yIm = v128.load(a1 + im);
      const p0Re = R.add(xRe, yRe);
      const p0Im = R.add(xIm, yIm);
      let dRe = R.sub(xRe, yRe);
      let dIm = R.sub(xIm, yIm);
      const p1Re = adjointProductRe(dRe, dIm, uRe, uIm);
      const p1Im = adjointProductIm(dRe, dIm, uRe, uIm);
      xRe = v128.load(a2);
      xIm = v128.load(a2 + im);
      yRe = v128.load(a3);
      yIm = v128.load(a3 + im);
      const p2Re = R.add(xRe, yRe);
      const p2Im = R.add(xIm, yIm);
      dRe = R.sub(xRe, yRe);
      dIm = R.sub(xIm, yIm);
      const p3Re = adjointProductRe(dRe, dIm, vRe, vIm);
      const p3Im = adjointProductIm(dRe, dIm, vRe, vIm);
      dRe = R.scale(R.sub(p0Re, p2Re), factor);
      dIm = R.scale(R.sub(p0Im, p2Im), factor);
      v128.store(a, R.scale(R.add(p0Re, p2Re), factor));
      v128.store(a + im, R.scale(R.add(p0Im, p2Im), factor));
      v128.store(a2, adjointProductRe(dRe, dIm, wRe, wIm));
      v128.store(a2 + im, adjointProductIm(dRe, dIm, wRe, wIm));
      dRe = R.scale(R.sub(p1Re, p3Re), factor);
      dIm = R.scale(R.sub(p1Im, p3Im), factor);
      v128.store(a1, R.scale(R.add(p1Re, p3Re), factor));
      v128.store(a1 + im, R.scale(R.add(p1Im, p3Im), factor));
      v128.store(a3, adjointProductRe(dRe, dIm, wRe, wIm));
      v128.store(a3 + im, adjointProductIm(dRe, dIm, wRe, wIm));
    }
    a += 3 * q;
  }
}

/** Undoes `fftTopLevel`, and multiplies by `scale` (a power of two). */
function ifftTopLevel(a: usize, half: usize, scale: u64): void {
  const factor = i64x2.splat(scale);
  const im = half << 4;
  const wRe = v128.load64_splat(ROOT_RE, 8);
  const wIm = v128.load64_splat(ROOT_IM, 8);
  const far = a + (half << 3);
  for (let o: usize = 0; o < half << 3; o += 16) {
    const xRe = v128.load(a + o);
    const xIm = v128.load(a + o + im);
    const yRe = v128.load(far + o);
    const yIm = v128.load(far + o + im);
    const dRe = R.scale(R.sub(xRe, yRe), factor);
    const dIm = R.scale(R.sub(xIm, yIm), factor);
    v128.store(a + o, R.scale(R.add(xRe, yRe), factor));
    v128.store(a + o + im, R.scale(R.add(xIm, yIm), factor));
    v128.store(far + o, adjointProductRe(dRe, dIm, wRe, wIm));
    v128.store(far + o + im, adjointProductIm(dRe, dIm, wRe, wIm));
  }
}

/**
 * Inverse FFT, in place.
 *
 * Spec:   Falcon round 3, section 3.7; order of operations of the round-3 reference. The factor 2/n
 *         is a power of two and is applied one level earlier, which changes no bit
 * Shape:  a: f64[n], transform -> coefficients
 * Bounds: 2 <= n <= 1024
 * Memory: none beyond a
 * Secret: a (no branch or index depends on it)
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
export function ifft(a: usize, logn: i32): void {
  if (logn < 3) {
    if (logn == 2) ifftOfFour(a);
    return;
  }
  const im: usize = (<usize>4) << logn;
  const scale = R.powerOfTwo(1 - logn);
  let blocks: usize = (<usize>1) << (logn - 3);
  const first: usize = 2 - (<usize>logn & 1);
  ifftFirstTwoLevels(a, blocks, im);
  for (let quarter: usize = 4; blocks > first; quarter <<= 2) {
    blocks >>= 2;
    ifftTwoLevels(a, blocks, quarter, im, blocks == 1 ? scale : R.bits(1.0));
  }
  if (first == 2) {
    ifftTopLevel(a, (<usize>1) << (logn - 2), scale);
  } else if (logn == 3) {
    const factor = i64x2.splat(scale);
    for (let o: usize = 0; o < 64; o += 16) {
      v128.store(a + o, R.scale(v128.load(a + o), factor));
    }
  }
}

/** Undoes `fftOfFour`, divided by two. */
function ifftOfFour(a: usize): void {
  const wRe = load<u64>(ROOT_RE, 8);
  const wIm = load<u64>(ROOT_IM, 8);
  const xRe = load<u64>(a);
  const yRe = load<u64>(a, 8);
  const xIm = load<u64>(a, 16);
  const yIm = load<u64>(a, 24);
  const dRe = R.mul1(R.bits(0.5), R.sub1(xRe, yRe));
  const dIm = R.mul1(R.bits(0.5), R.sub1(xIm, yIm));
  store<u64>(a, R.mul1(R.bits(0.5), R.add1(xRe, yRe)));
  store<u64>(a, R.add1(R.mul1(dRe, wRe), R.mul1(dIm, wIm)), 8);
  store<u64>(a, R.mul1(R.bits(0.5), R.add1(xIm, yIm)), 16);
  store<u64>(a, R.sub1(R.mul1(dIm, wRe), R.mul1(dRe, wIm)), 24);
}
