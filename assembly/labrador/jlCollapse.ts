/**
 * The transpose of the projection: sigma of the sum of omega_j row_j of a polynomial, for two or
 * three lifts at once, omega_j = omega_j0 + omega_j1 X^32.
 *
 * Eight bits of a coefficient, those of rows 8k to 8k + 7, select one of 256 subset sums of their
 * omega. The sum of 17 of these, one for each k, is a coefficient of G_0 = sum omega_j0 row_j and
 * of G_1 = sum omega_j1 row_j; then, as sigma(row_j) X^32 = sigma(X^-32 row_j),
 *
 *   H = G_0 + X^-32 G_1     H_c = G_0,c + G_1,c+32     H_c+32 = G_0,c+32 - G_1,c     (c < 32)
 *   F = sigma(H)            F_0 = H_0                  F_64-c = -H_c                 (c > 0)
 */
import { highHalves, lowHalves } from '../shared/lanes';
import { OK } from '../shared/status';
import { bitsOf } from './jlProjection';
import { EXCESS, Q } from './modulus.gen';
import { INDEX, SUBSETS, sumThree, sumTwo } from './jlSums.gen';
import { centrePair, PAIRS } from './zq';

/** Sums of eight rows: 136 / 8. */
const OCTETS: usize = 17;
/** Bytes of a row's omega, (omega_j0, omega_j1), and of a lift's. */
const OMEGA: usize = 16;
const OMEGAS: usize = 2192;
/**
 * A multiple of q, slightly less than 2^53 (by about 2^16): every |H| <= 34 * 2^47 + 2^44 is
 * smaller.
 */
const BIAS: i64 = Q << 9;
/** 2^44 mod q, twice. */
const EXCESSES: usize = memory.data<i64>([EXCESS, EXCESS], 16);
/**
 * The contribution of the last row, ones at the lower half, to G_0 and G_1: an entry of SUBSETS.
 */
const LAST: usize = memory.data(48, 16);
/** The results of sumTwo and sumThree. */
const SUMS: usize = memory.data(2048, 64);

/** Stores omega of one row as an entry of SUBSETS. */
function storeOmega(entry: usize, omega: usize, lifts: i32): void {
  const a = v128.load(omega);
  const b = v128.load(omega, OMEGAS);
  v128.store(entry, lowHalves(a, b));
  v128.store(entry, highHalves(a, b), 16);
  for (let lift = 2; lift < lifts; lift++) v128.store(entry, v128.load(omega, 2 * OMEGAS), 32);
}

/**
 * Prepares the collapse by omega.
 *
 * Shape:  omega: i64[lifts][137][2], lifts 2 or 3: the pairs (omega_j0, omega_j1)
 * Bounds: |omega| <= 2^44, any representatives -> |subset sum| <= 2^47
 * Memory: omega, SUBSETS, LAST
 * Proof:  none: proved with collapseTwo and collapseThree
 */
export function collapseStart(omega: usize, lifts: i32): i32 {
  const entry = <usize>lifts << 4;
  let table = SUBSETS;
  for (let octet: usize = 0; octet < OCTETS; octet++, table += entry << 8) {
    memory.fill(table, 0, entry);
    for (let half = entry; half < entry << 8; half += half, omega += OMEGA) {
      // the sums so far, repeated with this row added
      storeOmega(LAST, omega, lifts);
      for (let at = table; at < table + half; at += entry) {
        for (let i: usize = 0; i < entry; i += 16) {
          v128.store(at + half + i, i64x2.add(v128.load(at + i), v128.load(LAST + i)));
        }
      }
    }
  }
  storeOmega(LAST, omega, lifts);
  return OK;
}

/** Computes INDEX of a polynomial, for entries of this many bytes: at most 255 * 48. */
function findEntries(bits: usize, entry: i32): void {
  const scale = v128.splat<i16>(<i16>entry);
  for (let to: usize = INDEX; to < INDEX + 2176; to += 128, bits += 64) {
    joinNibbles(to, v128.load(bits), v128.load(bits, 32), scale);
    joinNibbles(to + 64, v128.load(bits, 16), v128.load(bits, 48), scale);
  }
}

/**
 * Joins the low nibbles of a and b to bytes, then the high ones; those of b are the upper halves.
 */
// @ts-ignore: decorator
@inline
function joinNibbles(to: usize, a: v128, b: v128, scale: v128): void {
  const low = i8x16.splat(15);
  storeScaled(to, v128.bitselect(a, i16x8.shl(b, 4), low), scale);
  storeScaled(to + 32, v128.bitselect(i16x8.shr_u(a, 4), b, low), scale);
}

