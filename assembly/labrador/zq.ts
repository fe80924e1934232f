/**
 * Integers mod q = 2^44 - 117, as i64, singly and two in a vector. Between operations a value is
 * centred, [-(q-1)/2, (q-1)/2].
 *
 * Folding uses 2^44 = 117 mod q: fold(x) = (x mod 2^44) + 117 floor(x / 2^44).
 */
import { HALF_Q, MASK_44, Q } from './modulus.gen';

/** The value in [0, q) of a centred one. */
// @ts-ignore: decorator
@inline
export function canonicalQ(x: i64): i64 {
  return x + (Q & (x >> 63));
}

/**
 * fold(x) of any two values: the product is at most 117 * 2^19 in magnitude, so the results are in
 * (-2^26, 2^44 + 2^26).
 */
// @ts-ignore: decorator
@inline
export function foldPair(x: v128): v128 {
  const high = i64x2.shr_s(x, 44);
  // 117 = 2^7 - 2^3 - 2 - 1
  const product = i64x2.sub(
    i64x2.sub(i64x2.shl(high, 7), i64x2.shl(high, 3)),
    i64x2.add(i64x2.shl(high, 1), high),
  );
  return i64x2.add(v128.and(x, v128.load(PAIRS)), product);
}

/**
 * Centres two values in [-(q-1)/2, q + (q-1)/2]: results of `foldPair`, words of 44 bits, sums of a
 * centred value and one in [0, q].
 */
// @ts-ignore: decorator
@inline
export function centrePair(x: v128): v128 {
  const over = i64x2.gt_s(x, v128.load(PAIRS, 16));
  return i64x2.sub(x, v128.and(over, v128.load(PAIRS, 32)));
}

/** 2^44 - 1, (q - 1) / 2 and q, twice each. */
export const PAIRS: usize = memory.data<i64>([
  MASK_44, MASK_44, HALF_Q, HALF_Q, Q, Q,
], 16);
