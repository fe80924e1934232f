/** Section 3 of docs/protocol.md: a row of the table in words, and the shapes that follow. */
import type { LevelRow, TableRow } from '../tableRow.ts';

export interface Shape {
  readonly n: number;
  /** length of every part, and how many rows it takes */
  readonly lengths: readonly number[];
  readonly nu: readonly number[];
  readonly r: number;
}

/** The numbers of a level in the table, in their order. */
const ORDINARY = [
  ...['n', 'f', 'b', 'fu', 'bu', 'fg', 'bg', 'kappa', 'kappa1', 'cut', 'inSq', 'outSq', 'tY'],
  ...['w', 'k', 'X', 'tX', 'ct'],
] as readonly OrdinaryName[];

type OrdinaryName =
  | ('n' | 'f' | 'b' | 'fu' | 'bu' | 'fg' | 'bg' | 'kappa' | 'kappa1')
  | ('cut' | 'inSq' | 'outSq' | 'tY' | 'w' | 'k' | 'X' | 'tX' | 'ct');
type OrdinaryNumbers = Readonly<Record<OrdinaryName, number>>;
type TailName = 'kappa' | 'cut' | 'inSq' | 'outSq' | 'tY' | 'tE';

/** The messages of a level (6.4): its outer commitments and its lifts. */
export type MessageName = 'A' | 'B' | '1' | 'b' | '2';

/** A hidden message: how long it is, and where its digits stand. */
export interface Message {
  readonly name: MessageName;
  readonly polynomials: number;
  /** l: bits of a coefficient */
  readonly bits: number;
  /** d: digits of a coefficient */
  readonly digits: number;
  /** the place in x, and so in v, of its first digit */
  readonly at: number;
}

/** The places of v where its pieces begin; x is at 0, and ends where t begins. */
export interface Pieces {
  readonly t: number;
  readonly g: number;
  readonly h: number;
  /** v_e, the digits of the e of cut inner commitments */
  readonly inner: number;
  /** e_A, e_B, e_2, or e_1, e_2 */
  readonly outer: number;
}

export interface Ordinary extends Shape, OrdinaryNumbers {
  /** digits of t, or of t' */
  readonly ft: number;
  /** the hidden messages in their order; none at an open level */
  readonly messages: readonly Message[];
  readonly pieces: Pieces;
  /** polynomials of v */
  readonly m: number;
}

export interface Tail extends Shape, Readonly<Record<TailName, number>> {
  /** the index of the code of every column of z */
  readonly tZ: readonly number[];
  /** that of g of every pair but the last */
  readonly tG: readonly number[];
}

/** The ordinary levels of a section. */
export interface Levels {
  readonly degree: 512 | 1024;
  readonly bucket: number;
  /** W: polynomials of one signature */
  readonly width: number;
  readonly levels: readonly Ordinary[];
}

export interface Parameters extends Levels {
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

/** The bits of an element of R_q, a lift or an inner commitment. */
const FULL = 44;

/** The numbers of an ordinary level by name, the last five of them in their ranges. */
function numbersOf(row: LevelRow, index: number): OrdinaryNumbers {
  const numbers = row as readonly number[];
  if (numbers.length !== ORDINARY.length) throw new RangeError(`${numbers.length} numbers`);
  const named = Object.fromEntries(ORDINARY.map((name, i) => [name, numbers[i]!]));
  const all = named as OrdinaryNumbers;
  const { w, k, X, tX, ct } = all;
  const isOpen = w === 0 && k === 0 && X === 0 && tX === 0;
  const isHidden = w >= 2 && w <= 6 && k >= 6 && X >= 1 && X < 2 ** 43 && tX >= 0 && tX <= 143;
  if (!isOpen && !isHidden) throw new RangeError(`level ${index}: hidden messages`);
  const isCut = index > 0 && ct >= 4 && ct <= 15;
  if (ct !== 0 && !isCut) throw new RangeError(`level ${index}: ct`);
  return all;
}

/** Section 6.4: the messages of a hidden level. */
function messagesOf({ kappa1, cut, w }: OrdinaryNumbers, index: number): Message[] {
  if (w === 0) return [];
  const names: readonly MessageName[] = index === 0 ? ['A', 'B', 'b', '2'] : ['1', 'b', '2'];
  const lifts = index === 0 ? 3 : 2;
  let at = 0;
  return names.map((name) => {
    const polynomials = name === 'b' ? lifts : kappa1;
    const bits = name === 'b' ? FULL : FULL - cut;
    const digits = Math.ceil(bits / w);
    const message = { name, polynomials, bits, digits, at };
    at += polynomials * digits;
    return message;
  });
}

/** An ordinary level over parts of these lengths. */
export function ordinaryOf(row: LevelRow, index: number, lengths: readonly number[]): Ordinary {
  const numbers = numbersOf(row, index);
  const { n, f, fu, bu, fg, kappa, kappa1, cut, ct } = numbers;
  const shape = shapeOf(n, lengths);
  const pairs = pairCount(shape.r);
  const ft = ct === 0 ? fu : Math.ceil((FULL - ct) / bu);
  const messages = messagesOf(numbers, index);
  const t = messages.reduce((sum, { polynomials, digits }) => sum + polynomials * digits, 0);
  const g = t + ft * shape.r * kappa;
  const h = g + fg * pairs;
  const inner = h + fu * pairs;
  const outer = inner + (ct > 0 ? f * kappa : 0);
  const outers = index === 0 ? 3 : 2;
  const m = outer + (cut > 0 ? outers * kappa1 : 0);
  return { ...shape, ...numbers, ft, messages, pieces: { t, g, h, inner, outer }, m };
}

export function tailOf(row: LevelRow, lengths: readonly number[]): Tail {
  const [n, kappa, cut, inSq, outSq, tY, tE] = row as unknown as Tuple7;
  const runs = row[7] as readonly (readonly [columns: number, tZ: number])[];
  const tZ = runs.flatMap(([columns, t]) => new Array<number>(columns).fill(t));
  const tG = row[8] as readonly number[];
  const tail = { ...shapeOf(n, lengths), kappa, cut, inSq, outSq, tY, tE, tZ, tG };
  if (tail.r < 2 || tZ.length !== n || tG.length !== pairCount(tail.r) - 1) {
    throw new RangeError('tail');
  }
  return tail;
}

/** Level 0 for a set and a bucket. */
export function levelZeroOf(degree: number, bucket: number, row: LevelRow): Levels {
  if (degree !== 512 && degree !== 1024) throw new RangeError(`set ${degree}`);
  const width = 2 * (degree / 64) + 1;
  const zero = ordinaryOf(row, 0, [width * bucket, 2 * bucket, width * bucket]);
  return { degree, bucket, width, levels: [zero] };
}

/** The parts z_0, ..., v of what a level leaves. */
export const partsAfter = ({ f, n, m }: Ordinary): number[] => [...new Array<number>(f).fill(n), m];

export function readParameters([degree, bucket, rows]: TableRow): Parameters {
  const zero = levelZeroOf(degree, bucket, rows[0]!);
  const levels = [...zero.levels];
  for (const [i, row] of rows.slice(1, -1).entries()) {
    levels.push(ordinaryOf(row, i + 1, partsAfter(levels[i]!)));
  }
  return { ...zero, levels, tail: tailOf(rows.at(-1)!, partsAfter(levels.at(-1)!)) };
}

type N = number;
type Tuple7 = readonly [N, N, N, N, N, N, N];
