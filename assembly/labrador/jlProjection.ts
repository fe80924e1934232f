/**
 * The projection by 264 random ternary rows, and its transpose.
 *
 * A polynomial owns 66 blocks of 64 bytes of the level's stream; block g holds rows 4g to 4g + 3 in two planes B, B' of 32 bytes,
 * four row bits (a nibble) for each coefficient:
 *
 *   byte c       (0-15)   low nibble: coefficient c         high nibble: coefficient 16 + c
 *   byte 16 + c           low nibble: coefficient 32 + c    high nibble: coefficient 48 + c
 *
 * An entry is bit of B + bit of B' - 1.
 *
 *   projectPolys   y_j += <row j, s>         two bits of every entry b + b' are spread into a byte for four rows, and
 *                                            multiplied by dot_i16x8_s
 *   collapsePolys  sum_j omega_j row_j       three lifts at once: the nibble of four rows selects one of 16 subset sums of their
 *                                            omega, kept as 7 digits in base 79, by a byte swizzle over 8 coefficients
 *                                            of B and B'
 */
import { OK } from '../shared/status';
import { centrePair, centreQ, foldPair } from './zq';
import { xofBlocks } from './xof';

const GROUPS: i32 = 66;
/** Blocks of a polynomial. */
const BLOCKS: i32 = 66;
/** Bytes of a polynomial's bits. */
const BITS: usize = 4224;

/** Bits of two polynomials, and two blocks that come with the last four. */
const STREAM: usize = memory.data(8704, 64);

/** 0x0f in all bytes; where the bits of a nibble go in a byte of four 2-bit fields; 0x00ff; 1 in all bytes. */
const CONSTANTS: usize = memory.data<u8>([
  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
  0x00, 0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15, 0x40, 0x41, 0x44, 0x45, 0x50, 0x51, 0x54, 0x55,
  255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
], 16);

/** table[index] in every byte; indices are below 16, for which the relaxed instruction is exact. */
// @ts-ignore: decorator
@inline
function lookup(table: v128, index: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.relaxed_swizzle(table, index) : i8x16.swizzle(table, index);
}

// ---- projection

/** Polynomials between two emptyings of LANE_SUMS: 16 * 16 * 170 * 32768 < 2^31. */
const RUN: i32 = 16;
/** Sums of fields j, j + 1, ... of rows 4g + j, i32[264][4]. */
const LANE_SUMS: usize = memory.data(4224, 64);
/** The coefficients of a polynomial, even columns then odd ones of every 16. */
const SORTED: usize = memory.data(128, 16);

/** Even and odd columns apart. */
function sortColumns(s: usize): void {
  for (let to: usize = SORTED; to < SORTED + 128; to += 32, s += 32) {
    const a = v128.load(s);
    const b = v128.load(s, 16);
    v128.store(to, v128.shuffle<u16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
    v128.store(to, v128.shuffle<u16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15), 16);
  }
}

// @ts-ignore: decorator
@inline
function mac(acc: v128, a: v128, b: v128): v128 {
  return i32x4.add(acc, i32x4.dot_i16x8_s(a, b));
}

