/**
 * Section 1: numbers modulo q, polynomials of degree below 64 over them, stride parts.
 *
 * A product is one multiplication of integers: a polynomial is packed with 128 bits for a
 * coefficient, so that the sum of up to 2^33 products of reduced polynomials leaves no slot.
 */

export const FALCON_Q = 12289;
export const Q = 17592186044299n; // 2^44 - 117
export const DEGREE = 64;

/** 64 coefficients in [0, q). */
export type Poly = readonly bigint[];
/** A polynomial, or a sum of products of polynomials, at X = 2^128. */
export type Packed = bigint;

const SLOT = 128n;

/** The representative in [0, q). */
export function mod(x: bigint): bigint {
  const r = x % Q;
  return r < 0n ? r + Q : r;
}

/** The representative in [-(q-1)/2, (q-1)/2]. */
export function centred(x: bigint): bigint {
  const r = mod(x);
  return r > Q / 2n ? r - Q : r;
}

export const zero = (): Poly => new Array<bigint>(DEGREE).fill(0n);

/** The constant polynomial. */
export const constant = (x: bigint): Poly => [mod(x), ...new Array<bigint>(DEGREE - 1).fill(0n)];

/** Integers of either sign, as an element of R_q. */
export const fromIntegers = (x: ArrayLike<number>): Poly =>
  Array.from({ length: DEGREE }, (_, j) => mod(BigInt(x[j]!)));

export const add = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x + b[j]!));
export const subtract = (a: Poly, b: Poly): Poly => a.map((x, j) => mod(x - b[j]!));
export const scale = (a: Poly, s: bigint): Poly => a.map((x) => mod(x * s));
export const equal = (a: Poly, b: Poly): boolean => a.every((x, j) => x === b[j]);

/** X -> X^-1. */
export const sigma = (a: Poly): Poly => a.map((_, j) => (j === 0 ? a[0]! : mod(-a[DEGREE - j]!)));

/** @param a coefficients in [0, 2^60) */
export function pack(a: Poly): Packed {
  let packed = 0n;
  for (let j = DEGREE - 1; j >= 0; j--) packed = (packed << SLOT) | a[j]!;
  return packed;
}

/** The polynomial that a sum of products of packed polynomials stands for, X^64 = -1. */
export function unpack(sum: Packed): Poly {
  const slot = (j: number) => BigInt.asUintN(128, sum >> (SLOT * BigInt(j)));
  return Array.from({ length: DEGREE }, (_, j) => mod(slot(j) - slot(j + DEGREE)));
}

export const multiply = (a: Poly, b: Poly): Poly => unpack(pack(a) * pack(b));

/** sum of x_i y_i, without conjugation */
export function inner(x: readonly Poly[], y: readonly Poly[]): Poly {
  let sum = 0n;
  for (const [i, xi] of x.entries()) sum += pack(xi) * pack(y[i]!);
  return unpack(sum);
}

/** 2^e mod q, for 0 <= e < 2^10 */
export const powerOf2 = (e: number): bigint => (1n << BigInt(e)) % Q;

/** The inverse in Z_q[X]/(X^d + 1), d a power of two. @returns undefined if x is not a unit */
export function inverse(x: readonly bigint[]): readonly bigint[] | undefined {
  const d = x.length;
  if (d === 1) return x[0] === 0n ? undefined : [power(x[0]!, Q - 2n)];
  const mirrored = x.map((c, j) => (j % 2 === 0 ? c : mod(-c)));
  const norm = schoolbook(x, mirrored); // a polynomial in X^2
  const half = inverse(norm.filter((_, j) => j % 2 === 0));
  if (half === undefined) return undefined;
  return schoolbook(
    mirrored,
    Array.from({ length: d }, (_, j) => (j % 2 === 0 ? half[j / 2]! : 0n)),
  );
}

function schoolbook(x: readonly bigint[], y: readonly bigint[]): bigint[] {
  const d = x.length;
  const sum = new Array<bigint>(d).fill(0n);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) {
      if (i + j < d) sum[i + j]! += x[i]! * y[j]!;
      else sum[i + j - d]! -= x[i]! * y[j]!;
    }
  }
  return sum.map(mod);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * base) % Q;
    base = (base * base) % Q;
  }
  return result;
}

/** Part k of a polynomial of Falcon: its coefficients k, k + K, k + 2K, … */
export function stridePart(s: ArrayLike<number>, k: number): number[] {
  const K = s.length / DEGREE;
  return Array.from({ length: DEGREE }, (_, t) => s[k + K * t]!);
}
