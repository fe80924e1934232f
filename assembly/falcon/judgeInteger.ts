/**
 * The judgement of samplerZ's candidates in 64-bit integers.
 *
 * A candidate is accepted if u + 1 < t, and a tie if u < t <= u + 1, where t is the threshold that
 * judgeFloat.ts computes in binary64. Here t is computed only approximately: whatever is nearer to
 * a border than MARGIN counts as a tie, which `sampleExactly` settles with the reals of both
 * builds. So a judgement other than a tie is that of the f64 build if |error of t| <= MARGIN.
 *
 * The bound. Real values: z the candidate, z0 its base sample, rho in [0, 1) the centre's fraction,
 * v = 1/sigma', in [0.5492, 0.7826], S = sigmaMin, in [1.27, 1.3], v S <= 1 + 2^-52, delta = z -
 * rho, |delta| <= 19, omega = v^2 / (2 ln 2) <= 0.4418, Y = delta^2 omega - z0^2 / (2 sigma0^2 ln
 * 2) >= -2^-40, T = 256 v S 2^-Y. Errors, in the units stated at each variable:
 *
 *   r     floor: 2^32 rho is in [r, r + 1)
 *   d     2^26 delta + e, -1 < e < 2^-6; |d| < 2^31
 *   d^2 / 2^26            2^26 delta^2, within 2 |delta| + 1 + 2^-26 <= 40
 *   dss   2^28 omega + e, -1.12 < e < 0.03: v is rounded down to 2^-32, its square too, the
 *         constant is 0.33 too large, the quotient is rounded down
 *   y     2^32 Y, within 2^4 361 1.12 + 2^6 0.4418 40 + 324 0.4 + 2 < 7733; the three terms are
 *         those of dss, of d^2 and of HANDICAP. The product is below 2^62. Setting a negative y to
 *         0 does not add to the error but for 2^-40
 *   p     2^31 2^-f, within 10: the polynomial is within 3.1 (its maximum), six times rounded down
 *   ccs   2^31 v S, within 4: v, S and the product are rounded down
 *   t     2^23 T, within 7733 ln 2 / 2 + 10 + 4 + 2 < 2697: the relative error of 2^-Y is ln 2 /
 *         2^32 times that of y, and T <= 256; s from 63 on gives 0, and T < 2^-55 then
 *
 * and judgeFloat.ts is within 2^-30 of T. So the error is below 2700 units of 2^-23. MARGIN is
 * more, and costs little: a tie is 1 + 2^-10 times as frequent as without it.
 */
import { fixed } from './realInteger';

/** 1 / (2 sigma0^2 ln 2), in units of 2^-32. */
const HANDICAP: i64 = 934809329;
/** 1 / (2 ln 2), in units of 2^-31. */
const HALF_INVERSE_LN_2: u64 = 1549082005;
/** 2^-f on [0, 1): the absolute coefficients, of alternating signs, in units of 2^-31. */
const P0: i64 = 2147483645;
const P1: i64 = 1488521945;
const P2: i64 = 515877823;
const P3: i64 = 119165869;
const P4: i64 = 20572593;
const P5: i64 = 2739202;
const P6: i64 = 234782;
/** Bound of the error of a threshold, in units of 2^-23. */
const MARGIN: i64 = 4096;

/** The fractions of two centres, in units of 2^-32. */
// @ts-ignore: decorator
@inline
export function centres(mu: v128): v128 {
  const a = fixed(<u64>i64x2.extract_lane(mu, 0)) & 0xffffffff;
  const b = fixed(<u64>i64x2.extract_lane(mu, 1)) & 0xffffffff;
  return i64x2.replace_lane(i64x2.splat(a), 1, b);
}

/** 1/(2 sigma'^2 ln 2), in units of 2^-28. */
// @ts-ignore: decorator
@inline
export function narrowness(inverseSigma: u64): v128 {
  const inverse = <u64>fixed(inverseSigma);
  return i64x2.splat(<i64>((((inverse * inverse) >>> 32) * HALF_INVERSE_LN_2) >>> 35));
}

/** sigmaMin/sigma', in units of 2^-31, given 256 sigmaMin. */
// @ts-ignore: decorator
@inline
export function height(inverseSigma: u64, ccsScale: u64): v128 {
  const sigmaMin = ((ccsScale & 0x000fffffffffffff) | 0x0010000000000000) >>> 22; // 2^-30
  return i64x2.splat((fixed(inverseSigma) * <i64>sigmaMin) >> 31);
}

/** One judgement: bit 0 if accepted, bit 4 if it counts as a tie. */
// @ts-ignore: decorator
@inline
function judge(z: i32, square: i32, u: i32, r: i64, dss: i64, ccs: i64): i32 {
  const d = ((<i64>z << 32) - r) >> 6; // 2^-26
  let y = ((((d * d) >> 26) * dss) >> 22) - <i64>square * HANDICAP; // 2^-32
  y &= ~(y >> 63);
  const f = y & 0xffffffff;
  let p = P5 - ((P6 * f) >> 32);
  p = P4 - ((p * f) >> 32);
  p = P3 - ((p * f) >> 32);
  p = P2 - ((p * f) >> 32);
  p = P1 - ((p * f) >> 32);
  p = P0 - ((p * f) >> 32);
  let s = y >> 32;
  s |= (63 - s) >> 63;
  const t = ((p * ccs) >> 31) >> (s & 63); // 2^-23
  const low = <i64>u << 23;
  const yes = <i32>((low + (1 << 23) + MARGIN - t) >>> 63);
  const maybe = <i32>((low - MARGIN - t) >>> 63);
  return yes | ((yes ^ maybe) << 4);
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
  const ra = i64x2.extract_lane(r, 0);
  const rb = i64x2.extract_lane(r, 1);
  const narrow = i64x2.extract_lane(dss, 0);
  const high = i64x2.extract_lane(ccs, 0);
  const z1 = i32x4.extract_lane(z, 1);
  const z2 = i32x4.extract_lane(z, 2);
  const s1 = i32x4.extract_lane(square, 1);
  const s2 = i32x4.extract_lane(square, 2);
  const u1 = i32x4.extract_lane(u, 1);
  const u2 = i32x4.extract_lane(u, 2);
  const first = i32x4.extract_lane(z, 0);
  const last = i32x4.extract_lane(z, 3);
  const sFirst = i32x4.extract_lane(square, 0);
  const sLast = i32x4.extract_lane(square, 3);
  const a0 = judge(first, sFirst, i32x4.extract_lane(u, 0), ra, narrow, high);
  const a1 = judge(z1, s1, u1, ra, narrow, high);
  const a2 = judge(z2, s2, u2, ra, narrow, high);
  const b1 = judge(z1, s1, u1, rb, narrow, high);
  const b2 = judge(z2, s2, u2, rb, narrow, high);
  const b3 = judge(last, sLast, i32x4.extract_lane(u, 3), rb, narrow, high);
  const tie = (a0 | a1 | a2 | b1 | b2 | b3) & 16;
  const a = (a0 & 1) | ((a1 & 1) << 1) | ((a2 & 1) << 2);
  const b = ((b1 & 1) << 9) | ((b2 & 1) << 10) | ((b3 & 1) << 11);
  return a | b | tie;
}