/** One polynomial into LANE_SUMS: sum over columns of s (fields >> 2j). */
function projectOne(bits: usize): void {
  const nibble = v128.load(CONSTANTS);
  const spread = v128.load(CONSTANTS, 16);
  const bytes = v128.load(CONSTANTS, 32);
  for (let sums: usize = LANE_SUMS; sums < LANE_SUMS + 4224; sums += 64, bits += 64) {
    let y0 = v128.load(sums);
    let y1 = v128.load(sums, 16);
    let y2 = v128.load(sums, 32);
    let y3 = v128.load(sums, 48);
    for (let half: usize = 0; half < 32; half += 16) {
      const x = v128.load(bits + half);
      const y = v128.load(bits + half, 32);
      const low = i8x16.add(
        lookup(spread, v128.and(x, nibble)),
        lookup(spread, v128.and(y, nibble)),
      );
      const high = i8x16.add(
        lookup(spread, v128.and(i16x8.shr_u(x, 4), nibble)),
        lookup(spread, v128.and(i16x8.shr_u(y, 4), nibble)),
      );
      const s = SORTED + 4 * half;
      const s0 = v128.load(s);
      const s1 = v128.load(s, 16);
      const e0 = v128.and(low, bytes);
      const o0 = i16x8.shr_u(low, 8);
      y0 = mac(mac(y0, e0, s0), o0, s1);
      y1 = mac(mac(y1, i16x8.shr_u(e0, 2), s0), i16x8.shr_u(o0, 2), s1);
      y2 = mac(mac(y2, i16x8.shr_u(e0, 4), s0), i16x8.shr_u(o0, 4), s1);
      y3 = mac(mac(y3, i16x8.shr_u(e0, 6), s0), i16x8.shr_u(o0, 6), s1);
      const s2 = v128.load(s, 32);
      const s3 = v128.load(s, 48);
      const e1 = v128.and(high, bytes);
      const o1 = i16x8.shr_u(high, 8);
      y0 = mac(mac(y0, e1, s2), o1, s3);
      y1 = mac(mac(y1, i16x8.shr_u(e1, 2), s2), i16x8.shr_u(o1, 2), s3);
      y2 = mac(mac(y2, i16x8.shr_u(e1, 4), s2), i16x8.shr_u(o1, 4), s3);
      y3 = mac(mac(y3, i16x8.shr_u(e1, 6), s2), i16x8.shr_u(o1, 6), s3);
    }
    v128.store(sums, y0);
    v128.store(sums, y1, 16);
    v128.store(sums, y2, 32);
    v128.store(sums, y3, 48);
  }
}

// @ts-ignore: decorator
@inline
function total(at: usize): i64 {
  return (
    <i64>load<i32>(at) + <i64>load<i32>(at, 4) + <i64>load<i32>(at, 8) + <i64>load<i32>(at, 12)
  );
}

/** Empties LANE_SUMS into y; `sum` is that of all coefficients since the last time. */
function emptySums(y: usize, sum: i64): void {
  for (let at: usize = LANE_SUMS; at < LANE_SUMS + 4224; at += 64, y += 32) {
    const f0 = total(at);
    const f1 = total(at + 16);
    const f2 = total(at + 32);
    const f3 = total(at + 48);
    // field j = (fields >> 2j) - 4 (fields >> 2(j+1)); entry = field - 1
    store<i64>(y, load<i64>(y) + f0 - 4 * f1 - sum);
    store<i64>(y, load<i64>(y, 8) + f1 - 4 * f2 - sum, 8);
    store<i64>(y, load<i64>(y, 16) + f2 - 4 * f3 - sum, 16);
    store<i64>(y, load<i64>(y, 24) + f3 - sum, 24);
  }
  memory.fill(LANE_SUMS, 0, 4224);
}

/** The sum of the coefficients of a polynomial. */
function sumOf(s: usize): i64 {
  const ones = i16x8.splat(1);
  let sum = i32x4.splat(0);
  for (const end = s + 128; s < end; s += 16) sum = mac(sum, v128.load(s), ones);
  return (
    <i64>i32x4.extract_lane(sum, 0) +
    <i64>i32x4.extract_lane(sum, 1) +
    <i64>i32x4.extract_lane(sum, 2) +
    <i64>i32x4.extract_lane(sum, 3)
  );
}

/**
 * y_j += <row j, s> over polynomials first to first + count - 1 of the stream chosen by xofStart.
 *
 * Spec:   docs/protocol.md, 5.3
 * Shape:  s: i16[count][64]; y: i64[264]
 * Bounds: any s
 * Memory: s, y, STREAM, LANE_SUMS, SORTED
 */
export function projectPolys(y: usize, s: usize, first: i32, count: i32): i32 {
  memory.fill(LANE_SUMS, 0, 4224);
  let sum: i64 = 0;
  let held = 0;
  for (let i = 0; i < count; i++, s += 128) {
    const bits = bitsOf(first, i, count);
    sortColumns(s);
    projectOne(bits);
    sum += sumOf(s);
    if (++held == RUN || i + 1 == count) {
      emptySums(y, sum);
      sum = 0;
      held = 0;
    }
  }
  return OK;
}

