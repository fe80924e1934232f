/** The kernels' results by their definitions, on BigInt, and deterministic inputs for them. */
import { D, Q } from '../../../scripts/generate/labradorPlan.ts';
import { testRandom } from '../../support/random.ts';

export type Poly = bigint[];

/** The largest centred representative modulo q. */
export const HALF_Q = (Q - 1n) / 2n;

export const mod = (x: bigint, m: bigint): bigint => ((x % m) + m) % m;

export function centred(x: bigint, m: bigint = Q): bigint {
  const r = mod(x, m);
  return r > m / 2n ? r - m : r;
}

/** a * b in Z[X]/(X^64 + 1). */
export function multiply(a: Poly, b: Poly): Poly {
  const n = D; // of another module: slow to read in a loop
  const c = new Array<bigint>(n).fill(0n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const product = a[i]! * b[j]!;
      if (i + j < n) c[i + j]! += product;
      else c[i + j - n]! -= product;
    }
  }
  return c;
}

export const add = (a: Poly, b: Poly): Poly => a.map((x, i) => x + b[i]!);
export const sigma = (a: Poly): Poly => a.map((_, j) => (j === 0 ? a[0]! : -a[D - j]!));
export const zero = (): Poly => new Array<bigint>(D).fill(0n);

/** A source of integers that is the same in every run. */
export function source(name: string) {
  const random = testRandom(name);
  const word = (): bigint => {
    const view = new DataView(random.bytes(8).buffer);
    return view.getBigUint64(0, true);
  };
  const between = (low: bigint, high: bigint): bigint => {
    let x = word();
    if (high - low >= 2n ** 63n) x |= word() << 64n;
    return low + (x % (high - low + 1n));
  };
  return {
    bytes: (n: number) => random.bytes(n),
    between,
    /** Uniform coefficients of magnitude at most `bound`. */
    poly: (bound: bigint): Poly => Array.from({ length: D }, () => between(-bound, bound)),
    /** Coefficients of magnitude exactly `bound`. */
    extreme: (bound: bigint): Poly =>
      Array.from({ length: D }, () => (between(0n, 1n) === 0n ? -bound : bound)),
  };
}

/** Inputs that push a linear transform hardest, and random ones. */
export function hardPolys(random: ReturnType<typeof source>, bound: bigint): Poly[] {
  const from = (f: (i: number) => bigint): Poly => Array.from({ length: D }, (_, i) => f(i));
  return [
    from(() => bound),
    from(() => -bound),
    from((i) => (i % 2 ? bound : -bound)),
    from((i) => (i < 32 ? bound : -bound)),
    from((i) => (i === 0 ? bound : 0n)),
    from((i) => (i === 63 ? -bound : 0n)),
    zero(),
    ...Array.from({ length: 10 }, () => random.extreme(bound)),
    ...Array.from({ length: 10 }, () => random.poly(bound)),
  ];
}
