/** Section 4 of docs/protocol.md: the state, and the three operations on it. */
import { createHash } from 'node:crypto';
import type { Trace } from './trace.ts';

const shake256 = (length: number, ...parts: Uint8Array[]): Uint8Array => {
  const hash = createHash('shake256', { outputLength: length });
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

const labelled = (kind: number, st: Uint8Array, label: string): Uint8Array => {
  const ascii = new TextEncoder().encode(label);
  return Uint8Array.from([kind, ...st, ascii.length, ...ascii]);
};

const u64 = (x: number): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(x), true);
  return bytes;
};

export class Transcript {
  st: Uint8Array = new Uint8Array(64);
  #trace: Trace | undefined;

  constructor(trace?: Trace) {
    this.#trace = trace;
  }

  absorb(label: string, data: Uint8Array): void {
    this.st = shake256(64, labelled(1, this.st, label), u64(data.length), data);
    this.#trace?.({ kind: 'absorb', label, data, st: this.st });
  }

  seed(label: string): Uint8Array {
    const seed = shake256(32, labelled(2, this.st, label));
    this.#trace?.({ kind: 'seed', label, seed });
    return seed;
  }

  seal(label: string, data: Uint8Array): Uint8Array {
    const seal = shake256(32, labelled(3, this.st, label), u64(data.length), data);
    this.#trace?.({ kind: 'seal', label, data, seal });
    return seal;
  }
}
