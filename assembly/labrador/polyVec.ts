/**
 * Vectors of polynomials in NTT form, and sums of their products.
 *
 * A vector of n columns occupies ceil(n / 32) blocks of 24,576 bytes; columns beyond n are zero.
 * Two columns are interleaved, so that one dot_i16x8_s multiplies and adds both:
 *
 *   block     prime 0         prime 1         ...  prime 5             4096 bytes each
 *   prime     positions 0-15  16-31   32-47   48-63                    1024 bytes each
 *   quarter   columns 0,1     2,3     ...     30,31                      64 bytes each
 *   pair      (x_c, y_c) of 16 positions c, x and y being the columns    4 bytes each
 *
 * A product of two such blocks is 16 multiply-adds in a 32-bit lane, |lane| <= 32 * 6849^2 < 2^31,
 * then one Montgomery reduction (|result| <= 29753), then an addition to sums, i32[6][64]. Sums may
 * cover MAX_BLOCKS = 6940 blocks.
 */
import { interleaveHigh, interleaveLow } from '../shared/lanes';
import { finish, mac, mred } from './lanes';
import { T_AFTER_MRED, T_INVERSE_LOW, T_P, T_P_LOW, TABLE_SIZE, TABLES } from './nttTables.gen';
import { BLOCK, SUMS } from './params';

/** Address of column j's pair, prime 0, quarter 0. */
// @ts-ignore: decorator
@inline
function pairOf(vec: usize, column: i32): usize {
  return vec + <usize>(column >> 5) * BLOCK + (<usize>((column >> 1) & 15) << 6);
}

/**
 * Stores two polynomials in columns j and j + 1, j even.
 *
 * Forms i16[6][64], of any values.
 *
 * Shape:  even, odd: i16[6][64]; vec: i16[6][4][16][16][2] -> vec: i16[6][4][16][16][2]
 * Bounds: any even
 * Memory: vec, even, odd
 * Proof:  columns(store), column in {0, 14, 30}
 */
export function storePair(vec: usize, column: i32, even: usize, odd: usize): void {
  let to = pairOf(vec, column);
  for (const end = even + 768; even < end; even += 32, odd += 32, to += 1024) {
    const a = v128.load(even);
    const b = v128.load(odd);
    const c = v128.load(even, 16);
    const d = v128.load(odd, 16);
    v128.store(to, interleaveLow(a, b));
    v128.store(to, interleaveHigh(a, b), 16);
    v128.store(to, interleaveLow(c, d), 32);
    v128.store(to, interleaveHigh(c, d), 48);
  }
}

/**
 * Stores one polynomial in column j, without changing its neighbour.
 *
 * Shape:  form: i16[6][64]; vec: i16[6][4][16][16][2] -> vec: i16[6][4][16][16][2]
 * Memory: vec, form
 * Proof:  columns(store), column in {0, 13, 31}
 */
export function storeColumn(vec: usize, column: i32, form: usize): void {
  const isOdd = column & 1;
  const shift = isOdd << 4;
  const keep = i32x4.splat(isOdd ? 0xffff : -65536);
  const take = v128.not(keep);
  let to = pairOf(vec, column);
  for (const end = form + 768; form < end; form += 32, to += 1024) {
    for (let i: usize = 0; i < 32; i += 16) {
      const x = v128.load(form + i);
      const at = to + 2 * i;
      const low = i32x4.shl(i32x4.extend_low_i16x8_u(x), shift);
      const high = i32x4.shl(i32x4.extend_high_i16x8_u(x), shift);
      v128.store(at, v128.or(v128.and(v128.load(at), keep), v128.and(low, take)));
      v128.store(at, v128.or(v128.and(v128.load(at, 16), keep), v128.and(high, take)), 16);
    }
  }
}

/**
 * Extracts one column.
 *
 * Shape:  vec: i16[2][6][4][16][16][2] -> form: i16[6][64]
 * Memory: vec, form
 * Proof:  columns(load), column in {0, 13, 63}
 */
export function loadColumn(form: usize, vec: usize, column: i32): void {
  const shift = 16 - ((column & 1) << 4);
  let from = pairOf(vec, column);
  for (const end = form + 768; form < end; form += 32, from += 1024) {
    for (let i: usize = 0; i < 32; i += 16) {
      const at = from + 2 * i;
      const low = i32x4.shr_s(i32x4.shl(v128.load(at), shift), 16);
      const high = i32x4.shr_s(i32x4.shl(v128.load(at, 16), shift), 16);
      v128.store(form + i, i16x8.narrow_i32x4_s(low, high));
    }
  }
}

