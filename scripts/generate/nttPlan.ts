/**
 * The arithmetic behind the number-theoretic transform mod q = 12289: roots, tables, the choice of where to reduce, and the
 * proof that no 16-bit lane overflows. `ntt.ts` prints it as AssemblyScript; the tests read the bounds.
 *
 * Values are signed 16-bit representatives, not reduced to a canonical range. A product by a known w uses Barrett's quotient with
 * the companion w' = round(w * 2^15 / q):
 *
 *   mulmod(a, w) = a*w - q * mulr(a, w')         mulr(a, b) = (a*b + 2^14) >> 15, one instruction
 *
 * With d(w) = |2^15 w - q w'| (at most q/2 when w' is the nearest integer) the result is at most (|a| d(w) + 2^14 q) / 2^15:
 * between q/2 and q, whatever a is. A butterfly x +- mulmod(y, w) therefore grows a bound by less than q, and i16 holds 2.66 q:
 * every second or third level first reduces x (a product by w = 1, w' = 3).
 */
export const Q = 12289;
/** 7 generates the 2048th roots of unity: 7^1024 = -1 mod q. */
const ROOT_2048 = 7;
/** Largest magnitude that the lanes may take; -2^15 is excluded so that mulr never meets (-2^15)^2. */
export const LANE_MAX = 32767;

export function powMod(base: number, exponent: number): number {
  let result = 1;
  let square = ((base % Q) + Q) % Q;
  for (let e = exponent; e > 0; e = Math.floor(e / 2)) {
    if (e % 2 === 1) result = (result * square) % Q;
    square = (square * square) % Q;
  }
  return result;
}

export const inverseMod = (a: number): number => powMod(a, Q - 2);

/** The representative of least magnitude. */
export function centred(a: number): number {
  const r = ((a % Q) + Q) % Q;
  return r > Q >> 1 ? r - Q : r;
}

/** w' = round(w * 2^15 / q). */
export const companion = (w: number): number => Math.round((w * 32768) / Q);

/** The same for w not known in advance, as the module computes it: 3w - mulr(w, 10930). */
export const companionByLanes = (w: number): number => 3 * w - ((w * 10930 + 16384) >> 15);

/** Bound of |mulmod(a, w)| over all |a| <= bound. */
export function productBound(bound: number, w: number, w1: number = companion(w)): number {
  return Math.floor((bound * Math.abs(32768 * w - Q * w1) + Q * 16384) / 32768);
}

/** Bound of a reduced lane: mulmod(a, 1). */
export const reducedBound = (bound: number): number => productBound(bound, 1, 3);

function bitReverse(i: number, bits: number): number {
  let r = 0;
  for (let k = 0; k < bits; k++) r = (r << 1) | ((i >> k) & 1);
  return r;
}

/** 2n-th root of unity, n = 2^logn. */
const psi = (logn: number): number => powMod(ROOT_2048, 2048 / (2 << logn));

/** Twiddle of block i at level l of the forward transform, counted as index 2^l + i. */
export function forwardTwiddle(logn: number, index: number): number {
  return centred(powMod(psi(logn), bitReverse(index, logn)));
}

/** Twiddle j of the inverse transform's butterflies at distance `length`: omega^(-j n / (2 length)). */
export function inverseTwiddle(logn: number, length: number, j: number): number {
  const omegaInverse = inverseMod(powMod(psi(logn), 2));
  return centred(powMod(omegaInverse, ((1 << logn) / (2 * length)) * j));
}

/** n^-1 psi^-i: undoes the scaling and the twist in one product. */
export function untwist(logn: number, i: number): number {
  return centred(inverseMod(1 << logn) * powMod(inverseMod(psi(logn)), i));
}

/** Levels (0 first) at which the forward transform reduces the leg that is not multiplied. */
export const FORWARD_REDUCES: Record<number, ReadonlySet<number>> = {
  9: new Set([3, 5, 7]),
  10: new Set([3, 5, 7, 9]),
};
/** Distances at which the inverse transform does; its first three levels have a plan of their own. */
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
      product = Math.max(product, productBound(bound, forwardTwiddle(logn, (1 << level) + i)));
    }
    bound = (reduces.has(level) ? reducedBound(bound) : bound) + product;
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
      m = Math.max(m, productBound(input, inverseTwiddle(logn, length, j)));
    }
    return m;
  };
  // Distance 1: no product. Six of eight lanes are reduced (the other two are multiplied next).
  const first = 2 * bound;
  const reduced = reducedBound(first);
  // Distance 2: half of the butterflies without product.
  const trivial = 2 * reduced;
  const multiplied = reduced + largest(2, first);
  // Distance 4: the butterfly without product has both its legs reduced.
  const third = Math.max(
    2 * reducedBound(trivial),
    multiplied + largest(4, Math.max(trivial, multiplied)),
    trivial + largest(4, Math.max(trivial, multiplied)),
  );
  const bounds = [first, trivial, multiplied, third];
  let current = third;
  for (let length = 8; length < n; length *= 2) {
    const kept = INVERSE_REDUCES.has(length) ? reducedBound(current) : current;
    current = kept + largest(length, current);
    bounds.push(current);
  }
  let last = 0;
  for (let i = 0; i < n; i++) last = Math.max(last, productBound(current, untwist(logn, i)));
  bounds.push(last);
  return bounds;
}
