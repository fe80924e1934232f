/**
 * F -= k f 2^s and G -= k g 2^s for polynomials of small degree with long coefficients, in one pass
 * over the words: word j of every coefficient of k f is a sum of products of k by words j of f.
 *
 * For negacyclic products, `extendForProduct` stores each word row of f as signed numbers
 *
 *   | -f_0 .. -f_(m-1) | f_0 .. f_(m-1) |        so that (k f)_i = sum over u of k_u row[m + i - u]
 *
 * and g likewise; for m = 2 directly the two vectors that k_0 and k_1 multiply:
 *
 *   | f_0 f_1 g_0 g_1 | -f_1 f_0 -g_1 g_0 |
 *
 * The words of f and g become digits in [-2^30, 2^30]. So a product is below 2^61 for every k, four
 * of them fit 64 bits, and a larger m adds up groups of four: no k needs a special case.
 */
import { evens } from '../shared/lanes';

/** Writes four digits x to their places at `to`; `half`: bytes of one polynomial of a row. */
// @ts-ignore: decorator
@inline
function storeExtended(to: usize, x: v128, logm: i32, half: usize): void {
  if (logm == 1) {
    const signs = i64x2.splat(0xffffffff); // f_1 and g_1 are negated
    const y = v128.shuffle<u32>(x, x, 1, 0, 3, 2);
    v128.store(to, x);
    v128.store(to, i32x4.sub(v128.xor(y, signs), signs), 16);
  } else {
    v128.store(to, i32x4.neg(x));
    v128.store(to + half, x);
  }
}

/**
 * Extends f and g for `subProduct`.
 *
 * Shape:  fg: pair of degree m = 2^logm <= 16, len words -> out: i32[4m] per word
 * Bounds: -> |out| <= 2^30
 * Memory: out
 * Secret: fg
 * Proof:  none: key generation
 */
export function extendForProduct(out: usize, fg: usize, len: i32, logm: i32): void {
  const row = <usize>8 << logm;
  const half = row >> 1;
  const limit = i32x4.splat(1 << 30);
  for (let i: usize = 0; i < row; i += 16) {
    let from = fg + i;
    let to = out + i + (i < half ? 0 : half);
    let carry = i32x4.splat(0);
    for (let j = 1; j < len; j++) {
      const x = i32x4.add(v128.load(from), carry);
      // digits of 2^30 or more: subtract 2^31, and carry one to the next word
      carry = i32x4.shr_u(i32x4.add(x, limit), 31);
      storeExtended(to, i32x4.sub(x, i32x4.shl(carry, 31)), logm, half);
      from += row;
      to += 2 * row;
    }
    const last = i32x4.shr_s(i32x4.shl(v128.load(from), 1), 1);
    storeExtended(to, i32x4.add(last, carry), logm, half);
  }
}

/**
 * Subtracts k (f, g) 2^scale from (F, G), modulo 2^(31 len).
 *
 * Shape:  FG: pair, len words; extended: of f, g with `small` words; k: i32[m]
 * Bounds: |k| < 2^31 - 1
 * Memory: FG
 * Secret: all
 * Proof:  none: key generation
 */
export function subProduct(
  FG: usize,
  len: i32,
  extended: usize,
  small: i32,
  k: usize,
  logm: i32,
  scale: i32,
): void {
  const row = <usize>8 << logm;
  const half = row >> 1;
  const end = FG + row * <usize>len;
  const from = FG + row * <usize>(scale / 31);
  const bits = scale % 31;
  if (logm == 1) {
    subTwo(from, end, extended, small, k, bits);
    return;
  }
  for (let i: usize = 0; i < half; i += 16) {
    subMany(from + i, end, row, extended + half + i, small, k, bits);
    subMany(from + half + i, end, row, extended + 3 * half + i, small, k, bits);
  }
}

// i64x2 has no cheap arithmetic shift, so shifted values are kept positive by adding 2^63, or 2^40.

/**
 * m = 2, all four coefficients, starting at the words at w. y: the first row of the extended pair.
 *
 * Two products are below 2^62 in magnitude, their carries below 2^32.
 */
