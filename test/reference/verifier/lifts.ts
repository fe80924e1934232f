/**
 * The steps that all levels share: projections as linear forms (8.4), the lifts, the folding of φ
 * over the rows by the challenges c (6.3, 10.1).
 */
import {
  amortiserOf,
  collapse,
  type Pair,
  projectionOf,
  RANDOM_ROWS,
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

/** Three lifts at level 0 and two at the others. */
export const liftsOf = (level: number): readonly number[] => (level === 0 ? [0, 1, 2] : [0, 1]);

/** A projection as it was sent. */
export interface SentProjection {
  /** y'_0, y'*_0, y'_1, … */
  readonly rows: readonly number[];
  readonly U: number;
  readonly V: number;
}

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

/** β of every lift of a level. */
export const betasOf = (
  combine: Uint8Array,
  level: number,
  isHidden: boolean,
  checks: Readonly<Checks>,
): Poly[] =>
  liftsOf(level).map((k) =>
    isHidden && !checks.liftsOfHidden ? zero() : shortOf(combine, level, SHORT.lift, k),
  );

/** c of every row of a level. */
export function amortisers(amortise: Uint8Array, level: number, r: number): Poly[] {
  return Array.from({ length: r }, (_, index) =>
    fromIntegers(amortiserOf(stream(amortise, { type: STREAM.amortise, level, index })).c),
  );
}

/** σ of Σ_j ω_j σ(π_j[POLY]), of every lift. */
export function projectionForms(
  jl: Uint8Array,
  level: number,
  polynomial: number,
  omega: readonly (readonly Pair[])[],
): bigint[][] {
  const entries = projectionOf(jl, level, polynomial);
  return omega.map((weights) => collapse(entries, weights));
}

/** Σ_k β_k σ(form_k) */
export function combineForms(forms: readonly (readonly bigint[])[], beta: readonly Poly[]): Poly {
  return forms.reduce<Poly>(
    (sum, form, k) => add(sum, multiply(beta[k]!, sigma(form.map(mod)))),
    zero(),
  );
}

/** Σ_k β_k b^(k+1); the known coefficients, 0 or 0 and 32, are filled in. */
export function combineLifts(
  sent: readonly Poly[],
  known: readonly (readonly bigint[])[],
  beta: readonly Poly[],
): Poly {
  return sent.reduce<Poly>((sum, b, k) => {
    const whole = [...b];
    for (const [i, x] of known[k]!.entries()) whole[32 * i] = mod(x);
    return add(sum, multiply(beta[k]!, whole));
  }, zero());
}

/** Σ_j ω_j (y_j + y*_j i) */
export function weigh(omega: readonly Pair[], y: readonly Pair[]): Pair {
  return omega.reduce<Pair>(
    ([re, im], [a, b], j) => {
      const [plain, star] = y[j]!;
      return [re + a * plain - b * star, im + a * star + b * plain];
    },
    [0n, 0n],
  );
}

/** 5.3: (y_j, y*_j), j = 0..136, from what was sent. */
export function valuesOfY({ rows, U, V }: SentProjection): Pair[] {
  const half = BigInt(Math.floor((U + V) / 2));
  const halfStar = BigInt(Math.floor((V - U) / 2));
  const random = Array.from(
    { length: RANDOM_ROWS },
    (_, j): Pair => [BigInt(rows[2 * j]!) + half, BigInt(rows[2 * j + 1]!) + halfStar],
  );
  return [...random, [BigInt(U), BigInt(V)]];
}

/** 11.1: the squared norm of a projection by signs. */
export function projectionNormSq({ rows, U, V }: SentProjection): bigint {
  const odd = Math.abs(U + V) % 2;
  const x = rows.map((y) => BigInt(2 * y - odd));
  return x.reduce((sum, xj) => sum + xj * xj, 0n);
}

/** 11.1: that norm against its bound. */
export function checkProjectionNorm(
  checks: Readonly<Checks>,
  sent: SentProjection,
  mostSq: number,
  where: string,
  name: 'projectionNorm' | 'normOfX' = 'projectionNorm',
): void {
  require(checks, name, projectionNormSq(sent) <= 288n * BigInt(mostSq), where);
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
