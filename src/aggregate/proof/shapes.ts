/**
 * The row of the table that a section uses, and the positions of places, pairs and digits
 * (docs/protocol.md, 3 and 6.2).
 */
import type { ParameterSet } from '../../falcon/index.ts';
import { equal } from '../../shared/bytes.ts';
import {
  hashOfRow,
  type MergedParameters,
  type MergedRow,
  type OrdinaryLevel,
  type Parameters,
  readMergedRow,
  readRow,
  type Shape,
} from '../parameters/rows.ts';
import { MERGED_TABLE, TABLE } from '../parameters/table.gen.ts';

/** Segments of level 0. */
export const PART = Object.freeze({ S: 0, W: 1, Y: 2 } as const);

export const degreeOf = (set: ParameterSet): 512 | 1024 => (set === 'falcon512' ? 512 : 1024);

/** The row of the smallest bucket that holds the items; undefined if there is none. */
export function parametersFor(set: ParameterSet, count: number): Parameters | undefined {
  const degree = degreeOf(set);
  if (!(count >= 1)) return undefined;
  const row = TABLE.find(([of, bucket]) => of === degree && bucket >= count);
  return row === undefined ? undefined : readRow(row);
}

/**
 * The row of a merged proof over so many parts of a set: that of the smallest number that holds
 * them; undefined if there is none.
 *
 * @param parts 1 or more
 */
export function mergedParametersFor(
  set: ParameterSet,
  parts: number,
): MergedParameters | undefined {
  const degree = degreeOf(set);
  const row = MERGED_TABLE.find(([[of], most]) => of === degree && most >= parts);
  return row === undefined ? undefined : readMergedRow(row, parts);
}

/** Maximum number of parts of a merged proof. */
export const MOST_PARTS = Math.max(...MERGED_TABLE.map(([, most]) => most));

/** The merged rows of the part row with this hash, the smallest first. */
export const mergedRowsOf = (partHash: Uint8Array): MergedRow[] =>
  MERGED_TABLE.filter(([part]) => equal(hashOfRow(part), partHash));

/** The number of the pair (a, b), a <= b, of r rows. */
export const pairIndex = (r: number, a: number, b: number): number =>
  a * r - (a * (a - 1)) / 2 + b - a;

/** The first row of every segment. */
export function firstRows({ rows }: Pick<Shape, 'rows'>): number[] {
  let row = 0;
  return rows.map((count) => {
    row += count;
    return row - count;
  });
}

/** The first row of Y at level 0. The rows before it, of S and W, are committed first. */
export const firstRowOfY = (level: Pick<Shape, 'rows'>): number => firstRows(level)[PART.Y]!;

