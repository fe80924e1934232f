/**
 * Digits, cuts and packings of polynomials mod q, and exact squared norms.
 */
import { OK } from '../shared/status';
import { lowWords } from './ntt';
import { canonicalQ } from './zq';
import { HALF_Q, Q } from './modulus.gen';

/** A digit that must fit 16 bits does not. */
export const TOO_WIDE: i32 = 1;

/**
 * Balanced digits: coefs = sum of 2^(bits j) digit_j; all but the last in [-2^(bits-1),
 * 2^(bits-1)), the last one is the remainder.
 *
 * Digit j is at out + j outStride; outStride is at least 128.
 *
 * Spec:   docs/protocol.md, 1
 * Shape:  coefs: i64[64] -> out: i16[count][64]
 * Bounds: |coefs| <= 2^44
 * Memory: coefs, out
 * Errors: TOO_WIDE if a last digit is not in [-32768, 32767]; it is then wrong
 * Proof:  digits(), count bits in {4 11, 3 15, 9 5, 2 15}, outStride in {128, any}
 */
export function decompose(out: usize, outStride: usize, coefs: usize, count: i32, bits: i32): i32 {
  const half = i64x2.splat((<i64>1 << bits) >> 1);
  const span: i32 = 1 << bits;
  const half16 = v128.splat<i16>(<i16>(span >> 1));
  const mask16 = v128.splat<i16>(<i16>(span - 1));
  let wide = i64x2.splat(0);
  for (const end = coefs + 512; coefs < end; coefs += 64, out += 16) {
    let a = v128.load(coefs);
    let b = v128.load(coefs, 16);
    let c = v128.load(coefs, 32);
    let d = v128.load(coefs, 48);
    let to = out;
    for (let j = 1; j < count; j++, to += outStride) {
      a = i64x2.add(a, half);
      b = i64x2.add(b, half);
      c = i64x2.add(c, half);
      d = i64x2.add(d, half);
      v128.store(to, i16x8.sub(v128.and(lowWords(a, b, c, d), mask16), half16));
      a = i64x2.shr_s(a, bits);
      b = i64x2.shr_s(b, bits);
      c = i64x2.shr_s(c, bits);
      d = i64x2.shr_s(d, bits);
    }
    v128.store(to, lowWords(a, b, c, d));
    wide = v128.or(wide, v128.or(v128.or(beyond(a), beyond(b)), v128.or(beyond(c), beyond(d))));
  }
  return v128.any_true(wide) ? TOO_WIDE : OK;
}

/** Non-zero where x is not in [-32768, 32767]. */
// @ts-ignore: decorator
@inline
function beyond(x: v128): v128 {
  return v128.or(i64x2.gt_s(x, i64x2.splat(32767)), i64x2.gt_s(i64x2.splat(-32768), x));
}

/**
 * Cuts low bits: high = floor(u / 2^cut) of u in [0, q), e = 2^cut high + 2^(cut-1) - u. With cut
 * 0: high = u, e = 0.
 *
 * cut is 0 or 2 to 15; `high` may be coefs.
 *
 * Spec:   docs/protocol.md, 6.2
 * Shape:  coefs: i64[64] -> high: i64[64]; e: i16[64]
 * Bounds: |coefs| <= (q - 1) / 2 -> high in [0, (q - 1) / 2^cut], e in [1 - 2^(cut - 1), 2^(cut -
 *         1)]
 * Memory: coefs, high, e
 * Proof:  partsModQ(2^cut, 0 - 1, 2^(cut - 1)), cut in {2, 6, 15}
 */
export function cutLow(high: usize, e: usize, coefs: usize, cut: i32): void {
  const half = (<i64>1 << cut) >> 1;
  for (const end = coefs + 512; coefs < end; coefs += 8, high += 8, e += 2) {
    const u = canonicalQ(load<i64>(coefs));
    const h = u >> cut;
    store<i64>(high, h);
    store<i16>(e, <i16>((h << cut) + half - u));
  }
}

/**
 * Cuts low bits of the integers without reduction: high = floor(u / 2^cut), e = 2^cut high +
 * 2^(cut-1) - u.
 *
 * cut is 1 to 15; `high` may be coefs.
 *
 * Spec:   docs/protocol.md, 6.2 to 6.4: u' of a hidden message, t' of an inner commitment
 * Shape:  coefs: i64[polys][64] -> high: i64[polys][64]; e: i16[polys][64]
 * Bounds: any coefs -> e in [1 - 2^(cut - 1), 2^(cut - 1)]
 * Memory: coefs, high, e
 * Proof:  parts(2^cut, 0 - 1, 2^(cut - 1)), cut in {1, 6, 15}, polys in {1, 2, 1..2^21}
 */
