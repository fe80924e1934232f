/** Polynomials of small coefficients, i8[n]: f, g, F and G. */
import * as R from './real';
import { upperHalf } from '../shared/lanes';

/** i8[n] to i16[n]. */
export function widen(out: usize, a: usize, n: i32): void {
  for (const end = a + n; a < end; a += 16, out += 32) {
    const x = v128.load(a);
    v128.store(out, i16x8.extend_low_i8x16_s(x));
    v128.store(out, i16x8.extend_high_i8x16_s(x), 16);
  }
}

/** i8[n] to f64[n]. */
export function smallToDouble(out: usize, a: usize, n: i32): void {
  for (const end = a + n; a < end; a += 4, out += 32) {
    const x = i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(a)));
    v128.store(out, R.fromI32(x));
    v128.store(out, R.fromI32(upperHalf(x)), 16);
  }
}

/**
 * Returns whether any value is `limit` or more in magnitude.
 *
 * Shape:  a: i8[n]
 * Bounds: any a
 * Memory: a
 * Proof:  reaching(), logn n limit in {9 512 128, 10 1024 128, 9 512 32}
 */
export function reaches(a: usize, n: i32, limit: i32): bool {
  let most = i8x16.splat(0);
  for (const end = a + n; a < end; a += 16) most = i8x16.max_u(most, i8x16.abs(v128.load(a)));
  return v128.any_true(i8x16.ge_u(most, i8x16.splat(<i8>limit)));
}

/**
 * Sum of squares.
 *
 * Shape:  a: i8[n]
 * Bounds: any a
 * Memory: a
 * Proof:  sumOfSquares(), logn n in {9 512, 10 1024}
 */
export function normSqSmall(a: usize, n: i32): i32 {
  let sum = i32x4.splat(0);
  for (const end = a + n; a < end; a += 16) {
    const x = v128.load(a);
    const low = i16x8.extend_low_i8x16_s(x);
    const high = i16x8.extend_high_i8x16_s(x);
    sum = i32x4.add(sum, i32x4.add(i32x4.dot_i16x8_s(low, low), i32x4.dot_i16x8_s(high, high)));
  }
  sum = i32x4.add(sum, upperHalf(sum));
  return i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1);
}
