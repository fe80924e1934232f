/** Products modulo p = 12289 in Z[X]/(X^n + 1), n = 512 or 1024: what moves a functional from s1 to s2. */
import { P } from './shapes.ts';

/** A generator of the units mod p. */
const GENERATOR = 11;

function power(base: number, exponent: number): number {
  let result = 1;
  for (let b = base, e = exponent; e > 0; e >>= 1, b = (b * b) % P) {
    if (e & 1) result = (result * b) % P;
  }
  return result;
}

/** Powers of the primitive 2n-th root in bit-reversed order, and those of its inverse. */
function rootsOf(n: number): { forward: Int32Array; inverse: Int32Array } {
  const root = power(GENERATOR, (P - 1) / (2 * n));
  const unroot = power(root, P - 2);
  const forward = new Int32Array(n);
  const inverse = new Int32Array(n);
  const bits = Math.log2(n);
  for (let i = 0; i < n; i++) {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) reversed |= ((i >> bit) & 1) << (bits - 1 - bit);
    forward[i] = power(root, reversed);
    inverse[i] = power(unroot, reversed);
  }
  return { forward, inverse };
}

/** The transform of one degree. Values are in [0, p). */
export class ModP {
  readonly n: number;
  readonly #forward: Int32Array;
  readonly #inverse: Int32Array;
  readonly #unscale: number;
  readonly #scratch: Int32Array;

  constructor(n: 512 | 1024) {
    this.n = n;
    ({ forward: this.#forward, inverse: this.#inverse } = rootsOf(n));
    this.#unscale = power(n, P - 2);
    this.#scratch = new Int32Array(n);
  }

  /** NTT form of sigma(h). */
  prepare(h: ArrayLike<number>): Int32Array {
    const out = new Int32Array(this.n);
    out[0] = h[0]!;
    for (let j = 1; j < this.n; j++) out[j] = (P - h[this.n - j]!) % P;
    this.#toNtt(out);
    return out;
  }

  /** rho times what was prepared, centred, into `out`. */
  multiply(out: Int16Array, rho: Int16Array, prepared: Int32Array): void {
    const { n } = this;
    const a = this.#scratch;
    for (let j = 0; j < n; j++) a[j] = rho[j]! < 0 ? rho[j]! + P : rho[j]!;
    this.#toNtt(a);
    for (let j = 0; j < n; j++) a[j] = (a[j]! * prepared[j]!) % P;
    this.#fromNtt(a);
    for (let j = 0; j < n; j++) {
      const x = (a[j]! * this.#unscale) % P;
      out[j] = x > P >> 1 ? x - P : x;
    }
  }

  #toNtt(a: Int32Array): void {
    const { n } = this;
    const roots = this.#forward;
    for (let half = n >> 1, groups = 1; half > 0; half >>= 1, groups <<= 1) {
      for (let group = 0, from = 0; group < groups; group++, from += 2 * half) {
        const w = roots[groups + group]!;
        for (let j = from; j < from + half; j++) {
          const u = a[j]!;
          const v = (a[j + half]! * w) % P;
          const sum = u + v;
          const difference = u - v;
          a[j] = sum >= P ? sum - P : sum;
          a[j + half] = difference < 0 ? difference + P : difference;
        }
      }
    }
  }

  #fromNtt(a: Int32Array): void {
    const { n } = this;
    const roots = this.#inverse;
    for (let half = 1, groups = n >> 1; half < n; half <<= 1, groups >>= 1) {
      for (let group = 0, from = 0; group < groups; group++, from += 2 * half) {
        const w = roots[groups + group]!;
        for (let j = from; j < from + half; j++) {
          const u = a[j]!;
          const v = a[j + half]!;
          const sum = u + v;
          a[j] = sum >= P ? sum - P : sum;
          a[j + half] = ((u - v + P) * w) % P;
        }
      }
    }
  }
}
