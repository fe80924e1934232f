/** Section 4: the state of the transcript, its three operations, and the absorption of a proof. */
import { createHash } from 'node:crypto';

export type TraceStep = 'absorb' | 'seed' | 'seal';
/** Called with the state after every absorb, and with every seed and seal. */
export type Trace = (step: TraceStep, label: string, bytes: Uint8Array) => void;

/** For tests: replaces the data that a verifier absorbs. */
export type AbsorbAs = (step: { readonly label: string; readonly data: Uint8Array }) => {
  readonly label: string;
  readonly data: Uint8Array;
};

export interface Transcript {
  /** the state now; a copy */
  state(): Uint8Array;
  absorb(label: string, data: Uint8Array): void;
  seed(label: string): Uint8Array;
}

const PREFIX = Object.freeze({ absorb: 1, seed: 2, seal: 3 } as const);

export function transcript(trace: Trace = () => {}, absorbAs?: AbsorbAs): Transcript {
  let st = new Uint8Array(64);
  return {
    state: () => st.slice(),
    absorb(name, value) {
      const { label, data } = absorbAs?.({ label: name, data: value }) ?? {
        label: name,
        data: value,
      };
      st = hash(64, Uint8Array.of(PREFIX.absorb), st, labelled(label), u64(data.length), data);
      trace('absorb', label, st.slice());
    },
    seed(label) {
      const seed = hash(32, Uint8Array.of(PREFIX.seed), st, labelled(label));
      trace('seed', label, seed);
      return seed;
    },
  };
}

/** The seal of data under a state. */
export function sealOf(st: Uint8Array, label: string, data: Uint8Array): Uint8Array {
  return hash(32, Uint8Array.of(PREFIX.seal), st, labelled(label), u64(data.length), data);
}

function hash(length: number, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const shake = createHash('shake256', { outputLength: length });
  for (const part of parts) shake.update(part);
  return Uint8Array.from(shake.digest());
}

function labelled(label: string): Uint8Array {
  const ascii = Buffer.from(label, 'ascii');
  return Uint8Array.of(ascii.length, ...ascii);
}

export function u16(x: number): Uint8Array {
  return Uint8Array.of(x & 255, x >> 8);
}

function u64(x: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(x), true);
  return bytes;
}

export function i32s(list: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * list.length);
  const view = new DataView(bytes.buffer);
  for (const [i, x] of list.entries()) view.setInt32(4 * i, x, true);
  return bytes;
}
