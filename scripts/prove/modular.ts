/**
 * Linear and bilinear forms of the inputs modulo a prime. A term's definition is expanded until
 * only inputs, and terms without a definition, are left; a form is a sorted list of monomials of
 * their keys with coefficients below the prime.
 */

import { idsOf, type Poly } from './poly.ts';
import type { Term, Terms } from './terms.ts';

/** Monomials and coefficients: 0 for 1, a key, or high * 2^24 + low for a product of two. */
export interface Form {
  readonly keys: Float64Array;
  readonly values: Float64Array;
}

/** Keys of inputs are below it, keys of other terms are not. */
export const FIRST_TERM = 2 ** 23;
const SPAN = 2 ** 25;
const NONE: Form = { keys: new Float64Array(0), values: new Float64Array(0) };
const single = (key: number, value: number): Form => ({
  keys: Float64Array.of(key),
  values: Float64Array.of(value),
});

/** The monomial of the product of two inputs. */
export const pairKey = (a: number, b: number): number => Math.max(a, b) * SPAN + Math.min(a, b);

export const modulo = (value: bigint, p: bigint): bigint => ((value % p) + p) % p;

export class Forms {
  readonly #terms: Terms;
  readonly #p: number;
  readonly #known = new Map<number, Form | undefined>();

  readonly #monomials = new Map<number, ReturnType<Forms['monomial']>>();

  constructor(terms: Terms, p: number) {
    this.#terms = terms;
    this.#p = p;
  }