/** The bits of polynomial first + i; made for two at a time. */
// @ts-ignore: decorator
@inline
function bitsOf(first: i32, i: i32, count: i32): usize {
  if ((i & 1) == 0) xofBlocks(STREAM, BLOCKS * (first + i), i + 1 < count ? 33 : 17);
  return STREAM + (i & 1 ? BITS : 0);
}

// ---- collapse

/**
 * Digits of 3 lifts, i8[3][7][66][16]: 16 subset sums for every group of four rows, centred, as seven digits from -39 to 39 in
 * base 79. 79^7 > q, and the digits of three groups are added up in a byte: 3 * 39 < 2^7.
 */
const SUBSETS: usize = memory.data(22176, 64);
/** Bytes of a digit's tables, and of a lift's. */
const DIGIT_TABLES: usize = 1056;
const LIFT_TABLES: usize = 7392;
/** sum of omega for each lift, centred mod q, twice. */
const OMEGAS: usize = memory.data(48, 16);
/**
 * Nibbles of a polynomial, [group][8 vectors of 8 columns]: those of B and B' of a column stand side by side. Both select from
 * the same table, so that one widening of pairs of bytes adds them up.
 */
const NIBBLES: usize = memory.data(8448, 64);
/** Sums of digits, i16[7][64]. */
const DIGIT_SUMS: usize = memory.data(896, 64);
/** (1, 79) and (79^2, 0) in every 32-bit lane. */
const POWERS: usize = memory.data<i16>([1, 79, 1, 79, 1, 79, 1, 79, 6241, 0, 6241, 0, 6241, 0, 6241, 0], 16);
/** 79^2 and 79^4, four times each. */
const LONG_POWERS: usize = memory.data<i32>([6241, 6241, 6241, 6241, 38950081, 38950081, 38950081, 38950081], 16);

/**
 * Prepares the collapse by omega.
 *
 * Shape:  omega: i64[3][264], any representatives of magnitude at most 2^44
 * Memory: omega, SUBSETS, OMEGAS
 */
export function collapseStart(omega: usize): i32 {
  for (let lift: usize = 0; lift < 3; lift++) {
    let all: i64 = 0;
    for (let group = 0; group < GROUPS; group++, omega += 32) {
      const at = SUBSETS + lift * LIFT_TABLES + (<usize>group << 4);
      for (let index = 0; index < 16; index++) {
        let sum: i64 = 0;
        for (let row = 0; row < 4; row++) {
          if ((index >> row) & 1) sum += load<i64>(omega + (<usize>row << 3));
        }
        sum = centreQ(sum);
        if (index == 15) all += sum;
        storeDigits(at + <usize>index, sum);
      }
    }
    v128.store(OMEGAS + (lift << 4), i64x2.splat(centreQ(all)));
  }
  return OK;
}

/** (79^7 - 1) / 2 makes all values positive, and 39 all digits. */
const OFFSET: i64 = 9601954493079;

/** The seven digits of a centred value, each into its table. */
function storeDigits(at: usize, value: i64): void {
  const high = <u32>(<u64>(value + OFFSET) / 38950081); // 79^4
  let low = <u32>(<u64>(value + OFFSET) % 38950081);
  for (const end = at + 4 * DIGIT_TABLES; at < end; at += DIGIT_TABLES, low /= 79) {
    store<u8>(at, (low % 79) - 39);
  }
  store<u8>(at, (high % 79) - 39);
  store<u8>(at, ((high / 79) % 79) - 39, DIGIT_TABLES);
  store<u8>(at, high / 6241 - 39, 2 * DIGIT_TABLES);
}

