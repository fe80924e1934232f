/**
 * The prover of hidden messages has the witness, the lifts and the linear forms of the slow prover,
 * on which every relation of the text holds. That the relations see a deviation is in
 * reference/prover.long.test.ts.
 */
import { expect, test } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import * as ROWS from '../../reference/hiddenRows.ts';
import { signedItems } from '../../reference/items.ts';
import {
  identitiesOf,
  type ShownOrdinary,
  type ShownTail,
} from '../../reference/prover/identities.ts';
import { mod, Q } from '../../reference/prover/ring.ts';
import { levelsOf } from '../../reference/prover/runs.ts';
import type { TraceEvent } from '../../reference/prover/trace.ts';
import type { TableRow as ToyRow } from '../../reference/tableRow.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { toyProof } from '../reference/toyProofs.ts';
import { observed } from './observed.ts';

const LIMIT = { timeout: 600_000 };
const SHORT = [
  ['level 0 hidden, and the tail', ROWS.HIDDEN_ZERO, 1],
  ['levels 0 and 1 hidden, inner commitments of 1 cut, and the tail', ROWS.HIDDEN_TWICE, 1],
  ['level 1 hidden, inner commitments of 2 cut, and the tail', ROWS.HIDDEN_BETWEEN, 2],
] as const;
const LONG = [
  ['levels 0, 1 and 2 hidden, inner commitments of 1 and 2 cut', ROWS.HIDDEN_THRICE, 2],
  ['a hidden level with one digit of z, 7 and 8 rows', ROWS.SINGLE_DIGIT, 2],
] as const;
const CHOSEN = SHORT_RUN ? SHORT : NIGHTLY ? [...SHORT, ...LONG] : LONG;

const reduced = (polys: readonly (readonly bigint[])[] = []): bigint[][] =>
  polys.map((poly) => poly.map((x) => mod(x, Q)));

test.each<readonly [string, TableRow & ToyRow, number]>(CHOSEN)('%s', LIMIT, async (...given) => {
  const [, row, count] = given;
  const items = signedItems('falcon512', count);
  const events: TraceEvent[] = [];
  const slow = toyProof(row, { items, trace: (event) => void events.push(event) });
  const views = levelsOf({ ...slow, set: 'falcon512', items, events });
  const wrong = identitiesOf(views, row[2].length - 1).flatMap((equations, level) =>
    Object.entries(equations).flatMap(([name, holds]) => (holds ? [] : `${level} ${name}`)),
  );
  expect(wrong).toEqual([]);

  const { bytes, levels } = await observed(row, items);
  expect(hex(bytes)).toBe(hex(slow.bytes));
  expect(levels).toHaveLength(row[2].length);
  for (const [level, { out, lifts, phiZ, phiE, h }] of levels.entries()) {
    const shown = views[level]!.values as Partial<ShownOrdinary & ShownTail>;
    expect(reduced(lifts)).toEqual(reduced(shown.lifts));
    expect(out).toEqual(shown.parts?.flat() ?? []);
    if (out.length === 0) expect(reduced(h)).toEqual(reduced(shown.h));
    else expect([phiZ, phiE].map(reduced)).toEqual([shown.phiZ, shown.phiE].map(reduced));
  }
});
