/**
 * The rows of the parameter table with named fields, and the shapes derived from them
 * (docs/protocol.md, 3). No shape, rank or bound is read from a proof.
 */
import { shake256 } from '../../falcon/points.ts';
import { ascii } from '../../shared/bytes.ts';

/** The numbers of an ordinary level, or of the tail, whose last two entries are lists. */
export type LevelRow = readonly (
  | number
  | readonly (number | readonly [columns: number, code: number])[]
)[];
/** The degree of Falcon, the bucket, and the levels; the last level is the tail. */
export type TableRow = readonly [set: 512 | 1024, bucket: number, levels: readonly LevelRow[]];
/** Level 0 of a part, and what bounds its output at level 1 (docs/merged.md, 1.1). */
export type PartRow = readonly [
  set: 512 | 1024,
  bucket: number,
  zero: LevelRow,
  bounds: readonly [inSq: number, codeY: number, xSq: number, codeX: number],
];
/** A part row, the maximum number of parts, and the levels that all parts share. */
export type MergedRow = readonly [part: PartRow, most: number, levels: readonly LevelRow[]];

/** The layout of the segments of a level in rows of n polynomials. */
export interface Shape {
  /** polynomials in a row */
  readonly n: number;
  /** length of every segment, and the number of its rows */
  readonly lengths: readonly number[];
  readonly rows: readonly number[];
  /** number of rows, and number of pairs (a, b) with a <= b */
  readonly r: number;
  readonly pairs: number;
  /** the parts whose outputs the level takes, if it is the merged level */
  readonly parts?: Parts | undefined;
}

/**
 * The parts of a merged level (docs/merged.md, 1.1). Its segments are z_0 of all parts, ...,
 * z_(f-1) of all parts, and one with v of all; those of absent parts are empty.
 */
export interface Parts {
  readonly count: number;
  readonly most: number;
  /** digits and columns of z, and length of v, of every part */
  readonly f: number;
  readonly n: number;
  readonly m: number;
}

/** The bound and the code of a projection (docs/protocol.md, 11.1). */
export interface ProjectionBound {
  /** maximum squared norm enforced by the projection */
  readonly inSq: number;
  /** index of the code of y */
  readonly codeY: number;
}

/** What a level projects: its input or, at the merged level, that of every part. */
export interface Projecting extends ProjectionBound {
  /** the same for x alone, if the level before hides its messages */
  readonly ofX?: ProjectionBound | undefined;
}

export interface OrdinaryLevel extends Shape, Projecting {
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
  /** low bits cut off the outer commitments */
  readonly cut: number;
  /** maximum squared norm of the output */
  readonly outSq: number;
  /** bits of a digit of hidden messages; 0 if the level hides none */
  readonly w: number;
  /** quarter-rows that represent a hidden message */
  readonly k: number;
  /** maximum squared norm of x, the digits of the hidden messages */
  readonly xSq: number;
  /** index of the code of the projection of x, which the next level sends */
  readonly codeX: number;
  /** low bits cut off the inner commitments */
  readonly ct: number;
  /** digits of t, cut or not */
  readonly ft: number;
  /** the hidden messages, in order, and the length of x */
  readonly messages: readonly HiddenMessage[];
  readonly lengthX: number;
  /** length of v */
  readonly m: number;
}

/** A message of a level, as digits in x: for each digit, all its polynomials. */
export interface HiddenMessage {
  /** true for the lifts, false for an outer commitment */
  readonly isLifts: boolean;
  /** offset of its digits in x */
  readonly from: number;
  readonly polynomials: number;
  readonly digits: number;
}

export interface TailLevel extends Shape, Projecting {
  readonly tail: true;
  readonly kappa: number;
  /** low bits cut off t */
  readonly cut: number;
  readonly outSq: number;
  /** index of the code of e */
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
  /** SHAKE256 of the row as JSON without white space, 32 bytes */
  readonly rowHash: Uint8Array;
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

/** Bits of a value mod q. */
const Q_BITS = 44;

/**
 * The hidden messages: the outer commitments except the last, the lifts, and the last outer
 * commitment.
 */
function messagesOf(w: number, cut: number, kappa1: number, isZero: boolean): HiddenMessage[] {
  if (w === 0) return [];
  const messages: HiddenMessage[] = [];
  let from = 0;
  const add = (isLifts: boolean, polynomials: number, bits: number): void => {
    const digits = Math.ceil(bits / w);
    messages.push({ isLifts, from, polynomials, digits });
    from += digits * polynomials;
  };
  const outer = (): void => add(false, kappa1, Q_BITS - cut);
  outer();
  if (isZero) outer();
  add(true, isZero ? 3 : 2, Q_BITS);
  outer();
  return messages;
}

/** @param before the level before; none at level 0 */
function readOrdinary(
  row: LevelRow,
  lengths: readonly number[],
  before: OrdinaryLevel | undefined,
): OrdinaryLevel {
  const isZero = before === undefined;
  const [n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, inSq, outSq, codeY, w, k, xSq, codeX, ct] =
    row as number[];
  const shape = shapeOf(lengths, n!);
  const { r, pairs } = shape;
  const ft = Math.ceil((Q_BITS - ct!) / bu!);
  const messages = messagesOf(w!, cut!, kappa1!, isZero);
  const lengthX = messages.reduce((sum, { polynomials, digits }) => sum + polynomials * digits, 0);
  const ofT = ft * r * kappa! + (ct === 0 ? 0 : f! * kappa!);
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
    ofX: ofXBehind(before),
    w: w!,
    k: k!,
    xSq: xSq!,
    codeX: codeX!,
    ct: ct!,
    ft,
    messages,
    lengthX,
    m: lengthX + ofT + (fg! + fu!) * pairs + (cut === 0 ? 0 : (isZero ? 3 : 2) * kappa1!),
  };
}

