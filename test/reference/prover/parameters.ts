/** Section 3 of docs/protocol.md: a row of the table in words, and the shapes that follow. */

import type { TableRow } from '../tableRow.ts';

export interface Shape {
  readonly n: number;
  /** length of every part, and how many rows it takes */
  readonly lengths: readonly number[];
  readonly nu: readonly number[];
  readonly r: number;
}

/** The numbers of a level in the table, without n. */
type Numbers<Names extends string> = Readonly<Record<Names, number>>;
type OrdinaryNumbers = Numbers<
  'f' | 'b' | 'fu' | 'bu' | 'fg' | 'bg' | 'kappa' | 'kappa1' | 'cut' | 'inSq' | 'outSq' | 'tY'
>;
type TailNumbers = Numbers<'kappa' | 'cut' | 'inSq' | 'outSq' | 'tY' | 'tE'>;

export interface Ordinary extends Shape, OrdinaryNumbers {
  readonly m: number;
}

export interface Tail extends Shape, TailNumbers {
  /** the index of the code of every column of z */
  readonly tZ: readonly number[];
  /** that of g of every pair but the last */
  readonly tG: readonly number[];
}

export interface Parameters {
  readonly degree: 512 | 1024;
  readonly bucket: number;
  /** W: polynomials of one signature */
  readonly width: number;
  readonly levels: readonly Ordinary[];
  readonly tail: Tail;
}

function shapeOf(n: number, lengths: readonly number[]): Shape {
  const nu = lengths.map((length) => Math.ceil(length / n));
  return { n, lengths, nu, r: nu.reduce((sum, x) => sum + x, 0) };
}

export const pairCount = (r: number): number => (r * (r + 1)) / 2;
/** Number of the pair (a, b), a <= b. */
export const pairIndex = (r: number, a: number, b: number): number =>
  a * r - (a * (a - 1)) / 2 + b - a;

/** Every pair in its order. */
export function pairsOf(r: number): [number, number][] {
  const out: [number, number][] = [];
  for (let a = 0; a < r; a++) for (let b = a; b < r; b++) out.push([a, b]);
  return out;
}

/** Where place i of part g stands. */
export function placeOf(shape: Shape, g: number, i: number): { row: number; column: number } {
  const before = shape.nu.slice(0, g).reduce((sum, x) => sum + x, 0);
  return { row: before + Math.floor(i / shape.n), column: i % shape.n };
}

export function readParameters(row: TableRow): Parameters {
  const [degree, bucket, rows] = row;
  if (degree !== 512 && degree !== 1024) throw new RangeError(`set ${degree}`);
  const width = 2 * (degree / 64) + 1;
  let lengths: readonly number[] = [width * bucket, 2 * bucket, width * bucket];
  const levels = rows.slice(0, -1).map((numbers, index): Ordinary => {
    const [n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, inSq, outSq, tY] =
      numbers as readonly number[] as Tuple13;
    const shape = shapeOf(n, lengths);
    const outers = index === 0 ? 3 : 2;
    const pairs = pairCount(shape.r);
    const m = fu * shape.r * kappa + (fg + fu) * pairs + (cut > 0 ? outers * kappa1 : 0);
    lengths = [...new Array<number>(f).fill(n), m];
    return { ...shape, f, b, fu, bu, fg, bg, kappa, kappa1, cut, inSq, outSq, tY, m };
  });
  const last = rows.at(-1)!;
  const [n, kappa, cut, inSq, outSq, tY, tE] = last as unknown as Tuple7;
  const runs = last[7] as readonly (readonly [columns: number, tZ: number])[];
  const tZ = runs.flatMap(([columns, t]) => new Array<number>(columns).fill(t));
  const tG = last[8] as readonly number[];
  const tail = { ...shapeOf(n, lengths), kappa, cut, inSq, outSq, tY, tE, tZ, tG };
  if (tail.r < 2 || tZ.length !== n || tG.length !== pairCount(tail.r) - 1) {
    throw new RangeError('tail');
  }
  return { degree, bucket, width, levels, tail };
}

type N = number;
type Tuple7 = readonly [N, N, N, N, N, N, N];
type Tuple13 = readonly [N, N, N, N, N, N, N, N, N, N, N, N, N];
