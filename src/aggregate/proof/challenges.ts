/** Challenges and keys expanded in the module (docs/protocol.md, 5 and 6.1): each function chooses a stream and calls its sampler. */
import { ascii } from '../../bytes.ts';
import { shake256 } from '../../falcon/points.ts';
import type { Coefs, Forms, Labrador, Smalls, Vecs } from '../wasm.ts';
import { KEYS_LABEL, STREAM } from './labels.ts';
import { FUNCTIONALS, LIFTS, ROWS_OF_PROJECTION } from './shapes.ts';

/** Bytes of a small polynomial, of one mod q, of one in NTT form. */
export const SMALL = 128;
export const COEFS = 512;
export const FORM = 768;
export const SUMS = 1536;

/** A seed in the module's memory, for the streams of one level. */
export class Seed {
  readonly #lab: Labrador;
  /** Where its 32 bytes stand. */
  readonly at: number;
  readonly #level: number;

  /** Lives as long as the scope in which it is made. */
  constructor(lab: Labrador, seed: Uint8Array, level: number) {
    this.#lab = lab;
    this.at = lab.put(seed);
    this.#level = level;
  }

  /** Chooses a stream. */
  start(type: number, sub: number, index: number): void {
    this.#lab.stream(this.at, this.#word(type, sub), index);
  }

  /** What chooses a stream: the address of the key, two words of the nonce. */
  nonce(type: number, sub: number, index: number): [number, number, number] {
    return [this.at, this.#word(type, sub), index];
  }

  #word(type: number, sub: number): number {
    return type + 256 * this.#level + 65_536 * sub;
  }
}

/** The seed of the commitment keys. */
export const keysSeed = (lab: Labrador, level: number): Seed =>
  new Seed(lab, shake256([ascii(KEYS_LABEL)], 32).slice(), level);

/** Columns and bytes of a block of a row, see wasm.ts. */
export const BLOCK_COLUMNS = 32;
export const BLOCK_BYTES = 24_576;

/** Bytes of a row of columns. */
export const vecBytes = (columns: number): number =>
  BLOCK_BYTES * Math.ceil(columns / BLOCK_COLUMNS);

/**
 * Rows whose columns 0 to `filled[row] - 1` are about to be written: those stay as they are, the others are zero. Clearing all
 * would touch the largest vectors once more.
 */
export function vecsToFill(lab: Labrador, columns: number, filled: readonly number[]): Vecs {
  const rows = filled.length;
  const stride = vecBytes(columns);
  const blocks = stride / BLOCK_BYTES;
  const at = lab.room(stride * rows);
  for (const [row, count] of filled.entries()) {
    const from = BLOCK_BYTES * Math.floor(count / BLOCK_COLUMNS);
    lab.bytes(at + stride * row + from, stride - from).fill(0);
  }
  return { kind: 'vecs', at, rows, columns, blocks, stride };
}

/** Makes the rows of `vecs` zero if the last block to be used will not be full. */
export function clearRest(lab: Labrador, vecs: Vecs, count: number): void {
  if (count % BLOCK_COLUMNS === 0) return;
  const from = BLOCK_BYTES * Math.floor(count / BLOCK_COLUMNS);
  for (let i = 0; i < vecs.rows; i++) lab.bytes(lab.row(vecs, i) + from, BLOCK_BYTES).fill(0);
}

/** Columns `from` (a multiple of 32) to `to - 1` of a matrix of keys. */
export function expandKeys(
  lab: Labrador,
  level: number,
  matrix: number,
  rows: number,
  { from = 0, to }: { from?: number; to: number },
  width = to - from,
): Vecs {
  const vecs = vecsToFill(lab, width, new Array<number>(rows).fill(to - from));
  // column c of the stream is written as column c
  const skipped = BLOCK_BYTES * (from / BLOCK_COLUMNS);
  lab.scope(() => {
    const seed = keysSeed(lab, level);
    for (let row = 0; row < rows; row++) {
      seed.start(STREAM.keys, matrix, row);
      lab.kernels.expandKey(lab.row(vecs, row) - skipped, from, to - from);
    }
  });
  return vecs;
}