/** A run of places in a row: columns `from` to `to - 1`. */
export interface Run {
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** Places `from` to `to - 1` of a segment, row by row. */
export function runsOf(
  shape: Pick<Shape, 'n' | 'rows'>,
  segment: number,
  from: number,
  to: number,
): Run[] {
  const first = firstRows(shape)[segment]!;
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

/** The padding of the rows of level 1 and above. */
export const paddingOf = (shape: Shape): Run[] =>
  shape.lengths.flatMap((length, i) => runsOf(shape, i, length, shape.rows[i]! * shape.n));

/** The segment of z_i of a part, counted from 0; v is in the last segment. */
export const segmentOfZ = ({ parts }: Pick<Shape, 'parts'>, i: number, part: number): number =>
  parts === undefined ? i : i * parts.most + part;

/** Consecutive polynomials in a row of level 1 or above. */
export interface NumberedRun extends Run {
  /** the part that they belong to, counted from 0; 0 at other than the merged level */
  readonly part: number;
  /** the number of the first one in the projection (docs/protocol.md, 5.3) */
  readonly number: number;
}

/**
 * The polynomials of level 1 or above: segment by segment, row by row. The parts of a merged level
 * have the same numbers (docs/merged.md, 1.3).
 */
export function runsOfInput(shape: Pick<Shape, 'n' | 'rows' | 'lengths' | 'parts'>): NumberedRun[] {
  const { n, lengths, parts } = shape;
  if (parts === undefined) {
    return lengths.flatMap((length, segment) =>
      runsOf(shape, segment, 0, length).map((run) => ({ ...run, part: 0, number: run.row * n })),
    );
  }
  const numbered = (segment: number, part: number, from: number, count: number, first: number) => {
    let number = first;
    return runsOf(shape, segment, from, from + count).map((run): NumberedRun => {
      number += run.to - run.from;
      return { ...run, part, number: number - (run.to - run.from) };
    });
  };
  const all = [...Array(parts.count).keys()];
  const z = [...Array(parts.f).keys()].flatMap((i) =>
    all.flatMap((part) => numbered(i * parts.most + part, part, 0, parts.n, i * parts.n)),
  );
  const { f, m } = parts;
  const v = all.flatMap((part) => numbered(f * parts.most, part, part * m, m, f * parts.n));
  return [...z, ...v];
}

/** The digit of z in a row of level 1 or above, counted from 0; of v, the number of digits. */
export function digitOfRow(shape: Pick<Shape, 'rows' | 'parts'>, row: number): number {
  const digits = shape.parts?.f ?? shape.rows.length - 1;
  return Math.min(digits, Math.floor(row / rowsOfDigit(shape)));
}

/** The number of rows that a digit of z occupies, in all parts together. */
export const rowsOfDigit = ({ rows, parts }: Pick<Shape, 'rows' | 'parts'>): number =>
  (parts?.most ?? 1) * rows[0]!;

/** The number of the first polynomial of v in the projection of level 1 or above. */
export const numberOfV = (shape: Pick<Shape, 'n' | 'rows' | 'parts'>): number => {
  const { n, rows, parts } = shape;
  return parts === undefined ? n * firstRows(shape)[rows.length - 1]! : parts.f * parts.n;
};

/** The padding at level 0, which includes the places of missing items. */
export function paddingOfZero(
  { levels, bucket, width }: Pick<Parameters, 'levels' | 'bucket' | 'width'>,
  count: number,
): Run[] {
  const shape = levels[0]!;
  const end = (part: number): number => shape.rows[part]! * shape.n;
  return [
    ...runsOf(shape, PART.S, width * count, end(PART.S)),
    ...runsOf(shape, PART.W, count, bucket),
    ...runsOf(shape, PART.W, bucket + count, end(PART.W)),
    ...runsOf(shape, PART.Y, width * count, end(PART.Y)),
  ];
}

/** The start of each piece of v, and the end of v (6.2). */
export interface Pieces {
  readonly t: number;
  readonly g: number;
  readonly h: number;
  /** digits of the amortised e of the inner commitments, if these are cut; x is at 0 */
  readonly inner: number;
  /** one for every outer commitment; all of them at the end if cut = 0 */
  readonly e: readonly number[];
  readonly end: number;
}

/** @param outers number of outer commitments of the level: three at level 0, else two */
export function piecesOf(level: OrdinaryLevel, outers: number): Pieces {
  const { f, fu, ft, fg, r, kappa, kappa1, pairs, cut, ct, lengthX } = level;
  const g = lengthX + ft * r * kappa;
  const h = g + fg * pairs;
  const inner = h + fu * pairs;
  const e = inner + (ct === 0 ? 0 : f * kappa);
  const step = cut === 0 ? 0 : kappa1;
  return {
    t: lengthX,
    g,
    h,
    inner,
    e: Array.from({ length: outers }, (_, i) => e + i * step),
    end: e + outers * step,
  };
}

/** A run of places of v. */
export interface Piece {
  readonly from: number;
  readonly count: number;
}

/**
 * The pieces of v that the outer commitments of a level bind: v_t and v_g, then v_h; at level 0,
 * v_t of S and W is separate from v_t of Y.
 */
export function outersOf(level: OrdinaryLevel, number: number): Piece[] {
  const { ft, kappa, rows } = level;
  const { t, h, inner } = piecesOf(level, 0);
  const borders =
    number === 0 ? [t, t + firstRowOfY({ rows }) * ft * kappa, h, inner] : [t, h, inner];
  return borders.slice(1).map((to, i) => ({ from: borders[i]!, count: to - borders[i]! }));
}
