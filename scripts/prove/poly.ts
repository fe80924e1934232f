/**
 * Integer polynomials of degree at most two over terms, named by their ids from 1 to 2^26 - 1. A
 * monomial is a number: 0 for 1, id for a term, high * 2^26 + low for a product.
 */
export type Poly = ReadonlyMap<number, bigint>;

const SPAN = 2 ** 26;

export const ONE: Poly = new Map([[0, 1n]]);

/** The ids in a monomial, the larger one first. */
export function idsOf(monomial: number): readonly number[] {
  if (monomial === 0) return [];
  if (monomial < SPAN) return [monomial];
  return [Math.floor(monomial / SPAN), monomial % SPAN];
}

/** The monomial of one or two ids. */
const product = (a: number, b: number): number =>
  a === 0 || b === 0 ? a + b : a > b ? a * SPAN + b : b * SPAN + a;

export const constant = (value: bigint): Poly => new Map(value === 0n ? [] : [[0, value]]);

/** a + factor * b */
export function addPoly(a: Poly, b: Poly, factor = 1n): Poly {
  const sum = new Map(a);
  for (const [monomial, coefficient] of b) {
    const value = (sum.get(monomial) ?? 0n) + factor * coefficient;
    if (value === 0n) sum.delete(monomial);
    else sum.set(monomial, value);
  }
  return sum;
}

/** @returns undefined if the degree would exceed two */
export function mulPoly(a: Poly, b: Poly): Poly | undefined {
  const result = new Map<number, bigint>();
  for (const [m, c] of a) {
    for (const [n, d] of b) {
      if (m !== 0 && n !== 0 && (m >= SPAN || n >= SPAN)) return undefined;
      const monomial = product(m, n);
      const value = (result.get(monomial) ?? 0n) + c * d;
      if (value === 0n) result.delete(monomial);
      else result.set(monomial, value);
    }
  }
  return result;
}

/** The ids that occur. */
export function atomsOf(poly: Poly): number[] {
  const ids = new Set<number>();
  for (const monomial of poly.keys()) for (const id of idsOf(monomial)) ids.add(id);
  return [...ids];
}

/** Replaces a term by a polynomial. @returns undefined if the degree would exceed two */
export function substitute(poly: Poly, id: number, by: Poly): Poly | undefined {
  const result = new Map<number, bigint>();
  const add = (coefficient: bigint, monomial: number): void => {
    const value = (result.get(monomial) ?? 0n) + coefficient;
    if (value === 0n) result.delete(monomial);
    else result.set(monomial, value);
  };
  for (const [monomial, coefficient] of poly) {
    const ids = idsOf(monomial);
    if (!ids.includes(id)) {
      add(coefficient, monomial);
      continue;
    }
    const rest = ids.length === 2 ? (ids[0] === id ? ids[1]! : ids[0]!) : 0;
    let part = mulPoly(new Map([[rest, coefficient]]), by);
    if (part !== undefined && rest === id) part = substitute(part, id, by);
    if (part === undefined) return undefined;
    part.forEach(add);
  }
  return result;
}