// @ts-ignore: decorator
@inline
function storeScaled(to: usize, octets: v128, scale: v128): void {
  v128.store(to, i16x8.mul(i16x8.extend_low_i8x16_u(octets), scale));
  v128.store(to, i16x8.mul(i16x8.extend_high_i8x16_u(octets), scale), 16);
}

/** x + BIAS mod q, centred, of two values, given with the bias: 0 <= x + BIAS < 2^54. */
// @ts-ignore: decorator
@inline
function reduced(biased: v128): v128 {
  // both factors fit 16 bits; the upper three words of a lane are zero
  const product = i32x4.dot_i16x8_s(i64x2.shr_u(biased, 44), v128.load(EXCESSES));
  return centrePair(i64x2.add(v128.and(biased, v128.load(PAIRS)), product));
}

/** Lifts 0 and 1 at a column: minus H with the bias, which is F at `place`. */
// @ts-ignore: decorator
@inline
function storeTwo(place: usize, minusH: v128): void {
  const x = reduced(minusH);
  v128.store64_lane(place, x, 0);
  v128.store64_lane(place, x, 1, 512);
}

/** The place of a column in sigma; column 0 keeps its place. */
// @ts-ignore: decorator
@inline
function placeOf(column: usize): usize {
  return ((64 - column) & 63) << 3;
}

/** Coefficient 0 keeps its sign in sigma. */
// @ts-ignore: decorator
@inline
function negateFirst(out: usize): void {
  store<i64>(out, -load<i64>(out));
}

/**
 * sigma(sum_j omega_j^(k) row_j) of polynomials first to first + count - 1, for two lifts k.
 *
 * Call collapseStart for two lifts first. |H| <= 34 * 2^47 + 2^44 < BIAS.
 *
 * Spec:   docs/protocol.md, 8.4: the part of F that comes from the projection
 * Shape:  -> out: i64[count][2][64]
 * Bounds: -> |out| <= (q - 1) / 2
 * Memory: out, STREAM, INDEX, SUMS
 * Proof:  collapse(collapseStart, 2), first count in {0 4}
 */
export function collapseTwo(out: usize, first: i32, count: i32): void {
  const bias = i64x2.splat(BIAS);
  const last = i64x2.sub(bias, v128.load(LAST));
  const lastAbove = i64x2.add(bias, v128.load(LAST, 16));
  for (let i = 0; i < count; i++, out += 1024) {
    findEntries(bitsOf(first, i, count), 32);
    sumTwo(SUMS);
    for (let column: usize = 0, at: usize = SUMS; column < 32; column++, at += 32) {
      storeTwo(out + placeOf(column), i64x2.sub(last, v128.load(at)));
      storeTwo(out + placeOf(column + 32), i64x2.sub(lastAbove, v128.load(at, 16)));
    }
    negateFirst(out);
    negateFirst(out + 512);
  }
}

/**
 * Like `collapseTwo`, for three lifts.
 *
 * Call collapseStart for three lifts first.
 *
 * Spec:   docs/protocol.md, 7.6
 * Shape:  -> out: i64[count][3][64]
 * Bounds: -> |out| <= (q - 1) / 2
 * Memory: out, STREAM, INDEX, SUMS
 * Proof:  collapse(collapseStart, 3), first count in {0 4}
 */
export function collapseThree(out: usize, first: i32, count: i32): void {
  const bias = i64x2.splat(BIAS);
  const last = i64x2.sub(bias, v128.load(LAST));
  const lastAbove = i64x2.add(bias, v128.load(LAST, 16));
  const lastThird = v128.load(LAST, 32);
  for (let i = 0; i < count; i++, out += 1536) {
    findEntries(bitsOf(first, i, count), 48);
    sumThree(SUMS);
    for (let column: usize = 0, at: usize = SUMS; column < 32; column++, at += 64) {
      const place = out + placeOf(column);
      const above = out + placeOf(column + 32);
      storeTwo(place, i64x2.sub(last, v128.load(at)));
      storeTwo(above, i64x2.sub(lastAbove, v128.load(at, 16)));
      const third = i64x2.add(v128.load(at, 32), lastThird);
      const thirdAbove = v128.load(at, 48);
      const x = lowHalves(third, thirdAbove);
      const y = highHalves(thirdAbove, third);
      // -(G_0,c + G_1,c+32) and -(G_0,c+32 - G_1,c)
      const minusH = v128.shuffle<u64>(i64x2.neg(i64x2.add(x, y)), i64x2.sub(y, x), 0, 3);
      const z = reduced(i64x2.add(minusH, bias));
      v128.store64_lane(place, z, 0, 1024);
      v128.store64_lane(above, z, 1, 1024);
    }
    negateFirst(out);
    negateFirst(out + 512);
    negateFirst(out + 1024);
  }
}
