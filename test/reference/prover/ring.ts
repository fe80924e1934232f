/**
 * Section 1 of docs/protocol.md: Z[X]/(X^64 + 1), the same modulo q, conjugation and digits.
 *
 * A product is one product of big integers (Kronecker substitution): coefficients stand in slots of
 * 128 bits. What goes in is below 2^60 and there are fewer than 2^20 products in a sum, so that a
 * slot holds every sum with its sign: 2^60 2^44 2^6 2^16 < 2^127.
 */

/** 64 coefficients; never changed after it was made. */
export type Poly = readonly bigint[];

export const D = 64;
export const Q = 2n ** 44n - 117n;
export const FALCON_Q = 12289n;
export const BETA_SQ = { 512: 34034726n, 1024: 70265242n } as const;

export const mod = (x: bigint, m: bigint): bigint => {
  const r = x % m;
  return r < 0n ? r + m : r;
};

/** The representative in [-(m-1)/2, (m-1)/2], m odd. */
export const centred = (x: bigint, m: bigint = Q): bigint => {
  const r = mod(x, m);
  return r > m / 2n ? r - m : r;
};

export const ZERO: Poly = Object.freeze(new Array<bigint>(D).fill(0n));
export const constant = (x: bigint): Poly => ZERO.map((_, i) => (i === 0 ? x : 0n));

export const reduce = (a: Poly): Poly => a.map((x) => mod(x, Q));
export const centre = (a: Poly): Poly => a.map((x) => centred(x));
export const add = (a: Poly, b: Poly): Poly => a.map((x, i) => x + b[i]!);
export const subtract = (a: Poly, b: Poly): Poly => a.map((x, i) => x - b[i]!);
export const scale = (a: Poly, factor: bigint): Poly => a.map((x) => factor * x);
export const equal = (a: Poly, b: Poly): boolean => a.every((x, i) => mod(x - b[i]!, Q) === 0n);

/** X -> X^-1 modulo X^n + 1. */
export const sigma = (a: readonly bigint[]): bigint[] =>
  a.map((_, j) => (j === 0 ? a[0]! : -a[a.length - j]!));

/** X^power times a polynomial, -64 <= power <= 64. */
export function timesX(a: Poly, power: number): Poly {
  const out = [...a];
  for (const [i, x] of a.entries()) {
    const to = i + power;
    out[(to + D) % D] = to < 0 || to >= D ? -x : x;
  }
  return out;
}

/** All 64 coefficients are 1. */
export const ALL_ONES: Poly = Object.freeze(ZERO.map(() => 1n));

export const normSq = (list: Iterable<Poly>): bigint => {
  let sum = 0n;
  for (const poly of list) for (const x of poly) sum += x * x;
  return sum;
};

const SLOT = 128;
const NIBBLES = SLOT / 4;
const HALF = 1n << BigInt(SLOT - 1);
const slots = (count: number): bigint =>
  BigInt(`0x${HALF.toString(16).padStart(NIBBLES, '0').repeat(count)}`);
const OFFSET = slots(D);
const OFFSET_OF_PRODUCT = slots(2 * D - 1);

const known = new WeakMap<Poly, bigint>();

/** The value at X = 2^128. */
function pack(a: Poly): bigint {
  let value = known.get(a);
  if (value === undefined) {
    let text = '0x';
    for (let i = D - 1; i >= 0; i--) text += (a[i]! + HALF).toString(16).padStart(NIBBLES, '0');
    known.set(a, (value = BigInt(text) - OFFSET));
  }
  return value;
}

/** From the value at X = 2^128 of a polynomial of degree up to 126, modulo X^64 + 1. */
function unpack(value: bigint): Poly {
  const text = (value + OFFSET_OF_PRODUCT).toString(16).padStart((2 * D - 1) * NIBBLES, '0');
  const at = (i: number): bigint => {
    const end = text.length - NIBBLES * i;
    return BigInt(`0x${text.slice(end - NIBBLES, end)}`) - HALF;
  };
  return Array.from({ length: D }, (_, i) => (i + D < 2 * D - 1 ? at(i) - at(i + D) : at(i)));
}

