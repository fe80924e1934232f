/**
 * The projection by rows of bits (docs/protocol.md, 5.3), and its transpose in the lifts (8.4), of
 * all places and of those of x, the digits that the previous level hides (8.3). The parts of a
 * merged level have projections of their own, by the same bits (docs/merged.md, 1.3).
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { type Labrador, SMALL_BYTES, type Vecs } from '../../wasm.ts';
import { type Seed, startProjection } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { joinLists, sumOfLists, type Values } from '../ring.ts';
import { numberOfV } from '../shapes.ts';

/** The places that the projection of a part covers: those of x, and the others. */
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
  shape: Pick<Shape, 'n' | 'rows' | 'parts'>,
  { w, lengthX }: OrdinaryLevel,
): Numbers | undefined => {
  if (w === 0) return undefined;
  // x is at the start of v
  const from = numberOfV(shape);
  return { from, to: from + lengthX };
};

/** The places of every part, divided by their numbers. @param x those of x, if there is one */
export const coveredBy = (places: readonly Placed[], x?: Numbers, parts = 1): Covered[] =>
  Array.from({ length: parts }, (_, part) => {
    const own = places.filter((placed) => placed.part === part);
    if (x === undefined) return { x: [], others: own };
    return {
      x: numbered(own, x),
      others: [
        ...numbered(own, { from: 0, to: x.from }),
        ...numbered(own, { from: x.to, to: Number.POSITIVE_INFINITY }),
      ],
    };
  });

/** The places with these numbers. */
function numbered(places: readonly Placed[], { from, to }: Numbers): Placed[] {
  return places.flatMap(({ row, column, count, at, number, part }) => {
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
        part,
      },
    ];
  });
}

/** y_0, y*_0, ..., y_136, y*_136: of all places, and of those of x. */
export interface Projected {
  readonly y: Values;
  readonly ofX: Values;
}

/** Computes the projections of these places, part by part. */
export function project(lab: Labrador, covered: readonly Covered[], jl: Seed): Projected[] {
  return covered.map(({ x, others }) =>
    lab.scope(() => {
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
    }),
  );
}

/**
 * Writes F of both lifts on places to which only projections contribute.
 *
 * @param scalarsOf returns the scalars of a part for every lift: those of (P), then those of (P_x)
 * @returns yields the progress, from 0 to 1
 */
export function* collapse(
  lab: Labrador,
  F: readonly Vecs[],
  covered: readonly Covered[],
  jl: Seed,
  scalarsOf: (part: number) => readonly Values[],
): Generator<number, void> {
  const total = covered.reduce((sum, { x, others }) => sum + x.length + others.length, 0);
  let done = 0;
  for (const [part, { x, others }] of covered.entries()) {
    const scalars = scalarsOf(part);
    const ofP = scalars.map((words) => words.subarray(0, PROJECTION_LENGTH));
    // Both projections have the same bits on x, so their scalars are added up.
    const ofBoth = (words: Values, k: number): Values =>
      sumOfLists([ofP[k]!, words.subarray(PROJECTION_LENGTH, 2 * PROJECTION_LENGTH)]);
    for (const [places, words] of [
      [others, ofP],
      [x, x.length > 0 ? scalars.map(ofBoth) : []],
    ] as const) {
      if (places.length === 0) continue;
      lab.scope(() => {
        const at = lab.put(new Uint8Array(joinLists(words).slice().buffer));
        lab.kernels.collapseStart(at, words.length);
      });
      for (const { row, column, number, count } of places) {
        startProjection(jl);
        const [v0, v1] = F.map((vecs) => lab.row(vecs, row)) as [number, number];
        lab.kernels.collapseToVecs(v0, v1, column, number, count);
        done++;
        yield done / total;
      }
    }
  }
}
