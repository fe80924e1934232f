/**
 * What the fixed labels of the format lead to, run through once: the words of the commitment keys,
 * and how many candidates for a challenge of a fold pass its test. Both are facts about one string
 * of bytes each.
 */
import { createHash } from 'node:crypto';
import type { TableRow } from '../../src/aggregate/parameters/rows.ts';
import { C_L1, D, FOLD_MAGNITUDES, Q, T_SQ } from './constants.ts';
import { readShorter } from './shorter.ts';

const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const ROUNDS = 8;
const BLOCK_BYTES = 64;
/** Label and type of the stream of commitment keys (p. 5.1, 6.1). */
export const KEYS_LABEL = 'falconry commitment keys v2';
export const KEYS_STREAM = 10;
/** Columns that end with a block, and their blocks: 2816 bits a column. */
const COLUMNS_TOGETHER = 2;
const BLOCKS_TOGETHER = 11;

const shake256 = (label: string, outputLength: number): Buffer =>
  createHash('shake256', { outputLength }).update(label).digest();

function quarter(s: Int32Array, a: number, b: number, c: number, d: number): void {
  let x = s[a]!;
  let y = s[b]!;
  let z = s[c]!;
  let w = s[d]!;
  x = (x + y) | 0;
  w ^= x;
  w = (w << 16) | (w >>> 16);
  z = (z + w) | 0;
  y ^= z;
  y = (y << 12) | (y >>> 20);
  x = (x + y) | 0;
  w ^= x;
  w = (w << 8) | (w >>> 24);
  z = (z + w) | 0;
  y ^= z;
  s[a] = x;
  s[b] = (y << 7) | (y >>> 25);
  s[c] = z;
  s[d] = w;
}

