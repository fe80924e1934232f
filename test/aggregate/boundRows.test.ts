/**
 * A proof is bound to the rows of the table that its sections use, and to no others
 * (docs/protocol.md, 2.1 and 3). The tests put back what they change in the library's table.
 */
import { afterEach, expect, test } from 'vitest';
import {
  aggregate,
  inspectAggregate,
  MAX_PROOF_ITEMS,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import type { TableRow } from '../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../src/aggregate/parameters/table.gen.ts';
import { signedItem } from '../reference/items.ts';
import { rowOf } from './proof/sections.ts';

const table = TABLE as TableRow[];
const published = [...TABLE];
afterEach(() => void table.splice(0, table.length, ...published));

/** The row with a larger bound on the output of level 0, which changes no message. */
const looser = ([set, bucket, [first, ...rest]]: TableRow): TableRow => [
  ...([set, bucket] as const),
  [first!.with(11, Number(first![11]) + 1), ...rest],
];
const items = [signedItem('falcon512', 0), signedItem('falcon1024', 0)];

test('a proof remains valid when rows above the largest are added', async () => {
  const proof = await aggregate(items, { format: 'proof' });
  const before = inspectAggregate(proof);
  for (const set of ['falcon512', 'falcon1024'] as const) {
    const [degree, largest, levels] = rowOf(set, MAX_PROOF_ITEMS[set]);
    table.push([degree, largest + 512, levels]);
  }
  expect(verifyAggregate(proof, items)).toBe(true);
  expect(inspectAggregate(proof)).toEqual(before);
  expect(await aggregate(items, { format: 'proof' })).toEqual(proof);
});

test.each(['falcon512', 'falcon1024'] as const)('a proof by another row of %s', async (set) => {
  const row = rowOf(set, 1);
  table[table.indexOf(row)] = looser(row);
  const proof = await aggregate(items, { format: 'proof' });
  expect(verifyAggregate(proof, items)).toBe(true);
  table[table.indexOf(rowOf(set, 1))] = row;
  expect(verifyAggregate(proof, items)).toBe(false);
  expect(() => inspectAggregate(proof)).toThrow(expect.objectContaining({ cause: 'table' }));
});