/** The bound of the projection of x that the level after `before` sends. */
const ofXBehind = (before: OrdinaryLevel | undefined): ProjectionBound | undefined =>
  before === undefined || before.w === 0 ? undefined : { inSq: before.xSq, codeY: before.codeX };

/** The lengths of the segments of the level after an ordinary one. */
export const lengthsBehind = ({ f, n, m }: Pick<OrdinaryLevel, 'f' | 'n' | 'm'>): number[] => [
  ...new Array<number>(f).fill(n),
  m,
];

function readTail(row: LevelRow, before: OrdinaryLevel): TailLevel {
  const [n, kappa, cut, inSq, outSq, codeY, codeE] = row as number[];
  const runs = row[7] as readonly (readonly [columns: number, code: number])[];
  return {
    ...shapeOf(lengthsBehind(before), n!),
    tail: true,
    kappa: kappa!,
    cut: cut!,
    inSq: inSq!,
    outSq: outSq!,
    codeY: codeY!,
    ofX: ofXBehind(before),
    codeE: codeE!,
    codesZ: runs.map(([columns, code]) => ({ columns, code })),
    codesG: row[8] as readonly number[],
  };
}

/** SHAKE256 of a row as JSON without white space, 32 bytes. */
export const hashOfRow = (row: TableRow | PartRow | MergedRow): Uint8Array =>
  shake256([ascii(JSON.stringify(row))], 32).slice();

const widthOf = (set: 512 | 1024): number => set / 32 + 1;

function readZero(set: 512 | 1024, bucket: number, row: LevelRow): OrdinaryLevel {
  const width = widthOf(set);
  return readOrdinary(row, [width * bucket, 2 * bucket, width * bucket], undefined);
}

/** Reads the levels after the first ones; the last of them is the tail. */
function readLevels(
  first: readonly OrdinaryLevel[],
  rows: readonly LevelRow[],
): { levels: OrdinaryLevel[]; tail: TailLevel } {
  const levels = [...first];
  for (const row of rows.slice(0, -1)) {
    const before = levels.at(-1)!;
    levels.push(readOrdinary(row, lengthsBehind(before), before));
  }
  return { levels, tail: readTail(rows.at(-1)!, levels.at(-1)!) };
}

/** Reads a row of the table and derives its shapes. */
export function readRow(tableRow: TableRow): Parameters {
  const [set, bucket, [zero, ...rows]] = tableRow;
  const read = readLevels([readZero(set, bucket, zero!)], rows);
  return { set, bucket, rowHash: hashOfRow(tableRow), width: widthOf(set), ...read };
}

/** The parameters of a merged proof: `levels` begins with level 0 of every part. */
export interface MergedParameters extends Parameters {
  /** the hash of the part row; `rowHash` is that of the merged row */
  readonly partHash: Uint8Array;
  readonly parts: Parts;
}

/**
 * Reads a merged row and derives its shapes.
 *
 * @param count number of parts, from 1 to the most of the row
 */
export function readMergedRow(row: MergedRow, count: number): MergedParameters {
  const [partRow, most, [first, ...rows]] = row;
  const [set, bucket, zeroRow, [inSq, codeY, xSq, codeX]] = partRow;
  const zero = readZero(set, bucket, zeroRow);
  const { f, n, m } = zero;
  const parts = { count, most, f, n, m };
  const lengthsOf = (present: number): number[] => [
    ...Array.from({ length: f * most }, (_, i) => (i % most < present ? n : 0)),
    present * m,
  ];
  const full = readOrdinary(first!, lengthsOf(most), zero);
  const ofX = zero.w === 0 ? undefined : { inSq: xSq, codeY: codeX };
  const merged = { ...full, lengths: lengthsOf(count), inSq, codeY, ofX, parts };
  const read = readLevels([zero, merged], rows);
  const hashes = { rowHash: hashOfRow(row), partHash: hashOfRow(partRow) };
  return { set, bucket, ...hashes, width: widthOf(set), parts, ...read };
}
