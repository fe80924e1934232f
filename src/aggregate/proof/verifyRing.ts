/** R_q in integers of any size, for the few values of the tail that need inverses (docs/protocol.md, 9.4). */
import { Q } from './shapes.ts';

/** 64 coefficients mod q, in [0, q). */
export type Poly = BigInt64Array;

const DEGREE = 64;
/** A product of reduced polynomials has coefficients below 64 q^2 < 2^94. */
const SLOT = 96n;
const SLOT_DIGITS = 24;

export function mod(x: bigint): bigint {
  const r = x % Q;
  return r < 0n ? r + Q : r;
}

/** Coefficients of either sign, reduced. */
export const polyOf = (x: ArrayLike<number | bigint>, from = 0): Poly =>
  BigInt64Array.from({ length: DEGREE }, (_, j) => mod(BigInt(x[from + j]!)));

export const add = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x + b[j]!));
export const subtract = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x - b[j]!));

/** The integer that has the coefficients as digits. */
function pack(a: Poly): bigint {
  let hex = '0x';
  for (let j = DEGREE - 1; j >= 0; j--) hex += a[j]!.toString(16).padStart(SLOT_DIGITS, '0');
  return BigInt(hex);
}

export function multiply(a: Poly, b: Poly): Poly {
  const product = pack(a) * pack(b);
  const digit = (j: number): bigint => BigInt.asUintN(Number(SLOT), product >> (SLOT * BigInt(j)));
  return BigInt64Array.from({ length: DEGREE }, (_, j) => mod(digit(j) - digit(j + DEGREE)));
}

/**
 * The inverse: x(X) x(-X) is a polynomial in X^2, so that of half the degree is enough.
 *
 * @returns undefined if x is no unit
 */
export function inverse(x: Poly): Poly | undefined {
  const degree = x.length;
  if (degree === 1) return x[0] === 0n ? undefined : BigInt64Array.of(power(x[0]!, Q - 2n));
  const mirrored = x.map((value, j) => (j % 2 === 0 ? value : mod(-value)));
  const norm = schoolbook(x, mirrored);
  const half = inverse(norm.filter((_, j) => j % 2 === 0));
  if (half === undefined) return undefined;
  const spread = new BigInt64Array(degree);
  for (const [j, value] of half.entries()) spread[2 * j] = value;
  return schoolbook(mirrored, spread);
}

/** A product of any degree. */
function schoolbook(a: Poly, b: Poly): Poly {
  const degree = a.length;
  const sums = new Array<bigint>(degree).fill(0n);
  for (const [i, x] of a.entries()) {
    if (x === 0n) continue;
    for (const [j, y] of b.entries()) {
      if (y === 0n) continue;
      if (i + j < degree) sums[i + j]! += x * y;
      else sums[i + j - degree]! -= x * y;
    }
  }
  return BigInt64Array.from(sums, mod);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (; exponent > 0n; exponent >>= 1n, base = (base * base) % Q) {
    if (exponent & 1n) result = (result * base) % Q;
  }
  return result;
}
