/** Rotations of 32-bit lanes, for ChaCha. */

/** Bytes of a vector, lane by lane: rotated by 16, by 8. */
const ROTATED: usize = memory.data<u8>([
  2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
  3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14,
], 16);

// @ts-ignore: decorator
@inline
export function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}

/** Indices are below 16: the relaxed instruction is exact. */
// @ts-ignore: decorator
@inline
export function rotate16(x: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(x, v128.load(ROTATED));
  return v128.shuffle<u16>(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}

// @ts-ignore: decorator
@inline
export function rotate8(x: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(x, v128.load(ROTATED, 16));
  return rotate(x, 8);
}