/**
 * sums += sums'
 *
 * Shape:  sums, other: i32[6][64] -> sums: i32[6][64]
 * Bounds: |sums| <= 3470 * 29753, |other| <= 3470 * 29753 -> |sums| <= 6940 * 29753
 * Memory: sums, other
 * Proof:  sum(1, 1)
 */
export function addSums(sums: usize, other: usize): void {
  for (const end = sums + SUMS; sums < end; sums += 16, other += 16) {
    v128.store(sums, i32x4.add(v128.load(sums), v128.load(other)));
  }
}

/** Adds one reduced accumulator to memory. */
// @ts-ignore: decorator
@inline
function flush(sums: usize, acc: v128, low: v128, inverseLow: v128): void {
  v128.store(sums, i32x4.add(v128.load(sums), mred(acc, low, inverseLow)));
}

/**
 * sumsA += <a, s>, sumsB += <b, s> over one block: two rows against one.
 *
 * Shape:  sumsA, sumsB: i32[6][64]; a, b, s: i16[6][4][16][16][2] -> sumsA, sumsB: i32[6][64]
 * Bounds: |sumsA| <= 6939 * 29753, |sumsB| <= 6939 * 29753, |a| <= (p + 1) / 2, |b| <= (p + 1) /
 *         2, |s| <= (p + 1) / 2 -> |sumsA| <= 6940 * 29753, |sumsB| <= 6940 * 29753
 * Memory: all five
 * Proof:  blockSums()
 */
export function twoProducts(sumsA: usize, sumsB: usize, a: usize, b: usize, s: usize): void {
  for (let table: usize = TABLES, end = TABLES + 6 * TABLE_SIZE; table < end; table += TABLE_SIZE) {
    const low = v128.load(table, T_P_LOW);
    const inverseLow = v128.load(table, T_INVERSE_LOW);
    for (const last = sumsA + 256; sumsA < last; sumsA += 64, sumsB += 64) {
      let a0 = i32x4.splat(0);
      let a1 = a0;
      let a2 = a0;
      let a3 = a0;
      let b0 = a0;
      let b1 = a0;
      let b2 = a0;
      let b3 = a0;
      for (const stop = s + 1024; s < stop; s += 64, a += 64, b += 64) {
        const s0 = v128.load(s);
        const s1 = v128.load(s, 16);
        const s2 = v128.load(s, 32);
        const s3 = v128.load(s, 48);
        a0 = mac(a0, v128.load(a), s0);
        a1 = mac(a1, v128.load(a, 16), s1);
        a2 = mac(a2, v128.load(a, 32), s2);
        a3 = mac(a3, v128.load(a, 48), s3);
        b0 = mac(b0, v128.load(b), s0);
        b1 = mac(b1, v128.load(b, 16), s1);
        b2 = mac(b2, v128.load(b, 32), s2);
        b3 = mac(b3, v128.load(b, 48), s3);
      }
      flush(sumsA, a0, low, inverseLow);
      flush(sumsA + 16, a1, low, inverseLow);
      flush(sumsA + 32, a2, low, inverseLow);
      flush(sumsA + 48, a3, low, inverseLow);
      flush(sumsB, b0, low, inverseLow);
      flush(sumsB + 16, b1, low, inverseLow);
      flush(sumsB + 32, b2, low, inverseLow);
      flush(sumsB + 48, b3, low, inverseLow);
    }
  }
}

/**
 * sums += <a, s> over one block.
 *
 * Shape:  sums: i32[6][64]; a, s: i16[6][4][16][16][2] -> sums: i32[6][64]
 * Bounds: |sums| <= 6939 * 29753, |a| <= (p + 1) / 2, |s| <= (p + 1) / 2 -> |sums| <= 6940 * 29753
 * Memory: all three
 * Proof:  blockSums()
 */
export function oneProduct(sums: usize, a: usize, s: usize): void {
  for (let table: usize = TABLES, end = TABLES + 6 * TABLE_SIZE; table < end; table += TABLE_SIZE) {
    const low = v128.load(table, T_P_LOW);
    const inverseLow = v128.load(table, T_INVERSE_LOW);
    for (const last = sums + 256; sums < last; sums += 64) {
      let a0 = i32x4.splat(0);
      let a1 = a0;
      let a2 = a0;
      let a3 = a0;
      for (const stop = s + 1024; s < stop; s += 64, a += 64) {
        a0 = mac(a0, v128.load(a), v128.load(s));
        a1 = mac(a1, v128.load(a, 16), v128.load(s, 16));
        a2 = mac(a2, v128.load(a, 32), v128.load(s, 32));
        a3 = mac(a3, v128.load(a, 48), v128.load(s, 48));
      }
      flush(sums, a0, low, inverseLow);
      flush(sums + 16, a1, low, inverseLow);
      flush(sums + 32, a2, low, inverseLow);
      flush(sums + 48, a3, low, inverseLow);
    }
  }
}