/** Small polynomials of one type, each of a stream of its own: indexes `first` to `first + count - 1`. */
function sampleSmalls(
  lab: Labrador,
  seed: Seed,
  [type, sub]: readonly [type: number, sub: number],
  [first, count]: readonly [first: number, count: number],
  sample: (out: number) => unknown,
): Smalls {
  const out = lab.smalls(count);
  for (let i = 0; i < count; i++) {
    seed.start(type, sub, first + i);
    sample(out.at + SMALL * i);
  }
  return out;
}

/** alpha_i of items 0 to count - 1. */
export const sampleAlphas = (lab: Labrador, seed: Seed, count: number): Smalls =>
  sampleSmalls(lab, seed, [STREAM.alpha, 0], [0, count], lab.kernels.sampleAlpha);

/** c_a of rows 0 to count - 1. */
export const sampleCs = (lab: Labrador, seed: Seed, count: number): Smalls =>
  sampleSmalls(lab, seed, [STREAM.amortise, 0], [0, count], lab.kernels.sampleC);

/** Short challenges of a kind, indexes `first` to `first + count - 1`. */
export const sampleShorts = (
  lab: Labrador,
  seed: Seed,
  kind: number,
  first: number,
  count: number,
): Smalls => sampleSmalls(lab, seed, [STREAM.short, kind], [first, count], lab.kernels.sampleShort);

/** tau_t of parts 0 to count - 1. */
export const sampleTaus = (lab: Labrador, seed: Seed, count: number): Smalls =>
  sampleSmalls(lab, seed, [STREAM.tau, 0], [0, count], lab.kernels.sampleShort);

/** Small polynomials (|x| <= 8192) in NTT form. */
export function formsOf(lab: Labrador, smalls: Smalls): Forms {
  const out = lab.forms(smalls.count);
  lab.kernels.smallsToForms(out.at, smalls.at, smalls.count);
  return out;
}

/** omega^(k): i64[3][265], centred. Also readies the collapse. */
export function prepareOmega(lab: Labrador, seed: Seed): number {
  const at = lab.room(8 * LIFTS * ROWS_OF_PROJECTION);
  for (let k = 0; k < LIFTS; k++) {
    seed.start(STREAM.omega, k, 0);
    lab.kernels.uniformScalars(at + 8 * ROWS_OF_PROJECTION * k, ROWS_OF_PROJECTION);
  }
  lab.kernels.collapseStart(at);
  return at;
}

/** theta^(k): i64[3][10], centred. Also readies the functionals. */
export function prepareTheta(lab: Labrador, seed: Seed): number {
  const at = lab.room(8 * LIFTS * FUNCTIONALS);
  for (let k = 0; k < LIFTS; k++) {
    seed.start(STREAM.theta, k, 0);
    lab.kernels.uniformScalars(at + 8 * FUNCTIONALS * k, FUNCTIONALS);
  }
  lab.kernels.functionalsStart(at);
  return at;
}

/** psi_i^(k) at an address of eight bytes. */
export function samplePsi(lab: Labrador, seed: Seed, k: number, item: number, at: number): void {
  seed.start(STREAM.psi, k, item);
  lab.kernels.uniformScalars(at, 1);
}

/** eta_i^(k), centred. */
export function sampleEta(lab: Labrador, seed: Seed, k: number, item: number, at: number): void {
  seed.start(STREAM.eta, k, item);
  lab.kernels.uniformPoly(at);
}

/** rho^(j) of an item: n values mod p, centred, at `at`, where 256 bytes more are overwritten. */
export function sampleRho(
  lab: Labrador,
  seed: Seed,
  j: number,
  item: number,
  at: number,
  n: number,
): void {
  seed.start(STREAM.rho, j, item);
  lab.kernels.uniformModP(at, n);
}

/** Chooses the level's projection matrix. */
export function startProjection(seed: Seed, counter: number): void {
  seed.start(STREAM.projection, 0, counter);
}

/** A copy of polynomials mod q as they stand, for packing and tests. */
export const readCoefs = (lab: Labrador, coefs: Coefs): BigInt64Array => lab.i64(coefs).slice();
