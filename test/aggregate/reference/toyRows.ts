/** Rows with ranks far too small to bind anything, for tests that make and judge many proofs. */
import type { TableRow } from '../../reference/tableRow.ts';

const many = (count: number, t: number): number[] => new Array<number>(count).fill(t);
/** Two codes for z: the last three columns have one of their own. */
const runs = (n: number) =>
  [
    [n - 3, 63],
    [3, 61],
  ] as const;

/** Nothing hidden, inner commitments not cut. */
const OPEN = [0, 0, 0, 0, 0] as const;

/** One item of Falcon-512, level 0 and tail. */
export const TOY1: TableRow = [
  512,
  1,
  [
    [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 34034726, 2000000000, 80, ...OPEN],
    [36, 1, 10, 2000000000, 100000000000, 88, 56, runs(36), many(9, 128)],
  ],
];

/**
 * One item of Falcon-512 in a bucket of two, an ordinary level between level 0 and tail, no cut
 * there.
 */
export const TOY2: TableRow = [
  512,
  2,
  [
    [18, 2, 7, 5, 9, 4, 7, 2, 1, 0, 68069452, 2000000000, 80, ...OPEN],
    [66, 2, 7, 5, 9, 4, 7, 1, 2, 6, 2000000000, 2000000000, 96, ...OPEN],
    [82, 1, 10, 2000000000, 100000000000, 96, 56, runs(82), many(9, 128)],
  ],
];

/** One item of Falcon-1024, level 0 and tail. */
export const TOY_1024: TableRow = [
  1024,
  1,
  [
    [33, 2, 8, 5, 9, 4, 8, 1, 1, 9, 70265242, 2000000000, 80, ...OPEN],
    [36, 1, 10, 2000000000, 100000000000, 88, 56, runs(36), many(9, 128)],
  ],
];
