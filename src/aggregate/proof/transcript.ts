/**
 * The transcript (docs/protocol.md, 4), and every label, stream number and domain separator of the
 * proof (4, 5.1, 6.1 and 10.2). The state of 64 bytes absorbs every message and yields every seed.
 */
import { shake256 } from '../../falcon/points.ts';
import { ascii, concat } from '../../shared/bytes.ts';
import type { MergedParameters, Parameters } from '../parameters/rows.ts';
import { i32Bytes, packResidues } from './bits.ts';
import {
  type OrdinaryFields,
  type ProjectionFields,
  projectionsOf,
  type TailFields,
} from './fields.ts';

/** Labels of `absorb`, in the order of a section; a part and a merge start in their own way. */
export const ABSORB = Object.freeze({
  start: 'falconry/proof/v3',
  part: 'falconry/part/v1',
  merge: 'falconry/merge/v1',
  header: 'header',
  retry: 'retry',
  uA: 'uA',
  uB: 'uB',
  u1: 'u1',
  counter: 'counter',
  y: 'y',
  b: 'b',
  u2: 'u2',
  t: 't',
  h: 'h',
} as const);

/** Labels of `seed`. */
export const SEED = Object.freeze({
  alpha: 'alpha',
  jl: 'jl',
  rho: 'rho',
  lift: 'lift',
  combine: 'combine',
  amortise: 'amortise',
} as const);

/** Labels of `seal`. */
export const SEAL = Object.freeze({ t: 't', h: 'h' } as const);

/** Types of streams (5.1). */
export const STREAM = Object.freeze({
  alpha: 1,
  projection: 2,
  rho: 3,
  omega: 4,
  theta: 5,
  psi: 6,
  eta: 7,
  short: 8,
  amortise: 9,
  keys: 10,
  tau: 11,
} as const);

/** Kinds of short challenges (10.2). */
export const SHORT = Object.freeze({
  lift: 1,
  outer: 2,
  garbage: 3,
  amortised: 4,
  quadratic: 5,
  constraint: 6,
  padding: 7,
  /** of a part (docs/merged.md, 1.5) */
  part: 8,
} as const);

/** The label from which the matrix of commitment keys is expanded. */
export const KEYS_LABEL = 'falconry commitment keys v2';

const STATE_BYTES = 64;
const SEED_BYTES = 32;
const KIND = { absorb: 1, seed: 2, seal: 3 } as const;

/** An event of the transcript, as passed to a trace. */
export type TraceEvent =
  | { kind: 'absorb'; label: string; data: Uint8Array; st: Uint8Array }
  | { kind: 'seed'; label: string; seed: Uint8Array }
  | { kind: 'seal'; label: string; data: Uint8Array; seal: Uint8Array };
export type Trace = (event: TraceEvent) => void;

export class Transcript {
  /**
   * The state. Its bytes are never modified, so saving and restoring it undoes everything in
   * between.
   */
  st: Uint8Array = new Uint8Array(STATE_BYTES);
  readonly #trace: Trace | undefined;

  constructor(trace?: Trace) {
    this.#trace = trace;
  }

  absorb(label: string, data: Uint8Array): void {
    this.st = shake256(
      [this.#labelled(KIND.absorb, label), u64(data.length), data],
      STATE_BYTES,
    ).slice();
    this.#trace?.({ kind: 'absorb', label, data, st: this.st });
  }

  seed(label: string): Uint8Array {
    const seed = shake256([this.#labelled(KIND.seed, label)], SEED_BYTES).slice();
    this.#trace?.({ kind: 'seed', label, seed });
    return seed;
  }

  /** Binds values that are not sent. Does not change the state. */
  seal(label: string, data: Uint8Array): Uint8Array {
    const parts = [this.#labelled(KIND.seal, label), u64(data.length), data];
    const seal = shake256(parts, SEED_BYTES).slice();
    this.#trace?.({ kind: 'seal', label, data, seal });
    return seal;
  }

  #labelled(kind: number, label: string): Uint8Array {
    const text = ascii(label);
    return Uint8Array.of(kind, ...this.st, text.length, ...text);
  }
}

/** The data of `start`: the hash of the row, its set and bucket, and the number of items. */
export function dataOfStart(
  { set, bucket, rowHash: own }: Pick<Parameters, 'set' | 'bucket' | 'rowHash'>,
  count: number,
  rowHash = own,
): Uint8Array {
  return concat(rowHash, Uint8Array.of(Math.log2(set)), u16(bucket), u16(count));
}

/** The data of `part`, with which a part starts (docs/merged.md, 1.2). */
export const dataOfPart = (parameters: MergedParameters, count: number): Uint8Array =>
  dataOfStart(parameters, count, parameters.partHash);

/**
 * The data of `merge`, with which the merge starts (docs/merged.md, 1.2).
 *
 * @param states of the parts after `u2`
 */
export const dataOfMerge = (
  { partHash, rowHash }: MergedParameters,
  attempt: number,
  states: readonly Uint8Array[],
): Uint8Array => concat(partHash, rowHash, Uint8Array.of(attempt), u16(states.length), ...states);

/**
 * The data of `y`: for every part, y as sent and the projection of x, which level 0 does not have;
 * then w, which only level 0 has.
 */
export const dataOfY = (
  fields: ProjectionFields & Partial<Pick<OrdinaryFields, 'w'>>,
): Uint8Array =>
  concat(
    ...projectionsOf(fields).flatMap(({ y, yOfX = [] }) => [i32Bytes(y), i32Bytes(yOfX)]),
    i32Bytes(fields.w ?? []),
  );

/** The data of `t`, at the tail. */
export const dataOfT = ({ t, g, sealT }: Pick<TailFields, 't' | 'g' | 'sealT'>): Uint8Array =>
  concat(t, packResidues(g), sealT);

/** The data of `h`, at the tail. */
export const dataOfH = ({ h, sealH }: Pick<TailFields, 'h' | 'sealH'>): Uint8Array =>
  concat(h, sealH);

const u16 = (x: number): Uint8Array => Uint8Array.of(x & 255, x >> 8);

function u64(x: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(x), true);
  return bytes;
}
