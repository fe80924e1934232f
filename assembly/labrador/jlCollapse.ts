/**
 * The transpose of the projection: sigma of the sum of omega_j row_j of a polynomial, for two or
 * three lifts at once, omega_j = omega_j0 + omega_j1 X^32.
 *
 * Eight bits of a coefficient, those of rows 8k to 8k + 7, choose one of 256 subset sums of their
 * omega. 17 of these sums, one for each k, are a coefficient of G_0 = sum omega_j0 row_j and of
 * G_1 = sum omega_j1 row_j; then, as sigma(row_j) X^32 = sigma(X^-32 row_j),
 *
 *   H = G_0 + X^-32 G_1     H_c = G_0,c + G_1,c+32     H_c+32 = G_0,c+32 - G_1,c     (c < 32)
 *   F = sigma(H)            F_0 = H_0                  F_64-c = -H_c                 (c > 0)
 */
import { highHalves, lowHalves } from '../shared/lanes';
import { OK } from '../shared/status';
import { bitsOf } from './jlProjection';
import { centrePair, foldPair } from './zq';

/** Sums of eight rows: 136 / 8. */
const OCTETS: usize = 17;
/** Bytes of a row's omega, (omega_j0, omega_j1), and of a lift's. */
const OMEGA: usize = 16;
const OMEGAS: usize = 2192;

/**
 * Subset sums, i64[17][256][2 lifts], of G_0 and G_1: lifts 0 and 1 of G_0, lifts 0 and 1 of G_1,
 * then, if there are three, lift 2 of G_0 and G_1.
 */
const SUBSETS: usize = memory.data(208896, 64);
/** Entries of two and of three lifts. */
const TWO: usize = 32;
const THREE: usize = 48;
/** What the last row, ones at the lower half, adds: an entry. */
const LAST: usize = memory.data(48, 16);
/** The bits of a polynomial by octets, u8[17][64]. */
const INDEX: usize = memory.data(1088, 64);

/** omega of one row as an entry. */
function storeOmega(entry: usize, omega: usize, lifts: i32): void {
  const a = v128.load(omega);
  const b = v128.load(omega, OMEGAS);
  v128.store(entry, lowHalves(a, b));
  v128.store(entry, highHalves(a, b), 16);
  if (lifts == 3) v128.store(entry, v128.load(omega, 2 * OMEGAS), 32);
}

/**
 * Prepares the collapse by omega.
 *
 * Shape:  omega: i64[lifts][137][2], lifts 2 or 3: the pairs (omega_j0, omega_j1)
 * Bounds: |omega| <= 2^44, any representatives; subset sums are at most 2^47
 * Memory: omega, SUBSETS, LAST
 */
export function collapseStart(omega: usize, lifts: i32): i32 {
  const entry = <usize>lifts << 4;
  let table = SUBSETS;
  for (let octet: usize = 0; octet < OCTETS; octet++, table += entry << 8) {
    memory.fill(table, 0, entry);
    for (let count = entry; count < entry << 8; count += count, omega += OMEGA) {
      // the sums without this row, once more with it
      const top = table + count;
      storeOmega(LAST, omega, lifts);
      for (let at: usize = 0; at < count; at += entry) {
        for (let i: usize = 0; i < entry; i += 16) {
          const sum = i64x2.add(v128.load(table + at + i), v128.load(LAST + i));
          v128.store(top + at + i, sum);
        }
      }
    }
  }
  storeOmega(LAST, omega, lifts);
  return OK;
}

/** INDEX of a polynomial. */
function gatherOctets(bits: usize): void {
  for (let to: usize = INDEX; to < INDEX + 1088; to += 64, bits += 64) {
    joinNibbles(to, v128.load(bits), v128.load(bits, 32));
    joinNibbles(to + 32, v128.load(bits, 16), v128.load(bits, 48));
  }
}

/** Low nibbles of a and b become bytes at `to`, high ones behind them; those of b are above. */
// @ts-ignore: decorator
@inline
function joinNibbles(to: usize, a: v128, b: v128): void {
  const low = i8x16.splat(15);
  v128.store(to, v128.bitselect(a, i16x8.shl(b, 4), low));
  v128.store(to, v128.bitselect(i16x8.shr_u(a, 4), b, low), 16);
}

