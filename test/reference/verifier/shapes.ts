/**
 * Section 3: the numbers of a row of the table, and the shapes that follow from them.
 */

import type { LevelRow, TableRow } from '../tableRow.ts';

/** Parts cut into rows of n polynomials. */
export interface Layout {
  readonly n: number;
  readonly lengths: readonly number[];
  /** ν of every part */
  readonly rowsOf: readonly number[];
  /** number of the first row of every part */
  readonly firstRow: readonly number[];
  readonly r: number;
  /** all pairs a <= b in their order */
  readonly pairs: readonly (readonly [number, number])[];
}

/** The columns of the table for an ordinary level, and for the tail up to its lists. */
const ORDINARY = [
  ...(['n', 'f', 'b', 'fu', 'bu', 'fg', 'bg'] as const),
  ...(['kappa', 'kappa1', 'cut', 'inSq', 'outSq', 'tY'] as const),
];
const TAIL = ['n', 'kappa', 'cut', 'inSq', 'outSq', 'tY', 'tE'] as const;

/** Numbers by their names. */
type Named<Name extends string> = Readonly<Record<Name, number>>;
const named = <Name extends string>(names: readonly Name[], row: LevelRow): Named<Name> =>
  Object.fromEntries(names.map((name, i) => [name, row[i]])) as Named<Name>;

export interface Ordinary extends Layout, Named<(typeof ORDINARY)[number]> {
  readonly level: number;
  /** outer commitments: three at level 0, else two */
  readonly outers: number;
  readonly m: number;
}

export interface Tail extends Layout, Named<(typeof TAIL)[number]> {
  readonly level: number;
  /** of every column of z */
  readonly tZ: readonly number[];
  /** of every pair but the last */
  readonly tG: readonly number[];
}

export interface Shapes {
  readonly set: number;
  readonly bucket: number;
  /** K and W of section 1 */
  readonly K: number;
  readonly W: number;
  readonly logn: number;
  readonly levels: readonly Ordinary[];
  readonly tail: Tail;
}

export const BETA_SQ: Readonly<Record<number, bigint>> = { 512: 34034726n, 1024: 70265242n };

/** Index of the pair (a, b), a <= b. */
export const pairIndex = (r: number, a: number, b: number): number =>
  a * r - (a * (a - 1)) / 2 + b - a;

function layoutOf(n: number, lengths: readonly number[]): Layout {
  const rowsOf = lengths.map((length) => Math.ceil(length / n));
  const firstRow: number[] = [];
  let r = 0;
  for (const rows of rowsOf) {
    firstRow.push(r);
    r += rows;
  }
  const pairs: [number, number][] = [];
  for (let a = 0; a < r; a++) for (let b = a; b < r; b++) pairs.push([a, b]);
  return { n, lengths, rowsOf, firstRow, r, pairs };
}

export function shapesOf([set, bucket, rows]: TableRow): Shapes {
  const K = set / 64;
  const W = 2 * K + 1;
  const levels: Ordinary[] = [];
  let lengths = [W * bucket, 2 * bucket, W * bucket];
  for (const [level, row] of rows.slice(0, -1).entries()) {
    const numbers = named(ORDINARY, row);
    const { n, f, fu, fg, kappa, kappa1, cut } = numbers;
    const layout = layoutOf(n, lengths);
    const outers = level === 0 ? 3 : 2;
    const m =
      fu * layout.r * kappa + (fg + fu) * layout.pairs.length + (cut > 0 ? outers * kappa1 : 0);
    levels.push({ ...layout, ...numbers, level, outers, m });
    lengths = [...new Array<number>(f).fill(n), m];
  }
  const last = rows[rows.length - 1]!;
  const numbers = named(TAIL, last);
  const tZ: number[] = [];
  for (const [columns, t] of last[TAIL.length] as readonly (readonly [number, number])[]) {
    for (let i = 0; i < columns; i++) tZ.push(t);
  }
  const tail: Tail = {
    ...layoutOf(numbers.n, lengths),
    ...numbers,
    level: levels.length,
    tZ,
    tG: last[TAIL.length + 1] as readonly number[],
  };
  return { set, bucket, K, W, logn: set === 512 ? 9 : 10, levels, tail };
}

/** Calls back for every place of every row: its part and place, or undefined for padding. */
export function forEachPlace(
  layout: Layout,
  visit: (row: number, column: number, part: number, place: number, padding: boolean) => void,
): void {
  for (const [part, rows] of layout.rowsOf.entries()) {
    for (let place = 0; place < rows * layout.n; place++) {
      const row = layout.firstRow[part]! + Math.floor(place / layout.n);
      visit(row, place % layout.n, part, place, place >= layout.lengths[part]!);
    }
  }
}
