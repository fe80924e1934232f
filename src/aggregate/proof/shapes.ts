/** Which row of the table a section uses, and where places, pairs and digits stand (docs/protocol.md, 3 and 6.2). */
import type { ParameterSet } from '../../falcon/index.ts';
import { type OrdinaryLevel, type Parameters, readRow, type Shape } from '../parameters/rows.ts';
import { TABLE } from '../parameters/table.gen.ts';

/** beta^2 of Falcon, by degree. */
export const BETA_SQ = Object.freeze({ 512: 34_034_726, 1024: 70_265_242 } as const);
/** The modulus of the proof, and Falcon's. */
export const Q = 17_592_186_043_877n;
export const P = 12_289;
/** Random rows of the projection, and all with the row of ones; functionals mod p, lifts. */
export const PROJECTIONS = 264;
export const ROWS_OF_PROJECTION = PROJECTIONS + 1;
export const FUNCTIONALS = 10;
export const LIFTS = 3;
/** Largest retry byte and counter. */
export const LAST_RETRY = 15;
/** Most items of a section. */
export const MAX_SECTION_ITEMS = 1722;

export const degreeOf = (set: ParameterSet): 512 | 1024 => (set === 'falcon512' ? 512 : 1024);

/** The row of the smallest bucket that holds the items; undefined if there is none. */
export function parametersFor(set: ParameterSet, count: number): Parameters | undefined {
  const degree = degreeOf(set);
  if (!(count >= 1)) return undefined;
  const row = TABLE.find(([of, bucket]) => of === degree && bucket >= count);
  return row === undefined ? undefined : readRow(row);
}

/** Number of the pair (a, b), a <= b, of r rows. */
export const pairIndex = (r: number, a: number, b: number): number =>
  a * r - (a * (a - 1)) / 2 + b - a;

/** The first row of every part. */
export function firstRows({ rows }: Pick<Shape, 'rows'>): number[] {
  let row = 0;
  return rows.map((count) => {
    row += count;
    return row - count;
  });
}

/** A run of places in a row: columns `from` to `to - 1`. */
export interface Run {
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** Places `from` to `to - 1` of a part, row by row. */
export function runsOf(shape: Shape, part: number, from: number, to: number): Run[] {
  const first = firstRows(shape)[part]!;
  const { n } = shape;
  const runs: Run[] = [];
  for (let at = from; at < to; ) {
    const row = Math.floor(at / n);
    const end = Math.min(to, (row + 1) * n);
    runs.push({ row: first + row, from: at - row * n, to: end - row * n });
    at = end;
  }
  return runs;
}

/** The places of the rows that are padding, at level 1 and above. */
export const paddingOf = (shape: Shape): Run[] =>
  shape.lengths.flatMap((length, part) => runsOf(shape, part, length, shape.rows[part]! * shape.n));

/** The same at level 0: places of items that are not there are padding too. */
export function paddingOfZero(
  { levels, bucket, width }: Pick<Parameters, 'levels' | 'bucket' | 'width'>,
  count: number,
): Run[] {
  const shape = levels[0]!;
  const end = (part: number): number => shape.rows[part]! * shape.n;
  return [
    ...runsOf(shape, 0, width * count, end(0)),
    ...runsOf(shape, 1, count, bucket),
    ...runsOf(shape, 1, bucket + count, end(1)),
    ...runsOf(shape, 2, width * count, end(2)),
  ];
}

/** Where the pieces of v start, and how long v is (6.2). */
export interface Pieces {
  readonly t: number;
  readonly g: number;
  readonly h: number;
  /** one for every outer commitment; all at the end with cut = 0 */
  readonly e: readonly number[];
  readonly end: number;
}

export function piecesOf(level: OrdinaryLevel, outers: number): Pieces {
  const { fu, fg, r, kappa, kappa1, pairs, cut } = level;
  const g = fu * r * kappa;
  const h = g + fg * pairs;
  const e = h + fu * pairs;
  const step = cut > 0 ? kappa1 : 0;
  return {
    t: 0,
    g,
    h,
    e: Array.from({ length: outers }, (_, i) => e + i * step),
    end: e + outers * step,
  };
}
