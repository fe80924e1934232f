/**
 * Integers modulo a small prime p in signed 16-bit lanes, as nttPlan.ts (p = 12289) and
 * labradorPlan.ts (six primes) use them to make tables and to prove that no lane overflows.
 *
 * Values are representatives, not reduced to a canonical range. A product by a known w uses
 * Barrett's quotient with the companion w' = round(w * 2^15 / p):
 *
 *   mulmod(a, w) = a*w - p * mulr(a, w')         mulr(a, b) = (a*b + 2^14) >> 15, one instruction
 *   |mulmod(a, w)| <= (|a| d(w) + 2^14 p) / 2^15,   d(w) = |2^15 w - p w'|
 */

/**
 * Largest magnitude that the plans let a lane take. Functions for any lanes take -2^15 too: mulr
 * goes wrong for (-2^15)^2 alone, and no companion is -2^15.
 */
export const LANE_MAX = 32767;

export function powMod(base: number, exponent: number, p: number): number {
  let result = 1;
  let square = ((base % p) + p) % p;
  for (let e = exponent; e > 0; e = Math.floor(e / 2)) {
    if (e % 2 === 1) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}

export const inverseMod = (a: number, p: number): number => powMod(a, p - 2, p);

/** The representative of least magnitude. */
export function centred(a: number, p: number): number {
  const r = ((a % p) + p) % p;
  return r > p >> 1 ? r - p : r;
}

/** w' = round(w * 2^15 / p). */
export const companion = (w: number, p: number): number => Math.round((w * 32768) / p);

/** Bound of |mulmod(a, w)| over all |a| <= bound, for w with companion w1. */
export function productBound(bound: number, w: number, p: number, w1 = companion(w, p)): number {
  return Math.floor((bound * Math.abs(32768 * w - p * w1) + p * 16384) / 32768);
}

/** Bound of a reduced lane: mulmod(a, 1). */
export const reducedBound = (bound: number, p: number): number => productBound(bound, 1, p);

export function bitReverse(i: number, bits: number): number {
  let r = 0;
  for (let k = 0; k < bits; k++) r = (r << 1) | ((i >> k) & 1);
  return r;
}
