/** Vectors composed of lanes of others; every pattern is one instruction on x86 and ARM. */

/** Halves of 64 bits a0 b0. */
// @ts-ignore: decorator
@inline
export function lowHalves(a: v128, b: v128): v128 {
  return v128.shuffle<u64>(a, b, 0, 2);
}

/** a1 b1 */
// @ts-ignore: decorator
@inline
export function highHalves(a: v128, b: v128): v128 {
  return v128.shuffle<u64>(a, b, 1, 3);
}

/** a1 a0 */
// @ts-ignore: decorator
@inline
export function swapHalves(a: v128): v128 {
  return v128.shuffle<u64>(a, a, 1, 0);
}

/** a1 a1: lets operations on the low half process the high one. */
// @ts-ignore: decorator
@inline
export function upperHalf(a: v128): v128 {
  return v128.shuffle<u64>(a, a, 1, 1);
}

/** Lanes of 32 bits a0 a2 b0 b2. */
// @ts-ignore: decorator
@inline
export function evens(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 0, 2, 4, 6);
}

/** a1 a3 b1 b3 */
// @ts-ignore: decorator
@inline
export function odds(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 1, 3, 5, 7);
}

/** a0 b0 a1 b1 */
// @ts-ignore: decorator
@inline
export function zipLow(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 0, 4, 1, 5);
}

/** a2 b2 a3 b3 */
// @ts-ignore: decorator
@inline
export function zipHigh(a: v128, b: v128): v128 {
  return v128.shuffle<u32>(a, b, 2, 6, 3, 7);
}

/** Lanes of 16 bits a0 b0 a1 b1 a2 b2 a3 b3. */
// @ts-ignore: decorator
@inline
export function interleaveLow(a: v128, b: v128): v128 {
  return v128.shuffle<u16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

/** a4 b4 a5 b5 a6 b6 a7 b7 */
// @ts-ignore: decorator
@inline
export function interleaveHigh(a: v128, b: v128): v128 {
  return v128.shuffle<u16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/** The lanes of 16 bits in reverse order. */
// @ts-ignore: decorator
@inline
export function reverseLanes(a: v128): v128 {
  return v128.shuffle<u16>(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
}
