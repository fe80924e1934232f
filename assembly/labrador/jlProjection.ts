/**
 * The projection by 136 random rows of bits, each with its product by X^32, and the row of the
 * lower half. Its transpose is in jlCollapse.ts.
 *
 * A polynomial owns 17 blocks of 64 bytes of the level's stream; its bytes 32g to 32g + 31 hold
 * rows 4g to 4g + 3, four row bits (a nibble) for each coefficient:
 *
 *   byte c       (0-15)   low nibble: coefficient c         high nibble: coefficient 16 + c
 *   byte 16 + c           low nibble: coefficient 32 + c    high nibble: coefficient 48 + c
 *
 * dot_i16x8_s multiplies nibbles unshifted, and shifted by one, two and three bits; subtracting
 * twice the sum of the next shift yields the sum of one bit. The lower 32 bits of a row multiply
 * the lower half of s in y and the upper one in y*; the upper bits multiply the upper half in y and
 * minus the lower one in y*.
 */
import { mac } from './lanes';
import { OK } from '../shared/status';
import { xofBlocks } from './xof';

/** Number of random rows. */
const ROWS: usize = 136;
/** Number of blocks of a polynomial. */
const BLOCKS: i32 = 17;
/** Bytes of a polynomial's bits. */
export const BITS: usize = 1088;
/** Number of polynomials whose blocks are a multiple of the four generated at a time. */
const STAGED: i32 = 4;
/** Bits of four polynomials. */
const STREAM: usize = memory.data(4352, 64);

/** The bits of polynomial first + i of a run of `count`; generated for four at a time. */
// @ts-ignore: decorator
@inline
export function bitsOf(first: i32, i: i32, count: i32): usize {
  const place = i % STAGED;
  if (place == 0) {
    const quads = (BLOCKS * min(STAGED, count - i) + 3) >> 2;
    xofBlocks(STREAM, BLOCKS * (first + i), quads);
  }
  return STREAM + BITS * <usize>place;
}

/** Polynomials between two flushes of LANE_SUMS: 16 * 15 * 256 * 32768 < 2^31. */
const RUN: i32 = 256;
/** Sums of the bits j, j + 1, ... (as a number) of rows 4g + j for y and y*, i32[136][2][4]. */
const LANE_SUMS: usize = memory.data(4352, 64);
/** The coefficients of a polynomial, even columns then odd ones of every 16. */
const SORTED: usize = memory.data(128, 16);
/** 0x000f in all 16-bit lanes. */
const NIBBLE: usize = memory.data<i16>([15, 15, 15, 15, 15, 15, 15, 15], 16);

/** Separates even and odd columns. */
function sortColumns(s: usize): void {
  for (let to: usize = SORTED; to < SORTED + 128; to += 32, s += 32) {
    const a = v128.load(s);
    const b = v128.load(s, 16);
    v128.store(to, v128.shuffle<u16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
    v128.store(to, v128.shuffle<u16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15), 16);
  }
}

/** Adds eight columns of the lower half, and those 32 columns above, to y. */
// @ts-ignore: decorator
@inline
function addStraight(y: v128, low: v128, high: v128, s: usize): v128 {
  return mac(mac(y, low, v128.load(s)), high, v128.load(s, 64));
}

/** Like `addStraight`, for y*. */
// @ts-ignore: decorator
@inline
function addTurned(y: v128, low: v128, high: v128, s: usize): v128 {
  return i32x4.sub(mac(y, low, v128.load(s, 64)), i32x4.dot_i16x8_s(high, v128.load(s)));
}