  #reduce(value: bigint): number {
    return Number(modulo(value, BigInt(this.#p)));
  }

  #scale(form: Form, factor: number): Form {
    if (factor === 0) return NONE;
    return factor === 1
      ? form
      : { keys: form.keys, values: form.values.map((value) => (value * factor) % this.#p) };
  }

  #add(a: Form, b: Form): Form {
    const keys = new Float64Array(a.keys.length + b.keys.length);
    const values = new Float64Array(keys.length);
    let [i, j, n] = [0, 0, 0];
    while (i < a.keys.length || j < b.keys.length) {
      const [left, right] = [a.keys[i] ?? Infinity, b.keys[j] ?? Infinity];
      const key = Math.min(left, right);
      let value = 0;
      if (left === key) value += a.values[i++]!;
      if (right === key) value += b.values[j++]!;
      value %= this.#p;
      if (value === 0) continue;
      keys[n] = key;
      values[n++] = value;
    }
    return { keys: keys.slice(0, n), values: values.slice(0, n) };
  }

  /** @returns undefined if the degree would exceed two */
  #multiply(a: Form, b: Form): Form | undefined {
    const products = new Map<number, number>();
    for (let i = 0; i < a.keys.length; i++) {
      for (let j = 0; j < b.keys.length; j++) {
        const [x, y] = [a.keys[i]!, b.keys[j]!];
        if (x !== 0 && y !== 0 && (x >= SPAN || y >= SPAN)) return undefined;
        const key = x === 0 || y === 0 ? x + y : pairKey(x, y);
        products.set(key, ((products.get(key) ?? 0) + a.values[i]! * b.values[j]!) % this.#p);
      }
    }
    const keys = [...products.keys()].filter((key) => products.get(key) !== 0);
    keys.sort((x, y) => x - y);
    return {
      keys: Float64Array.from(keys),
      values: Float64Array.from(keys, (key) => products.get(key)!),
    };
  }

  /** @returns undefined if the term has a degree above two */
  of(term: Term): Form | undefined {
    const origin = this.#terms.origin(term);
    if (this.#known.has(origin.id)) return this.#known.get(origin.id);
    const form = this.#compute(origin);
    this.#known.set(origin.id, form);
    return form;
  }

  #compute(term: Term): Form | undefined {
    if (term.op === 'input') return single(term.key, 1);
    if (term.divides > 0) {
      const form = this.of(term.args[0]!);
      const half = (this.#p + 1) / 2;
      return form && this.#scale(form, power(half, term.divides, this.#p));
    }
    if (term.definition === undefined) {
      if (term.id >= SPAN - FIRST_TERM) throw new Error('too many terms');
      return single(FIRST_TERM + term.id, 1);
    }
    return this.ofPoly(term.definition);
  }

  ofPoly(poly: Poly): Form | undefined {
    let sum = NONE;
    for (const [monomial, coefficient] of poly) {
      const factor = this.#reduce(coefficient);
      if (factor === 0) continue;
      let product: Form | undefined = single(0, 1);
      for (const id of idsOf(monomial)) {
        const form = this.of(this.#terms.nodes[id]!);
        product = form && product && this.#multiply(form, product);
      }
      if (product === undefined) return undefined;
      sum = this.#add(sum, this.#scale(product, factor));
    }
    return sum;
  }

  /** The term as a coefficient times a power of one input. @returns undefined if it is none */
  monomial(term: Term): { coefficient: number; key: number; exponent: number } | undefined {
    const origin = this.#terms.origin(term);
    if (origin.op === 'input' || origin.op === 'name') {
      return { coefficient: 1, key: origin.key, exponent: 1 };
    }
    if (origin.definition === undefined) return undefined;
    const left = [...origin.definition].filter(([, value]) => this.#reduce(value) !== 0);
    const [monomial, coefficient] = left[0] ?? [0, 0n];
    if (left.length !== 1) return undefined;
    const result = { coefficient: this.#reduce(coefficient), key: 0, exponent: 0 };
    for (const id of idsOf(monomial)) {
      const factor = this.#monomialOf(this.#terms.nodes[id]!);
      if (factor === undefined || (result.key !== 0 && result.key !== factor.key)) return undefined;
      result.key = factor.key;
      result.exponent += factor.exponent;
      result.coefficient = (result.coefficient * factor.coefficient) % this.#p;
    }
    return result;
  }

  #monomialOf(term: Term): ReturnType<Forms['monomial']> {
    if (!this.#monomials.has(term.id)) this.#monomials.set(term.id, this.monomial(term));
    return this.#monomials.get(term.id);
  }

  /** Forgets the forms of terms, to keep memory low. */
  clear(): void {
    this.#known.clear();
  }
}

/** base^exponent mod p, p below 2^26. */
export function power(base: number, exponent: number, p: number): number {
  let [result, square] = [1, ((base % p) + p) % p];
  for (let e = exponent; e > 0; e = Math.floor(e / 2)) {
    if (e % 2 === 1) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}

export const inverse = (value: number, p: number): number => power(value, p - 2, p);

/** Whether a form has exactly these monomials; coefficients that vanish may be listed. */
export function isForm(form: Form | undefined, expected: ReadonlyMap<number, number>): boolean {
  if (form === undefined) return false;
  let count = 0;
  for (const value of expected.values()) if (value !== 0) count++;
  if (form.keys.length !== count) return false;
  return form.keys.every((key, i) => expected.get(key) === form.values[i]);
}

/**
 * The form of a term, linear or bilinear, modulo a number of any size, or exactly if it is 0, as
 * coefficients of monomials: 0, keys, and pairs of keys. Terms without a definition have the keys
 * -id.
 *
 * @throws Error if the degree exceeds two
 */
export function linear(terms: Terms, term: Term, modulus: bigint): Map<number, bigint> {
  return new WideForms(terms, modulus).of(term);
}

/** `linear` of many terms. */
export class WideForms {
  readonly #terms: Terms;
  readonly #modulus: bigint;
  readonly #known = new Map<number, Map<number, bigint>>();

  constructor(terms: Terms, modulus: bigint) {
    this.#terms = terms;
    this.#modulus = modulus;
  }

  of(term: Term): Map<number, bigint> {
    const origin = this.#terms.origin(term);
    const known = this.#known.get(origin.id);
    if (known !== undefined) return known;
    const sum = new Map<number, bigint>();
    this.#known.set(origin.id, sum);
    if (origin.op === 'input') return sum.set(origin.key, 1n);
    if (origin.definition === undefined) return sum.set(-origin.id, 1n);
    for (const [monomial, coefficient] of origin.definition) {
      let part = new Map([[0, 1n]]);
      for (const id of idsOf(monomial)) part = product(part, this.of(this.#terms.nodes[id]!));
      for (const [key, value] of part) this.add(sum, key, coefficient * value);
    }
    return sum;
  }

  /** Adds a multiple of a monomial. */
  add(sum: Map<number, bigint>, key: number, value: bigint): void {
    const exact = (sum.get(key) ?? 0n) + value;
    const total = this.#modulus > 0n ? modulo(exact, this.#modulus) : exact;
    if (total === 0n) sum.delete(key);
    else sum.set(key, total);
  }
}

/** The monomial of two keys, of which one may be 0: beyond the keys, which may be negative. */
export function wideKey(a: number, b: number): number {
  if (a === 0 || b === 0) return a + b;
  if (Math.abs(a) > SPAN || Math.abs(b) > SPAN) throw new Error('a form of degree three');
  return 2 * SPAN * (SPAN + Math.max(a, b)) + SPAN + Math.min(a, b);
}

function product(a: Map<number, bigint>, b: Map<number, bigint>): Map<number, bigint> {
  const result = new Map<number, bigint>();
  for (const [x, c] of a) {
    for (const [y, d] of b) result.set(wideKey(x, y), (result.get(wideKey(x, y)) ?? 0n) + c * d);
  }
  return result;
}
