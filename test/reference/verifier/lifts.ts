/**
 * The steps that all levels share: projections as linear forms (8.4), the lifts, the folding of φ
 * over the rows by the challenges c (6.3, 10.1).
 */
import {
  amortiserOf,
  collapse,
  projectionOf,
  RANDOM_ROWS,
  ROWS,
  scalars,
  shortPolynomial,
} from './challenges.ts';
import { type Checks, require } from './checks.ts';
import {
  add,
  fromIntegers,
  mod,
  multiply,
  type Packed,
  type Poly,
  pack,
  sigma,
  unpack,
  zero,
} from './ring.ts';
import { STREAM, stream } from './streams.ts';

export const LIFTS = [0, 1, 2] as const;

/** 10.2: kinds of short challenges. */
export const SHORT = Object.freeze({
  lift: 1,
  E1: 2,
  E2: 3,
  E3: 4,
  E4: 5,
  E6: 6,
  padding: 7,
} as const);

/** A short challenge of a level. */
export function shortOf(combine: Uint8Array, level: number, sub: number, index: number): Poly {
  return fromIntegers(shortPolynomial(stream(combine, { type: STREAM.short, level, sub, index })));
}

/** c of every row of a level. */
export function amortisers(amortise: Uint8Array, level: number, r: number): Poly[] {
  return Array.from({ length: r }, (_, index) =>
    fromIntegers(amortiserOf(stream(amortise, { type: STREAM.amortise, level, index })).c),
  );
}

/** ω of every lift. */
export function omegas(lift: Uint8Array, level: number): bigint[][] {
  return LIFTS.map((sub) => scalars(stream(lift, { type: STREAM.omega, level, sub }), ROWS));
}

/** Σ_j ω_j π_j[POLY] of every lift, before σ. */
export function projectionForms(
  jl: Uint8Array,
  level: number,
  counter: number,
  polynomial: number,
  omega: readonly (readonly bigint[])[],
): bigint[][] {
  const entries = projectionOf(jl, level, counter, polynomial);
  return omega.map((weights) => collapse(entries, weights));
}

/** Σ_k β_k σ(form_k) */
export function combineForms(forms: readonly (readonly bigint[])[], beta: readonly Poly[]): Poly {
  return forms.reduce<Poly>(
    (sum, form, k) => add(sum, multiply(beta[k]!, sigma(form.map(mod)))),
    zero(),
  );
}

/** Σ_k β_k b^(k+1), the constant coefficients filled in. */
export function combineLifts(
  sent: readonly Poly[],
  constants: readonly bigint[],
  beta: readonly Poly[],
): Poly {
  return sent.reduce<Poly>(
    (sum, b, k) => add(sum, multiply(beta[k]!, [mod(constants[k]!), ...b.slice(1)])),
    zero(),
  );
}

/** Σ_j ω_j y_j */
export function weigh(weights: readonly bigint[], values: readonly (number | bigint)[]): bigint {
  return values.reduce<bigint>((sum, x, j) => sum + weights[j]! * BigInt(x), 0n);
}

/** 5.3: y_0 to y_264 from what was sent. */
export function valuesOfY(sent: readonly number[]): number[] {
  const sum = sent[RANDOM_ROWS]!;
  return sent.map((x, j) => (j < RANDOM_ROWS ? x + Math.floor(sum / 2) : x));
}

/** 11.1: the squared norm of the projection by signs. */
export function checkProjectionNorm(
  checks: Readonly<Checks>,
  sent: readonly number[],
  inSq: number,
  where: string,
): void {
  const odd = sent[RANDOM_ROWS]! & 1;
  const x = sent.slice(0, RANDOM_ROWS).map((y) => BigInt(2 * y - odd));
  const normSq = x.reduce((sum, xj) => sum + xj * xj, 0n);
  require(checks, 'projectionNorm', normSq <= 288n * BigInt(inSq), where);
}

/** φ_z, made from the φ of all rows as they come. */
export class Folding {
  readonly c: readonly Packed[];
  readonly sums: Packed[];

  constructor(c: readonly Poly[], columns: number) {
    this.c = c.map(pack);
    this.sums = new Array<Packed>(columns).fill(0n);
  }

  add(row: number, column: number, phi: Poly): void {
    this.sums[column]! += this.c[row]! * pack(phi);
  }

  result(): Poly[] {
    return this.sums.map(unpack);
  }
}
