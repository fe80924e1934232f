/**
 * The projection by 264 random rows of bits and one of ones, and its transpose.
 *
 * A polynomial owns 33 blocks of 64 bytes of the level's stream; its bytes 32g to 32g + 31 hold
 * rows 4g to 4g + 3, four row bits (a nibble) for each coefficient:
 *
 *   byte c       (0-15)   low nibble: coefficient c         high nibble: coefficient 16 + c
 *   byte 16 + c           low nibble: coefficient 32 + c    high nibble: coefficient 48 + c
 *
 *   projectPolys   y_j += <row j, s>: nibbles are multiplied as they are by dot_i16x8_s, and
 *                  shifted by one, two and three bits; twice the sum of the next shift taken away
 *                  is the sum of one bit
 *   collapsePolys  sum_j omega_j row_j, three lifts at once: the nibble of four rows selects one of
 *                  16 subset sums of their omega, kept as 7 digits in base 79, by a byte swizzle
 *                  over 16 coefficients
 */
import { interleaveHigh, interleaveLow, swapHalves } from '../shared/lanes';
import { mac } from './lanes';
import { OK } from '../shared/status';
import { centrePair, centreQ, foldPair } from './zq';
import { xofBlocks } from './xof';

const GROUPS: i32 = 66;
/** Random rows. */
const ROWS: usize = 264;
/** Blocks of a polynomial. */
const BLOCKS: i32 = 33;
/** Bytes of a polynomial's bits. */
const BITS: usize = 2112;
/** Polynomials whose blocks are a multiple of the four that are made at a time. */
const STAGED: i32 = 4;

/** Bits of four polynomials. */
const STREAM: usize = memory.data(8448, 64);

/** 0x0f in all bytes; 0x000f in all 16-bit lanes. */
const CONSTANTS: usize = memory.data<u8>([
  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
  15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0,
], 16);

/** table[index] in every byte; indices are below 16, for which the relaxed instruction is exact. */
// @ts-ignore: decorator
@inline
function lookup(table: v128, index: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD
    ? i8x16.relaxed_swizzle(table, index)
    : i8x16.swizzle(table, index);
}

/** The bits of polynomial first + i; made for four at a time. */
// @ts-ignore: decorator
@inline
function bitsOf(first: i32, i: i32, count: i32): usize {
  const place = i % STAGED;
  if (place == 0) {
    const quads = (BLOCKS * min(STAGED, count - i) + 3) >> 2;
    xofBlocks(STREAM, BLOCKS * (first + i), quads);
  }
  return STREAM + BITS * <usize>place;
}

// ---- projection

/** Polynomials between two emptyings of LANE_SUMS: 16 * 15 * 256 * 32768 < 2^31. */
const RUN: i32 = 256;
/** Sums of the bits j, j + 1, ... (as a number) of rows 4g + j, i32[264][4]. */
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

