/**
 * ffSampling: samples a lattice point close to a target by randomised rounding along the tree, one
 * degree after the other.
 *
 * The order of operations is that of the reference's `sign_dyn`, also at degrees 4 and 2, where its
 * expanded-key code has a shortcut that rounds differently (about one signature in 40,000 differs).
 * Raw and expanded keys both use this code, so they produce the same signature, and that of the
 * reference.
 */
import * as R from './real';
import { highHalves, lowHalves, swapHalves } from '../shared/lanes';
import { treeBytes } from './expandKey';
import { mergeFft, splitFft } from './fftSplit';
import { ROOT_IM, ROOT_RE } from './fftTables.gen';
import { adjointProductIm, adjointProductRe, productIm, productRe } from './fpr';
import { drawPair } from './draftSampler';

/** Sign masks: (-0, 0) and (0, -0). */
const NEGATE: usize = memory.data<u64>([0x8000000000000000, 0, 0, 0x8000000000000000], 16);

/**
 * Replaces the target (t0, t1) by integers (z0, z1) sampled around it.
 *
 * Spec:   Falcon round 3, algorithm 11 (ffSampling)
 * Shape:  t0, t1: f64[n], transforms, in and out; tree: layout of expandKey.ts; ccsScale = 256
 *         sigmaMin
 * Bounds: n >= 4
 * Memory: tmp: f64[2n]
 * Secret: all; timing as described in samplerZ.ts
 * Proof:  none: rejection: branches on accepted candidates
 */
export function ffSampling(
  t0: usize,
  t1: usize,
  tree: usize,
  logn: i32,
  tmp: usize,
  ccsScale: u64,
): void {
  if (logn == 2) {
    sampleFour(t0, t1, tree, ccsScale);
    return;
  }
  const size = <usize>8 << logn;
  const half = tmp + (size >> 1);
  const left = tree + size;
  splitFft(tmp, t1, logn); // step 7
  ffSampling(tmp, half, left + treeBytes(logn - 1), logn - 1, tmp + size, ccsScale); // step 8
  carryOver(t0, t1, tree, tmp, logn); // steps 9 to 11
  ffSampling(tmp, half, left, logn - 1, tmp + size, ccsScale); // step 12
  mergeFft(t0, tmp, logn); // step 13
}

/**
 * The step between the two halves, in one pass: z1 = merge(halves) into t1, and split(t0 + (t1 -
 * z1) l10) into halves.
 *
 * Spec:   Falcon round 3, algorithm 11, steps 9 to 11
 * Shape:  t0, t1, l10: f64[n]; halves: f64[n], in and out
 */
function carryOver(t0: usize, t1: usize, l10: usize, halves: usize, logn: i32): void {
  const quarter = <usize>2 << logn;
  const im = quarter << 1;
  const half = R.splat(0.5);
  for (let o: usize = 0; o < quarter; o += 16) {
    const at = o << 1;
    const h = halves + o;
    const wRe = v128.load(ROOT_RE + quarter + o);
    const wIm = v128.load(ROOT_IM + quarter + o);
    const aRe = v128.load(h);
    const aIm = v128.load(h + quarter);
    const cRe = v128.load(h + im);
    const cIm = v128.load(h + im + quarter);
    let bRe = productRe(cRe, cIm, wRe, wIm);
    let bIm = productIm(cRe, cIm, wRe, wIm);
    let sRe = R.add(aRe, bRe);
    let sIm = R.add(aIm, bIm);
    let dRe = R.sub(aRe, bRe);
    let dIm = R.sub(aIm, bIm);
    // z1, two neighbours at a time
    const zRe0 = lowHalves(sRe, dRe);
    const zRe1 = highHalves(sRe, dRe);
    const zIm0 = lowHalves(sIm, dIm);
    const zIm1 = highHalves(sIm, dIm);
    const xRe0 = R.sub(v128.load(t1 + at), zRe0);
    const xRe1 = R.sub(v128.load(t1 + at, 16), zRe1);
    const xIm0 = R.sub(v128.load(t1 + at + im), zIm0);
    const xIm1 = R.sub(v128.load(t1 + at + im, 16), zIm1);
    v128.store(t1 + at, zRe0);
    v128.store(t1 + at, zRe1, 16);
    v128.store(t1 + at + im, zIm0);
    v128.store(t1 + at + im, zIm1, 16);
    const l = l10 + at;
    let lRe = v128.load(l);
    let lIm = v128.load(l + im);
    const yRe0 = R.add(v128.load(t0 + at), productRe(lRe, lIm, xRe0, xIm0));
    const yIm0 = R.add(v128.load(t0 + at + im), productIm(lRe, lIm, xRe0, xIm0));
    lRe = v128.load(l, 16);
    lIm = v128.load(l + im, 16);
    const yRe1 = R.add(v128.load(t0 + at, 16), productRe(lRe, lIm, xRe1, xIm1));
    const yIm1 = R.add(v128.load(t0 + at + im, 16), productIm(lRe, lIm, xRe1, xIm1));
    sRe = lowHalves(yRe0, yRe1);
    sIm = lowHalves(yIm0, yIm1);
    bRe = highHalves(yRe0, yRe1);
    bIm = highHalves(yIm0, yIm1);
    dRe = R.scale(R.sub(sRe, bRe), half);
    dIm = R.scale(R.sub(sIm, bIm), half);
    v128.store(h, R.scale(R.add(sRe, bRe), half));
    v128.store(h + quarter, R.scale(R.add(sIm, bIm), half));
    v128.store(h + im, adjointProductRe(dRe, dIm, wRe, wIm));
    v128.store(h + im + quarter, adjointProductIm(dRe, dIm, wRe, wIm));
  }
}

