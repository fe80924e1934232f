/**
 * The columns of a level. Every step of a level is a sum over columns or confined to one column, so
 * several threads can share the work by columns.
 */
import type { Shape } from '../parameters/rows.ts';
import { BLOCK_COLUMNS, COEFS_BYTES, SMALL_BYTES } from '../wasm.ts';
import { digitOfRow, type NumberedRun, type Run, runsOf, runsOfInput } from './shapes.ts';

type InputShape = Pick<Shape, 'n' | 'rows' | 'lengths' | 'r' | 'parts'>;

/** Columns `from` (a multiple of 32) to `to - 1` of every row of a level. */
export interface Columns {
  readonly from: number;
  readonly to: number;
}

/** `from` to `to - 1`, `most` at a time: the start and the length of each portion. */
export function* portionsOf(from: number, to: number, most: number): Generator<[number, number]> {
  for (let at = from; at < to; at += most) yield [at, Math.min(most, to - at)];
}

/**
 * Splits columns 0 to n - 1 into one to `parts` runs with nearly equal numbers of filled places.
 * The runs have at least `least` columns on average.
 *
 * @param filled number of filled columns of every row; all rows count as full if omitted
 */
export function splitColumns(
  n: number,
  parts: number,
  least = BLOCK_COLUMNS,
  filled: readonly number[] = [n],
): Columns[] {
  const blocks = Math.ceil(n / BLOCK_COLUMNS);
  const count = Math.min(parts, Math.floor(n / least), blocks);
  const placesBefore = (block: number): number =>
    filled.reduce((sum, columns) => sum + Math.min(columns, BLOCK_COLUMNS * block), 0);
  const borders = [0];
  for (let i = 1; i < count; i++) {
    const wanted = (i / count) * placesBefore(blocks);
    const off = (block: number): number => Math.abs(placesBefore(block) - wanted);
    let block = borders.at(-1)! + 1;
    while (block < blocks - (count - i) && off(block + 1) <= off(block)) block++;
    borders.push(block);
  }
  const starts = borders.map((block) => BLOCK_COLUMNS * block);
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? n }));
}

/**
 * Splits the columns, from the first one onwards, into runs that cost about `wanted` each.
 *
 * @param costs cost of each block
 */
export function splitByCost(costs: readonly number[], wanted: number): Columns[] {
  const runs: Columns[] = [];
  let from = 0;
  let sum = 0;
  for (const [block, cost] of costs.entries()) {
    sum += cost;
    if (sum < wanted && block < costs.length - 1) continue;
    runs.push({ from, to: BLOCK_COLUMNS * (block + 1) });
    from = BLOCK_COLUMNS * (block + 1);
    sum = 0;
  }
  return runs;
}

/** A run of polynomials in a row; columns are counted from the start of the current range. */
export interface Placed {
  readonly row: number;
  readonly column: number;
  readonly count: number;
  /** the address of the first polynomial */
  readonly at: number;
  /** the number of the first polynomial in the projection */
  readonly number: number;
  /** the part that it belongs to at the merged level, counted from 0; else 0 */
  readonly part: number;
}

/** The places of a segment of level 0, row by row; its polynomials begin at `at`. */
export const placesOfSegment = (
  shape: Pick<Shape, 'n' | 'rows'>,
  segment: number,
  count: number,
  at: number,
): Placed[] =>
  runsOf(shape, segment, 0, count).map(({ row, from, to }, i) => ({
    row,
    column: from,
    count: to - from,
    at: at + SMALL_BYTES * i * shape.n,
    number: row * shape.n,
    part: 0,
  }));

/** All places of level 1 or above; their polynomials begin at address 0. */
export const placesOfRows = (shape: InputShape, stride = SMALL_BYTES): Placed[] =>
  placed(runsOfInput(shape), stride);

/**
 * The places of the linear forms on level 1 or above: those of the first digit of z, which times
 * powers of two are those of the others, and those of v. Their polynomials begin at address 0.
 */
export function placesOfForms(shape: InputShape, stride = COEFS_BYTES): Placed[] {
  const digits = digitOfRow(shape, shape.r);
  const runs = runsOfInput(shape).filter(({ row }) => digitOfRow(shape, row) % digits === 0);
  return placed(runs, stride);
}

function placed(runs: readonly NumberedRun[], stride: number): Placed[] {
  let at = 0;
  return runs.map(({ row, from, to, number, part }) => {
    const count = to - from;
    at += stride * count;
    return { row, column: from, count, at: at - stride * count, number, part };
  });
}

/** The places within the columns. */
export function placesWithin(
  places: readonly Placed[],
  { from, to }: Columns,
  stride = SMALL_BYTES,
): Placed[] {
  return places.flatMap(({ row, column, count, at, number, part }) => {
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
        part,
      },
    ];
  });
}

/** The runs within the columns; columns are still counted from the first one of the level. */
export function runsWithin(runs: readonly Run[], columns: Columns): Run[] {
  return runs.flatMap(({ row, from, to }) => {
    const start = Math.max(from, columns.from);
    const end = Math.min(to, columns.to);
    return start < end ? [{ row, from: start, to: end }] : [];
  });
}

/** The number of columns that parts of these lengths fill, from its start, in every row. */
export const filledBy = (shape: Pick<Shape, 'n' | 'rows'>, lengths: readonly number[]): number[] =>
  shape.rows.flatMap((count, part) =>
    Array.from({ length: count }, (_, i) =>
      Math.min(Math.max(lengths[part]! - i * shape.n, 0), shape.n),
    ),
  );

/** The number of these columns that are filled in every row, from `filledBy`. */
export const filledWithin = (filled: readonly number[], { from, to }: Columns): number[] =>
  filled.map((count) => Math.min(Math.max(count - from, 0), to - from));

/**
 * Polynomials, 64 numbers each, within the columns. If the columns contain all of them, the given
 * array itself is returned.
 *
 * @param all their places, with a stride of 64
 */
export function gather<T extends Int16Array | BigInt64Array>(
  polynomials: T,
  all: readonly Placed[],
  columns: Columns,
): T {
  const places = placesWithin(all, columns, 64);
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
