/**
 * Integers mod q = 12289 in eight 16-bit lanes.
 *
 * A lane holds any signed representative, including -2^15; functions state the bounds that they
 * require and guarantee. A product by w gets its quotient from w's companion
 * w' = round(w * 2^15 / q):
 *
 *   mulmod(a, w) = a*w - q * mulr(a, w')      mulr(a, b) = (a*b + 2^14) >> 15
 *
 * and is at most (|a| |2^15 w - q w'| + 2^14 q) / 2^15 in magnitude. scripts/generate/nttPlan.ts
 * derives every bound used in this folder from that line; zq.test.ts and ntt.test.ts check them,
 * exhaustively where a lane is the only input.
 *
 * Constants are loaded from memory, not written as `splat`: the optimiser turns a splat into a v128
 * literal at each use, and V8 then rebuilds it each time (a third of the transform's time).
 */

const CONSTANTS: usize = memory.data<i16>([
  12289, 12289, 12289, 12289, 12289, 12289, 12289, 12289, // q
  3, 3, 3, 3, 3, 3, 3, 3, // round(2^15 / q): companion of 1
  // round((3 - 2^15 / q) * 2^15): for companions
  10930, 10930, 10930, 10930, 10930, 10930, 10930, 10930,
], 16);
/** Address of eight times q. */
export const Q_LANES: usize = CONSTANTS;

/**
 * (a*b + 2^14) >> 15. The relaxed instruction differs only for a = b = -2^15; b is a companion, or
 * a constant that produces one, and none of them is -2^15.
 */
// @ts-ignore: decorator
@inline
export function mulr(a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i16x8.relaxed_q15mulr_s(a, b) : i16x8.q15mulr_sat_s(a, b);
}

/** a*w mod q, for w with companion w1. */
// @ts-ignore: decorator
@inline
export function mulmod(a: v128, w: v128, w1: v128, q: v128): v128 {
  return i16x8.sub(i16x8.mul(a, w), i16x8.mul(mulr(a, w1), q));
}

/** A representative of magnitude at most 12288: mulmod(a, 1). */
// @ts-ignore: decorator
@inline
export function reduce(a: v128, q: v128): v128 {
  return i16x8.sub(a, i16x8.mul(mulr(a, v128.load(CONSTANTS, 16)), q));
}

/**
 * Companion of w, |w| <= 12288: 3w - round((3 - 2^15/q) w), at most 0.076 from the exact quotient's
 * rounding.
 */
// @ts-ignore: decorator
@inline
export function companion(w: v128): v128 {
  return i16x8.sub(i16x8.add(i16x8.add(w, w), w), mulr(w, v128.load(CONSTANTS, 32)));
}

/** The representative in (-q/2, q/2], of any a. */
// @ts-ignore: decorator
@inline
export function centre(a: v128, q: v128): v128 {
  const half = i16x8.shr_u(q, 1);
  const r = reduce(a, q); // |r| <= 12288: at most one q away
  const low = i16x8.add(r, v128.and(i16x8.lt_s(r, i16x8.neg(half)), q));
  return i16x8.sub(low, v128.and(i16x8.gt_s(low, half), q));
}