/** One polynomial into LANE_SUMS: sums over columns of s (nibble >> j). */
function projectOne(bits: usize): void {
  const nibble = v128.load(NIBBLE);
  let sums: usize = LANE_SUMS;
  for (let four = 0; four < 34; four++, bits += 32) {
    const x = v128.load(bits);
    const z = v128.load(bits, 16);
    let x0 = v128.and(x, nibble);
    let x1 = v128.and(i16x8.shr_u(x, 8), nibble);
    let x2 = v128.and(i16x8.shr_u(x, 4), nibble);
    let x3 = i16x8.shr_u(x, 12);
    let z0 = v128.and(z, nibble);
    let z1 = v128.and(i16x8.shr_u(z, 8), nibble);
    let z2 = v128.and(i16x8.shr_u(z, 4), nibble);
    let z3 = i16x8.shr_u(z, 12);
    for (const end = sums + 128; sums < end; sums += 32) {
      let y = addStraight(v128.load(sums), x0, z0, SORTED);
      let turned = addTurned(v128.load(sums, 16), x0, z0, SORTED);
      y = addStraight(y, x1, z1, SORTED + 16);
      turned = addTurned(turned, x1, z1, SORTED + 16);
      y = addStraight(y, x2, z2, SORTED + 32);
      turned = addTurned(turned, x2, z2, SORTED + 32);
      v128.store(sums, addStraight(y, x3, z3, SORTED + 48));
      v128.store(sums, addTurned(turned, x3, z3, SORTED + 48), 16);
      x0 = i16x8.shr_u(x0, 1);
      x1 = i16x8.shr_u(x1, 1);
      x2 = i16x8.shr_u(x2, 1);
      x3 = i16x8.shr_u(x3, 1);
      z0 = i16x8.shr_u(z0, 1);
      z1 = i16x8.shr_u(z1, 1);
      z2 = i16x8.shr_u(z2, 1);
      z3 = i16x8.shr_u(z3, 1);
    }
  }
}

/** The sum of four lanes. */
// @ts-ignore: decorator
@inline
function total(at: usize): i64 {
  return (
    <i64>load<i32>(at) + <i64>load<i32>(at, 4) + <i64>load<i32>(at, 8) + <i64>load<i32>(at, 12)
  );
}

/** Flushes LANE_SUMS into y. */
function emptySums(y: usize): void {
  // y and y* of four rows, in the order of both
  for (let at: usize = LANE_SUMS; at < LANE_SUMS + 4352; at += 128, y += 64) {
    for (let i: usize = 0; i < 2; i++) {
      const from = at + (i << 4);
      const to = y + (i << 3);
      const f0 = total(from);
      const f1 = total(from + 32);
      const f2 = total(from + 64);
      const f3 = total(from + 96);
      // bit j = (bits >> j) - 2 (bits >> (j + 1))
      store<i64>(to, load<i64>(to) + f0 - 2 * f1);
      store<i64>(to, load<i64>(to, 16) + f1 - 2 * f2, 16);
      store<i64>(to, load<i64>(to, 32) + f2 - 2 * f3, 32);
      store<i64>(to, load<i64>(to, 48) + f3, 48);
    }
  }
  memory.fill(LANE_SUMS, 0, 4352);
}

/** The sum of 32 coefficients. */
function sumOf(s: usize): i64 {
  const ones = i16x8.splat(1);
  let sum = i32x4.splat(0);
  for (const end = s + 64; s < end; s += 16) sum = mac(sum, v128.load(s), ones);
  return (
    <i64>i32x4.extract_lane(sum, 0) +
    <i64>i32x4.extract_lane(sum, 1) +
    <i64>i32x4.extract_lane(sum, 2) +
    <i64>i32x4.extract_lane(sum, 3)
  );
}

/**
 * y_j += <row j, s> and y*_j += <X^32 row j, s> over polynomials first to first + count - 1 of the
 * stream selected by xofStart. y has the pairs (y_j, y*_j); the last one is (U, V).
 *
 * Spec:   docs/protocol.md, 5.3
 * Shape:  s: i16[count][64]; y: i64[137][2] -> y: i64[137][2]
 * Bounds: any s, |y| <= 2^62
 * Memory: s, y, STREAM, LANE_SUMS, SORTED
 * Proof:  projection(), first count in {1 2}
 */
export function projectPolys(y: usize, s: usize, first: i32, count: i32): i32 {
  memory.fill(LANE_SUMS, 0, 4352);
  let lower: i64 = 0;
  let upper: i64 = 0;
  for (let i = 0; i < count; ) {
    for (const end = min(i + RUN, count); i < end; i++, s += 128) {
      const bits = bitsOf(first, i, count);
      sortColumns(s);
      projectOne(bits);
      lower += sumOf(s);
      upper += sumOf(s + 64);
    }
    emptySums(y);
  }
  const last = y + 16 * ROWS;
  store<i64>(last, load<i64>(last) + lower);
  store<i64>(last, load<i64>(last, 8) + upper, 8);
  return OK;
}
