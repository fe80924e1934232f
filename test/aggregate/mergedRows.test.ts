/** Rows of one proof over many parts: that they hold, and what their check refuses. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isQuarters, leastSize } from '../../scripts/parameters/binding.ts';
import { errorBits, rounds } from '../../scripts/parameters/errors.ts';
import {
  checkMerged,
  counterPasses,
  mergedCommitments,
  mergedError,
  mergedRuns,
  readMerged,
} from '../../scripts/parameters/merged.ts';
import { columnsOf, foldedKeyWords } from '../../scripts/parameters/streams.ts';
import { type MergedRow, readMergedRow } from '../../src/aggregate/parameters/rows.ts';
import { MERGED_TOY_ROWS } from '../reference/merged/toyRows.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const ROWS: readonly MergedRow[] = read('../../vectors/mergedTable.json');
const [ROW] = ROWS.slice(-1) as [MergedRow];
const [PART, MOST, LEVELS] = ROW;

it('the rows hold, share their part row, and exclude provers of 2^48 queries', () => {
  expect(ROWS.map(([, most]) => most)).toEqual([2, 8, 18]);
  for (const row of ROWS) {
    expect(row[0]).toEqual(PART);
    expect(checkMerged(row)).toEqual([]);
    const commitments = mergedCommitments(readMerged(row));
    const bitsOf = (ofQuarters: boolean): number =>
      0.292 * leastSize(commitments.filter((one) => isQuarters(one) === ofQuarters));
    expect(bitsOf(false)).toBeGreaterThan(133);
    expect(bitsOf(true)).toBeGreaterThan(136);
  }
  // (Q+1) K' runs of Q steps each stay below 2^133
  const runs = mergedRuns(ROWS);
  expect((133 - Math.log2(runs.all)) / 2).toBeGreaterThan(48);
});

it('an absent part has rows, which are empty, and no v; x is that of a hidden level', () => {
  const { levels } = readMergedRow(ROW, 5);
  const { f, n, m } = levels[0]!;
  const digit = [...new Array<number>(5).fill(n), ...new Array<number>(MOST - 5).fill(0)];
  const digits = new Array<number[]>(f).fill(digit).flat();
  expect(levels[1]!.lengths).toEqual([...digits, 5 * m]);
  const ofX = (row: MergedRow) => readMergedRow(row, 1).levels[1]!.ofX;
  expect(ofX(ROW)).toEqual({ inSq: PART[3][2], codeY: PART[3][3] });
  expect(ofX(MERGED_TOY_ROWS['levels 0 and 1 open']!)).toBe(undefined);
});

it('no word of the commitment keys that they use is at or above q', () => {
  const columns = columnsOf(ROWS.map((row) => readMerged(row).whole));
  expect(columns[0]).toBeGreaterThanOrEqual(PART[2][0] as number);
  expect(foldedKeyWords(columns)).toBe(0);
});

it('errors add up as docs/merged.md says', () => {
  const bits = ROWS.map((row) => errorBits(mergedError(readMerged(row), row[1])));
  // the check takes 2r+4 where 2r+2 is proved: a hundredth
  for (const [i, sum] of [129.4, 127.8, 126.7].entries()) expect(bits[i]).toBeCloseTo(sum, 1);
  const [one, two] = [1, 2].map((parts) => mergedError(readMerged(ROW), parts));
  const common = 2n * one! - two!;
  expect(errorBits(two! - one!)).toBeGreaterThan(130.9);
  expect(errorBits(common)).toBeGreaterThan(130.5);
  // Lemma 11: three more lifts at level 1, and one more combination
  const above = rounds(readMerged(ROW).whole).filter(({ level }) => level > 0);
  const more = above.filter(({ level, term }) => level === 1 && /lift|combine/.test(term));
  const sumOf = (list: typeof above): bigint => list.reduce((sum, { error }) => sum + error, 0n);
  const [lift, combine] = [more[0]!.error, more[1]!.error];
  expect(common - sumOf(above)).toBe(3n * lift + combine);
});

it('a counter passes for all parts as long as they may be as often as draws of signs do', () => {
  for (const [i, passed] of [0.91, 0.7, 0.45].entries()) {
    expect(counterPasses(ROWS[i]!)).toBeCloseTo(passed, 1);
  }
  // without room 0.7585 of the projections pass (docs/soundness.md, 8)
  const [set, bucket, zero] = PART;
  const without: MergedRow = [
    [set, bucket, zero, [zero[11], 118, zero[15], 30] as never],
    1,
    LEVELS,
  ];
  expect(counterPasses(without)).toBeCloseTo(0.7585 ** 2, 3);
});

const NAMES = 'n f b fu bu fg bg kappa kappa1 cut inSq outSq codeY w k xSq codeX ct'.split(' ');
const [IN_P, T_P, X_P, T_XP] = PART[3];
const OUT_SQ = PART[2][NAMES.indexOf('outSq')] as number;
const X = PART[2][NAMES.indexOf('xSq')] as number;
const withBounds = (...bounds: number[]): MergedRow => {
  return [[PART[0], PART[1], PART[2], bounds as never], MOST, LEVELS];
};
/** The row with other numbers in one of its common levels, the first of which is level 1. */
const withNumbers = (level: number, numbers: Record<string, number>): MergedRow => {
  const changed = LEVELS.map((one, i) =>
    i === level - 1 ? one.map((value, at) => numbers[NAMES[at]!] ?? value) : one,
  );
  return [PART, MOST, changed];
};
const ofLevel = (level: number, name: string): number =>
  LEVELS[level - 1]![NAMES.indexOf(name)] as number;

