/**
 * Coefficients of f and g: the round-3 reference's Gaussian for n = 1024 (sigma = 1.17 sqrt(q /
 * 2048)), two of them added for n = 512, from one stream of SHAKE256.
 *
 * One draw uses 16 bytes, two little-endian words:
 *
 *   | sign (top bit), 63 bits: zero if below P(0) | top bit ignored, 63 bits: magnitude |
 *
 *   STREAM   0        1088                1156
 *            | bytes  | values i8[68]     |
 */
import { highHalves, lowHalves } from '../shared/lanes';
import { shakeSqueeze } from '../shared/keccak';
import { STREAM } from './keygenLayout';
import { GAUSS, GAUSS_WORDS } from './keygenTables.gen';
import { SHAKE } from './layout';

const BYTES: i32 = 1088;
const DRAWS: i32 = 68;
const VALUES: usize = STREAM + 1088;

/** Number of consumed values of the buffer. */
let used: i32 = DRAWS;

/** Discards the rest of an earlier stream. */
export function gaussianInit(): void {
  used = DRAWS;
}

/** Two values from their magnitudes' words and their first words, stored at out. */
// @ts-ignore: decorator
@inline
function storeTwo(out: usize, first: v128, magnitude: v128, zeroBelow: v128, positive: v128): void {
  const negative = i64x2.shr_s(first, 63);
  const zero = i64x2.gt_s(zeroBelow, v128.and(first, positive));
  const value = i64x2.sub(v128.xor(v128.andnot(magnitude, zero), negative), negative);
  store<i8>(out, <i8>i64x2.extract_lane(value, 0));
  store<i8>(out, <i8>i64x2.extract_lane(value, 1), 1);
}

/** Makes the next 68 draws. */
function drawMore(): void {
  shakeSqueeze(SHAKE, STREAM, BYTES);
  const positive = i64x2.splat(0x7fffffffffffffff);
  const zeroBelow = v128.load64_splat(GAUSS);
  for (let i = 0; i < DRAWS; i += 4) {
    const at = STREAM + (<usize>i << 4);
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const ab = v128.and(highHalves(a, b), positive);
    const cd = v128.and(highHalves(c, d), positive);
    // 1 + the number of words that exceed the second number: the whole table is read
    let abMagnitude = i64x2.splat(1);
    let cdMagnitude = abMagnitude;
    for (let k = GAUSS + 8; k < GAUSS + (<usize>GAUSS_WORDS << 3); k += 8) {
      const word = v128.load64_splat(k);
      abMagnitude = i64x2.sub(abMagnitude, i64x2.gt_s(word, ab));
      cdMagnitude = i64x2.sub(cdMagnitude, i64x2.gt_s(word, cd));
    }
    storeTwo(VALUES + i, lowHalves(a, b), abMagnitude, zeroBelow, positive);
    storeTwo(VALUES + i + 2, lowHalves(c, d), cdMagnitude, zeroBelow, positive);
  }
  used = 0;
}

/** Draws a single coefficient. */
function nextCoefficient(logn: i32): i32 {
  if (used == DRAWS) drawMore();
  let x = <i32>load<i8>(VALUES + used);
  // draws are used in pairs or singly, and their number is even
  if (logn == 9) x += <i32>load<i8>(VALUES + used, 1);
  used += 11 - logn;
  return x;
}

/**
 * Draws the next n coefficients, as many at a time as are available; writes up to 15 bytes beyond.
 */
function nextPolynomial(f: usize, logn: i32): void {
  for (const end = f + (<usize>1 << logn); f < end; ) {
    if (used == DRAWS) drawMore();
    const from = VALUES + used;
    let count: usize;
    if (logn == 9) {
      count = min<usize>((DRAWS - used) >> 1, end - f);
      for (let i: usize = 0; i < count; i += 8) {
        const sums = i16x8.extadd_pairwise_i8x16_s(v128.load(from + 2 * i));
        store<u64>(f + i, i64x2.extract_lane(i8x16.narrow_i16x8_s(sums, sums), 0));
      }
      used += <i32>(2 * count);
    } else {
      count = min<usize>(DRAWS - used, end - f);
      for (let i: usize = 0; i < count; i += 16) v128.store(f + i, v128.load(from + i));
      used += <i32>count;
    }
    f += count;
  }
}

/** 1 if the sum of i8[n] is odd, else 0. */
export function parityOf(a: usize, n: i32): i32 {
  let bits = i8x16.splat(0);
  for (const end = a + n; a < end; a += 16) bits = v128.xor(bits, v128.load(a));
  return popcnt(i8x16.bitmask(i8x16.shl(bits, 7))) & 1;
}

/**
 * The sum stays even this often with probability 2^-256: the source of randomness is then broken.
 */
export const MAX_REDRAWS: i32 = 256;

/**
 * Samples f or g, with an odd sum of coefficients (else its resultant would be even).
 *
 * Spec:   Falcon round 3, Algorithm 5, line 2; the reference's use of bytes: only the last
 *         coefficient is drawn again until the sum is odd
 * Shape:  SHAKE (flipped) -> f: i8[n]
 * Bounds: |f| <= 26, or 52 for n = 512 (so the reference's check against 127 can never fail)
 * Memory: f and 15 bytes beyond, SHAKE, STREAM
 * Secret: f; the number of redraws of the last coefficient reveals nothing about the kept
 *         coefficients but their parity
 * Errors: false after MAX_REDRAWS
 * Proof:  none: redraws the last coefficient until the sum is odd
 */
export function sampleSmall(f: usize, logn: i32): bool {
  const n = 1 << logn;
  const last = f + n - 1;
  nextPolynomial(f, logn);
  let odd = parityOf(f, n);
  for (let redraws = 0; !odd; redraws++) {
    if (redraws == MAX_REDRAWS) return false;
    const x = nextCoefficient(logn);
    odd = (<i32>load<i8>(last) ^ x) & 1;
    store<i8>(last, x);
  }
  return true;
}
