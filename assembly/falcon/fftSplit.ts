/**
 * Split and merge: converts one transform to two of half the degree, and back. Representation as in
 * fft.ts.
 *
 * Halving precedes the product with the root, unlike in the reference: it is a power of two, so no
 * bit differs.
 */
import * as R from './real';
import { highHalves, lowHalves } from '../shared/lanes';
import { adjointProductIm, adjointProductRe, productIm, productRe } from './fpr';
import { ROOT_IM, ROOT_RE } from './fftTables.gen';

/**
 * Splits the transform of f into those of f0 and f1, f(X) = f0(X^2) + X f1(X^2).
 *
 * Spec:   Falcon round 3, algorithm 1 (splitfft)
 * Shape:  f: f64[n] -> out: f64[n], f0 in the first half, f1 in the second
 * Bounds: 8 <= n <= 1024
 * Memory: f and out must not overlap
 * Secret: f (no branch or index depends on it)
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
export function splitFft(out: usize, f: usize, logn: i32): void {
  const quarter: usize = (<usize>2) << logn; // bytes of a quarter
  const half = quarter << 1;
  const rootRe = ROOT_RE + quarter;
  const rootIm = ROOT_IM + quarter;
  for (let o: usize = 0; o < quarter; o += 16) {
    splitPair(
      out + o,
      quarter,
      v128.load(f + (o << 1)),
      v128.load(f + (o << 1), 16),
      v128.load(f + (o << 1) + half),
      v128.load(f + (o << 1) + half, 16),
      v128.load(rootRe + o),
      v128.load(rootIm + o),
    );
  }
}

/**
 * The step of `splitFft` on four neighbours.
 *
 * Spec:   Falcon round 3, algorithm 1 (splitfft)
 * Shape:  re0, re1, im0, im1: real and imaginary parts of four values; wRe, wIm: two roots -> two
 *         values of f0 and of f1, `quarter` bytes between the parts
 * Secret: the values (no branch or index depends on them)
 * Proof:  none: inlined; part of splitFft
 */
// @ts-ignore: decorator
@inline
export function splitPair(
  out: usize,
  quarter: usize,
  re0: v128,
  re1: v128,
  im0: v128,
  im1: v128,
  wRe: v128,
  wIm: v128,
): void {
  const half = R.splat(0.5);
  const aRe = lowHalves(re0, re1);
  const bRe = highHalves(re0, re1);
  const aIm = lowHalves(im0, im1);
  const bIm = highHalves(im0, im1);
  const dRe = R.scale(R.sub(aRe, bRe), half);
  const dIm = R.scale(R.sub(aIm, bIm), half);
  v128.store(out, R.scale(R.add(aRe, bRe), half));
  v128.store(out + quarter, R.scale(R.add(aIm, bIm), half));
  v128.store(out + 2 * quarter, adjointProductRe(dRe, dIm, wRe, wIm));
  v128.store(out + 3 * quarter, adjointProductIm(dRe, dIm, wRe, wIm));
}

/**
 * Merges the transforms of f0 and f1 into that of f0(X^2) + X f1(X^2).
 *
 * Spec:   Falcon round 3, algorithm 2 (mergefft)
 * Shape:  halves: f64[n], f0 in the first half, f1 in the second -> f: f64[n]
 * Bounds: 8 <= n <= 1024
 * Memory: f and halves must not overlap
 * Secret: halves (no branch or index depends on it)
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
export function mergeFft(f: usize, halves: usize, logn: i32): void {
  const quarter: usize = (<usize>2) << logn;
  const half = quarter << 1;
  const rootRe = ROOT_RE + quarter;
  const rootIm = ROOT_IM + quarter;
  for (let o: usize = 0; o < quarter; o += 16) {
    const h = halves + o;
    const aRe = v128.load(h);
    const aIm = v128.load(h + quarter);
    const cRe = v128.load(h + half);
    const cIm = v128.load(h + half + quarter);
    const wRe = v128.load(rootRe + o);
    const wIm = v128.load(rootIm + o);
    const bRe = productRe(cRe, cIm, wRe, wIm);
    const bIm = productIm(cRe, cIm, wRe, wIm);
    const sRe = R.add(aRe, bRe);
    const sIm = R.add(aIm, bIm);
    const dRe = R.sub(aRe, bRe);
    const dIm = R.sub(aIm, bIm);
    const out = f + (o << 1);
    v128.store(out, lowHalves(sRe, dRe));
    v128.store(out, highHalves(sRe, dRe), 16);
    v128.store(out + half, lowHalves(sIm, dIm));
    v128.store(out + half, highHalves(sIm, dIm), 16);
  }
}
