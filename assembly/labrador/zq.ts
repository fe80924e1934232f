/**
 * Integers mod q = 2^44 - 539, as i64, alone and two in a vector. Between operations a value is
 * centred, [-(q-1)/2, (q-1)/2].
 *
 * Folding uses 2^44 = 539 mod q: fold(x) = (x mod 2^44) + 539 floor(x / 2^44).
 */
import { EXCESS, HALF_Q, MASK_44, Q } from './params';

/** A value of the same class: |x| <= 2^62 -> in (-2^28, 2^44 + 2^28). */
// @ts-ignore: decorator
@inline
export function fold(x: i64): i64 {
  return (x & MASK_44) + EXCESS * (x >> 44);
}

/** The centred value of x in (-q/2 - 2^30, q + 2^30) or so: what `fold` gives. */
// @ts-ignore: decorator
@inline
export function centreFolded(x: i64): i64 {
  return select<i64>(x - Q, x, x > HALF_Q);
}

/** The centred value of any |x| <= 2^62. */
// @ts-ignore: decorator
@inline
export function centreQ(x: i64): i64 {
  return centreFolded(fold(x));
}

/** The value in [0, q) of a centred one. */
// @ts-ignore: decorator
@inline
export function canonicalQ(x: i64): i64 {
  return x + (Q & (x >> 63));
}

/**
 * `fold` of two values; the product by 539 is exact for |x| < 2^74, lanes being 64 bits wide:
 * |x| <= 2^62.
 */
// @ts-ignore: decorator
@inline
export function foldPair(x: v128): v128 {
  const high = i64x2.shr_s(x, 44);
  // 539 = 512 + 32 - 5 = 2^9 + 2^5 - 2^2 - 1
  const product = i64x2.sub(
    i64x2.add(i64x2.shl(high, 9), i64x2.shl(high, 5)),
    i64x2.add(i64x2.shl(high, 2), high),
  );
  return i64x2.add(v128.and(x, v128.load(PAIRS)), product);
}

/** `centreFolded` of two values. */
// @ts-ignore: decorator
@inline
export function centrePair(x: v128): v128 {
  const over = i64x2.gt_s(x, v128.load(PAIRS, 16));
  return i64x2.sub(x, v128.and(over, v128.load(PAIRS, 32)));
}

/** 2^44 - 1, (q - 1) / 2 and q, twice each. */
export const PAIRS: usize = memory.data<i64>([
  17592186044415, 17592186044415, 8796093021938, 8796093021938, 17592186043877, 17592186043877,
], 16);
