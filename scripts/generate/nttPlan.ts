/**
 * The arithmetic behind the number-theoretic transform mod q = 12289: roots, tables, the choice of
 * where to reduce, and the proof that no 16-bit lane overflows. `ntt.ts` prints it as
 * AssemblyScript; the tests read the bounds.
 *
 * A product mulmod(x, w) (modular.ts) is at most between q/2 and q in magnitude, whatever x is,
 * since d(w) <= q/2. A butterfly x +- mulmod(y, w) therefore grows a bound by less than q, and i16
 * holds 2.66 q: every second or third level first reduces x (a product by w = 1, w' = 3).
 */
import { bitReverse, centred, inverseMod, powMod, productBound, reducedBound } from './modular.ts';

export const Q = 12289;
/** 7 generates the 2048th roots of unity: 7^1024 = -1 mod q. */
const ROOT_2048 = 7;
/** The same for w not known in advance, as the module computes it: 3w - mulr(w, 10930). */
export const companionByLanes = (w: number): number => 3 * w - ((w * 10930 + 16384) >> 15);

/** 2n-th root of unity, n = 2^logn. */
const psi = (logn: number): number => powMod(ROOT_2048, 2048 / (2 << logn), Q);

/** Twiddle of block i at level l of the forward transform, counted as index 2^l + i. */
export function forwardTwiddle(logn: number, index: number): number {
  return centred(powMod(psi(logn), bitReverse(index, logn), Q), Q);
}

/**
 * Twiddle j of the inverse transform's butterflies at distance `length`: omega^(-j n / (2 length)).
 */
export function inverseTwiddle(logn: number, length: number, j: number): number {
  const omegaInverse = inverseMod(powMod(psi(logn), 2, Q), Q);
  return centred(powMod(omegaInverse, ((1 << logn) / (2 * length)) * j, Q), Q);
}

/** n^-1 psi^-i: undoes the scaling and the twist in one product. */
export function untwist(logn: number, i: number): number {
  return centred(inverseMod(1 << logn, Q) * powMod(inverseMod(psi(logn), Q), i, Q), Q);
}

/** Levels (0 first) at which the forward transform reduces the leg that is not multiplied. */
export const FORWARD_REDUCES: Record<number, ReadonlySet<number>> = {
  9: new Set([3, 5, 7]),
  10: new Set([3, 5, 7, 9]),
};
/**
 * Distances at which the inverse transform does; its first three levels have a plan of their own.
 */
export const INVERSE_REDUCES: ReadonlySet<number> = new Set([8, 32, 128, 512]);

/** Bounds after each level of the forward transform of input with |x| <= bound. */
export function forwardBounds(
  logn: number,
  bound: number,
  reduces: ReadonlySet<number> = FORWARD_REDUCES[logn]!,
): number[] {
  const bounds: number[] = [];
  for (let level = 0; level < logn; level++) {
    let product = 0;
    for (let i = 0; i < 1 << level; i++) {
      product = Math.max(product, productBound(bound, forwardTwiddle(logn, (1 << level) + i), Q));
    }
    bound = (reduces.has(level) ? reducedBound(bound, Q) : bound) + product;
    bounds.push(bound);
  }
  return bounds;
}

/** Bounds after each step of the inverse transform, the last one being the output's. */
export function inverseBounds(logn: number, bound: number): number[] {
  const n = 1 << logn;
  const largest = (length: number, input: number) => {
    let m = 0;
    for (let j = 0; j < length; j++) {
      m = Math.max(m, productBound(input, inverseTwiddle(logn, length, j), Q));
    }
    return m;
  };
  // Distance 1: no product. Six of eight lanes are reduced (the other two are multiplied next).
  const first = 2 * bound;
  const reduced = reducedBound(first, Q);
  // Distance 2: half of the butterflies without product.
  const trivial = 2 * reduced;
  const multiplied = reduced + largest(2, first);
  // Distance 4: the butterfly without product has one of its legs reduced.
  const third = Math.max(
    trivial + reducedBound(trivial, Q),
    multiplied + largest(4, Math.max(trivial, multiplied)),
    trivial + largest(4, Math.max(trivial, multiplied)),
  );
  const bounds = [first, trivial, multiplied, third];
  let current = third;
  for (let length = 8; length < n; length *= 2) {
    const kept = INVERSE_REDUCES.has(length) ? reducedBound(current, Q) : current;
    current = kept + largest(length, current);
    bounds.push(current);
  }
  let last = 0;
  for (let i = 0; i < n; i++) last = Math.max(last, productBound(current, untwist(logn, i), Q));
  bounds.push(last);
  return bounds;
}