/** One polynomial into LANE_SUMS: sum over columns of s (nibble >> j). */
function projectOne(bits: usize): void {
  const nibble = v128.load(CONSTANTS, 16);
  for (let sums: usize = LANE_SUMS; sums < LANE_SUMS + 4224; sums += 64, bits += 32) {
    let y0 = v128.load(sums);
    let y1 = v128.load(sums, 16);
    let y2 = v128.load(sums, 32);
    let y3 = v128.load(sums, 48);
    for (let half: usize = 0; half < 32; half += 16) {
      const x = v128.load(bits + half);
      const s = SORTED + 4 * half;
      const s0 = v128.load(s);
      const s1 = v128.load(s, 16);
      const e0 = v128.and(x, nibble);
      const o0 = v128.and(i16x8.shr_u(x, 8), nibble);
      y0 = mac(mac(y0, e0, s0), o0, s1);
      y1 = mac(mac(y1, i16x8.shr_u(e0, 1), s0), i16x8.shr_u(o0, 1), s1);
      y2 = mac(mac(y2, i16x8.shr_u(e0, 2), s0), i16x8.shr_u(o0, 2), s1);
      y3 = mac(mac(y3, i16x8.shr_u(e0, 3), s0), i16x8.shr_u(o0, 3), s1);
      const s2 = v128.load(s, 32);
      const s3 = v128.load(s, 48);
      const e1 = v128.and(i16x8.shr_u(x, 4), nibble);
      const o1 = i16x8.shr_u(x, 12);
      y0 = mac(mac(y0, e1, s2), o1, s3);
      y1 = mac(mac(y1, i16x8.shr_u(e1, 1), s2), i16x8.shr_u(o1, 1), s3);
      y2 = mac(mac(y2, i16x8.shr_u(e1, 2), s2), i16x8.shr_u(o1, 2), s3);
      y3 = mac(mac(y3, i16x8.shr_u(e1, 3), s2), i16x8.shr_u(o1, 3), s3);
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

/** Empties LANE_SUMS into y. */
function emptySums(y: usize): void {
  for (let at: usize = LANE_SUMS; at < LANE_SUMS + 4224; at += 64, y += 32) {
    const f0 = total(at);
    const f1 = total(at + 16);
    const f2 = total(at + 32);
    const f3 = total(at + 48);
    // bit j = (bits >> j) - 2 (bits >> (j + 1))
    store<i64>(y, load<i64>(y) + f0 - 2 * f1);
    store<i64>(y, load<i64>(y, 8) + f1 - 2 * f2, 8);
    store<i64>(y, load<i64>(y, 16) + f2 - 2 * f3, 16);
    store<i64>(y, load<i64>(y, 24) + f3, 24);
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
 * Shape:  s: i16[count][64]; y: i64[265]
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
      emptySums(y);
      held = 0;
    }
  }
  store<i64>(y + 8 * ROWS, load<i64>(y + 8 * ROWS) + sum);
  return OK;
}

// ---- collapse

/**
 * Digits of 3 lifts, u8[3][7][66][16]: 16 subset sums for every group of four rows, centred, plus
 * OFFSET, as seven digits in base 79. 79^7 > q, and the digits of three groups are added up in a
 * byte: 3 * 78 < 2^8.
 */
const SUBSETS: usize = memory.data(22176, 64);
/** Bytes of a digit's tables, and of a lift's. */
const DIGIT_TABLES: usize = 1056;
const LIFT_TABLES: usize = 7392;
/**
 * What every column of a lift gains: omega of the last row, without the offsets of all
 * groups; mod q, twice.
 */
const CONSTANT_TERMS: usize = memory.data(48, 16);
/** Nibbles of a polynomial, u8[66][64]. */
const NIBBLES: usize = memory.data(4224, 64);
/** Sums of digits, i16[7][64]. */
const DIGIT_SUMS: usize = memory.data(896, 64);
/** (1, 79) and (79^2, 0) in every 32-bit lane. */
const POWERS: usize = memory.data<i16>([
  1, 79, 1, 79, 1, 79, 1, 79, 6241, 0, 6241, 0, 6241, 0, 6241, 0,
], 16);
/** 79^2 and 79^4, four times each. */
const LONG_POWERS: usize = memory.data<i32>([
  6241, 6241, 6241, 6241, 38950081, 38950081, 38950081, 38950081,
], 16);

/**
 * Prepares the collapse by omega.
 *
 * Shape:  omega: i64[3][265], any representatives of magnitude at most 2^44
 * Memory: omega, SUBSETS, CONSTANT_TERMS
 */
export function collapseStart(omega: usize): i32 {
  for (let lift: usize = 0; lift < 3; lift++) {
    for (let group = 0; group < GROUPS; group++, omega += 32) {
      const at = SUBSETS + lift * LIFT_TABLES + (<usize>group << 4);
      for (let index = 0; index < 16; index++) {
        let sum: i64 = 0;
        for (let row = 0; row < 4; row++) {
          if ((index >> row) & 1) sum += load<i64>(omega + (<usize>row << 3));
        }
        storeDigits(at + <usize>index, centreQ(sum));
      }
    }
    const constant = centreQ(load<i64>(omega) - GROUPS * OFFSET);
    v128.store(CONSTANT_TERMS + (lift << 4), i64x2.splat(constant));
    omega += 8;
  }
  return OK;
}

/** (79^7 - 1) / 2 makes all values positive. */
const OFFSET: i64 = 9601954493079;

/** The seven digits of a centred value plus OFFSET, each into its table. */
function storeDigits(at: usize, value: i64): void {
  const high = <u32>(<u64>(value + OFFSET) / 38950081); // 79^4
  let low = <u32>(<u64>(value + OFFSET) % 38950081);
  for (const end = at + 4 * DIGIT_TABLES; at < end; at += DIGIT_TABLES, low /= 79) {
    store<u8>(at, low % 79);
  }
  store<u8>(at, high % 79);
  store<u8>(at, (high / 79) % 79, DIGIT_TABLES);
  store<u8>(at, high / 6241, 2 * DIGIT_TABLES);
}

/** NIBBLES of a polynomial. */
function expandNibbles(bits: usize): void {
  const nibble = v128.load(CONSTANTS);
  for (let to: usize = NIBBLES; to < NIBBLES + 4224; to += 32, bits += 16) {
    const x = v128.load(bits);
    v128.store(to, v128.and(x, nibble));
    v128.store(to, v128.and(i16x8.shr_u(x, 4), nibble), 16);
  }
}

/**
 * Sums of even and odd bytes, from those of both as one number and those of the odd ones, in the
 * order of columns.
 */
// @ts-ignore: decorator
@inline
function storeColumns(to: usize, both: v128, odd: v128): void {
  const even = i16x8.sub(both, i16x8.shl(odd, 8));
  v128.store(to, interleaveLow(even, odd));
  v128.store(to, interleaveHigh(even, odd), 16);
}

/**
 * One digit of one lift: DIGIT_SUMS at `to` = sum over groups of the digit that their nibble
 * selects, at most 66 * 78 = 5148.
 *
 * Three groups are added up as bytes. Two bytes are one 16-bit number, which is added up modulo
 * 2^16 beside its upper byte: the sum of the lower bytes follows from both, and nothing needs
 * widening. All columns at once: 8 sums and 3 tables stay in registers, and only nibbles are
 * loaded.
 */
function collapseDigit(to: usize, subsets: usize): void {
  let y0 = i16x8.splat(0);
  let y1 = y0;
  let y2 = y0;
  let y3 = y0;
  let odd0 = y0;
  let odd1 = y0;
  let odd2 = y0;
  let odd3 = y0;
  let x: v128;
  for (let at: usize = NIBBLES; at < NIBBLES + 4224; at += 192, subsets += 48) {
    const a = v128.load(subsets);
    const b = v128.load(subsets, 16);
    const c = v128.load(subsets, 32);
    x = addGroups(at, a, b, c);
    y0 = i16x8.add(y0, x);
    odd0 = i16x8.add(odd0, i16x8.shr_u(x, 8));
    x = addGroups(at + 16, a, b, c);
    y1 = i16x8.add(y1, x);
    odd1 = i16x8.add(odd1, i16x8.shr_u(x, 8));
    x = addGroups(at + 32, a, b, c);
    y2 = i16x8.add(y2, x);
    odd2 = i16x8.add(odd2, i16x8.shr_u(x, 8));
    x = addGroups(at + 48, a, b, c);
    y3 = i16x8.add(y3, x);
    odd3 = i16x8.add(odd3, i16x8.shr_u(x, 8));
  }
  storeColumns(to, y0, odd0);
  storeColumns(to + 32, y1, odd1);
  storeColumns(to + 64, y2, odd2);
  storeColumns(to + 96, y3, odd3);
}

/** What three groups' tables hold for 16 columns. */
// @ts-ignore: decorator
@inline
function addGroups(at: usize, a: v128, b: v128, c: v128): v128 {
  return i8x16.add(
    i8x16.add(lookup(a, v128.load(at)), lookup(b, v128.load(at, 64))),
    lookup(c, v128.load(at, 128)),
  );
}

// @ts-ignore: decorator
@inline
function interleaved(a: v128, b: v128, isHigh: bool): v128 {
  return isHigh
    ? interleaveHigh(a, b)
    : interleaveLow(a, b);
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

/**
 * Columns c, c + 1 (values x) to their places of sigma: 64 - c and 63 - c, negated. One i64 beyond
 * out is written for c = 0.
 */
// @ts-ignore: decorator
@inline
function storeSigma(out: usize, x: v128): void {
  const y = i64x2.neg(x);
  v128.store(out, swapHalves(y));
}

/**
 * low + 79^2 middle + 79^4 high + constant mod q, centred, for two columns; the sum is below 2^51.
 */
// @ts-ignore: decorator
@inline
function joinDigits(low: v128, middle: v128, high: v128, constant: v128): v128 {
  return centrePair(foldPair(i64x2.add(i64x2.add(low, middle), i64x2.add(high, constant))));
}

/** Four columns from `at` on: sum of 79^i d_i, and the constant. */
// @ts-ignore: decorator
@inline
function joinFour(out: usize, at: usize, isHigh: bool, constant: v128): void {
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
      constant,
    ),
  );
  storeSigma(
    out - 16,
    joinDigits(
      i64x2.extend_high_i32x4_s(low),
      i64x2.extmul_high_i32x4_s(middle, square),
      i64x2.extmul_high_i32x4_s(high, fourth),
      constant,
    ),
  );
}

/** i64[65]: the result and the value that the reversal puts beyond it. */
const REVERSED: usize = memory.data(528, 16);

/** DIGIT_SUMS to sigma(sum of omega_j row_j) mod q. */
function joinColumns(out: usize, constant: v128): void {
  let to = REVERSED + 504; // columns 0 and 1 go to 64 and 63
  for (let at: usize = DIGIT_SUMS; at < DIGIT_SUMS + 128; at += 16, to -= 64) {
    joinFour(to, at, false, constant);
    joinFour(to - 32, at, true, constant);
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
      joinColumns(out, v128.load(CONSTANT_TERMS + (lift << 4)));
    }
  }
  return OK;
}
