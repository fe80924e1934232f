/**
 * Coefficients of f and g: the round-3 reference's Gaussian for n = 1024 (sigma = 1.17 sqrt(q / 2048)),
 * two of them added for n = 512, from one stream of SHAKE256.
 *
 * One draw takes 16 bytes, two little-endian words:
 *
 *   | sign (top bit), 63 bits: zero if below P(0) | top bit ignored, 63 bits: magnitude |
 *
 *   STREAM   0        1088                1156
 *            | bytes  | values i8[68]     |
 */
import { shakeSqueeze } from '../shared/keccak';
import { STREAM } from './keygenLayout';
import { GAUSS, GAUSS_WORDS } from './keygenTables.gen';
import { SHAKE } from './layout';

const BYTES: i32 = 1088;
const DRAWS: i32 = 68;
const VALUES: usize = STREAM + 1088;

/** Values of the buffer that are used up. */
let used: i32 = DRAWS;

/** Forgets what is left of an earlier stream. */
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

/** First words of two draws. */
// @ts-ignore: decorator
@inline
function firstWords(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

/** Second words of two draws. */
// @ts-ignore: decorator
@inline
function secondWords(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

/** The next 68 draws. */
function refill(): void {
  shakeSqueeze(SHAKE, STREAM, BYTES);
  const positive = i64x2.splat(0x7fffffffffffffff);
  const zeroBelow = v128.load64_splat(GAUSS);
  for (let i = 0; i < DRAWS; i += 4) {
    const at = STREAM + (<usize>i << 4);
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const ab = v128.and(secondWords(a, b), positive);
    const cd = v128.and(secondWords(c, d), positive);
    // 1 + how many words exceed the second number: the whole table is read
    let abMagnitude = i64x2.splat(1);
    let cdMagnitude = abMagnitude;
    for (let k = GAUSS + 8; k < GAUSS + (<usize>GAUSS_WORDS << 3); k += 8) {
      const word = v128.load64_splat(k);
      abMagnitude = i64x2.sub(abMagnitude, i64x2.gt_s(word, ab));
      cdMagnitude = i64x2.sub(cdMagnitude, i64x2.gt_s(word, cd));
    }
    storeTwo(VALUES + i, firstWords(a, b), abMagnitude, zeroBelow, positive);
    storeTwo(VALUES + i + 2, firstWords(c, d), cdMagnitude, zeroBelow, positive);
  }
  used = 0;
}

// @ts-ignore: decorator
@inline
function nextValue(): i32 {
  if (used == DRAWS) refill();
  return <i32>load<i8>(VALUES + used++);
}

// @ts-ignore: decorator
@inline
function nextCoefficient(logn: i32): i32 {
  let x = nextValue();
  if (logn == 9) x += nextValue();
  return x;
}

/**
 * Samples f or g, with an odd sum of coefficients (else its resultant would be even).
 *
 * Spec:   Falcon round 3, Algorithm 5, line 2; the reference's use of bytes: only the last coefficient
 *         is drawn again until the sum is odd
 * Shape:  SHAKE (flipped) -> f: i8[n]
 * Bounds: |f| <= 26, or 52 for n = 512 (so the reference's check against 127 can never fail)
 * Memory: f, SHAKE, STREAM
 * Secret: f; how often the last coefficient is drawn tells nothing about those kept but their parity
 */
export function sampleSmall(f: usize, logn: i32): void {
  const last = (1 << logn) - 1;
  let parity = 0;
  for (let i = 0; i < last; i++) {
    const x = nextCoefficient(logn);
    parity ^= x;
    store<i8>(f + i, x);
  }
  let x = nextCoefficient(logn);
  while (((parity ^ x) & 1) == 0) x = nextCoefficient(logn);
  store<i8>(f + last, x);
}