// @ts-ignore: decorator
@inline
function reduced(x: v128): v128 {
  return centrePair(foldPair(x));
}

/** Two values to the same place of two polynomials. */
// @ts-ignore: decorator
@inline
function storeTwo(out: usize, x: v128): void {
  v128.store64_lane(out, x, 0);
  v128.store64_lane(out, x, 1, 512);
}

/** The place of column c in sigma; that of column 0 is its own. */
// @ts-ignore: decorator
@inline
function placeOf(column: usize): usize {
  return ((64 - column) & 63) << 3;
}

/**
 * sigma(sum_j omega_j^(k) row_j) of polynomials first to first + count - 1, for two lifts k.
 *
 * Spec:   docs/protocol.md, 8.4
 * Shape:  out: i64[count][2][64], centred mod q
 * Bounds: |sums| <= 34 * 2^47 + 2^44 < 2^53
 * Memory: out, STREAM, INDEX; collapseStart for two lifts comes before
 */
export function collapseTwo(out: usize, first: i32, count: i32): void {
  for (let i = 0; i < count; i++, out += 1024) {
    gatherOctets(bitsOf(first, i, count));
    for (let column: usize = 0; column < 32; column++) {
      // minus H of this column and of the one 32 above
      let low = i64x2.neg(v128.load(LAST));
      let high = v128.load(LAST, 16);
      let at = INDEX + column;
      for (let t: usize = SUBSETS; t < SUBSETS + OCTETS * 256 * TWO; t += 256 * TWO, at += 64) {
        const a = t + TWO * <usize>load<u8>(at);
        const b = t + TWO * <usize>load<u8>(at, 32);
        low = i64x2.sub(i64x2.sub(low, v128.load(a)), v128.load(b, 16));
        high = i64x2.add(i64x2.sub(high, v128.load(b)), v128.load(a, 16));
      }
      storeTwo(out + placeOf(column), reduced(low));
      storeTwo(out + placeOf(column + 32), reduced(high));
    }
    for (let at = out; at < out + 1024; at += 512) store<i64>(at, -load<i64>(at));
  }
}

/**
 * The same for three lifts.
 *
 * Spec:   docs/protocol.md, 7.6: the part of F that comes from the projection
 * Shape:  out: i64[count][3][64], centred mod q
 * Bounds: as collapseTwo
 * Memory: out, STREAM, INDEX; collapseStart for three lifts comes before
 */
export function collapseThree(out: usize, first: i32, count: i32): void {
  for (let i = 0; i < count; i++, out += 1536) {
    gatherOctets(bitsOf(first, i, count));
    for (let column: usize = 0; column < 32; column++) {
      let low = i64x2.neg(v128.load(LAST));
      let high = v128.load(LAST, 16);
      // lift 2 of G_0 and G_1 in this column, and in the one above
      let third = v128.load(LAST, 32);
      let thirdAbove = i64x2.splat(0);
      let at = INDEX + column;
      for (let t: usize = SUBSETS; t < SUBSETS + OCTETS * 256 * THREE; t += 256 * THREE, at += 64) {
        const a = t + THREE * <usize>load<u8>(at);
        const b = t + THREE * <usize>load<u8>(at, 32);
        low = i64x2.sub(i64x2.sub(low, v128.load(a)), v128.load(b, 16));
        high = i64x2.add(i64x2.sub(high, v128.load(b)), v128.load(a, 16));
        third = i64x2.add(third, v128.load(a, 32));
        thirdAbove = i64x2.add(thirdAbove, v128.load(b, 32));
      }
      const place = out + placeOf(column);
      const above = out + placeOf(column + 32);
      storeTwo(place, reduced(low));
      storeTwo(above, reduced(high));
      const x = lowHalves(third, thirdAbove);
      const y = highHalves(thirdAbove, third);
      v128.store64_lane(place, reduced(i64x2.neg(i64x2.add(x, y))), 0, 1024);
      v128.store64_lane(above, reduced(i64x2.sub(y, x)), 1, 1024);
    }
    for (let at = out; at < out + 1536; at += 512) store<i64>(at, -load<i64>(at));
  }
}