export function cutSigned(high: usize, e: usize, coefs: usize, polys: i32, cut: i32): i32 {
  const span: i32 = 1 << cut;
  const half = v128.splat<i16>(<i16>(span >> 1));
  const mask = v128.splat<i16>(<i16>(span - 1));
  const end = coefs + (<usize>polys << 9);
  for (; coefs < end; coefs += 64, high += 64, e += 16) {
    const a = v128.load(coefs);
    const b = v128.load(coefs, 16);
    const c = v128.load(coefs, 32);
    const d = v128.load(coefs, 48);
    // u mod 2^cut, for which 16 bits suffice
    v128.store(e, i16x8.sub(half, v128.and(lowWords(a, b, c, d), mask)));
    v128.store(high, i64x2.shr_s(a, cut));
    v128.store(high, i64x2.shr_s(b, cut), 16);
    v128.store(high, i64x2.shr_s(c, cut), 32);
    v128.store(high, i64x2.shr_s(d, cut), 48);
  }
  return OK;
}

/**
 * Restores the representative of a cut value: 2^cut high + 2^(cut-1), centred.
 *
 * `coefs` may be high.
 *
 * Spec:   docs/protocol.md, 6.2
 * Shape:  high: i64[64] -> coefs: i64[64]
 * Bounds: high in [0, (q - 1) / 2^cut] -> |coefs| <= (q - 1) / 2 + 2^(cut - 1)
 * Memory: high, coefs
 * Proof:  affineModQ(2^cut, 2^(cut - 1)), cut in {2, 6, 15}
 */
export function restoreCut(coefs: usize, high: usize, cut: i32): void {
  const half = (<i64>1 << cut) >> 1;
  for (const end = high + 512; high < end; high += 8, coefs += 8) {
    const u = (load<i64>(high) << cut) + half;
    store<i64>(coefs, select<i64>(u - Q, u, u > HALF_Q));
  }
}

/**
 * Packs values of `bits` bits, least significant bit first; zeros pad the last byte.
 *
 * Spec:   docs/protocol.md, 1, pack_w
 * Shape:  values: i64[count], canonical when centred -> out: u8[ceil(count bits / 8)]
 * Bounds: bits <= 44; negative values are first reduced mod q
 * Memory: values, out
 * Proof:  none: bits are held across values; no reference yet
 */
export function packBits(out: usize, values: usize, count: i32, bits: i32): void {
  let held: u64 = 0;
  let have = 0;
  for (const end = values + (<usize>count << 3); values < end; values += 8) {
    held |= <u64>canonicalQ(load<i64>(values)) << have;
    have += bits;
    while (have >= 8) {
      store<u8>(out++, <u8>held);
      held >>= 8;
      have -= 8;
    }
  }
  if (have > 0) store<u8>(out, <u8>held);
}

/**
 * Unpacks the output of `packBits`.
 *
 * Shape:  from: u8[ceil(count bits / 8)] -> values: i64[count], unchanged
 * Memory: from, values
 * Errors: TOO_WIDE if a value is above `largest` or a padding bit is set
 */
export function unpackBits(values: usize, from: usize, count: i32, bits: i32, largest: i64): i32 {
  const mask: u64 = (<u64>1 << bits) - 1;
  let held: u64 = 0;
  let have = 0;
  let wide: i32 = 0;
  for (const end = values + (<usize>count << 3); values < end; values += 8) {
    while (have < bits) {
      held |= <u64>load<u8>(from++) << have;
      have += 8;
    }
    const value = <i64>(held & mask);
    wide |= i32(value > largest);
    store<i64>(values, value);
    held >>= bits;
    have -= bits;
  }
  return wide | i32(held != 0) ? TOO_WIDE : OK;
}

/**
 * The sum of squares, exactly.
 *
 * polys < 2^26
 *
 * Shape:  a: i16[64 * polys] -> out: i64[1]
 * Bounds: any a
 * Memory: a, out
 * Proof:  innerProduct(), polys in {2, 1..2^23}
 */
export function normSq(out: usize, a: usize, polys: i32): void {
  let sum = i64x2.splat(0);
  for (const end = a + (<usize>polys << 7); a < end; a += 16) {
    const x = v128.load(a);
    // at most 2^31 in a lane, when both values are -2^15: read as unsigned
    const squares = i32x4.dot_i16x8_s(x, x);
    sum = i64x2.add(sum, i64x2.extend_low_i32x4_u(squares));
    sum = i64x2.add(sum, i64x2.extend_high_i32x4_u(squares));
  }
  store<i64>(out, i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
}

/**
 * out += <a, b> of small polynomials, as integers.
 *
 * Shape:  a, b: i16[64 * polys]; out: i64[1] -> out: i64[1]
 * Bounds: |a| <= 32767, |b| <= 32767, |out| <= 2^62
 * Memory: a, b, out
 * Proof:  innerProduct(), polys in {2, 1..2^23}
 */
export function addInnerProduct(out: usize, a: usize, b: usize, polys: i32): void {
  let sum = i64x2.splat(0);
  for (const end = a + (<usize>polys << 7); a < end; a += 16, b += 16) {
    const products = i32x4.dot_i16x8_s(v128.load(a), v128.load(b));
    sum = i64x2.add(sum, i64x2.extend_low_i32x4_s(products));
    sum = i64x2.add(sum, i64x2.extend_high_i32x4_s(products));
  }
  store<i64>(out, load<i64>(out) + i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
}
