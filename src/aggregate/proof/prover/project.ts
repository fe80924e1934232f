/**
 * The projection by rows of bits (docs/protocol.md, 5.3), and its transpose in the lifts (8.4), of
 * all places and of those of x, the digits that the previous level hides (8.3).
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { type Labrador, SMALL_BYTES, type Vecs } from '../../wasm.ts';
import { prepareOmega, type Seed, sampleOmegas, startProjection } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { sumOfLists, type Values } from '../ring.ts';
import { firstRows } from '../shapes.ts';

/** The places that a projection covers: those of x, and the others. */
export interface Covered {
  readonly x: readonly Placed[];
  readonly others: readonly Placed[];
}

/** The numbers `from` to `to - 1` of places in a projection. */
export interface Numbers {
  readonly from: number;
  readonly to: number;
}

/** The numbers of x, at the level after it; undefined if nothing is hidden. */
export const numbersOfX = (
  shape: Pick<Shape, 'n' | 'rows'>,
  { w, f, lengthX }: OrdinaryLevel,
): Numbers | undefined => {
  if (w === 0) return undefined;
  // x is at the start of v, the part after z_0, ..., z_(f-1)
  const from = shape.n * firstRows(shape)[f]!;
  return { from, to: from + lengthX };
};

/** Divides places by their numbers. @param x the numbers of x; omitted if there is none */
export const coveredBy = (places: readonly Placed[], x?: Numbers): Covered =>
  x === undefined
    ? { x: [], others: places }
    : {
        x: numbered(places, x),
        others: [
          ...numbered(places, { from: 0, to: x.from }),
          ...numbered(places, { from: x.to, to: Number.POSITIVE_INFINITY }),
        ],
      };

/** The places with these numbers. */
function numbered(places: readonly Placed[], { from, to }: Numbers): Placed[] {
  return places.flatMap(({ row, column, count, at, number }) => {
    const start = Math.max(number, from);
    const end = Math.min(number + count, to);
    if (start >= end) return [];
    const skipped = start - number;
    return [
      {
        row,
        column: column + skipped,
        count: end - start,
        at: at + SMALL_BYTES * skipped,
        number: start,
      },
    ];
  });
}

/** y_0, y*_0, ..., y_136, y*_136: of all places, and of those of x. */
export interface Projected {
  readonly y: Values;
  readonly ofX: Values;
}

/** Computes the projections of these places. */
export function project(lab: Labrador, { x, others }: Covered, jl: Seed): Projected {
  return lab.scope(() => {
    const at = lab.room(8 * PROJECTION_LENGTH, true);
    startProjection(jl);
    const add = (places: readonly Placed[]): Values => {
      for (const { at: from, number, count } of places) {
        lab.kernels.projectPolys(at, from, number, count);
      }
      const { buffer } = lab.kernels.memory;
      return new BigInt64Array(buffer as ArrayBuffer, at, PROJECTION_LENGTH).slice();
    };
    const ofX = add(x);
    return { y: add(others), ofX };
  });
}

/**
 * Writes F of both lifts on places to which only projections contribute.
 *
 * @returns yields the progress, from 0 to 1
 */
export function* collapse(
  lab: Labrador,
  F: readonly Vecs[],
  { x, others }: Covered,
  jl: Seed,
  lift: Seed,
): Generator<number, void> {
  const all = [...others, ...x];
  prepareOmega(lab, lift);
  for (const [i, { row, column, number, count }] of all.entries()) {
    if (i === others.length) prepareOmegaOnX(lab, lift);
    startProjection(jl);
    const [v0, v1] = F.map((vecs) => lab.row(vecs, row)) as [number, number];
    lab.kernels.collapseToVecs(v0, v1, column, number, count);
    yield (i + 1) / all.length;
  }
}

/**
 * Prepares the kernels for places of x: both projections have the same bits there, so the scalars
 * are added up instead.
 */
function prepareOmegaOnX(lab: Labrador, lift: Seed): void {
  const omegas = sampleOmegas(lab, lift, 2 * PROJECTION_LENGTH);
  lab.scope(() => {
    const at = lab.room(8 * PROJECTION_LENGTH * omegas.length);
    const buffer = lab.kernels.memory.buffer as ArrayBuffer;
    const sums = new BigInt64Array(buffer, at, PROJECTION_LENGTH * omegas.length);
    for (const [k, omega] of omegas.entries()) {
      const ofBoth = [omega.subarray(0, PROJECTION_LENGTH), omega.subarray(PROJECTION_LENGTH)];
      sums.set(sumOfLists(ofBoth), PROJECTION_LENGTH * k);
    }
    lab.kernels.collapseStart(at, omegas.length);
  });
}
