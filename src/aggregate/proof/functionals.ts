/** The functionals mod p (docs/protocol.md, 7.3): rho on s1 and rho' = rho sigma(h) on s2. */
import type { Labrador } from '../wasm.ts';
import { type Seed, SMALL, sampleRho } from './challenges.ts';
import type { ModP } from './modp.ts';

/** One functional of an item: coefficients on s1 and s2, centred mod p. Overwritten by the next one. */
export interface Functional {
  readonly onS1: Int16Array;
  readonly onS2: Int16Array;
}

/** Makes the functionals of one degree, one after the other. */
export class Functionals {
  readonly #lab: Labrador;
  readonly #seed: Seed;
  readonly #modP: ModP;
  readonly #at: number;
  readonly #onS2: Int16Array;
  readonly #onS1: Int16Array;

  /** Lives as long as the scope in which it is made. */
  constructor(lab: Labrador, seed: Seed, modP: ModP) {
    this.#lab = lab;
    this.#seed = seed;
    this.#modP = modP;
    this.#at = lab.room(2 * modP.n + 256);
    this.#onS1 = new Int16Array(modP.n);
    this.#onS2 = new Int16Array(modP.n);
  }

  /** rho_i^(j) and rho'; `prepared` is that of the item's key. */
  functional(j: number, item: number, prepared: Int32Array): Functional {
    const lab = this.#lab;
    const { n } = this.#modP;
    sampleRho(lab, this.#seed, j, item, this.#at, n);
    this.#onS1.set(new Int16Array(lab.kernels.memory.buffer, this.#at, n));
    this.#modP.multiply(this.#onS2, this.#onS1, prepared);
    return { onS1: this.#onS1, onS2: this.#onS2 };
  }
}

/** sigma of the 2K stride parts of a functional, K those on s1 and K those on s2: i16[2K][64] at an address. */
export function writeSigmaParts(lab: Labrador, at: number, { onS1, onS2 }: Functional): void {
  const K = onS1.length / 64;
  const out = new Int16Array(lab.kernels.memory.buffer, at, 2 * K * 64);
  for (const [half, rho] of [onS1, onS2].entries()) {
    for (let k = 0; k < K; k++) {
      const base = (half * K + k) * 64;
      out[base] = rho[k]!;
      for (let t = 1; t < 64; t++) out[base + 64 - t] = -rho[k + K * t]!;
    }
  }
}

/** Bytes of the parts of one functional. */
export const partsBytes = (n: number): number => 2 * (n / 64) * SMALL;

/** <a, b> over the integers. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
