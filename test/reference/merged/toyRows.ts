/**
 * Rows of merged proofs with ranks far too small to bind anything: docs/merged.md, 1.1. Never in a
 * table. A merged row is `[part row, P', [level 1, ..., tail]]`, a part row `[set, N', level 0,
 * [inP, tP, XP, tXP]]`.
 */
import type { LevelRow, MergedRow, PartRow } from '../tableRow.ts';

/** nothing hidden; k, X and tX are missing as well */
const OPEN = [0, 0, 0, 0] as const;
const NORM = 2_000_000_000;
const WIDE = 400_000_000_000;

/** A tail of rows of n polynomials; the last three columns of z have a code of their own. */
function tailOf(n: number, r: number): LevelRow {
  const tG = new Array<number>((r * (r + 1)) / 2 - 1).fill(160);
  const runs = [
    [n - 3, 63],
    [3, 61],
  ] as const;
  return [n, 1, 10, WIDE, 10 * WIDE, 124, 56, runs, tG];
}

/** Level 0 open: one item. */
const OPEN_PART: PartRow = [
  512,
  1,
  [34, 2, 7, 5, 9, 4, 7, 1, 1, 9, 34034726, NORM, 80, ...OPEN, 0],
  [2_200_000_000, 96, 0, 0],
];

/** Level 0 hidden: up to two items. */
const HIDDEN_PART: PartRow = [
  512,
  2,
  [18, 2, 7, 5, 9, 4, 7, 2, 1, 9, 68069452, NORM, 80, 2, 6, 13000, 24, 0],
  [2_200_000_000, 96, 15000, 28],
];

/** Level 0 hidden, three digits of z, u whole: one item of the larger set. */
const LARGE_PART: PartRow = [
  1024,
  1,
  [33, 3, 5, 5, 9, 4, 7, 2, 1, 0, 70265242, NORM, 80, 4, 6, 150000, 36, 0],
  [2_200_000_000, 96, 160000, 40],
];

/** By what they reach. The first two, and the next two, have one part row. */
export const MERGED_TOY_ROWS: Readonly<Record<string, MergedRow>> = Object.freeze({
  // a z fills two rows of level 1
  'levels 0 and 1 open': [
    OPEN_PART,
    2,
    [[24, 2, 7, 5, 9, 4, 7, 2, 1, 9, 0, WIDE, 0, ...OPEN, 0], tailOf(150, 10)],
  ],
  'levels 0, 1 and 2 open': [
    OPEN_PART,
    3,
    [
      [72, 2, 7, 5, 9, 4, 7, 2, 2, 6, 0, WIDE, 0, ...OPEN, 0],
      [80, 2, 7, 5, 9, 4, 7, 1, 1, 7, WIDE, WIDE, 124, ...OPEN, 0],
      tailOf(96, 7),
    ],
  ],
  'levels 0 and 1 hidden': [
    HIDDEN_PART,
    2,
    [[80, 2, 7, 5, 9, 4, 7, 2, 2, 6, 0, WIDE, 0, 3, 6, 50000, 28, 0], tailOf(138, 9)],
  ],
  'levels 0 and 1 hidden, level 2 cut': [
    HIDDEN_PART,
    3,
    [
      [160, 2, 7, 5, 9, 4, 7, 2, 2, 0, 0, WIDE, 0, 3, 6, 50000, 28, 0],
      [110, 2, 7, 5, 9, 4, 7, 2, 1, 7, WIDE, WIDE, 124, ...OPEN, 6],
      tailOf(150, 9),
    ],
  ],
  'level 0 hidden, level 1 open and with one digit': [
    LARGE_PART,
    2,
    [
      [60, 1, 0, 5, 9, 4, 7, 2, 1, 4, 0, WIDE, 0, ...OPEN, 0],
      [110, 3, 7, 5, 9, 4, 8, 1, 1, 4, WIDE, 10 * WIDE, 124, ...OPEN, 0],
      tailOf(140, 6),
    ],
  ],
});
