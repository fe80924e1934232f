/** A level by columns: every step of it is a sum over columns or stays within one, so that several workers can each take some. */
import type { Shape } from '../parameters/rows.ts';
import { SMALL } from './challenges.ts';
import { firstRows, type Run } from './shapes.ts';

/** Columns `from` (a multiple of 32) to `to - 1` of every row of a level. */
export interface Columns {
  readonly from: number;
  readonly to: number;
}

const BLOCK = 32;

/** Columns 0 to n - 1 in at most `shares` runs of nearly the same length, each of at least `least` columns unless it is the only one. */
export function splitColumns(n: number, shares: number, least = BLOCK): Columns[] {
  const blocks = Math.ceil(n / BLOCK);
  const count = Math.max(1, Math.min(shares, Math.floor(n / least), blocks));
  const border = (i: number): number => Math.min(n, BLOCK * Math.round((i * blocks) / count));
  return Array.from({ length: count }, (_, i) => ({ from: border(i), to: border(i + 1) }));
}

/** A run of polynomials in a row; columns count from the first one of the share. */
export interface Placed {
  readonly row: number;
  readonly column: number;
  readonly count: number;
  /** where the first one stands */
  readonly at: number;
  /** its number in the projection */
  readonly number: number;
}

/** The places of a part, row by row; `at` is where its polynomials stand, `stride` bytes apart. */
export function placesOfPart(
  shape: Pick<Shape, 'n' | 'rows'>,
  part: number,
  count: number,
  at: number,
  stride = SMALL,
): Placed[] {
  const first = firstRows(shape)[part]!;
  const { n } = shape;
  return Array.from({ length: Math.ceil(count / n) }, (_, i) => ({
    row: first + i,
    column: 0,
    count: Math.min(n, count - i * n),
    at: at + stride * i * n,
    number: (first + i) * n,
  }));
}

/** All places of an ordinary level; what stands there is at address 0 on. */
export function placesOfRows(
  shape: Pick<Shape, 'n' | 'rows' | 'lengths'>,
  stride = SMALL,
): Placed[] {
  let at = 0;
  return shape.lengths.flatMap((length, part) => {
    const list = placesOfPart(shape, part, length, at, stride);
    at += stride * length;
    return list;
  });
}

/** What of the places is in the columns. */
export function placesWithin(
  places: readonly Placed[],
  { from, to }: Columns,
  stride = SMALL,
): Placed[] {
  return places.flatMap(({ row, column, count, at, number }) => {
    const start = Math.max(column, from);
    const end = Math.min(column + count, to);
    if (start >= end) return [];
    const skipped = start - column;
    return [
      {
        row,
        column: start - from,
        count: end - start,
        at: at + stride * skipped,
        number: number + skipped,
      },
    ];
  });
}

/** What of the runs is in the columns; their columns stay those of the level. */
export function runsWithin(runs: readonly Run[], columns: Columns): Run[] {
  return runs.flatMap(({ row, from, to }) => {
    const start = Math.max(from, columns.from);
    const end = Math.min(to, columns.to);
    return start < end ? [{ row, from: start, to: end }] : [];
  });
}

/** How many columns of every row the parts fill from its start on; `lengths` of the parts. */
export const filledBy = (shape: Pick<Shape, 'n' | 'rows'>, lengths: readonly number[]): number[] =>
  shape.rows.flatMap((count, part) =>
    Array.from({ length: count }, (_, i) =>
      Math.min(Math.max(lengths[part]! - i * shape.n, 0), shape.n),
    ),
  );

/** The same, of the columns alone. */
export const filledWithin = (filled: readonly number[], { from, to }: Columns): number[] =>
  filled.map((count) => Math.min(Math.max(count - from, 0), to - from));

/**
 * The polynomials of an ordinary level, 64 numbers each, that are in the columns: what `placesOfRows` says, one after the other; the
 * given array itself if all of them are.
 */
export function gather<T extends Int16Array | BigInt64Array>(
  polynomials: T,
  shape: Pick<Shape, 'n' | 'rows' | 'lengths'>,
  columns: Columns,
): T {
  const places = placesWithin(placesOfRows(shape, 64), columns, 64);
  const count = places.reduce((sum, place) => sum + place.count, 0);
  if (64 * count === polynomials.length) return polynomials;
  const out = new (polynomials.constructor as new (length: number) => T)(64 * count);
  let to = 0;
  for (const place of places) {
    const from = polynomials.subarray(place.at, place.at + 64 * place.count);
    out.set(from as never, to);
    to += from.length;
  }
  return out;
}
