/** Sections 5.2 to 5.4 and 6.1: challenges and commitment keys from streams. */
import { createHash } from 'node:crypto';
import { DEGREE, FALCON_Q, Q } from './ring.ts';
import { type ByteSource, blockOf, integerOf, pairOfWords, STREAM, stream } from './streams.ts';

/** 5.3: rows of the projection that are random; one that sums lower halves follows them. */
export const RANDOM_ROWS = 136;
export const ROWS = RANDOM_ROWS + 1;

/** 5.2: the first `count` words below q. */
export function scalars(source: ByteSource, count: number): bigint[] {
  const found: bigint[] = [];
  while (found.length < count) {
    for (const word of pairOfWords(source.take(11), 0)) {
      if (word < Q && found.length < count) found.push(word);
    }
  }
  return found;
}

/** 5.2: ρ, centred modulo p. */
export function functionalOf(source: ByteSource, degree: number): number[] {
  const found: number[] = [];
  while (found.length < degree) {
    const [low, high] = source.take(2);
    const word = low! + 256 * high!;
    if (word < 5 * FALCON_Q) found.push(centredModP(word));
  }
  return found;
}

/** The representative in [-6144, 6144]. */
export function centredModP(x: number): number {
  const r = ((x % FALCON_Q) + FALCON_Q) % FALCON_Q;
  return r > (FALCON_Q - 1) / 2 ? r - FALCON_Q : r;
}

/** 5.2: coefficients of three bits, minus 4. */
export function shortPolynomial(source: ByteSource): number[] {
  const bits = integerOf(source.take(24));
  return Array.from({ length: DEGREE }, (_, j) => Number((bits >> BigInt(3 * j)) & 7n) - 4);
}

/**
 * 5.3: the 137 x 64 entries of one polynomial, row by row.
 *
 * @param polynomial its number POLY at this level
 */
export function projectionOf(seed: Uint8Array, level: number, polynomial: number): Int8Array {
  const entries = new Int8Array(ROWS * DEGREE);
  const name = { type: STREAM.projection, level };
  const groups = RANDOM_ROWS / 4;
  for (let g = 0; g < groups; g += 2) {
    // two groups share a block
    const block = blockOf(seed, name, (groups * polynomial + g) / 2);
    for (const [at, value] of block.entries()) {
      const group = g + (at >> 5);
      const c = (at & 16) * 2 + (at & 15);
      for (let j = 0; j < 4; j++) {
        entries[DEGREE * (4 * group + j) + c] = (value >> j) & 1;
        entries[DEGREE * (4 * group + j) + c + 16] = (value >> (4 + j)) & 1;
      }
    }
  }
  return entries.fill(1, DEGREE * RANDOM_ROWS, DEGREE * RANDOM_ROWS + DEGREE / 2);
}

/** An element a + b X^32 of S_q. */
export type Pair = readonly [a: bigint, b: bigint];

/**
 * Σ_j σ(ω_j) π_j over the integers, which is σ of the form of 7.6 and 8.4. Since σ(X^32) = -X^32,
 * the second part of ω_j brings the upper half down and the lower half up with a minus sign. A sum
 * of 274 numbers below 2^44 is exact in a double.
 */
export function collapse(entries: Int8Array, omega: readonly Pair[]): bigint[] {
  const form = new Float64Array(DEGREE);
  const half = DEGREE / 2;
  for (const [j, pair] of omega.entries()) {
    const [a, b] = pair.map(Number) as [number, number];
    const row = DEGREE * j;
    for (let c = 0; c < half; c++) {
      const lower = entries[row + c]!;
      const upper = entries[row + c + half]!;
      form[c]! += a * lower + b * upper;
      form[c + half]! += a * upper - b * lower;
    }
  }
  return Array.from(form, BigInt);
}

/**
 * 5.4, one attempt, in the places after the first `zeros`: `ones` of magnitude 1, `twos` of 2, the
 * rest 3.
 */
function signedPolynomial(source: ByteSource, zeros: number, ones: number, twos: number): number[] {
  const signs = integerOf(source.take(8));
  const x = new Array<number>(DEGREE).fill(0);
  for (let pos = zeros; pos < DEGREE; pos++) {
    let k: number;
    do k = source.take(1)[0]! & 63;
    while (k > pos);
    const e = pos - zeros;
    const magnitude = e < ones ? 1 : e < ones + twos ? 2 : 3;
    x[pos] = x[k]!;
    x[k] = (signs >> BigInt(e)) & 1n ? -magnitude : magnitude;
  }
  return x;
}

export const alphaOf = (source: ByteSource): number[] => signedPolynomial(source, 21, 30, 13);

/** c, and how many attempts it took. */
export function amortiserOf(source: ByteSource): { c: number[]; attempts: number } {
  for (let attempts = 1; ; attempts++) {
    const c = signedPolynomial(source, 22, 28, 12);
    if (operatorNormHolds(c)) return { c, attempts };
  }
}

const FIRST_COSINES = [
  1073741824, 1072448455, 1068571464, 1062120190, 1053110176, 1041563127, 1027506862, 1010975242,
  992008094, 970651112, 946955747, 920979082, 892783698, 862437520, 830013654, 795590213, 759250125,
  721080937, 681174602, 639627258, 596538995, 552013618, 506158392, 459083786, 410903207, 361732726,
  311690799, 260897982, 209476638, 157550647, 105245103, 52686014, 0,
];

/** Nearest integer to 2^30 cos(πj/64), any j >= 0. */
export function cosine(j: number): number {
  const at = j % 128;
  if (at > 64) return cosine(128 - at);
  return at > 32 ? -FIRST_COSINES[64 - at]! : FIRST_COSINES[at]!;
}

/** 5.4: whether |c|² is at most 376 at every complex place. */
export function operatorNormHolds(c: readonly number[]): boolean {
  const limit = 376n << 40n;
  for (let k = 1; k < DEGREE; k += 2) {
    let re = 0;
    let im = 0;
    for (let t = 0; t < DEGREE; t++) {
      re += c[t]! * cosine(k * t);
      im += c[t]! * cosine(k * t + 96);
    }
    const x = BigInt(Math.floor(re / 1024));
    const y = BigInt(Math.floor(im / 1024));
    if (x * x + y * y > limit) return false;
  }
  return true;
}

const KEY = createHash('shake256', { outputLength: 32 })
  .update('falconry commitment keys v2')
  .digest();

/** 6.1: the first `columns` elements of a row of M. */
export function keyRow(row: number, columns: number): bigint[][] {
  const source = stream(KEY, { type: STREAM.key, level: 0, index: row });
  return Array.from({ length: columns }, () => {
    const bytes = source.take((44 * DEGREE) / 8);
    const element: bigint[] = [];
    for (let at = 0; at < bytes.length; at += 11) {
      for (const word of pairOfWords(bytes, at)) element.push(word >= Q ? word - Q : word);
    }
    return element;
  });
}
