/** The judgement of samplerZ's candidates in binary64. */
import { lowHalves, swapHalves, upperHalf } from '../shared/lanes';
import {
  C,
  exponent,
  fraction,
  halfInverseSquare,
  halvings,
  handicapOf,
  scaledExp,
} from './approxExp';
import * as R from './real';

/** The fractions of two centres, as `verdictOf` takes them. */
// @ts-ignore: decorator
@inline
export function centres(mu: v128): v128 {
  return fraction(mu);
}

/** 1/(2 sigma'^2), as `verdictOf` takes it. */
// @ts-ignore: decorator
@inline
export function narrowness(inverseSigma: u64): v128 {
  return halfInverseSquare(i64x2.splat(inverseSigma));
}

/** 256 sigmaMin/sigma', as `verdictOf` takes it. */
// @ts-ignore: decorator
@inline
export function height(inverseSigma: u64, ccsScale: u64): v128 {
  return R.mul(i64x2.splat(inverseSigma), i64x2.splat(ccsScale));
}

/**
 * t = 2^8 ccs exp(-x), given 2^8 ccs: division by 2^s is a subtraction in the exponent field.
 * Algorithm 14 compares a random byte u with the first byte of the integer z = (2 * trunc(2^63 ccs
 * exp(-r)) - 1) >> s, which is ceil(t) - 1: 2^63 ccs exp(-r) is an integer already (53 bits, above
 * 2^60), and t is either an integer or at least 2^(-47-s) above one. Hence, exactly:
 *
 *   accepted if  u < ceil(t) - 1,  that is  u + 1 < t;
 *   tie if       u = ceil(t) - 1,  that is  u < t <= u + 1.
 */
// @ts-ignore: decorator
@inline
function threshold(x: v128, ccs256: v128): v128 {
  const s = halvings(x);
  const value = scaledExp(x, s, ccs256);
  return i64x2.sub(value, i64x2.shl(R.add(s, v128.load64_splat(C, 40)), 52));
}

/** (a[1], b[0]): the values of candidates 1, 2 in one vector, given those of 0, 1 and of 2, 3. */
// @ts-ignore: decorator
@inline
function inner(a: v128, b: v128): v128 {
  return v128.shuffle<u64>(a, b, 1, 2);
}

/**
 * The verdict on four candidates for two samples.
 *
 * Spec:   Falcon round 3, algorithms 14 (its first byte) and 15, steps 7 and 8
 * Shape:  z, z0^2, the deciding byte u of four candidates, i32 each; r, dss, ccs: `centres`,
 *         `narrowness`, `height` -> the verdict of `judgeFour`
 * Secret: all
 * Proof:  none: inlined; part of judgeFour
 */
// @ts-ignore: decorator
@inline
export function verdictOf(
  z: v128,
  square: v128,
  u: v128,
  r: v128,
  dss: v128,
  ccs: v128,
): i32 {
  const one = v128.load64_splat(C, 32);
  const z01 = R.fromI32(z);
  const z23 = R.fromI32(upperHalf(z));
  const x01 = handicapOf(square);
  const x23 = handicapOf(upperHalf(square));
  const u01 = R.fromI32(u);
  const u23 = R.fromI32(upperHalf(u));
  const u12 = inner(u01, u23);
  // a0 a1, b1 a2, b2 b3
  const ra = lowHalves(r, r);
  const rba = swapHalves(r);
  const rb = upperHalf(r);
  const t01 = threshold(exponent(z01, ra, dss, x01), ccs);
  const t12 = threshold(exponent(inner(z01, z23), rba, dss, inner(x01, x23)), ccs);
  const t23 = threshold(exponent(z23, rb, dss, x23), ccs);
  const yes01 = R.less(R.add(u01, one), t01);
  const yes12 = R.less(R.add(u12, one), t12);
  const yes23 = R.less(R.add(u23, one), t23);
  const tie01 = v128.andnot(R.less(u01, t01), yes01);
  const tie12 = v128.andnot(R.less(u12, t12), yes12);
  const tie23 = v128.andnot(R.less(u23, t23), yes23);
  const tie = i32(v128.any_true(v128.or(v128.or(tie01, tie12), tie23)));
  const middle = i64x2.bitmask(yes12);
  const a = i64x2.bitmask(yes01) | ((middle & 2) << 1);
  const b = ((middle & 1) << 9) | (i64x2.bitmask(yes23) << 10);
  return a | b | (tie << 4);
}
