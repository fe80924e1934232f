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

/** The layout of the parts of a level in rows of n polynomials. */
export interface Shape {
  /** polynomials in a row */
  readonly n: number;
  /** length of every part, and the number of its rows */
  readonly lengths: readonly number[];
  readonly rows: readonly number[];
  /** number of rows, and number of pairs (a, b) with a <= b */
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
  /** low bits cut off the outer commitments */
  readonly cut: number;
  /** maximum squared norm enforced by the projection */
  readonly inSq: number;
  /** maximum squared norm of the output */
  readonly outSq: number;
  /** index of the code of y */
  readonly codeY: number;
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

export interface TailLevel extends Shape {
  readonly tail: true;
  readonly kappa: number;
  /** low bits cut off t */
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

function readOrdinary(row: LevelRow, lengths: readonly number[], isZero: boolean): OrdinaryLevel {
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

/** Reads a row of the table and derives its shapes. */
export function readRow(tableRow: TableRow): Parameters {
  const [set, bucket, rows] = tableRow;
  const width = set / 32 + 1;
  const levels: OrdinaryLevel[] = [];
  let lengths: readonly number[] = [width * bucket, 2 * bucket, width * bucket];
  for (const row of rows.slice(0, -1)) {
    const level = readOrdinary(row, lengths, levels.length === 0);
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
  const rowHash = shake256([ascii(JSON.stringify(tableRow))], 32).slice();
  return { set, bucket, rowHash, width, levels, tail };
}