/** A block of ChaCha8: `start` is the state with its block counter. */
export function chacha8(start: Int32Array, out: Int32Array): void {
  const s = start.slice();
  for (let round = 0; round < ROUNDS; round += 2) {
    for (let i = 0; i < 4; i++) quarter(s, i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++) {
      quarter(s, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
    }
  }
  for (let i = 0; i < 16; i++) out[i] = s[i]! + start[i]!;
}

/** How many columns each row of the one key matrix needs for all rows of the table. */
export function keyColumns(table: readonly TableRow[]): number[] {
  const columns: number[] = [];
  const need = (rank: number, count: number): void => {
    for (let row = 0; row < rank; row++) columns[row] = Math.max(columns[row] ?? 0, count);
  };
  for (const { levels, tail } of table.map(readShorter)) {
    for (const level of levels) {
      const { n, kappa, kappa1, r, fu, fg, pairs, quarters, hidden } = level;
      need(kappa, n);
      // v_t and v_g in one commitment, v_h in the other; at level 0 v_t is split
      need(kappa1, fu * r * kappa + fg * pairs);
      need(kappa1, fu * pairs);
      need(quarters, hidden);
    }
    need(tail.kappa, tail.n);
  }
  return columns;
}

/**
 * Words of 44 bits at or above q, in a whole number of pairs of them. Their upper 32 bits are all
 * ones.
 */
export function wordsBeyond(bytes: Uint8Array): number {
  const least = 4096 - Number((1n << 44n) - Q);
  let count = 0;
  for (let at = 0; at < bytes.length; at += 11) {
    const low = bytes[at]! + 256 * (bytes[at + 1]! & 15);
    const high = (bytes[at + 5]! >> 4) + 16 * bytes[at + 6]!;
    const lowOnes = (bytes[at + 1]! >> 4) + 16 * (bytes[at + 5]! & 15);
    const between = bytes[at + 2]! & bytes[at + 3]! & bytes[at + 4]!;
    const above = bytes[at + 7]! & bytes[at + 8]! & bytes[at + 9]! & bytes[at + 10]!;
    if (low >= least && lowOnes === 255 && between === 255) count++;
    if (high >= least && above === 255) count++;
  }
  return count;
}

/**
 * @param columns of every row of the matrix
 * @returns how many words of the key are at or above q. With none the key is what rejection would
 * give.
 */
export function foldedKeyWords(columns: readonly number[]): number {
  const key = shake256(KEYS_LABEL, 32);
  const start = new Int32Array(16);
  start.set(CONSTANTS);
  for (let i = 0; i < 8; i++) start[4 + i] = key.readInt32LE(4 * i);
  start[13] = KEYS_STREAM;
  const words = new Int32Array((BLOCK_BYTES / 4) * BLOCKS_TOGETHER);
  const bytes = new Uint8Array(words.buffer);
  let count = 0;
  for (const [row, width] of columns.entries()) {
    start[14] = row;
    start[12] = 0;
    for (let column = 0; column < width; column += COLUMNS_TOGETHER) {
      for (let block = 0; block < BLOCKS_TOGETHER; block++) {
        chacha8(start, words.subarray(16 * block, 16 * (block + 1)));
        start[12]!++;
      }
      count += wordsBeyond(bytes);
    }
  }
  return count;
}

const SAMPLE_LABEL = 'falconry share of challenges';
export const SAMPLES = 20_000;
/**
 * What the check asks for. If half of all candidates or fewer passed, so large a share would have a
 * probability below 2^-144.
 */
export const LEAST_ACCEPTED = 0.55;
/** Bytes of a candidate: 8 of signs, and 68 on average. */
const SAMPLE_BYTES = 100;

/** Candidates for c, one after the other, as docs/protocol.md draws them (5.4). */
function* candidates(bytes: Uint8Array): Generator<Int32Array> {
  const magnitudes = FOLD_MAGNITUDES.flatMap((count, i) => new Array<number>(count).fill(i + 1));
  const first = D - magnitudes.length;
  for (let at = 0; ; ) {
    const signs = at;
    at += 8;
    const c = new Int32Array(D);
    for (const [e, magnitude] of magnitudes.entries()) {
      let k = D;
      while (k > first + e) k = bytes[at++]! & 63;
      const isNegative = ((bytes[signs + (e >> 3)]! >> (e & 7)) & 1) === 1;
      c[first + e] = c[k]!;
      c[k] = isNegative ? -magnitude : magnitude;
    }
    yield c;
  }
}

/**
 * The nearest integers to 2^30 cos(pi j/64): for k = 1, 3, ... those of kt, then those of kt + 96.
 */
const COSINES = Float64Array.from({ length: 2 * D * (D / 2) }, (_, at) => {
  const k = 2 * Math.floor(at / (2 * D)) + 1;
  const t = at % D;
  const j = k * t + (at % (2 * D) < D ? 0 : 96);
  return Math.round(2 ** 30 * Math.cos((Math.PI * (j % (2 * D))) / D));
});

/**
 * Whether the squared operator norm is at most T_SQ - 1, up to the rounding of the test; all sums
 * are exact.
 */
function isAccepted(c: Int32Array): boolean {
  const limit = (T_SQ - 1) * 2 ** 40;
  for (let at = 0; at < COSINES.length; at += 2 * D) {
    let re = 0;
    let im = 0;
    for (let t = 0; t < D; t++) {
      re += c[t]! * COSINES[at + t]!;
      im += c[t]! * COSINES[at + D + t]!;
    }
    re = Math.floor(re / 1024);
    im = Math.floor(im / 1024);
    if (re * re + im * im > limit) return false;
  }
  return true;
}

/**
 * How many of SAMPLES candidates from a fixed label pass: a certificate, since the hash function
 * knows nothing of norms, that more than half of all polynomials with these coefficients are
 * challenges (Chernoff's bound).
 */
export function acceptedCandidates(): number {
  const draw = candidates(shake256(SAMPLE_LABEL, SAMPLES * SAMPLE_BYTES));
  let count = 0;
  for (let i = 0; i < SAMPLES; i++) {
    const c = draw.next().value as Int32Array;
    if (c.reduce((sum, x) => sum + Math.abs(x), 0) !== C_L1) throw new Error('a wrong challenge');
    if (isAccepted(c)) count++;
  }
  return count;
}
