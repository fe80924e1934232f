/** Section 3: the numbers of a row of the table, and the shapes that follow from them. */
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
  ...(['w', 'k', 'X', 'tX', 'ct'] as const),
];
const TAIL = ['n', 'kappa', 'cut', 'inSq', 'outSq', 'tY', 'tE'] as const;
/** behind the numbers of the tail: runs of columns, codes of pairs */
const TAIL_LISTS = 2;
const LEAST_ROWS = 6;
const X_LIMIT = 2 ** 43;
const LAST_CODE_OF_X = 143;
const MODULUS_BITS = 44;

/** Numbers by their names. */
type Named<Name extends string> = Readonly<Record<Name, number>>;
const named = <Name extends string>(names: readonly Name[], row: LevelRow): Named<Name> =>
  Object.fromEntries(names.map((name, i) => [name, row[i]])) as Named<Name>;

/** 6.4: a hidden message of a level. */
export interface HiddenMessage {
  readonly name: 'A' | 'B' | '1' | 'b' | '2';
  readonly polynomials: number;
  /** d = ceil(l / w) */
  readonly digits: number;
  /** place of its first digit in x */
  readonly first: number;
}

export interface Ordinary extends Layout, Named<(typeof ORDINARY)[number]> {
  readonly level: number;
  /** outer commitments: three at level 0, else two */
  readonly outers: number;
  /** digits of t */
  readonly ft: number;
  /** in their order; none at an open level */
  readonly messages: readonly HiddenMessage[];
  /** |x| */
  readonly lengthOfX: number;
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

/** The ranges of the last five numbers of an ordinary level. @throws RangeError */
function checkRanges({ w, k, X, tX, ct }: Named<(typeof ORDINARY)[number]>, level: number): void {
  const from = (least: number, x: number, most: number) =>
    Number.isInteger(x) && least <= x && x <= most;
  const open = w === 0 && k === 0 && X === 0 && tX === 0;
  const hidden =
    from(2, w, 6) &&
    from(LEAST_ROWS, k, Infinity) &&
    from(1, X, X_LIMIT - 1) &&
    from(0, tX, LAST_CODE_OF_X);
  if (!open && !hidden) throw new RangeError(`level ${level}: w, k, X or tX`);
  if (ct !== 0 && (level === 0 || !from(4, ct, 15))) throw new RangeError(`level ${level}: ct`);
}

/** 6.4: messages A, B, b, 2 at level 0, else 1, b, 2. */
function messagesOf(
  { w, kappa1, cut }: Named<(typeof ORDINARY)[number]>,
  level: number,
): HiddenMessage[] {
  if (w === 0) return [];
  const names = level === 0 ? (['A', 'B', 'b', '2'] as const) : (['1', 'b', '2'] as const);
  let first = 0;
  return names.map((name) => {
    const polynomials = name !== 'b' ? kappa1 : level === 0 ? 3 : 2;
    const bits = name === 'b' ? MODULUS_BITS : MODULUS_BITS - cut;
    const message = { name, polynomials, digits: Math.ceil(bits / w), first };
    first += polynomials * message.digits;
    return message;
  });
}

/** @param lengths of the parts that are cut into rows. @throws RangeError for a row that is none */
export function ordinaryOf(row: LevelRow, level: number, lengths: readonly number[]): Ordinary {
  if (row.length !== ORDINARY.length) throw new RangeError(`level ${level}: its numbers`);
  const numbers = named(ORDINARY, row);
  checkRanges(numbers, level);
  const { n, f, fu, bu, fg, kappa, kappa1, cut, ct } = numbers;
  const layout = layoutOf(n, lengths);
  const outers = level === 0 ? 3 : 2;
  const ft = ct === 0 ? fu : Math.ceil((MODULUS_BITS - ct) / bu);
  const messages = messagesOf(numbers, level);
  const lengthOfX = messages.reduce((sum, x) => sum + x.polynomials * x.digits, 0);
  const m =
    lengthOfX +
    ft * layout.r * kappa +
    (fg + fu) * layout.pairs.length +
    (ct > 0 ? f * kappa : 0) +
    (cut > 0 ? outers * kappa1 : 0);
  return { ...layout, ...numbers, level, outers, ft, messages, lengthOfX, m };
}

/** Lengths of the parts of the level behind this one. */
const lengthsBehind = ({ f, n, m }: Ordinary): number[] => [...new Array<number>(f).fill(n), m];

/** Levels and tail from level `first` on. @throws RangeError for a row that is none */
export function levelsOf(
  rows: readonly LevelRow[],
  first: number,
  lengths: readonly number[],
): Pick<Shapes, 'levels' | 'tail'> {
  const levels: Ordinary[] = [];
  for (const [i, row] of rows.slice(0, -1).entries()) {
    const shape = ordinaryOf(row, first + i, lengths);
    levels.push(shape);
    lengths = lengthsBehind(shape);
  }
  return { levels, tail: tailOf(rows[rows.length - 1]!, first + levels.length, lengths) };
}

function tailOf(last: LevelRow, level: number, lengths: readonly number[]): Tail {
  if (last.length !== TAIL.length + TAIL_LISTS) throw new RangeError('tail: its numbers');
  const numbers = named(TAIL, last);
  const tZ: number[] = [];
  for (const [columns, t] of last[TAIL.length] as readonly (readonly [number, number])[]) {
    for (let i = 0; i < columns; i++) tZ.push(t);
  }
  const tG = last[TAIL.length + 1] as readonly number[];
  return { ...layoutOf(numbers.n, lengths), ...numbers, level, tZ, tG };
}

/** K, W and logn of a set. */
export function sizesOf(set: number): Pick<Shapes, 'K' | 'W' | 'logn'> {
  const K = set / 64;
  return { K, W: 2 * K + 1, logn: set === 512 ? 9 : 10 };
}

/** 3: lengths of S, W and Y. */
export const lengthsOfZero = (set: number, bucket: number): number[] => {
  const { W } = sizesOf(set);
  return [W * bucket, 2 * bucket, W * bucket];
};

/** @throws RangeError for a row that is none */
export function shapesOf([set, bucket, rows]: TableRow): Shapes {
  return { set, bucket, ...sizesOf(set), ...levelsOf(rows, 0, lengthsOfZero(set, bucket)) };
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
