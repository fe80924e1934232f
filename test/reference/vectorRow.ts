/** The row of vector 13 of docs/protocol.md, section 14: insecure, and in no table. */
import type { ToyRow } from './toyRows.ts';

const OPEN = [0, 0, 0, 0] as const;
const MOST = 100_000_000;

/**
 * Two hidden levels one behind the other, the second with cut inner commitments; behind them an
 * open one that is cut as well; a hidden one again, and the tail behind it.
 */
export const VECTOR_ROW: ToyRow = [
  512,
  1,
  [
    [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 34034726, MOST, 68, 2, 6, 12000, 22, 0],
    [100, 2, 7, 5, 9, 4, 7, 1, 1, 6, MOST, MOST, 73, 3, 6, 20000, 25, 4],
    [100, 2, 7, 5, 9, 4, 7, 1, 1, 0, MOST, MOST, 74, ...OPEN, 6],
    [114, 2, 7, 5, 9, 4, 7, 1, 1, 5, MOST, MOST, 74, 4, 7, 60000, 31, 0],
    [114, 1, 10, MOST, 100 * MOST, 73, 70, [[114, 55]], [113, 94, 120, 87, 103]],
  ],
];