/** Sixteen columns of planes B, B' in the low and sixteen in the high nibbles, to four vectors. */
// @ts-ignore: decorator
@inline
function sideBySide(to: usize, x: v128, y: v128, nibble: v128): void {
  const low = v128.shuffle<u8>(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high = v128.shuffle<u8>(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  v128.store(to, v128.and(low, nibble));
  v128.store(to, v128.and(high, nibble), 16);
  v128.store(to, v128.and(i16x8.shr_u(low, 4), nibble), 32);
  v128.store(to, v128.and(i16x8.shr_u(high, 4), nibble), 48);
}

/** NIBBLES of a polynomial. */
function expandNibbles(bits: usize): void {
  const nibble = v128.load(CONSTANTS);
  for (let to: usize = NIBBLES; to < NIBBLES + 8448; to += 128, bits += 64) {
    sideBySide(to, v128.load(bits), v128.load(bits, 32), nibble);
    sideBySide(to + 64, v128.load(bits, 16), v128.load(bits, 48), nibble);
  }
}

/**
 * sum + what three groups' tables hold for 8 columns, of B and B' in neighbouring bytes: at most 6 * 39 in magnitude. The relaxed
 * instruction is exact for factors of one. extadd_pairwise does the same, but V8 loads the address of its ones each time.
 */
// @ts-ignore: decorator
@inline
function addColumns(sum: v128, a: v128, b: v128, c: v128, ones: v128): v128 {
  const bytes = i8x16.add(i8x16.add(a, b), c);
  return i16x8.add(
    sum,
    ASC_FEATURE_RELAXED_SIMD
      ? i16x8.relaxed_dot_i8x16_i7x16_s(bytes, ones)
      : i16x8.extadd_pairwise_i8x16_s(bytes),
  );
}

/**
 * One digit of one lift: DIGIT_SUMS at `to` = sum over rows of (b + b') digit(omega). At most 132 * 39 = 5148 in magnitude.
 *
 * All columns at once: 8 sums and 3 tables stay in registers, and only nibbles are loaded.
 */
function collapseDigit(to: usize, subsets: usize): void {
  const ones = v128.load(CONSTANTS, 48);
  let y0 = i16x8.splat(0);
  let y1 = y0;
  let y2 = y0;
  let y3 = y0;
  let y4 = y0;
  let y5 = y0;
  let y6 = y0;
  let y7 = y0;
  let a: v128;
  let b: v128;
  let c: v128;
  for (let at: usize = NIBBLES; at < NIBBLES + 8448; at += 384, subsets += 48) {
    const t0 = v128.load(subsets);
    const t1 = v128.load(subsets, 16);
    const t2 = v128.load(subsets, 32);
    a = lookup(t0, v128.load(at));
    b = lookup(t1, v128.load(at, 128));
    c = lookup(t2, v128.load(at, 256));
    y0 = addColumns(y0, a, b, c, ones);
    a = lookup(t0, v128.load(at, 16));
    b = lookup(t1, v128.load(at, 144));
    c = lookup(t2, v128.load(at, 272));
    y1 = addColumns(y1, a, b, c, ones);
    a = lookup(t0, v128.load(at, 32));
    b = lookup(t1, v128.load(at, 160));
    c = lookup(t2, v128.load(at, 288));
    y2 = addColumns(y2, a, b, c, ones);
    a = lookup(t0, v128.load(at, 48));
    b = lookup(t1, v128.load(at, 176));
    c = lookup(t2, v128.load(at, 304));
    y3 = addColumns(y3, a, b, c, ones);
    a = lookup(t0, v128.load(at, 64));
    b = lookup(t1, v128.load(at, 192));
    c = lookup(t2, v128.load(at, 320));
    y4 = addColumns(y4, a, b, c, ones);
    a = lookup(t0, v128.load(at, 80));
    b = lookup(t1, v128.load(at, 208));
    c = lookup(t2, v128.load(at, 336));
    y5 = addColumns(y5, a, b, c, ones);
    a = lookup(t0, v128.load(at, 96));
    b = lookup(t1, v128.load(at, 224));
    c = lookup(t2, v128.load(at, 352));
    y6 = addColumns(y6, a, b, c, ones);
    a = lookup(t0, v128.load(at, 112));
    b = lookup(t1, v128.load(at, 240));
    c = lookup(t2, v128.load(at, 368));
    y7 = addColumns(y7, a, b, c, ones);
  }
  v128.store(to, y0);
  v128.store(to, y1, 16);
  v128.store(to, y2, 32);
  v128.store(to, y3, 48);
  v128.store(to, y4, 64);
  v128.store(to, y5, 80);
  v128.store(to, y6, 96);
  v128.store(to, y7, 112);
}

// @ts-ignore: decorator
@inline
function interleaved(a: v128, b: v128, isHigh: bool): v128 {
  return isHigh
    ? v128.shuffle<u16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
    : v128.shuffle<u16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

/** d + 79 d' of four columns: at most 80 * 5148 = 411,840 in magnitude. */
// @ts-ignore: decorator
@inline
function digitPair(at: usize, isHigh: bool): v128 {
  return i32x4.dot_i16x8_s(
    interleaved(v128.load(at), v128.load(at, 128), isHigh),
    v128.load(POWERS),
  );
}

/** d + 79 d' + 79^2 d'' of four columns: at most 6321 * 5148 < 2^25 in magnitude. */
// @ts-ignore: decorator
@inline
function digitTriple(at: usize, isHigh: bool): v128 {
  const c = v128.load(at, 256);
  return i32x4.add(
    digitPair(at, isHigh),
    i32x4.dot_i16x8_s(interleaved(c, c, isHigh), v128.load(POWERS, 16)),
  );
}

/** Columns c, c + 1 (values x) to their places of sigma: 64 - c and 63 - c, negated. One i64 beyond out is written for c = 0. */
// @ts-ignore: decorator
@inline
function storeSigma(out: usize, x: v128): void {
  const y = i64x2.neg(x);
  v128.store(out, v128.shuffle<u64>(y, y, 1, 0));
}

/** low + 79^2 middle + 79^4 high - omega mod q, centred, for two columns; the sum is below 2^51. */
// @ts-ignore: decorator
@inline
function joinDigits(low: v128, middle: v128, high: v128, omega: v128): v128 {
  return centrePair(foldPair(i64x2.sub(i64x2.add(low, i64x2.add(middle, high)), omega)));
}

/** Four columns from `at` on: sum of 79^i d_i - omega. */
// @ts-ignore: decorator
@inline
function joinFour(out: usize, at: usize, isHigh: bool, omega: v128): void {
  const low = digitPair(at, isHigh);
  const middle = digitPair(at + 256, isHigh);
  const high = digitTriple(at + 512, isHigh);
  const square = v128.load(LONG_POWERS);
  const fourth = v128.load(LONG_POWERS, 16);
  storeSigma(
    out,
    joinDigits(
      i64x2.extend_low_i32x4_s(low),
      i64x2.extmul_low_i32x4_s(middle, square),
      i64x2.extmul_low_i32x4_s(high, fourth),
      omega,
    ),
  );
  storeSigma(
    out - 16,
    joinDigits(
      i64x2.extend_high_i32x4_s(low),
      i64x2.extmul_high_i32x4_s(middle, square),
      i64x2.extmul_high_i32x4_s(high, fourth),
      omega,
    ),
  );
}

/** i64[65]: the result and the value that the reversal puts beyond it. */
const REVERSED: usize = memory.data(528, 16);

/** DIGIT_SUMS to sigma(sum of omega_j row_j) mod q. */
function joinColumns(out: usize, omega: v128): void {
  let to = REVERSED + 504; // columns 0 and 1 go to 64 and 63
  for (let at: usize = DIGIT_SUMS; at < DIGIT_SUMS + 128; at += 16, to -= 64) {
    joinFour(to, at, false, omega);
    joinFour(to - 32, at, true, omega);
  }
  memory.copy(out, REVERSED, 512);
  store<i64>(out, -load<i64>(REVERSED, 512));
}

/**
 * sigma(sum_j omega_j^(k) row_j) of polynomials first to first + count - 1, for the three lifts k.
 *
 * Spec:   docs/protocol.md, 7.6 and 8.4: the part of F that comes from the projection
 * Shape:  out: i64[count][3][64], centred mod q
 * Memory: out, STREAM, NIBBLES, DIGIT_SUMS, SUBSETS
 */
export function collapsePolys(out: usize, first: i32, count: i32): i32 {
  for (let i = 0; i < count; i++) {
    expandNibbles(bitsOf(first, i, count));
    let subsets: usize = SUBSETS;
    for (let lift: usize = 0; lift < 3; lift++, out += 512) {
      for (let digit: usize = 0; digit < 896; digit += 128, subsets += DIGIT_TABLES) {
        collapseDigit(DIGIT_SUMS + digit, subsets);
      }
      joinColumns(out, v128.load(OMEGAS + (lift << 4)));
    }
  }
  return OK;
}
