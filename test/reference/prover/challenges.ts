/** Sections 5.2 to 5.4 and 6.1 of docs/protocol.md: challenges and keys from seeds. */
import { createHash } from 'node:crypto';
import { centred, D, FALCON_Q, mod, type Poly, Q, sigma } from './ring.ts';
import { BLOCK_BYTES, type ByteSource, chacha12, nonceOf, stream, words44 } from './streams.ts';

/** Rows of the projection: the random ones, and that of ones. */
export const JL_ROWS = 265;
const RANDOM_ROWS = JL_ROWS - 1;
const GROUP_BYTES = 32;
/** The bytes of the stream that one polynomial owns: 33 blocks. */
const BLOCKS = (GROUP_BYTES * RANDOM_ROWS) / 4 / BLOCK_BYTES;
const RHO_LIMIT = 5 * 12289;

/** 44-bit words below q; the others are skipped. */
export function scalars(source: ByteSource, count: number): bigint[] {
  const next = words44(source);
  const out: bigint[] = [];
  while (out.length < count) {
    const word = next();
    if (word < Q) out.push(word);
  }
  return out;
}

export const omegas = (seed: Uint8Array, level: number, k: number): bigint[] =>
  scalars(stream(seed, nonceOf('omega', level, k, 0)), JL_ROWS);
export const thetas = (seed: Uint8Array, level: number, k: number): bigint[] =>
  scalars(stream(seed, nonceOf('theta', level, k, 0)), 10);
export const psi = (seed: Uint8Array, level: number, k: number, item: number): bigint =>
  scalars(stream(seed, nonceOf('psi', level, k, item)), 1)[0]!;
export const eta = (seed: Uint8Array, level: number, k: number, item: number): Poly =>
  scalars(stream(seed, nonceOf('eta', level, k, item)), D);

/** Coefficients of rho, centred modulo 12289. */
export function rho(seed: Uint8Array, level: number, j: number, item: number, n: number): bigint[] {
  const source = stream(seed, nonceOf('rho', level, j, item));
  const out: bigint[] = [];
  while (out.length < n) {
    const [low, high] = source.bytes(2);
    const word = low! + 256 * high!;
    if (word < RHO_LIMIT) out.push(centred(mod(BigInt(word), FALCON_Q), FALCON_Q));
  }
  return out;
}

/** 24 bytes as a bit string: coefficient j is bits 3j..3j+2, minus 4. */
export function shortPolynomial(bytes: Uint8Array): Poly {
  let all = 0n;
  for (const [i, byte] of bytes.entries()) all |= BigInt(byte) << BigInt(8 * i);
  return Array.from({ length: D }, (_, j) => ((all >> BigInt(3 * j)) & 7n) - 4n);
}

/** The factor of part t in the challenges of the places of Y: one for all items and lifts. */
export const tau = (seed: Uint8Array, level: number, t: number): Poly =>
  shortPolynomial(stream(seed, nonceOf('tau', level, 0, t)).bytes(24));

/** The kinds of 10.2, numbered from 1. */
const KINDS = [
  'lift',
  'outer',
  'garbage',
  'amortised',
  'quadratic',
  'constraint',
  'padding',
] as const;
export type ShortKind = (typeof KINDS)[number];

export const short = (seed: Uint8Array, level: number, kind: ShortKind, index: number): Poly =>
  shortPolynomial(stream(seed, nonceOf('short', level, KINDS.indexOf(kind) + 1, index)).bytes(24));

/**
 * The entries pi_j of polynomial number `number`: entry 64 j + c for row j and coefficient c, each
 * 0 or 1, in row 264 always 1.
 */
export function projectionOf(
  seed: Uint8Array,
  level: number,
  counter: number,
  number: number,
): Int8Array {
  const nonce = nonceOf('projection', level, 0, counter);
  const bytes = new Uint8Array(BLOCKS * BLOCK_BYTES);
  for (let i = 0; i < BLOCKS; i++) {
    bytes.set(chacha12(seed, BLOCKS * number + i, nonce), BLOCK_BYTES * i);
  }
  const out = new Int8Array(JL_ROWS * D).fill(1);
  for (let row = 0; row < RANDOM_ROWS; row++) {
    const group = bytes.subarray(GROUP_BYTES * Math.floor(row / 4));
    for (let c = 0; c < D; c++) {
      // coefficients 0..15 and 32..47 are low nibbles, the others high ones
      const byte = (c < 32 ? 0 : 16) + (c % 16);
      const nibble = c % 32 < 16 ? 0 : 4;
      out[row * D + c] = (group[byte]! >> (nibble + (row % 4))) & 1;
    }
  }
  return out;
}

