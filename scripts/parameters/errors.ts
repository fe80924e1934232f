/**
 * Errors of the interactive argument, round by round (docs/soundness.md, 4), as numerators over
 * 2^256, each rounded up. All of them are proved; the projection's is evaluated in
 * projectionTail.ts.
 */

import type { Parameters } from '../../src/aggregate/parameters/rows.ts';
import {
  ALPHA_MAGNITUDES,
  D,
  FIRST_LIFTS,
  FOLD_MAGNITUDES,
  FUNCTIONALS,
  LIFTS,
  P,
  Q,
} from './constants.ts';
import { bitsOf, largestOf } from './fixedPoint.ts';
import { projectionError } from './projectionTail.ts';

const ONE = 1n << 256n;
const share = (numerator: bigint, denominator: bigint): bigint =>
  (numerator * ONE + denominator - 1n) / denominator;

const factorial = (n: bigint): bigint => (n < 2n ? 1n : n * factorial(n - 1n));
/** How many polynomials have these numbers of coefficients +-1, +-2, ... */
export function setSize(magnitudes: readonly number[]): bigint {
  const count = magnitudes.reduce((a, b) => a + b);
  const parts = [D - count, ...magnitudes].map((part) => factorial(BigInt(part)));
  return (factorial(BigInt(D)) / parts.reduce((a, b) => a * b)) << BigInt(count);
}

/** More than half of all candidates pass the test of the operator norm (streams.ts). */
const FOLDS = setSize(FOLD_MAGNITUDES) / 2n;
/** A short challenge: 64 coefficients of three bits. */
const SHORT = 1n << 192n;

/** The kinds of rounds, as docs/soundness.md names them (3.4). */
export const TERMS = ['alpha', 'rho', 'bits', 'lift', 'combine', 'c'] as const;
export type Term = (typeof TERMS)[number];

/** One challenge of the verifier. */
export interface Round {
  readonly term: Term;
  readonly level: number;
  readonly error: bigint;
}

/** The challenges of a section, in order. */
export function rounds({ levels, tail }: Parameters): Round[] {
  const projection = projectionError();
  return [...levels, tail].flatMap(({ r }, level): Round[] => [
    ...(level === 0
      ? [
          { term: 'alpha', level, error: share(1n, setSize(ALPHA_MAGNITUDES)) } as const,
          { term: 'rho', level, error: share(1n, P ** BigInt(FUNCTIONALS)) } as const,
        ]
      : []),
    { term: 'bits', level, error: projection },
    // one tau for all lifts of level 0; the others are over F_(q^2)
    {
      term: 'lift',
      level,
      error:
        level === 0
          ? share(1n, Q ** BigInt(FIRST_LIFTS)) + share(1n, SHORT)
          : share(1n, Q ** BigInt(2 * LIFTS)),
    },
    { term: 'combine', level, error: share(1n, SHORT) },
    { term: 'c', level, error: share(BigInt(2 * r + 4), FOLDS) },
  ]);
}

/** Errors by term: their sum and the largest of one round. */
export function errorTerms(parameters: Parameters): Map<Term, { sum: bigint; most: bigint }> {
  const terms = new Map<Term, { sum: bigint; most: bigint }>();
  for (const { term, error } of rounds(parameters)) {
    const { sum, most } = terms.get(term) ?? { sum: 0n, most: 0n };
    terms.set(term, { sum: sum + error, most: largestOf([error, most]) });
  }
  return terms;
}

export const totalError = (parameters: Parameters): bigint =>
  rounds(parameters).reduce((sum, { error }) => sum + error, 0n);

/** The largest error of one round: what a query of a non-interactive prover has at most. */
export const worstRound = (parameters: Parameters): bigint =>
  largestOf(rounds(parameters).map(({ error }) => error));

/** -log2, rounded down to hundredths */
export const errorBits = (error: bigint): number => bitsOf(error, ONE);

/** 2^-128 */
export const MOST_ERROR = ONE >> 128n;
