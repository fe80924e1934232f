/**
 * F -= k f 2^s and G -= k g 2^s for polynomials of small degree with long coefficients, in one pass
 * over the words: word j of every coefficient of k f is a sum of products of k by words j of f.
 *
 * For negacyclic products, `extendForProduct` lays out each word row of f as signed numbers
 *
 *   | -f_0 .. -f_(m-1) | f_0 .. f_(m-1) |        so that (k f)_i = sum over u of k_u row[m + i - u]
 *
 * and g the same; for m = 2 directly the two vectors that k_0 and k_1 multiply:
 *
 *   | f_0 f_1 g_0 g_1 | -f_1 f_0 -g_1 g_0 |
 */
import { evens } from './rns';

/**
 * Shape:  fg: pair of degree m = 2^logm <= 16, len words -> out: i32[4m] per word
 * Memory: out
 * Secret: fg
 */
export function extendForProduct(out: usize, fg: usize, len: i32, logm: i32): void {
  const m = <usize>1 << logm;
  for (let j = 0; j < len; j++) {
    const last = j == len - 1;
    for (let i: usize = 0; i < 2 * m; i++) {
      let x = load<i32>(fg + (i << 2));
      if (last) x = (x << 1) >> 1;
      const ofG = i >= m;
      const c = ofG ? i - m : i;
      if (logm == 1) {
        store<i32>(out + (i << 2), x);
        // position of c in the second vector: the other one of its polynomial
        store<i32>(out + 16 + ((i ^ 1) << 2), c == 1 ? -x : x);
      } else {
        const at = out + (ofG ? 8 * m : 0) + (c << 2);
        store<i32>(at, -x);
        store<i32>(at + 4 * m, x);
      }
    }
    fg += 8 * m;
    out += 16 * m;
  }
}

/** The largest |k_u| of k: i32[m], m even. */
function largest(k: usize, m: usize): i32 {
  let most = i32x4.splat(0);
  for (const end = k + 4 * m; k < end; k += 8) {
    most = i32x4.max_s(most, i32x4.abs(v128.load64_zero(k)));
  }
  return max(i32x4.extract_lane(most, 0), i32x4.extract_lane(most, 1));
}

/**
 * Subtracts k (f, g) 2^scale from (F, G), modulo 2^(31 len).
 *
 * Shape:  FG: pair, len words; extended: of f, g with `small` words; k: i32[m]
 * Bounds: |k| < 2^31 - 1
 * Memory: FG; k is overwritten when it is large
 * Secret: all; a k that is too large for one pass (2 keys of 2000 for n = 1024, none of 2000 for n = 512)
 *         takes two, which tells that much about it
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
  const m = <usize>1 << logm;
  // sums of m products must stay below 2^62: m (2^31/m - 1) (2^31 - 1) + 2^31 does
  if (<u32>largest(k, m) >> (31 - logm)) {
    const high = k + 4 * m;
    for (let i: usize = 0; i < 4 * m; i += 4) {
      const x = load<i32>(k + i);
      store<i32>(k + i, x & 0x7fff);
      store<i32>(high + i, x >> 15);
    }
    subProductSmall(FG, len, extended, small, high, logm, scale + 15);
  }
  subProductSmall(FG, len, extended, small, k, logm, scale);
}

/** The same for m max|k| < 2^31. */
function subProductSmall(
  FG: usize,
  len: i32,
  extended: usize,
  small: i32,
  k: usize,
  logm: i32,
  scale: i32,
): void {
  const words = scale / 31;
  const bits = scale % 31;
  const m = <usize>1 << logm;
  if (logm == 1) {
    subVector(FG, 16, len, extended, 32, small, k, 2, 0, words, bits);
    return;
  }
  const row = m << 3;
  for (let i: usize = 0; i < 4 * m; i += 16) {
    subVector(FG + i, row, len, extended + 4 * m + i, 16 * m, small, k, m, 1, words, bits);
    subVector(FG + 4 * m + i, row, len, extended + 12 * m + i, 16 * m, small, k, m, 1, words, bits);
  }
}

/**
 * Four coefficients. y: where k_0's factors of word 0 begin; k_u's are 4u bytes before it
 * (near = 1), or 16u bytes behind it (near = 0).
 */
function subVector(
  w: usize,
  row: usize,
  len: i32,
  y: usize,
  yRow: usize,
  small: i32,
  k: usize,
  m: usize,
  near: i32,
  words: i32,
  bits: i32,
): void {
  // carries are biased to stay positive: i64x2 has no cheap arithmetic shift
  const K = i64x2.splat((<i64>1 << 62) - (<i64>1 << 31));
  const M = i64x2.splat(0x7fffffff);
  const M31 = i32x4.splat(0x7fffffff);
  const step: usize = near ? <usize>-4 : 16;
  const kEnd = k + 4 * m;
  let low = i64x2.splat(<i64>1 << 31);
  let high = low;
  let below = i32x4.splat(0);
  let borrow = i32x4.splat(0);
  const end = w + row * <usize>len;
  const yEnd = y + yRow * <usize>small;
  for (w += row * <usize>words; w < end; w += row) {
    low = i64x2.add(low, K);
    high = i64x2.add(high, K);
    if (y < yEnd) {
      let f = y;
      for (let u = k; u < kEnd; u += 4) {
        const s = v128.load32_splat(u);
        const x = v128.load(f);
        low = i64x2.add(low, i64x2.extmul_low_i32x4_s(x, s));
        high = i64x2.add(high, i64x2.extmul_high_i32x4_s(x, s));
        f += step;
      }
      y += yRow;
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