/** One candidate of 5.4: inside out, from place z0. */
function signed(source: ByteSource, z0: number, ones: number): bigint[] {
  const signs = new DataView(source.bytes(8).buffer).getBigUint64(0, true);
  const x = new Array<bigint>(D).fill(0n);
  for (let pos = z0; pos < D; pos++) {
    let k = source.bytes(1)[0]! & 63;
    while (k > pos) k = source.bytes(1)[0]! & 63;
    const e = pos - z0;
    const magnitude = e < ones ? 1n : 2n;
    x[pos] = x[k]!;
    x[k] = (signs >> BigInt(e)) & 1n ? -magnitude : magnitude;
  }
  return x;
}

export const alpha = (seed: Uint8Array, level: number, item: number): Poly =>
  signed(stream(seed, nonceOf('alpha', level, 0, item)), 21, 30);

// biome-ignore format: a table
const QUARTER_COSINE = [
  1073741824, 1072448455, 1068571464, 1062120190, 1053110176, 1041563127, 1027506862, 1010975242,
  992008094, 970651112, 946955747, 920979082, 892783698, 862437520, 830013654, 795590213,
  759250125, 721080937, 681174602, 639627258, 596538995, 552013618, 506158392, 459083786,
  410903207, 361732726, 311690799, 260897982, 209476638, 157550647, 105245103, 52686014,
  0,
];

/** The nearest integer to 2^30 cos(pi j/64). */
export function cosine(j: number): number {
  const at = ((j % 128) + 128) % 128;
  if (at > 64) return cosine(128 - at);
  return at > 32 ? -QUARTER_COSINE[64 - at]! : QUARTER_COSINE[at]!;
}

/** Whether no |c(zeta)| exceeds 21, in the integers of 5.4. */
export function passesNormTest(c: Poly): boolean {
  for (let k = 1; k < D; k += 2) {
    let re = 0n;
    let im = 0n;
    for (const [t, x] of c.entries()) {
      re += x * BigInt(cosine(k * t));
      im += x * BigInt(cosine(k * t + 96));
    }
    re >>= 10n;
    im >>= 10n;
    if (re * re + im * im > 441n << 40n) return false;
  }
  return true;
}

/** Challenges of row a until one passes; also how many were tried. */
export function amortising(
  seed: Uint8Array,
  level: number,
  row: number,
): { c: Poly; attempts: number } {
  const source = stream(seed, nonceOf('amortise', level, 0, row));
  for (let attempts = 1; ; attempts++) {
    const c = signed(source, 15, 29);
    if (passesNormTest(c)) return { c, attempts };
  }
}

/** Section 6.1. */
export const MATRICES = Object.freeze({ A: 0, B: 1, BA: 1, BB: 2, C: 3, D: 4 } as const);

const COMMITMENT_SEED = new Uint8Array(
  createHash('shake256', { outputLength: 32 }).update('falconry commitment keys v1').digest(),
);

/** One row of a matrix of commitment keys, coefficients in [0, q). */
export function keyRow(level: number, matrix: number, row: number, columns: number): Poly[] {
  const next = words44(stream(COMMITMENT_SEED, nonceOf('keys', level, matrix, row)));
  const coefficient = (): bigint => {
    const word = next();
    return word >= Q ? word - Q : word;
  };
  return Array.from({ length: columns }, () => Array.from({ length: D }, coefficient));
}

export const keyMatrix = (level: number, matrix: number, rows: number, columns: number): Poly[][] =>
  Array.from({ length: rows }, (_, row) => keyRow(level, matrix, row, columns));

/** Sum of pi_j(X^-1) weight_j modulo q, for each list of weights: the form of a lift at a place. */
export function collapse(entries: Int8Array, weights: readonly (readonly bigint[])[]): Poly[] {
  return weights.map((list) => {
    // 265 numbers below 2^44 sum to less than 2^53: exact
    const sums = new Float64Array(D);
    for (const [j, weight] of list.entries()) {
      const w = Number(weight);
      for (let c = 0; c < D; c++) sums[c] = sums[c]! + w * entries[j * D + c]!;
    }
    return sigma(Array.from(sums, BigInt)).map((x) => mod(x, Q));
  });
}
