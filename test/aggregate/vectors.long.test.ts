/** Large proofs, of which `vectors/large.json` has the hashes. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { aggregate, verifyAggregate } from '../../src/aggregate/index.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { LARGE_BATCHES, largeBatch } from '../reference/cases.ts';
import { largeCases } from '../reference/frozenCases.ts';

const sha256 = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex');

describe('large proofs', () => {
  const stored = largeCases();

  test('are of 100 and 1722 items of both sets, and of as many as fit', () => {
    const found = stored.map(({ parameter_set, count }) => ({ set: parameter_set, count }));
    expect(found).toEqual(LARGE_BATCHES);
  });

  test.each(stored)('$name', { timeout: 600_000 }, async (large) => {
    const items = largeBatch(large.parameter_set, large.count);
    expect(sha256(formatTaskFile(items))).toBe(large.task_sha256);
    const made = await aggregate(items, { format: 'proof' });
    expect(made.length).toBe(large.aggregate_bytes);
    expect(sha256(made)).toBe(large.aggregate_sha256);
    expect(verifyAggregate(made, items)).toBe(true);
  });
});
