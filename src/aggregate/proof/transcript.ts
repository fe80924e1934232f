/** The transcript (docs/protocol.md, 4): a state of 64 bytes that takes in every message and gives every seed. */
import { ascii } from '../../bytes.ts';
import { shake256 } from '../../falcon/points.ts';

/** What a transcript shows of itself. */
export type TraceEvent =
  | { kind: 'absorb'; label: string; data: Uint8Array; st: Uint8Array }
  | { kind: 'seed'; label: string; seed: Uint8Array }
  | { kind: 'seal'; label: string; data: Uint8Array; seal: Uint8Array };
export type Trace = (event: TraceEvent) => void;

const STATE_BYTES = 64;
const SEED_BYTES = 32;
const KIND = { absorb: 1, seed: 2, seal: 3 } as const;

export class Transcript {
  /** The state. Never written to: keeping it and putting it back undoes what came between. */
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

  /** Binds to values that are not sent; the state stays. */
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

function u64(x: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(x), true);
  return bytes;
}