/**
 * sums[i][j] += <x_i, y_j> for all rows of x and y: commitments (x the key), linear garbage.
 *
 * The outer loop is over blocks, so that one block of every row stays in the second-level cache.
 *
 * Rows are xStride and yStride bytes apart.
 *
 * Shape:  sums: i32[xRows][yRows][6][64]; x: i16[xRows][blocks][6][4][16][16][2]; y:
 *         i16[yRows][blocks][6][4][16][16][2] -> sums: i32[xRows][yRows][6][64]
 * Bounds: |sums| <= (6940 - blocks) * 29753, |x| <= (p + 1) / 2, |y| <= (p + 1) / 2 -> |sums| <=
 *         6940 * 29753
 * Memory: all three
 * Proof:  rowProducts(), xRows yRows xStride yStride in {3 1 49152 49152}, blocks in {2, 1..6940}
 */
export function products(
  sums: usize,
  x: usize,
  xRows: i32,
  xStride: usize,
  y: usize,
  yRows: i32,
  yStride: usize,
  blocks: i32,
): void {
  const rowOfSums = <usize>yRows * SUMS;
  for (let block = 0; block < blocks; block++, x += BLOCK, y += BLOCK) {
    let yRow = y;
    for (let j = 0; j < yRows; j++, yRow += yStride) {
      let xRow = x;
      let to = sums + <usize>j * SUMS;
      let i = 0;
      for (; i + 2 <= xRows; i += 2, xRow += 2 * xStride, to += 2 * rowOfSums) {
        twoProducts(to, to + rowOfSums, xRow, xRow + xStride, yRow);
      }
      if (i < xRows) oneProduct(to, xRow, yRow);
    }
  }
}

/**
 * sums of <s_a, s_b> for all pairs a <= b: quadratic garbage.
 *
 * Rows are `stride` bytes apart; sums are in the order (0,0), (0,1), ..., (1,1), ...
 *
 * Shape:  sums: i32[rows * (rows + 1) / 2][6][64]; s: i16[rows][blocks][6][4][16][16][2] -> sums:
 *         i32[rows * (rows + 1) / 2][6][64]
 * Bounds: |sums| <= (6940 - blocks) * 29753, |s| <= (p + 1) / 2 -> |sums| <= 6940 * 29753
 * Memory: both
 * Proof:  rowProducts(symmetric), rows stride in {2 49152}, blocks in {2, 1..6940}
 */
export function pairProducts(sums: usize, s: usize, rows: i32, stride: usize, blocks: i32): void {
  for (let block = 0; block < blocks; block++, s += BLOCK) {
    let to = sums;
    let a = s;
    for (let i = 0; i < rows; i++, a += stride) {
      let b = a;
      let j = i;
      for (; j + 2 <= rows; j += 2, b += 2 * stride, to += 2 * SUMS) {
        twoProducts(to, to + SUMS, b, b + stride, a);
      }
      if (j < rows) {
        oneProduct(to, b, a);
        to += SUMS;
      }
    }
  }
}

/** Bytes of the prepared coefficients of two rows. */
export const COEFFICIENT_PAIR: usize = 3072;

/**
 * Prepares the coefficients of two rows of a combination.
 *
 * Per prime and position: (a, b, a, b).
 *
 * Shape:  a, b: i16[6][64] -> out: i16[6][64][4]
 * Memory: out, a, b
 * Proof:  alternating()
 */
export function prepareCoefficients(out: usize, a: usize, b: usize): void {
  for (const end = a + 768; a < end; a += 16, b += 16, out += 64) {
    const x = v128.load(a);
    const y = v128.load(b);
    const low = interleaveLow(x, y);
    const high = interleaveHigh(x, y);
    v128.store(out, v128.shuffle<u32>(low, low, 0, 0, 1, 1));
    v128.store(out, v128.shuffle<u32>(low, low, 2, 2, 3, 3), 16);
    v128.store(out, v128.shuffle<u32>(high, high, 0, 0, 1, 1), 32);
    v128.store(out, v128.shuffle<u32>(high, high, 2, 2, 3, 3), 48);
  }
}

