import { expect, test } from 'vitest';
import { aggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { signedItems } from '../../reference/items.ts';
import { fact } from '../../support/facts.ts';
import { NIGHTLY } from '../../support/run.ts';
import { testEdges } from './edges.ts';

testEdges('falcon1024');

const each = NIGHTLY ? 1722 : 9;

test(`both sets, ${each} of each, by turns`, { timeout: 1_800_000 }, async (context) => {
  const [a, b] = [signedItems('falcon512', each), signedItems('falcon1024', each)];
  const items = a.flatMap((item, i) => [item, b[i]!]);
  const bytes = await aggregate(items, { format: 'proof' });
  expect(verifyAggregate(bytes, items)).toBe(true);
  expect(verifyAggregate(bytes, [...a, ...b])).toBe(false);
  expect(verifyAggregate(bytes, items.toReversed())).toBe(false);
  fact(context, 'both sets', `${items.length} items in ${bytes.length} bytes`);
});
