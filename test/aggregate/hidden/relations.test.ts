/** What the prover of hidden messages makes satisfies every relation of the text. */
import { expect, test } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import {
  HIDDEN_BETWEEN,
  HIDDEN_THRICE,
  HIDDEN_TWICE,
  HIDDEN_ZERO,
  SINGLE_DIGIT,
} from '../../reference/hiddenRows.ts';
import { signedItems } from '../../reference/items.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { observed } from './observed.ts';
import { broken } from './relations.ts';

const LIMIT = { timeout: 600_000 };
const SHORT = [
  ['level 0 hidden, and the tail', HIDDEN_ZERO, 1],
  ['levels 0 and 1 hidden, inner commitments of 1 cut, and the tail', HIDDEN_TWICE, 1],
  ['level 1 hidden, inner commitments of 2 cut, and the tail', HIDDEN_BETWEEN, 2],
] as const;
const LONG = [
  ['levels 0, 1 and 2 hidden, inner commitments of 1 and 2 cut', HIDDEN_THRICE, 2],
  ['a hidden level with one digit of z, 7 and 8 rows', SINGLE_DIGIT, 2],
] as const;
const ROWS = SHORT_RUN ? SHORT : NIGHTLY ? [...SHORT, ...LONG] : LONG;

test.each<readonly [string, TableRow, number]>(ROWS)('%s', LIMIT, async (_, row, count) => {
  const run = await observed(row, signedItems('falcon512', count));
  expect(run.levels.length).toBe(row[2].length);
  expect(broken(run)).toEqual([]);
});