/** Two rows, four positions of a column pair, times prepared coefficients: the low half. */
// @ts-ignore: decorator
@inline
function macLow(acc: v128, a: v128, b: v128, c: v128): v128 {
  return mac(acc, interleaveLow(a, b), c);
}

/** The high half. */
// @ts-ignore: decorator
@inline
function macHigh(acc: v128, a: v128, b: v128, c: v128): v128 {
  return mac(acc, interleaveHigh(a, b), c);
}

/**
 * Addresses of the rows of a combination, u32[32]: more than 32 products of NTT form could exceed
 * 2^31.
 */
export const ROWS: usize = memory.data(128, 16);

/**
 * out = sum of c_a x_a over the rows listed in ROWS, column by column: z, phi_z, combined
 * functionals.
 *
 * Longer combinations need several calls, with `out` as one of the rows and 1 as its coefficient.
 *
 * ROWS lists the addresses of the rows x, whose number is even and at most 32; `coefficients` has
 * COEFFICIENT_PAIR bytes for every two factors c. `out` may be one of the rows. All have `blocks`
 * blocks.
 *
 * Shape:  c: i16[rows][6][64]; x: i16[rows][blocks][6][4][16][16][2] -> out:
 *         i16[blocks][6][4][16][16][2]
 * Bounds: |c| <= (p + 1) / 2, |x| <= (p + 1) / 2 -> |out| <= (p + 1) / 2
 * Memory: out, rows, coefficients
 * Proof:  combination(), rows blocks in {2 1, 2 1..32768, 32 1..32768}
 */
export function combine(out: usize, rows: i32, coefficients: usize, blocks: i32): void {
  const lastRow = ROWS + (<usize>rows << 2);
  let offset: usize = 0;
  for (let block = 0; block < blocks; block++) {
    let group = coefficients;
    for (let table: usize = TABLES; table < TABLES + 6 * TABLE_SIZE; table += TABLE_SIZE) {
      const p = v128.load(table, T_P);
      const low = v128.load(table, T_P_LOW);
      const inverseLow = v128.load(table, T_INVERSE_LOW);
      for (const quarters = group + 512; group < quarters; group += 128) {
        for (const stop = offset + 1024; offset < stop; offset += 64) {
          let x0 = i32x4.splat(0);
          let x1 = x0;
          let x2 = x0;
          let x3 = x0;
          let x4 = x0;
          let x5 = x0;
          let x6 = x0;
          let x7 = x0;
          let c = group;
          for (let row: usize = ROWS; row < lastRow; row += 8, c += COEFFICIENT_PAIR) {
            const a = <usize>load<u32>(row) + offset;
            const b = <usize>load<u32>(row, 4) + offset;
            const a0 = v128.load(a);
            const b0 = v128.load(b);
            x0 = macLow(x0, a0, b0, v128.load(c));
            x1 = macHigh(x1, a0, b0, v128.load(c, 16));
            const a1 = v128.load(a, 16);
            const b1 = v128.load(b, 16);
            x2 = macLow(x2, a1, b1, v128.load(c, 32));
            x3 = macHigh(x3, a1, b1, v128.load(c, 48));
            const a2 = v128.load(a, 32);
            const b2 = v128.load(b, 32);
            x4 = macLow(x4, a2, b2, v128.load(c, 64));
            x5 = macHigh(x5, a2, b2, v128.load(c, 80));
            const a3 = v128.load(a, 48);
            const b3 = v128.load(b, 48);
            x6 = macLow(x6, a3, b3, v128.load(c, 96));
            x7 = macHigh(x7, a3, b3, v128.load(c, 112));
          }
          const to = out + offset;
          v128.store(to, joinHalves(x0, x1, table, p, low, inverseLow));
          v128.store(to, joinHalves(x2, x3, table, p, low, inverseLow), 16);
          v128.store(to, joinHalves(x4, x5, table, p, low, inverseLow), 32);
          v128.store(to, joinHalves(x6, x7, table, p, low, inverseLow), 48);
        }
      }
    }
  }
}

/** Joins two accumulators to eight lanes of NTT form. */
// @ts-ignore: decorator
@inline
function joinHalves(x: v128, y: v128, table: usize, p: v128, low: v128, inverseLow: v128): v128 {
  const lanes = i16x8.narrow_i32x4_s(mred(x, low, inverseLow), mred(y, low, inverseLow));
  return finish(lanes, table + T_AFTER_MRED, table, p);
}
