/**
 * Norms that a rank withstands (docs/soundness.md, 2). To find a vector of norm B in the kernel of
 * n rows mod q, a lattice reduction with block size b takes m columns and comes to delta^(m-1)
 * q^(n/m), with
 *
 *     delta = (b/(2 pi e) (pi b)^(1/b))^(1/(2(b-1))),
 *
 * and is put at 0.292 b bits. With the best m, which the attacker has, the norm is out of reach
 * when
 *
 *     ln B < 2 sqrt(n ln q ln delta) - ln delta        for the delta of b = TARGET_BITS/0.292,
 *
 * and when B < q. For every number of columns delta^(m-1) q^(n/m) is at least that, so that
 * bounding m changes nothing for the worse.
 */

import { D, Q, TARGET_BITS } from './constants.ts';
import { exponential, largestOf, logarithm, ONE, squareRootOf } from './fixedPoint.ts';

/** 10^40 pi, rounded up: ln delta falls in pi. */
const PI = 31_415_926_535_897_932_384_626_433_832_795_028_841_972n;
const PI_ONE = 10n ** 40n;
/** more than all that the functions of fixed point lose, which round down throughout */
const SLACK = ONE >> 96n;

/** ln delta of the block size numerator/denominator, in fixed point, not above the true one */
export function logDelta(numerator: bigint, denominator: bigint): bigint {
  const lnPi = logarithm(PI, PI_ONE);
  const lnB = logarithm(numerator, denominator);
  const lnTwoPiE = logarithm(2n, 1n) + lnPi + ONE;
  const ofRoot = ((lnPi + lnB) * denominator) / numerator;
  return ((lnB - lnTwoPiE + ofRoot) * denominator) / (2n * (numerator - denominator)) - SLACK;
}

/** b = TARGET_BITS/0.292 */
const LN_DELTA = logDelta(1000n * BigInt(TARGET_BITS), 292n);
const LN_Q = logarithm(Q, 1n) - SLACK;

/** Squared norms below this are out of reach for so many rows of Z_q. */
function limitOf(rows: number, lnDelta: bigint): bigint {
  const product = (BigInt(rows) * LN_Q * lnDelta) / ONE;
  const limit = exponential(4n * squareRootOf(product) - 2n * lnDelta - 8n * SLACK);
  // q times a unit vector is in the kernel
  return limit - largestOf([limit - Q * Q]);
}

const limits: bigint[] = [0n];
/** Squared norms below this are out of reach for rank kappa. */
export function limitSq(kappa: number): bigint {
  for (let k = limits.length; k <= kappa; k++) limits.push(limitOf(D * k, LN_DELTA));
  return limits[kappa]!;
}

/** Fewest rows in quarters that a message is bound by. */
export const LEAST_QUARTERS = 6;
/**
 * What they must withstand, in bits: three more than the others. Their lattices have dimensions of
 * about two block sizes, where the formula is least sure.
 */
const QUARTERS_BITS = TARGET_BITS + 3;
const LN_DELTA_OF_QUARTERS = logDelta(1000n * BigInt(QUARTERS_BITS), 292n);

/** Squared norms below this are out of reach for k rows in quarters (docs/decisions/0058, 2). */
export const quartersSq = (k: number): bigint =>
  k < LEAST_QUARTERS ? 0n : limitOf((D / 4) * k, LN_DELTA_OF_QUARTERS);

const toNumber = (x: bigint): number => Number((x << 64n) / ONE) / 2 ** 64;

/**
 * The least block size that reaches a norm, as a double: what the check prints, not what it rests
 * on.
 */
export function blockSize(normSq: bigint, kappa: number, degree = D): number {
  const lnB = toNumber(logarithm(normSq, 1n)) / 2;
  const lnQ = toNumber(LN_Q);
  if (lnB >= lnQ) return 0;
  const reached = (size: number): number => {
    const delta =
      Math.log((size / (2 * Math.PI * Math.E)) * (Math.PI * size) ** (1 / size)) / (2 * (size - 1));
    return 2 * Math.sqrt(degree * kappa * lnQ * delta) - delta;
  };
  let low = 60;
  let high = 4000;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (reached(middle) > lnB) low = middle;
    else high = middle;
  }
  return high;
}
