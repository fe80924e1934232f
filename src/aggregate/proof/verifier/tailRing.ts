/**
 * Arithmetic in R_q with inverses, for the few values of the tail that need it (docs/protocol.md,
 * 9.4).
 */
import { DEGREE, Q } from '../constants.ts';

/** 64 coefficients mod q, in [0, q). */
export type Poly = BigInt64Array;

/**
 * Residues are multiplied in halves of 22 bits: the sum of 128 products of halves is below 2^51,
 * exact in a number.
 */
const HALF_BITS = 22n;
const HALF = 2 ** 22;

/** The representative in [0, q). */
export function mod(x: bigint): bigint {
  const r = x % Q;
  return r < 0n ? r + Q : r;
}

/** 64 coefficients of either sign, reduced. */
export const polyOf = (x: ArrayLike<number | bigint>, from = 0): Poly =>
  BigInt64Array.from({ length: DEGREE }, (_, j) => mod(BigInt(x[from + j]!)));

export const add = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x + b[j]!));
export const subtract = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x - b[j]!));

/** The product modulo X^degree + 1; both factors have the same degree. */
export function multiply(a: Poly, b: Poly): Poly {
  const [aLow, aHigh] = halves(a);
  const [bLow, bHigh] = halves(b);
  const low = new Float64Array(a.length);
  const middle = new Float64Array(a.length);
  const high = new Float64Array(a.length);
  addProducts(low, aLow, bLow);
  addProducts(middle, aLow, bHigh);
  addProducts(middle, aHigh, bLow);
  addProducts(high, aHigh, bHigh);
  return BigInt64Array.from({ length: a.length }, (_, j) => {
    const upper = (BigInt(high[j]!) << HALF_BITS) + BigInt(middle[j]!);
    return mod((upper << HALF_BITS) + BigInt(low[j]!));
  });
}

/**
 * The sum of c_i x_i, for at most 64 challenges or doubled challenges: their coefficients are below
 * 2^9, so the sums of their products with halves are below 2^43.
 */
export function combination(c: readonly Float64Array[], x: readonly Poly[]): Poly {
  const low = new Float64Array(DEGREE);
  const high = new Float64Array(DEGREE);
  for (const [i, factor] of c.entries()) {
    const [xLow, xHigh] = halves(x[i]!);
    addProducts(low, factor, xLow);
    addProducts(high, factor, xHigh);
  }
  return BigInt64Array.from({ length: DEGREE }, (_, j) =>
    mod((BigInt(high[j]!) << HALF_BITS) + BigInt(low[j]!)),
  );
}

/** x = low + 2^22 high */
function halves(x: Poly): [low: Float64Array, high: Float64Array] {
  const whole = Float64Array.from(x, Number);
  const high = whole.map((value) => Math.floor(value / HALF));
  const low = whole.map((value, j) => value - HALF * high[j]!);
  return [low, high];
}

/** sums += a b modulo X^degree + 1 */
function addProducts(sums: Float64Array, a: Float64Array, b: Float64Array): void {
  const degree = sums.length;
  for (let i = 0; i < degree; i++) {
    const x = a[i]!;
    for (let j = 0; j < degree; j++) {
      const at = i + j;
      if (at < degree) sums[at]! += x * b[j]!;
      else sums[at - degree]! -= x * b[j]!;
    }
  }
}

/**
 * The inverse. x(X) x(-X) is a polynomial in X^2, so an inverse in the ring of half the degree
 * suffices.
 *
 * @returns undefined if x is not a unit
 */
export function inverse(x: Poly): Poly | undefined {
  const degree = x.length;
  if (degree === 1) return x[0] === 0n ? undefined : BigInt64Array.of(power(x[0]!, Q - 2n));
  const mirrored = x.map((value, j) => (j % 2 === 0 ? value : mod(-value)));
  const norm = multiply(x, mirrored);
  const half = inverse(norm.filter((_, j) => j % 2 === 0));
  if (half === undefined) return undefined;
  const spread = new BigInt64Array(degree);
  for (const [j, value] of half.entries()) spread[2 * j] = value;
  return multiply(mirrored, spread);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (; exponent > 0n; exponent >>= 1n, base = (base * base) % Q) {
    if (exponent & 1n) result = (result * base) % Q;
  }
  return result;
}