/** The product of two complex numbers (re, im): a * b. */
// @ts-ignore: decorator
@inline
function complexProduct(a: v128, b: v128): v128 {
  const re = R.mul(lowHalves(a, a), b); // (ar br, ar bi)
  const im = R.mul(highHalves(a, a), swapHalves(b)); // (ai bi, ai br)
  return R.add(re, v128.xor(im, v128.load(NEGATE)));
}

/** (a + I b) exp(I pi/4): both parts are multiplied by the same constant. */
// @ts-ignore: decorator
@inline
function turn(c: v128, root: v128): v128 {
  const p = R.mul(c, root);
  return R.add(p, v128.xor(swapHalves(p), v128.load(NEGATE)));
}

/** (a + I b) exp(-I pi/4) / 2. */
// @ts-ignore: decorator
@inline
function turnBackHalf(c: v128, root: v128, half: v128): v128 {
  const p = R.mul(c, root);
  return R.scale(R.add(p, v128.xor(swapHalves(p), v128.load(NEGATE, 16))), half);
}

/**
 * Samples degree 4 and, within it, degree 2 twice: four pairs of samples, the right tree's first.
 * Here a vector is a complex number.
 *
 *   t0, t1   | re re | im im |
 */
function sampleFour(t0: usize, t1: usize, tree: usize, ccsScale: u64): void {
  const half = R.splat(0.5);
  const root = v128.load64_splat(ROOT_RE, 8); // cos(pi/4) = sin(pi/4)
  // split t1 into u = f0, v = f1
  const t1Re = v128.load(t1);
  const t1Im = v128.load(t1, 16);
  let a = lowHalves(t1Re, t1Im);
  let b = highHalves(t1Re, t1Im);
  let u = R.scale(R.add(a, b), half);
  let v = turnBackHalf(R.sub(a, b), root, half);
  // right tree, degree 2
  let z1 = drawPair(v, load<u64>(tree, 88), ccsScale);
  u = R.add(u, complexProduct(v128.load(tree, 64), R.sub(v, z1)));
  let z0 = drawPair(u, load<u64>(tree, 80), ccsScale);
  // merge, carry over, split
  b = turn(z1, root);
  a = R.add(z0, b);
  b = R.sub(z0, b);
  const zRe = lowHalves(a, b);
  const zIm = highHalves(a, b);
  const xRe = R.sub(t1Re, zRe);
  const xIm = R.sub(t1Im, zIm);
  v128.store(t1, zRe);
  v128.store(t1, zIm, 16);
  const lRe = v128.load(tree);
  const lIm = v128.load(tree, 16);
  const yRe = R.add(v128.load(t0), productRe(lRe, lIm, xRe, xIm));
  const yIm = R.add(v128.load(t0, 16), productIm(lRe, lIm, xRe, xIm));
  a = lowHalves(yRe, yIm);
  b = highHalves(yRe, yIm);
  u = R.scale(R.add(a, b), half);
  v = turnBackHalf(R.sub(a, b), root, half);
  // left tree, degree 2
  z1 = drawPair(v, load<u64>(tree, 56), ccsScale);
  u = R.add(u, complexProduct(v128.load(tree, 32), R.sub(v, z1)));
  z0 = drawPair(u, load<u64>(tree, 48), ccsScale);
  b = turn(z1, root);
  a = R.add(z0, b);
  b = R.sub(z0, b);
  v128.store(t0, lowHalves(a, b));
  v128.store(t0, highHalves(a, b), 16);
}
