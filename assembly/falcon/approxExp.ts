/** exp(-x) in binary64, and what samplerZ computes from it. */
import { INVERSE_2_SIGMA0_SQ, INVERSE_LN_2, LN_2 } from './fpr';
import * as R from './real';

/**
 * Constants as doubles: ln 2 inverse, ln 2, 1/(2 sigma0^2), 0.5, 1, 1.5 * 2^52, then at 48 the 12
 * coefficients of exp(-x) on [0, ln 2) of FACCT (Zhao, Steinfeld, Sakzad, 2018), starting after the
 * constant term.
 */
export const C: usize = memory.data<f64>([
  INVERSE_LN_2, LN_2, INVERSE_2_SIGMA0_SQ, 0.5, 1.0, 6755399441055744.0,
  0.99999999999999489297408672428, 0.500000000000019206858326015208,
  0.166666666666984014666397229121, 0.041666666666110491190622155955,
  0.008333333327800835146903501993, 0.001388888894063186997887560103,
  0.000198412739277311890541063977, 0.000024801566833585381209939524,
  0.000002755586350219122514855659, 0.000000275607356160477811864927,
  0.000000025299506379442070029551, 0.000000002073772366009083061987,
], 16);

/** mu - floor(mu): algorithm 15, step 1. */
// @ts-ignore: decorator
@inline
export function fraction(mu: v128): v128 {
  return R.sub(mu, R.floor(mu));
}

/** dss = 1/(2 sigma'^2), given 1/sigma'. */
// @ts-ignore: decorator
@inline
export function halfInverseSquare(inverse: v128): v128 {
  return R.scale(R.mul(inverse, inverse), v128.load64_splat(C, 24));
}

/** z0^2 / (2 sigma0^2), given z0^2 as integers. */
// @ts-ignore: decorator
@inline
export function handicapOf(square: v128): v128 {
  return R.mul(R.fromI32(square), v128.load64_splat(C, 16));
}

/**
 * x = (z - r)^2 / (2 sigma^2) - z0^2 / (2 sigma0^2), where `handicap` is the last term: algorithm
 * 15, step 7.
 */
// @ts-ignore: decorator
@inline
export function exponent(z: v128, r: v128, dss: v128, handicap: v128): v128 {
  const d = R.sub(z, r);
  return R.sub(R.mul(R.mul(d, d), dss), handicap);
}

/** s = x / ln 2, towards zero. */
// @ts-ignore: decorator
@inline
export function halvings(x: v128): v128 {
  return R.trunc(R.mul(x, v128.load64_splat(C)));
}

/**
 * ccs * exp(-(x - s ln 2)), for x - s ln 2 in [0, ln 2).
 *
 * Spec:   Falcon round 3, algorithm 13 (ApproxExp), in doubles: the order of the reference's AVX2
 *         code, which sums three partial polynomials. (Its portable code is Horner's rule on 64-bit
 *         integers; both are within 2^-50 of the true value and all published signatures agree.)
 * Shape:  x, s, ccs: f64x2 -> f64x2
 * Bounds: x - s ln 2 in [0, ln 2)
 * Secret: all
 * Proof:  none: inlined; part of judgeFour, whose floating point has no meaning in the prover
 */
// @ts-ignore: decorator
@inline
export function scaledExp(x: v128, s: v128, ccs: v128): v128 {
  const d1 = R.sub(R.mul(s, v128.load64_splat(C, 8)), x);
  const d2 = R.mul(d1, d1);
  const d3 = R.mul(d2, d1);
  const d4 = R.mul(d2, d2);
  const d8 = R.mul(d4, d4);
  let p1 = R.mul(d1, v128.load64_splat(C, 48));
  let p2 = R.mul(d2, v128.load64_splat(C, 56));
  let p3 = R.mul(d3, v128.load64_splat(C, 64));
  let p4 = R.mul(d4, v128.load64_splat(C, 72));
  p1 = R.add(R.mul(R.mul(d1, d4), v128.load64_splat(C, 80)), p1);
  p2 = R.add(R.mul(R.mul(d2, d4), v128.load64_splat(C, 88)), p2);
  p3 = R.add(R.mul(R.mul(d3, d4), v128.load64_splat(C, 96)), p3);
  p4 = R.add(R.mul(d8, v128.load64_splat(C, 104)), p4);
  p1 = R.add(R.mul(R.mul(d1, d8), v128.load64_splat(C, 112)), p1);
  p2 = R.add(R.mul(R.mul(d2, d8), v128.load64_splat(C, 120)), p2);
  p3 = R.add(R.mul(R.mul(d3, d8), v128.load64_splat(C, 128)), p3);
  p4 = R.add(R.mul(R.mul(d4, d8), v128.load64_splat(C, 136)), p4);
  const y = R.add(
    R.add(v128.load64_splat(C, 32), R.add(p1, p2)),
    R.add(p3, p4),
  );
  return R.mul(y, ccs);
}

/**
 * The number that algorithm 14 compares with random bytes, the highest first: its step 4.
 *
 * Shape:  x, ccs = 256 sigmaMin/sigma', in lane 0
 * Secret: all
 * Proof:  none: inlined; part of sampleExactly
 */
// @ts-ignore: decorator
@inline
export function comparedBits(x: v128, ccs: v128): u64 {
  const s = halvings(x);
  // 2^63 ccs exp(-r): an exact product
  const value = R.times55(R.lane0(scaledExp(x, s, ccs)));
  const halved = i32x4.extract_lane(R.toI32(s), 0);
  const shift = (halved | ((63 - halved) >> 31)) & 63; // at most 63
  return ((value << 1) - 1) >> <u64>shift;
}
