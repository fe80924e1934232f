/**
 * Integers modulo the six primes in eight 16-bit lanes, and their products in four 32-bit lanes.
 *
 * A lane holds any signed representative, including -2^15: no companion is -2^15, and (-2^15)^2 is
 * the only product on which the two instructions of mulr differ. All bounds follow from
 * scripts/generate/labradorPlan.ts:
 *
 *   mulmod(a, w) = a*w - p * mulr(a, w')    shared/zq.ts, with p for q
 *   mred(acc)    = (acc - p * m) >> 16      m = acc / p mod 2^16, centred: Montgomery's reduction
 *                                           of a 32-bit lane
 *
 * Constants are loaded from a prime's table (nttTables.gen.ts) by v128.load: a splat becomes a
 * literal at each use, which V8 rebuilds each time.
 */
import { mulmod, mulr } from '../shared/zq';
import { T_AS_IS, T_COMPANION, T_FACTOR } from './nttTables.gen';

/** mulmod(a, 1): at most 13,000 in magnitude. */
// @ts-ignore: decorator
@inline
export function reduceLane(a: v128, one: v128, p: v128): v128 {
  return i16x8.sub(a, i16x8.mul(mulr(a, one), p));
}

/** a b mod p of two values in NTT form, without its constant: |result| <= 0.63 p. */
// @ts-ignore: decorator
@inline
export function mulForms(a: v128, b: v128, table: usize, p: v128): v128 {
  // Companion of b: 2b + round((2^15/p - 2) b), at most 0.61 from the exact quotient.
  const b1 = i16x8.add(i16x8.add(b, b), mulr(b, v128.load(table, T_COMPANION)));
  return mulmod(a, b, b1, p);
}

/** a times the constant at `constant`, times 2^-15: a value in NTT form, |x| <= (p + 1) / 2. */
// @ts-ignore: decorator
@inline
export function finish(a: v128, constant: usize, table: usize, p: v128): v128 {
  const t = mulmod(a, v128.load(constant), v128.load(constant, 16), p);
  return mulmod(t, v128.load(table, T_FACTOR), v128.load(table, T_FACTOR + 16), p);
}

/** The same value, |x| <= (p + 1) / 2. */
// @ts-ignore: decorator
@inline
export function tidy(a: v128, table: usize, p: v128): v128 {
  return finish(a, table + T_AS_IS, table, p);
}

/**
 * acc / 2^16 mod p in every 32-bit lane; `low`, `inverseLow` hold p and 1/p mod 2^16 in the low
 * halves.
 */
// @ts-ignore: decorator
@inline
export function mred(acc: v128, low: v128, inverseLow: v128): v128 {
  const m = i16x8.mul(acc, inverseLow);
  return i32x4.shr_s(i32x4.sub(acc, i32x4.dot_i16x8_s(m, low)), 16);
}

/**
 * l0 + 2^14 l1 + 2^30 l2 mod p. Two quotients share one mulForms by p.
 *
 * Shape:  eight lanes of each limb; w1, w2 and their companions: T_LIMB1, T_LIMB2
 * Bounds: |l0| <= 2^13, any l1 (-2^15 is multiplied only by companions below it in magnitude),
 *         |l2| <= 2^14 + 1: |result| <= 28603
 * Proof:  none: inlined; part of coefsToForm
 */
// @ts-ignore: decorator
@inline
export function fromLimbs(
  l0: v128,
  l1: v128,
  l2: v128,
  w1: v128,
  w2: v128,
  companion1: v128,
  companion2: v128,
  p: v128,
): v128 {
  const sum = i16x8.add(i16x8.mul(l1, w1), i16x8.mul(l2, w2));
  const quotient = i16x8.add(mulr(l1, companion1), mulr(l2, companion2));
  return i16x8.add(l0, i16x8.sub(sum, i16x8.mul(quotient, p)));
}

/** acc + a0 b0 + a1 b1 in every 32-bit lane. */
// @ts-ignore: decorator
@inline
export function mac(acc: v128, a: v128, b: v128): v128 {
  return i32x4.add(acc, i32x4.dot_i16x8_s(a, b));
}