const withTail = (at: number, value: number): MergedRow => {
  return [PART, MOST, [...LEVELS.slice(0, -1), LEVELS.at(-1)!.with(at, value)]];
};
/** The part with messages of level 0 in clear. */
const OPEN: MergedRow[0] = [
  PART[0],
  PART[1],
  PART[2].map((value, at) => (/^(w|k|xSq|codeX)$/.test(NAMES[at]!) ? 0 : value)),
  PART[3],
];

describe('the check refuses', () => {
  const { kappa } = readMerged(ROW).whole.levels[1]!;
  it.each<[string, MergedRow, string]>([
    ['three bounds', withBounds(IN_P, T_P, X_P), 'bounds of a part (m. 1.1)'],
    ['a fraction', withBounds(IN_P + 0.5, T_P, X_P, T_XP), 'bounds of a part (m. 1.1)'],
    ['no parts', [PART, 0, LEVELS], 'number of parts (m. 1.1)'],
    ['17 numbers', withNumbers(1, { ct: [] as never }), 'level 1: not 18 numbers (p. 3)'],
    ['parts longer than their block', withBounds(OUT_SQ - 1, T_P, X_P, T_XP), 'inP (m. 1.1)'],
    ['an inP of 2^43', withBounds(2 ** 43, T_P, X_P, T_XP), 'inP (m. 1.1)'],
    ['an x longer than its bound', withBounds(IN_P, T_P, X - 1, T_XP), 'XP (m. 1.1)'],
    ['an XP of 2^43', withBounds(IN_P, T_P, 2 ** 43, T_XP), 'XP (m. 1.1)'],
    ['an index tP of 144', withBounds(IN_P, 144, X_P, T_XP), 'an index (m. 1.1)'],
    ['an index tXP of 144', withBounds(IN_P, T_P, X_P, 144), 'an index (m. 1.1)'],
    ['an index tY of 144', withNumbers(2, { codeY: 144 }), 'an index (m. 1.1)'],
    ['inP without room', withBounds(OUT_SQ, T_P, X_P, T_XP), 'no room for all blocks (m. 1.3)'],
    ['XP without room', withBounds(IN_P, T_P, X, T_XP), 'no room for all blocks (m. 1.3)'],
    ['a block that can wrap', withBounds(2 ** 42, T_P, X_P, T_XP), 'level 1: projections can wrap'],
    [
      'y of a block without a code',
      withBounds(IN_P, T_P - 16, X_P, T_XP),
      'level 1: y does not fit',
    ],
    ['y of an x without a code', withBounds(IN_P, T_P, X_P, T_XP - 16), 'level 0: x: y does not'],
    ['ranks below inP', withBounds(2 * IN_P, T_P, X_P, T_XP), 'level 0: inner, first branch (2)'],
    ['quarters below XP', withBounds(IN_P, T_P, 2 * X_P, T_XP), 'level 0: quarters (2)'],
    ['ranks of level 1', withNumbers(1, { kappa: kappa - 3 }), 'level 1: inner, first branch (2)'],
    ['an inSq of level 1', withNumbers(1, { inSq: 1 }), 'level 1: inSq, tY or ct (m. 1.1)'],
    ['a tY of level 1', withNumbers(1, { codeY: 1 }), 'level 1: inSq, tY or ct (m. 1.1)'],
    ['a cut of t of level 1', withNumbers(1, { ct: 5 }), 'level 1: inSq, tY or ct (m. 1.1)'],
    [
      'an inSq that is not the output before',
      withNumbers(2, { inSq: ofLevel(1, 'outSq') }),
      'level 2: inSq has no room for the errors (5.7, 8)',
    ],
    ['a cut of t', withNumbers(2, { ct: 3 }), 'level 2: ct (3.7)'],
    ['digits of z', withNumbers(2, { b: 14 }), 'level 2: digits of z (p. 6.3)'],
    ['a bound of an x that is not hidden', [OPEN, MOST, LEVELS], 'XP (m. 1.1)'],
    [
      'three digits of 13 bits, times chi',
      [[PART[0], PART[1], PART[2].with(1, 3).with(2, 13), PART[3]], MOST, LEVELS],
      'level 1: range of phi (kernels)',
    ],
    ['rows in quarters', withNumbers(1, { k: 2 ** 21 }), 'level 1: range of quarters (kernels)'],
    [
      '10,000 items',
      [[512, 10_000, ...PART.slice(2)] as never, MOST, LEVELS],
      'functionals can wrap',
    ],
    ['a tail that is cut by 3 bits', withTail(2, 3), 'tail: cut (5.7)'],
    ['a tail with an e beyond 2^20', withTail(6, 112), 'tail: range of e (p. 11.1)'],
    ['40 parts: rows', [PART, 40, LEVELS], 'level 1: more than 76 rows (3.7)'],
    ['40 parts: errors', [PART, 40, LEVELS], 'the sum of errors (m. 4)'],
  ])('%s', (_, row, reason) => {
    expect(checkMerged(row).join('\n')).toContain(reason);
  });
});
