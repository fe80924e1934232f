/** Sections 5.2 to 5.4 and 6.1 of docs/protocol.md: challenges and keys from seeds. */
import { createHash } from 'node:crypto';
import { add, centred, D, FALCON_Q, mod, type Poly, Q, reduce, sigma } from './ring.ts';
import { BLOCK_BYTES, type ByteSource, chacha8, nonceOf, stream, words44 } from './streams.ts';

/** Rows of the projection, each of which stands for a pair: the random ones, and row 136. */
export const JL_ROWS = 137;
const RANDOM_ROWS = JL_ROWS - 1;
const GROUP_BYTES = 32;
/** The bytes of the stream that one polynomial owns: 17 blocks. */
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

/** An element a + b i of S_q, i = X^32. */
export type Pair = readonly [bigint, bigint];

/** The first scalars of a lift, two words each: omega_0, ..., and behind them others (8.5). */
export function omegas(seed: Uint8Array, level: number, k: number, count = JL_ROWS): Pair[] {
  const list = scalars(stream(seed, nonceOf('omega', level, k, 0)), 2 * count);
  return Array.from({ length: count }, (_, j) => [list[2 * j]!, list[2 * j + 1]!]);
}

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

/** The kinds of 10.2, numbered from 1; behind them chi of docs/merged.md, 1.5. */
const KINDS = [
  'lift',
  'outer',
  'garbage',
  'amortised',
  'quadratic',
  'constraint',
  'padding',
  'part',
] as const;
export type ShortKind = (typeof KINDS)[number];

export const short = (seed: Uint8Array, level: number, kind: ShortKind, index: number): Poly =>
  shortPolynomial(stream(seed, nonceOf('short', level, KINDS.indexOf(kind) + 1, index)).bytes(24));

/**
 * The entries pi_j of polynomial number `number`: entry 64 j + c for row j and coefficient c, each
 * 0 or 1; row 136 is 1 at the lower half of the coefficients.
 */
export function projectionOf(seed: Uint8Array, level: number, number: number): Int8Array {
  const nonce = nonceOf('projection', level, 0, 0);
  const bytes = new Uint8Array(BLOCKS * BLOCK_BYTES);
  for (let i = 0; i < BLOCKS; i++) {
    bytes.set(chacha8(seed, BLOCKS * number + i, nonce), BLOCK_BYTES * i);
  }
  const out = new Int8Array(JL_ROWS * D);
  out.fill(1, RANDOM_ROWS * D, RANDOM_ROWS * D + D / 2);
  for (let row = 0; row < RANDOM_ROWS; row++) {
    const group = bytes.subarray(GROUP_BYTES * Math.floor(row / 4));
    const entries = out.subarray(row * D, (row + 1) * D);
    for (let c = 0; c < entries.length; c++) {
      // coefficients 0..15 and 32..47 are low nibbles, the others high ones
      const byte = (c < 32 ? 0 : 16) + (c % 16);
      const nibble = c % 32 < 16 ? 0 : 4;
      entries[c] = (group[byte]! >> (nibble + (row % 4))) & 1;
    }
  }
  return out;
}

/** One candidate of 5.4: inside out, with these magnitudes in the last places. */
function signed(source: ByteSource, magnitudes: readonly bigint[]): bigint[] {
  const signs = new DataView(source.bytes(8).buffer).getBigUint64(0, true);
  const x = new Array<bigint>(D).fill(0n);
  const z0 = D - magnitudes.length;
  for (const [e, magnitude] of magnitudes.entries()) {
    const pos = z0 + e;
    let k = source.bytes(1)[0]! & 63;
    while (k > pos) k = source.bytes(1)[0]! & 63;
    x[pos] = x[k]!;
    x[k] = (signs >> BigInt(e)) & 1n ? -magnitude : magnitude;
  }
  return x;
}

const times = (count: number, magnitude: bigint): bigint[] =>
  new Array<bigint>(count).fill(magnitude);
const ALPHA = [...times(30, 1n), ...times(13, 2n)];
const C = [...times(28, 1n), ...times(12, 2n), ...times(2, 3n)];

export const alpha = (seed: Uint8Array, level: number, item: number): Poly =>
  signed(stream(seed, nonceOf('alpha', level, 0, item)), ALPHA);

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

/** Whether no |c(zeta)|^2 exceeds 376, in the integers of 5.4. */
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
    if (re * re + im * im > 376n << 40n) return false;
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
    const c = signed(source, C);
    if (passesNormTest(c)) return { c, attempts };
  }
}

const COMMITMENT_SEED = new Uint8Array(
  createHash('shake256', { outputLength: 32 }).update('falconry commitment keys v2').digest(),
);

interface KeyRow {
  readonly next: () => bigint;
  readonly elements: Poly[];
}
const keyRows: KeyRow[] = [];

/** Section 6.1: the first elements of a row of M, coefficients in [0, q). */
export function keyRow(row: number, columns: number): Poly[] {
  const known = (keyRows[row] ??= {
    next: words44(stream(COMMITMENT_SEED, nonceOf('keys', 0, 0, row))),
    elements: [],
  });
  const coefficient = (): bigint => {
    const word = known.next();
    return word >= Q ? word - Q : word;
  };
  while (known.elements.length < columns) {
    known.elements.push(Array.from({ length: D }, coefficient));
  }
  return known.elements.slice(0, columns);
}

/** Rows 0 to rank - 1 of M, as many columns of each as a vector has polynomials. */
export const keyMatrix = (rank: number, columns: number): Poly[][] =>
  Array.from({ length: rank }, (_, row) => keyRow(row, columns));

/** X^32 times a polynomial. */
const timesI = (a: Poly): Poly => a.map((_, c) => (c < D / 2 ? -a[c + D / 2]! : a[c - D / 2]!));

/** Sum of omega_j sigma(pi_j) modulo q, for each list of omegas: the form of a lift at a place. */
export function collapse(entries: Int8Array, weights: readonly (readonly Pair[])[]): Poly[] {
  // 137 numbers below 2^44 sum to less than 2^53: exact
  const sumOf = (list: readonly Pair[], part: 0 | 1): Poly => {
    const sums = new Float64Array(D);
    for (const [j, omega] of list.entries()) {
      const w = Number(omega[part]);
      const row = entries.subarray(j * D, (j + 1) * D);
      for (let c = 0; c < row.length; c++) sums[c] = sums[c]! + w * row[c]!;
    }
    return sigma(Array.from(sums, BigInt));
  };
  return weights.map((list) => reduce(add(sumOf(list, 0), timesI(sumOf(list, 1)))));
}
