/**
 * Challenges and commitment keys, expanded in the module (docs/protocol.md, 5 and 6.1): each
 * function selects a stream and calls its sampler.
 */
import { shake256 } from '../../falcon/points.ts';
import { ascii } from '../../shared/bytes.ts';
import { type Forms, type Labrador, SMALL_BYTES, type Smalls, type Vecs } from '../wasm.ts';
import { FUNCTIONALS } from './constants.ts';
import { vecsToFill } from './forms.ts';
import { writeKeys } from './keyCache.ts';
import { liftsOf } from './lifts.ts';
import { PROJECTION_LENGTH } from './projection.ts';
import type { Values } from './ring.ts';
import { KEYS_LABEL, STREAM } from './transcript.ts';

/** A seed in the module's memory, for the streams of one level. */
export class Seed {
  readonly #lab: Labrador;
  /** The address of its 32 bytes. */
  readonly at: number;
  readonly level: number;

  /** Valid until the enclosing scope ends. */
  constructor(lab: Labrador, seed: Uint8Array, level: number) {
    this.#lab = lab;
    this.at = lab.put(seed);
    this.level = level;
  }

  /** Selects a stream. */
  start(type: number, sub: number, index: number): void {
    this.#lab.stream(this.at, this.#word(type, sub), index);
  }

  /** Returns the address of the key and the two words of the nonce that select a stream. */
  nonce(type: number, sub: number, index: number): [number, number, number] {
    return [this.at, this.#word(type, sub), index];
  }

  #word(type: number, sub: number): number {
    return type + 256 * this.level + 65_536 * sub;
  }
}

/** The seed of the matrix of commitment keys, shared by all levels. */
export const keysSeed = (lab: Labrador): Seed =>
  new Seed(lab, shake256([ascii(KEYS_LABEL)], 32).slice(), 0);

/** Columns `from` (a multiple of 32) to `to - 1` of the first rows of the matrix of keys. */
export function expandKeys(
  lab: Labrador,
  rows: number,
  { from = 0, to }: { from?: number; to: number },
  width = to - from,
): Vecs {
  const vecs = vecsToFill(lab, width, new Array<number>(rows).fill(to - from));
  lab.scope(() => writeKeys(lab, keysSeed(lab), lab.addresses(vecs), { from, to }));
  return vecs;
}

/**
 * Small polynomials of one type, each from its own stream: indexes `first` to `first + count - 1`.
 */
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
    sample(out.at + SMALL_BYTES * i);
  }
  return out;
}

/** alpha_i of items 0 to count - 1. */
export const sampleAlphas = (lab: Labrador, seed: Seed, count: number): Smalls =>
  sampleSmalls(lab, seed, [STREAM.alpha, 0], [0, count], lab.kernels.sampleAlpha);

/** c_a of rows 0 to count - 1. */
export const sampleCs = (lab: Labrador, seed: Seed, count: number): Smalls =>
  sampleSmalls(lab, seed, [STREAM.amortise, 0], [0, count], lab.kernels.sampleC);

/** Short challenges of one kind, indexes `first` to `first + count - 1`. */
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

/** Fills forms with polynomials that are needed in NTT form only. */
export function fillForms(lab: Labrador, forms: Forms, sample: () => Smalls): Forms {
  lab.scope(() => lab.kernels.smallsToForms(forms.at, sample().at, forms.count));
  return forms;
}

/** Fills forms with c_a, one for every row. */
export const fillRowChallenges = (lab: Labrador, seed: Seed, c: Forms): Forms =>
  fillForms(lab, c, () => sampleCs(lab, seed, c.count));

/** The NTT forms of short challenges of one kind, indexes `first` to `first + count - 1`. */
export const shortForms = (
  lab: Labrador,
  seed: Seed,
  kind: number,
  first: number,
  count: number,
): Forms => fillForms(lab, lab.forms(count), () => sampleShorts(lab, seed, kind, first, count));

/** Scalars of the lifts of a level, k = 0 first: i64[lifts][count], centred. */
function sampleScalars(lab: Labrador, seed: Seed, type: number, count: number): number {
  const lifts = liftsOf(seed.level).count;
  const at = lab.room(8 * lifts * count);
  for (let k = 0; k < lifts; k++) {
    seed.start(type, k, 0);
    lab.kernels.uniformScalars(at + 8 * count * k, count);
  }
  return at;
}

/**
 * omega^(k), i64[lifts][137][2], centred: omega_j,0 and omega_j,1 of every pair of rows. Prepares
 * the kernels that collapse the projection.
 */
export function prepareOmega(lab: Labrador, seed: Seed): number {
  const at = sampleScalars(lab, seed, STREAM.omega, PROJECTION_LENGTH);
  lab.kernels.collapseStart(at, liftsOf(seed.level).count);
  return at;
}

/**
 * The first words of omega^(k), centred, for every lift: those of the projection, followed by those
 * of the other statements proved by the lifts of the level.
 */
export function sampleOmegas(lab: Labrador, seed: Seed, count: number): Values[] {
  return lab.scope(() => {
    const at = sampleScalars(lab, seed, STREAM.omega, count);
    const buffer = lab.kernels.memory.buffer;
    return Array.from({ length: liftsOf(seed.level).count }, (_, k) =>
      new BigInt64Array(buffer, at + 8 * count * k, count).slice(),
    );
  });
}

/** theta^(k): i64[3][10], centred. Prepares the kernels of the functionals. */
export function prepareTheta(lab: Labrador, seed: Seed): number {
  const at = sampleScalars(lab, seed, STREAM.theta, FUNCTIONALS);
  lab.kernels.functionalsStart(at);
  return at;
}

/** psi_i^(k), eight bytes at an address. */
export function samplePsi(lab: Labrador, seed: Seed, k: number, item: number, at: number): void {
  seed.start(STREAM.psi, k, item);
  lab.kernels.uniformScalars(at, 1);
}

/** eta_i^(k), centred, at an address. */
export function sampleEta(lab: Labrador, seed: Seed, k: number, item: number, at: number): void {
  seed.start(STREAM.eta, k, item);
  lab.kernels.uniformPoly(at);
}

/**
 * rho^(j) of an item: n values mod p, centred, at an address; the 256 bytes after them are
 * overwritten.
 */
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

/** Selects the projection matrix of a level. */
export function startProjection(seed: Seed): void {
  seed.start(STREAM.projection, 0, 0);
}
