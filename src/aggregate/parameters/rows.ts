/**
 * The rows of the table with names for their numbers, and the shapes that follow from them
 * (docs/protocol.md, 3). No shape, rank or bound is read from a proof.
 */

/** The numbers of an ordinary level, or of the tail, whose last two entries are lists. */
export type LevelRow = readonly (
  | number
  | readonly (number | readonly [columns: number, code: number])[]
)[];
/** The degree of Falcon, the bucket, and the levels; the last level is the tail. */
export type TableRow = readonly [set: 512 | 1024, bucket: number, levels: readonly LevelRow[]];

/** How the parts of a level are cut into rows of n polynomials. */
export interface Shape {
  /** polynomials in a row */
  readonly n: number;
  /** length of every part, and how many rows it takes */
  readonly lengths: readonly number[];
  readonly rows: readonly number[];
  /** all rows, and all pairs (a, b) with a <= b */
  readonly r: number;
  readonly pairs: number;
}

export interface OrdinaryLevel extends Shape {
  readonly tail: false;
  /** digits of z and their bits */
  readonly f: number;
  readonly b: number;
  /** digits of t and h */
  readonly fu: number;
  readonly bu: number;
  /** digits of g */
  readonly fg: number;
  readonly bg: number;
  /** ranks of the inner and outer commitments */
  readonly kappa: number;
  readonly kappa1: number;
  /** low bits that are cut off the outer commitments */
  readonly cut: number;
  /** squared norm that the projection is held to */
  readonly inSq: number;
  /** largest squared norm of the output */
  readonly outSq: number;
  /** index of the code of y */
  readonly codeY: number;
  /** length of v */
  readonly m: number;
}

export interface TailLevel extends Shape {
  readonly tail: true;
  readonly kappa: number;
  /** low bits that are cut off t */
  readonly cut: number;
  readonly inSq: number;
  readonly outSq: number;
  /** indexes of the codes of y and e */
  readonly codeY: number;
  readonly codeE: number;
  /** of z, column by column */
  readonly codesZ: readonly CodeRun[];
  /** of every pair but the last */
  readonly codesG: readonly number[];
}

/** Columns that share a code. */
export interface CodeRun {
  readonly columns: number;
  readonly code: number;
}

export interface Parameters {
  readonly set: 512 | 1024;
  readonly bucket: number;
  /** polynomials of one signature: 17 or 33 */
  readonly width: number;
  readonly levels: readonly OrdinaryLevel[];
  readonly tail: TailLevel;
}

function shapeOf(lengths: readonly number[], n: number): Shape {
  const rows = lengths.map((length) => Math.ceil(length / n));
  const r = rows.reduce((a, b) => a + b, 0);
  return { n, lengths, rows, r, pairs: (r * (r + 1)) / 2 };
}

function readOrdinary(row: LevelRow, lengths: readonly number[], outers: number): OrdinaryLevel {
  const [n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, inSq, outSq, codeY] = row as number[];
  const shape = shapeOf(lengths, n!);
  const { r, pairs } = shape;
  return {
    ...shape,
    tail: false,
    f: f!,
    b: b!,
    fu: fu!,
    bu: bu!,
    fg: fg!,
    bg: bg!,
    kappa: kappa!,
    kappa1: kappa1!,
    cut: cut!,
    inSq: inSq!,
    outSq: outSq!,
    codeY: codeY!,
    m: fu! * r * kappa! + (fg! + fu!) * pairs + (cut === 0 ? 0 : outers * kappa1!),
  };
}

/** A row of the table with its shapes. */
export function readRow([set, bucket, rows]: TableRow): Parameters {
  const width = set / 32 + 1;
  const levels: OrdinaryLevel[] = [];
  let lengths: readonly number[] = [width * bucket, 2 * bucket, width * bucket];
  for (const row of rows.slice(0, -1)) {
    const level = readOrdinary(row, lengths, levels.length === 0 ? 3 : 2);
    levels.push(level);
    lengths = [...new Array<number>(level.f).fill(level.n), level.m];
  }
  const last = rows.at(-1)!;
  const [n, kappa, cut, inSq, outSq, codeY, codeE] = last as number[];
  const runs = last[7] as readonly (readonly [columns: number, code: number])[];
  const tail: TailLevel = {
    ...shapeOf(lengths, n!),
    tail: true,
    kappa: kappa!,
    cut: cut!,
    inSq: inSq!,
    outSq: outSq!,
    codeY: codeY!,
    codeE: codeE!,
    codesZ: runs.map(([columns, code]) => ({ columns, code })),
    codesG: last[8] as readonly number[],
  };
  return { set, bucket, width, levels, tail };
}