function subTwo(w: usize, end: usize, y: usize, small: i32, k: usize, bits: i32): void {
  const K = i64x2.splat((<i64>1 << 63) - (<i64>1 << 32));
  const M = i64x2.splat(0x7fffffff);
  const M31 = i32x4.splat(0x7fffffff);
  const k0 = v128.load32_splat(k);
  const k1 = v128.load32_splat(k, 4);
  let low = i64x2.splat(<i64>1 << 32);
  let high = low;
  let below = i32x4.splat(0);
  let borrow = i32x4.splat(0);
  for (const yEnd = y + (<usize>small << 5); w < end; w += 16) {
    low = i64x2.add(low, K);
    high = i64x2.add(high, K);
    if (y < yEnd) {
      const x0 = v128.load(y);
      const x1 = v128.load(y, 16);
      low = i64x2.add(low, i64x2.extmul_low_i32x4_s(x0, k0));
      high = i64x2.add(high, i64x2.extmul_high_i32x4_s(x0, k0));
      low = i64x2.add(low, i64x2.extmul_low_i32x4_s(x1, k1));
      high = i64x2.add(high, i64x2.extmul_high_i32x4_s(x1, k1));
      y += 32;
    }
    const digit = evens(v128.and(low, M), v128.and(high, M));
    low = i64x2.shr_u(low, 31);
    high = i64x2.shr_u(high, 31);
    const shifted = v128.or(v128.and(i32x4.shl(digit, bits), M31), below);
    below = i32x4.shr_u(digit, 31 - bits);
    const d = i32x4.sub(i32x4.sub(v128.load(w), shifted), borrow);
    v128.store(w, v128.and(d, M31));
    borrow = i32x4.shr_u(d, 31);
  }
}

/**
 * m = 4, 8 or 16, four coefficients of one polynomial, starting at the words at w. y: start of
 * k_0's factors of word 0; those of k_u are 4u bytes before it.
 *
 * Groups of four products, at most 2^63 - 2^33 in magnitude, are split into a digit and a carry to
 * the next word.
 */
function subMany(
  w: usize,
  end: usize,
  row: usize,
  y: usize,
  small: i32,
  k: usize,
  bits: i32,
): void {
  const M = i64x2.splat(0x7fffffff);
  const M31 = i32x4.splat(0x7fffffff);
  const top = i64x2.splat(<i64>1 << 63);
  const bias = (<i64>1 << 40) - (<i64>1 << 9);
  const kEnd = k + (row >> 1);
  let low = i64x2.splat(<i64>1 << 40);
  let high = low;
  let below = i32x4.splat(0);
  let borrow = i32x4.splat(0);
  for (const yEnd = y + 2 * row * <usize>small; w < end; w += row) {
    let lowNext = i64x2.splat(bias);
    let highNext = lowNext;
    if (y < yEnd) {
      lowNext = i64x2.splat(bias - (<i64>(row >> 5) << 32));
      highNext = lowNext;
      let f = y;
      for (let u = k; u < kEnd; u += 16, f -= 16) {
        let s = v128.load32_splat(u);
        let x = v128.load(f);
        let a = i64x2.add(top, i64x2.extmul_low_i32x4_s(x, s));
        let b = i64x2.add(top, i64x2.extmul_high_i32x4_s(x, s));
        s = v128.load32_splat(u, 4);
        x = v128.load(f - 4);
        a = i64x2.add(a, i64x2.extmul_low_i32x4_s(x, s));
        b = i64x2.add(b, i64x2.extmul_high_i32x4_s(x, s));
        s = v128.load32_splat(u, 8);
        x = v128.load(f - 8);
        a = i64x2.add(a, i64x2.extmul_low_i32x4_s(x, s));
        b = i64x2.add(b, i64x2.extmul_high_i32x4_s(x, s));
        s = v128.load32_splat(u, 12);
        x = v128.load(f - 12);
        a = i64x2.add(a, i64x2.extmul_low_i32x4_s(x, s));
        b = i64x2.add(b, i64x2.extmul_high_i32x4_s(x, s));
        low = i64x2.add(low, v128.and(a, M));
        high = i64x2.add(high, v128.and(b, M));
        lowNext = i64x2.add(lowNext, i64x2.shr_u(a, 31));
        highNext = i64x2.add(highNext, i64x2.shr_u(b, 31));
      }
      y += 2 * row;
    }
    const digit = evens(v128.and(low, M), v128.and(high, M));
    low = i64x2.add(lowNext, i64x2.shr_u(low, 31));
    high = i64x2.add(highNext, i64x2.shr_u(high, 31));
    const shifted = v128.or(v128.and(i32x4.shl(digit, bits), M31), below);
    below = i32x4.shr_u(digit, 31 - bits);
    const d = i32x4.sub(i32x4.sub(v128.load(w), shifted), borrow);
    v128.store(w, v128.and(d, M31));
    borrow = i32x4.shr_u(d, 31);
  }
}
