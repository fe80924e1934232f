/**
 * What every commitment of a row must withstand, and what it withstands (docs/soundness.md, 2 and
 * 3).
 */

import type { Parameters } from '../../src/aggregate/parameters/rows.ts';
import { ALPHA_L1, GAMMA_SQ, T_SQ } from './constants.ts';
import { bitsOf, squareRootUp } from './fixedPoint.ts';
import { blockSize, limitSq, quartersSq } from './limits.ts';
import type { ShorterParameters } from './shorter.ts';

const ceilDivide = (x: bigint, y: bigint): bigint => (x + y - 1n) / y;
/** gamma^2 x, rounded up: what a short projection leaves open */
export const withSlack = (x: bigint): bigint =>
  ceilDivide(BigInt(GAMMA_SQ.numerator) * x, BigInt(GAMMA_SQ.denominator));

/** squared norms that the inner commitment (both branches) and the outer one must withstand */
export function bindingNorms(
  parameters: Parameters,
  index: number,
): { inner: readonly [bigint, bigint]; outer: bigint } {
  const level = parameters.levels[index] ?? parameters.tail;
  const { r, inSq } = level;
  const tSq = BigInt(T_SQ);
  let reachSq = BigInt(r) * withSlack(BigInt(inSq));
  if (index === 0) {
    // W is outside of the projection; |alpha sigma(s)| <= ||alpha||_1 |s| (5.4)
    const rows = BigInt(level.rows[0]! + level.rows[2]!);
    reachSq = rows * BigInt(1 + ALPHA_L1 ** 2) * withSlack(BigInt(inSq));
  }
  // what the next message is known to be: its projection is held to the next level's bound
  let outSq = BigInt(level.outSq);
  let gadget = 1n;
  if (!level.tail) {
    const next = parameters.levels[index + 1] ?? parameters.tail;
    outSq = withSlack(BigInt(next.inSq));
    for (let j = 1; j < level.f; j++) gadget += 1n << BigInt(2 * level.b * j);
  }
  const first = 64n * tSq * gadget * outSq;
  const root = 2n * squareRootUp(gadget * outSq) + 2n * squareRootUp(tSq * reachSq);
  return { inner: [first, root * root], outer: 4n * outSq };
}

/** A commitment with the squared norm below which its openings must be unique. */
export interface Commitment {
  readonly level: number;
  readonly name: 'inner, first branch' | 'inner, second branch' | 'outer';
  readonly kappa: number;
  readonly normSq: bigint;
}

/** All commitments of a row. */
export function commitmentsOf(parameters: Parameters): Commitment[] {
  return [...parameters.levels, parameters.tail].flatMap((level, index): Commitment[] => {
    const { inner, outer } = bindingNorms(parameters, index);
    const { kappa } = level;
    return [
      { level: index, name: 'inner, first branch', kappa, normSq: inner[0] },
      { level: index, name: 'inner, second branch', kappa, normSq: inner[1] },
      ...(level.tail
        ? []
        : [{ level: index, name: 'outer', kappa: level.kappa1, normSq: outer } as const]),
    ];
  });
}

/** Rows in quarters with the squared norms that they must withstand (docs/decisions/0058, 2). */
export const quartersOf = ({ levels }: ShorterParameters) =>
  levels.flatMap(({ w, quarters, hiddenSq }, level) =>
    w === 0 ? [] : [{ level, quarters, normSq: 4n * withSlack(BigInt(hiddenSq)) }],
  );
export const quartersWithstand = (quarters: number, normSq: bigint): boolean =>
  normSq < quartersSq(quarters);

/** Whether a rank withstands a norm, by integers. */
export const withstands = ({ kappa, normSq }: Commitment): boolean => normSq < limitSq(kappa);

/** Margin of the norm, in hundredths of a bit: what is left to the limit. */
export const marginOf = ({ kappa, normSq }: Commitment): number =>
  bitsOf(normSq, limitSq(kappa)) / 2;

/**
 * The weakest commitment of a row by block size, as doubles: 0.292 of it is the classical figure.
 */
export function weakest(parameters: Parameters): { commitment: Commitment; size: number } {
  const all = commitmentsOf(parameters).map((commitment) => {
    return { commitment, size: blockSize(commitment.normSq, commitment.kappa) };
  });
  return all.reduce((a, b) => (b.size < a.size ? b : a));
}
