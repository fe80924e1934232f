/**
 * Rows with small, insecure ranks: they take every branch of the shapes (one to three digits, no
 * cut, padding in every part, many levels) in little time. Never in the table.
 */
import type { LevelRow } from './tableRow.ts';

export type ToyRow = readonly [set: 512 | 1024, bucket: number, levels: readonly LevelRow[]];

interface Pick {
  readonly n: number;
  readonly f: number;
  readonly b: number;
  readonly kappa: number;
  readonly kappa1: number;
  readonly cut: number;
  /** digits of t, h and g, and their bits */
  readonly digits?: readonly [count: number, bits: number];
}

const BETA_SQ = { 512: 34_034_726, 1024: 70_265_242 } as const;
/** nothing hidden, inner commitments not cut */
const OPEN = [0, 0, 0, 0, 0] as const;
const LOOSE = 2 ** 42;
/** indexes of codes of values below 2^21, 2^15 and 2^43 in magnitude */
const [T_Y, T_Z, T_G] = [104, 63, 280];

/** A chain of the picked levels and a tail of rows of n polynomials. */
function chain(
  set: 512 | 1024,
  bucket: number,
  picks: readonly Pick[],
  tail: { n: number; kappa: number; cut: number },
): ToyRow {
  const width = set / 32 + 1;
  let lengths = [width * bucket, 2 * bucket, width * bucket];
  const rowsOf = (n: number): number => lengths.reduce((sum, l) => sum + Math.ceil(l / n), 0);
  const rows: LevelRow[] = picks.map((pick, index) => {
    const { n, f, b, kappa, kappa1, cut, digits = [5, 9] } = pick;
    const [count, bits] = digits;
    const r = rowsOf(n);
    const pairs = (r * (r + 1)) / 2;
    const outers = index === 0 ? 3 : 2;
    const m = count * r * kappa + 2 * count * pairs + (cut > 0 ? outers * kappa1 : 0);
    lengths = [...new Array<number>(f).fill(n), m];
    const inSq = index === 0 ? bucket * BETA_SQ[set] : LOOSE;
    return [n, f, b, count, bits, count, bits, kappa, kappa1, cut, inSq, LOOSE, T_Y, ...OPEN];
  });
  const r = rowsOf(tail.n);
  const tG = new Array<number>((r * (r + 1)) / 2 - 1).fill(T_G);
  const runs = [
    [9, T_Z - 1],
    [tail.n - 9, T_Z],
  ] as const;
  rows.push([tail.n, tail.kappa, tail.cut, LOOSE, LOOSE, T_Y, T_Y, runs, tG]);
  return [set, bucket, rows];
}

export const TOY_ROWS: Readonly<Record<string, ToyRow>> = Object.freeze({
  'one level': chain(512, 1, [{ n: 17, f: 2, b: 9, kappa: 1, kappa1: 1, cut: 4 }], {
    n: 40,
    kappa: 2,
    cut: 6,
  }),
  'two digits, no cut': chain(512, 2, [{ n: 17, f: 2, b: 9, kappa: 2, kappa1: 1, cut: 0 }], {
    n: 90,
    kappa: 1,
    cut: 4,
  }),
  'three digits, then one, padding in every part': chain(
    512,
    3,
    [
      { n: 20, f: 3, b: 6, kappa: 1, kappa1: 2, cut: 5, digits: [9, 5] },
      { n: 150, f: 1, b: 10, kappa: 2, kappa1: 1, cut: 0, digits: [9, 5] },
    ],
    { n: 200, kappa: 2, cut: 5 },
  ),
  'the larger set, three levels': chain(
    1024,
    2,
    [
      { n: 33, f: 2, b: 8, kappa: 1, kappa1: 1, cut: 8 },
      { n: 70, f: 2, b: 8, kappa: 1, kappa1: 1, cut: 4 },
      { n: 90, f: 2, b: 8, kappa: 1, kappa1: 1, cut: 4 },
    ],
    { n: 70, kappa: 1, cut: 4 },
  ),
});
