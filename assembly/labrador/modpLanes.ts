/** Integers mod 12289 in eight 16-bit lanes, as the generated passes of the transform want them. */
import { mulr } from './lanes';

export { mulmod } from './lanes';

const CONSTANTS: usize = memory.data<i16>([
  12289, 12289, 12289, 12289, 12289, 12289, 12289, 12289,
  3, 3, 3, 3, 3, 3, 3, 3, // round(2^15 / p): companion of 1
  10930, 10930, 10930, 10930, 10930, 10930, 10930, 10930, // round((3 - 2^15 / p) * 2^15)
], 16);
/** Address of eight times p. */
export const Q_LANES: usize = CONSTANTS;

/** A representative of magnitude at most 12288. */
// @ts-ignore: decorator
@inline
export function reduce(a: v128, p: v128): v128 {
  return i16x8.sub(a, i16x8.mul(mulr(a, v128.load(CONSTANTS, 16)), p));
}

/** Companion of w, |w| <= 12288. */
// @ts-ignore: decorator
@inline
export function companion(w: v128): v128 {
  return i16x8.sub(i16x8.add(i16x8.add(w, w), w), mulr(w, v128.load(CONSTANTS, 32)));
}

/** The representative in [-6144, 6144], of any a. */
// @ts-ignore: decorator
@inline
export function centre(a: v128, p: v128): v128 {
  const half = i16x8.shr_u(p, 1);
  const r = reduce(a, p);
  const low = i16x8.add(r, v128.and(i16x8.lt_s(r, i16x8.neg(half)), p));
  return i16x8.sub(low, v128.and(i16x8.gt_s(low, half), p));
}
