/** Rows for the cheating provers: ranks of nearly nothing, codes wide enough for what they send. */
import type { TableRow } from '../../reference/tableRow.ts';

const many = (count: number, t: number): number[] => new Array<number>(count).fill(t);
const LOOSE = 2 ** 42;
/** indexes of codes of values below 2^28, 2^22 and 2^43 in magnitude */
const [T_Y, T_Z, T_G] = [160, 112, 280];
/** Nothing hidden, inner commitments not cut. */
const OPEN = [0, 0, 0, 0, 0] as const;

/**
 * Padding in every kind of row: one place each of S and Y, 16 of W; then z rows and the last v row.
 *
 * @param inSq bound of the projection at level 0
 * @param bucket one place more for every item
 */
const short = (inSq: number, inSqTail: number, outSq: number, bucket = 1): TableRow => [
  512,
  bucket,
  [
    [18 * bucket, 3, 9, 5, 9, 5, 9, 1, 1, 9, inSq, LOOSE, T_Y, ...OPEN],
    [40, 1, 10, inSqTail, outSq, T_Y, T_Z, [[40, T_Z]], many(14, T_Y)],
  ],
];

/** Level 0 and tail; only level 0 has a bound that is kept. */
export const SHORT = short(34034726, LOOSE, LOOSE);
/** The projection allows what it allows among many items: 7 · 10^9. */
export const AMONG_MANY = short(7_000_000_000, LOOSE, LOOSE);
/** Room for two items: places of an item that is not there are padding too. */
export const PAIR = short(2 * 34034726, LOOSE, LOOSE, 2);
/** An honest witness is too long for one of the bounds. */
export const NARROW_0 = short(1_000_000, LOOSE, LOOSE);
export const NARROW_TAIL = short(34034726, 1000, LOOSE);
export const NARROW_OUTPUT = short(34034726, LOOSE, 1000);

const long = (inSq: number): TableRow => [
  512,
  1,
  [
    [18, 3, 9, 5, 9, 5, 9, 1, 1, 9, 34034726, LOOSE, T_Y, ...OPEN],
    [40, 2, 8, 5, 9, 5, 9, 1, 1, 6, inSq, LOOSE, T_Y, ...OPEN],
    [60, 1, 10, LOOSE, LOOSE, T_Y, T_Z, [[60, T_Z]], many(14, T_Y)],
  ],
];

const [SHORT_DIGITS, LONG_DIGITS] = [
  [3, 15, 3, 15],
  [5, 9, 5, 9],
] as const;
/** largest norm of x, twice what an honest one has, and the code of its projection */
const [X, T_X] = [2_000_000, 60];
const HIDDEN = [6, 6, X, T_X] as const;
const hiddenZero = (digits: readonly number[], bucket = 1, z: readonly number[] = [2, 9]) =>
  [17 * bucket, ...z, ...digits, 1, 1, 9, bucket * 34034726, LOOSE, 80, ...HIDDEN, 0] as const;
const tail = (n: number, r: number, outSq = LOOSE) =>
  [n, 1, 10, LOOSE, outSq, 143, T_Z, [[n, T_Z]], many((r * (r + 1)) / 2 - 1, T_G)] as const;

/** Level 0 hidden, and the tail. */
export const BEHIND_ZERO: TableRow = [512, 1, [hiddenZero(LONG_DIGITS), tail(60, 4)]];
/** The same for two items. */
export const BEHIND_PAIR: TableRow = [512, 2, [hiddenZero(LONG_DIGITS, 2), tail(60, 4)]];
/** The same for one item; the digits of z hold every residue, as long as the library is exact. */
export const BEHIND_LONG_Z: TableRow = [
  512,
  1,
  [hiddenZero(LONG_DIGITS, 1, [3, 14]), tail(60, 5, 2 ** 50)],
];

const hiddenOne = (digits: readonly number[]) =>
  [90, 2, 12, ...digits, 1, 1, 9, LOOSE, LOOSE, 143, ...HIDDEN, 9] as const;

/** Two hidden levels one behind the other, and the tail; inner commitments of the second cut. */
export const TWO: TableRow = [
  512,
  1,
  [hiddenZero(SHORT_DIGITS), hiddenOne(LONG_DIGITS), tail(104, 3)],
];

/** Three of them, and the tail. */
export const CHAIN: TableRow = [
  512,
  1,
  [hiddenZero(SHORT_DIGITS), hiddenOne(SHORT_DIGITS), hiddenOne(LONG_DIGITS), tail(104, 3)],
];

/** Inner commitments of level 1 cut, nothing hidden; three long digits of z and e. */
export const CUT: TableRow = [
  512,
  1,
  [
    [17, 2, 9, ...SHORT_DIGITS, 1, 1, 9, 34034726, LOOSE, 80, ...OPEN],
    [48, 3, 13, ...LONG_DIGITS, 1, 1, 9, LOOSE, LOOSE, 143, 0, 0, 0, 0, 9],
    tail(80, 4),
  ],
];

/** A level between level 0 and the tail. */
export const THREE = long(LOOSE);
export const NARROW_1 = long(1000);
