/**
 * The functionals mod p (docs/protocol.md, 7.3): rho on s1 and rho' = rho sigma(h) on s2, item by
 * item.
 */
import { type Labrador, SMALL_BYTES } from '../wasm.ts';
import { type Seed, sampleRho } from './challenges.ts';
import { FUNCTIONALS } from './constants.ts';

/** Bytes of the 2K stride parts of one functional. */
export const partsBytes = (n: number): number => 2 * (n / 64) * SMALL_BYTES;

/** Computes the ten functionals, one item after the other. */
export class Functionals {
  readonly #lab: Labrador;
  readonly #seed: Seed;
  readonly #n: number;
  readonly #key: number;
  readonly #prepared: number;
  readonly #rho: number;
  readonly #rhoPrime: number;
  readonly #operands: number;
  readonly #sums: number;

  /** Valid until the enclosing scope ends. */
  constructor(lab: Labrador, seed: Seed, n: 512 | 1024) {
    this.#lab = lab;
    this.#seed = seed;
    this.#n = n;
    this.#key = lab.room(2 * n);
    this.#prepared = lab.room(4 * n);
    this.#rho = lab.room(2 * n + 256);
    this.#rhoPrime = lab.room(2 * n);
    this.#operands = lab.room(4 * n);
    this.#sums = lab.room(8 * FUNCTIONALS, true);
  }

  /**
   * Writes sigma of the stride parts of every functional of an item, `partsBytes` apart, and adds
   * the values of the functionals on the operands, <rho, a> + <rho', b>, to the sums.
   *
   * @param h the public key; any representatives mod p
   * @param at the address for the parts
   * @param a coefficients of at most 32767 in magnitude
   * @param b likewise; zero if omitted
   */
  write(item: number, h: Uint16Array, at: number, a: Int16Array, b?: Int16Array): void {
    const { kernels } = this.#lab;
    const n = this.#n;
    const { buffer } = kernels.memory;
    new Uint16Array(buffer, this.#key, n).set(h);
    new Int16Array(buffer, this.#operands, n).set(a);
    if (b !== undefined) new Int16Array(buffer, this.#operands + 2 * n, n).set(b);
    const logn = n === 512 ? 9 : 10;
    kernels.modpPrepare(this.#prepared, this.#key, logn);
    for (let j = 0; j < FUNCTIONALS; j++) {
      sampleRho(this.#lab, this.#seed, j, item, this.#rho, n);
      const parts = at + partsBytes(n) * j;
      kernels.functionalParts(parts, this.#rhoPrime, this.#rho, this.#prepared, logn);
      const sum = this.#sums + 8 * j;
      kernels.addInnerProduct(sum, this.#rho, this.#operands, n / 64);
      if (b === undefined) continue;
      kernels.addInnerProduct(sum, this.#rhoPrime, this.#operands + 2 * n, n / 64);
    }
  }

  /** The sums over all items so far, below 2^53. */
  sums(): number[] {
    return Array.from(
      new BigInt64Array(this.#lab.kernels.memory.buffer, this.#sums, FUNCTIONALS),
      Number,
    );
  }
}
