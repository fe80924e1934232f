/**
 * Rows with ranks far too small to bind anything: hidden messages, and inner commitments that are
 * cut.
 */
import type { ToyRow } from './toyRows.ts';

const many = (count: number, t: number): number[] => new Array<number>(count).fill(t);
/** Two codes for z: the last three columns have one of their own. */
const runs = (n: number) =>
  [
    [n - 3, 63],
    [3, 61],
  ] as const;

const OPEN = [0, 0, 0, 0] as const;

/** Level 0 hidden, and the tail. */
export const HIDDEN_ZERO: ToyRow = [
  512,
  1,
  [
    [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 34034726, 2000000000, 80, 2, 6, 20000, 24, 0],
    [64, 1, 10, 2000000000, 100000000000, 88, 56, runs(64), many(14, 128)],
  ],
];

/** Level 0 hidden, level 1 hidden and its inner commitments cut, and the tail. */
export const HIDDEN_TWICE: ToyRow = [
  512,
  2,
  [
    [18, 2, 7, 5, 9, 4, 7, 2, 1, 0, 68069452, 2000000000, 80, 2, 6, 25000, 24, 0],
    [110, 2, 7, 5, 9, 4, 7, 2, 2, 6, 2000000000, 2000000000, 96, 3, 6, 50000, 28, 4],
    [138, 1, 10, 2000000000, 100000000000, 96, 56, runs(138), many(9, 128)],
  ],
];

/** Level 0 open, level 1 hidden, level 2 open and its inner commitments cut, and the tail. */
export const HIDDEN_BETWEEN: ToyRow = [
  512,
  2,
  [
    [18, 2, 7, 5, 9, 4, 7, 2, 1, 9, 68069452, 2000000000, 80, ...OPEN, 0],
    [66, 2, 7, 5, 9, 4, 7, 1, 2, 6, 2000000000, 2000000000, 96, 3, 6, 50000, 28, 0],
    [82, 2, 7, 5, 9, 4, 7, 2, 1, 7, 2000000000, 2000000000, 96, ...OPEN, 5],
    [96, 1, 10, 2000000000, 100000000000, 96, 56, runs(96), many(9, 128)],
  ],
];

const WIDE = 400000000000;

/** Three hidden levels, one behind the other, and the largest cut of inner commitments. */
export const HIDDEN_THRICE: ToyRow = [
  512,
  2,
  [
    [18, 2, 7, 5, 9, 4, 7, 2, 1, 9, 68069452, WIDE, 80, 4, 6, 300000, 40, 0],
    [80, 2, 7, 5, 9, 4, 7, 1, 2, 0, WIDE, WIDE, 124, 5, 6, 2000000, 48, 6],
    [110, 3, 5, 5, 9, 4, 7, 2, 1, 4, WIDE, WIDE, 124, 6, 6, 9000000, 56, 15],
    [140, 2, 10, WIDE, 10 * WIDE, 124, 56, [[140, 63]], many(14, 160)],
  ],
];

/** A hidden level whose z has one digit, behind a hidden level and before an open one. */
export const SINGLE_DIGIT: ToyRow = [
  512,
  2,
  [
    [18, 2, 7, 5, 9, 4, 7, 2, 1, 9, 68069452, WIDE, 80, 2, 7, 25000, 26, 0],
    [100, 1, 0, 5, 9, 4, 7, 2, 2, 4, WIDE, WIDE, 124, 3, 8, 70000, 32, 9],
    [110, 3, 7, 5, 9, 4, 8, 1, 1, 4, WIDE, 10 * WIDE, 124, ...OPEN, 0],
    [140, 1, 10, 10 * WIDE, 10 * WIDE, 124, 56, [[140, 63]], many(9, 160)],
  ],
];