/** Sum of x_i y_i in Z[X]/(X^64 + 1), without conjugation. */
export function innerZ(x: readonly Poly[], y: readonly Poly[]): Poly {
  if (x.length !== y.length) throw new RangeError(`${x.length} and ${y.length} polynomials`);
  let sum = 0n;
  for (const [i, a] of x.entries()) if (a !== ZERO && y[i] !== ZERO) sum += pack(a) * pack(y[i]!);
  return sum === 0n ? ZERO : unpack(sum);
}

/** The same modulo q, in [0, q). */
export const inner = (x: readonly Poly[], y: readonly Poly[]): Poly => {
  const sum = innerZ(x, y);
  return sum === ZERO ? ZERO : reduce(sum);
};

export const multiplyZ = (a: Poly, b: Poly): Poly => innerZ([a], [b]);
export const multiply = (a: Poly, b: Poly): Poly => inner([a], [b]);

/** Balanced digits of an integer: `count` digits of `bits` bits, the last keeps the rest. */
export function digits(x: bigint, count: number, bits: number): bigint[] {
  const base = 1n << BigInt(bits);
  const out: bigint[] = [];
  for (let j = 0; j < count - 1; j++) {
    let digit = mod(x, base);
    if (digit >= base / 2n) digit -= base;
    out.push(digit);
    x = (x - digit) / base;
  }
  out.push(x);
  return out;
}

/** Balanced digits of every coefficient. An element of R_q must have been centred. */
export function digitsOf(a: Poly, count: number, bits: number): Poly[] {
  const all = a.map((x) => digits(x, count, bits));
  return Array.from({ length: count }, (_, j) => all.map((list) => list[j]!));
}

/**
 * Inverse of a unit of R_q: x(X) x(-X) is a polynomial in X^2, which is inverted in the ring of
 * half the degree.
 *
 * @throws RangeError if x is not a unit
 */
export function inverse(x: readonly bigint[]): bigint[] {
  if (x.length === 1) return [invertScalar(mod(x[0]!, Q))];
  const mirrored = x.map((c, i) => (i % 2 === 0 ? c : -c));
  const square = schoolbook(x, mirrored);
  const half = inverse(square.filter((_, i) => i % 2 === 0));
  const spread = x.map((_, i) => (i % 2 === 0 ? half[i / 2]! : 0n));
  return schoolbook(spread, mirrored);
}

function schoolbook(a: readonly bigint[], b: readonly bigint[]): bigint[] {
  const out = new Array<bigint>(a.length).fill(0n);
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) {
      if (i + j < a.length) out[i + j]! += x * y;
      else out[i + j - a.length]! -= x * y;
    }
  }
  return out.map((c) => mod(c, Q));
}

function invertScalar(x: bigint): bigint {
  if (x === 0n) throw new RangeError('no unit');
  let result = 1n;
  for (let e = Q - 2n, base = x; e > 0n; e >>= 1n, base = (base * base) % Q) {
    if (e & 1n) result = (result * base) % Q;
  }
  return result;
}

/** Product modulo X^n + 1 of polynomials of any power-of-two degree, coefficients below 2^22. */
export function multiplyLarge(a: readonly bigint[], b: readonly bigint[]): bigint[] {
  const n = a.length;
  const nibbles = 16;
  const half = 1n << 63n;
  const offsets = (count: number): bigint => BigInt(`0x${half.toString(16).repeat(count)}`);
  const value = (list: readonly bigint[]): bigint => {
    const text = list.map((x) => (x + half).toString(16)).reverse();
    return BigInt(`0x${text.join('')}`) - offsets(n);
  };
  const text = (value(a) * value(b) + offsets(2 * n)).toString(16).padStart(2 * n * nibbles, '0');
  const at = (i: number): bigint =>
    BigInt(`0x${text.slice(text.length - nibbles * (i + 1), text.length - nibbles * i)}`) - half;
  return Array.from({ length: n }, (_, i) => at(i) - at(i + n));
}
