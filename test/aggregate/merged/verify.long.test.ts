/**
 * The library's verifier of merged proofs and the slow one, before the slow prover and cheating
 * ones: the same verdicts.
 */
import { describe, expect, test } from 'vitest';
import { verifyAggregate, verifyAggregateStream } from '../../../src/aggregate/index.ts';
import { ADVERSARIES, forge } from '../../reference/merged/adversaries.ts';
import { whyMerged } from '../../reference/merged/verifier.ts';
import { testRandom } from '../../support/random.ts';
import { everyThread } from '../everyThread.ts';
import { mergedProof, ROWS, withRows } from './mergedFiles.ts';

const LIMIT = { timeout: 300_000 };

describe.each(ROWS)('%s', (name, row) => {
  test.each(Array.from({ length: row[1] }, (_, i) => i + 1))('%i parts', LIMIT, async (count) => {
    const { parts, bytes } = mergedProof(row, count);
    const list = parts.flat();
    const at = testRandom(`${name}, ${count} parts`).below(bytes.length);
    const changed = bytes.with(at, bytes[at]! ^ 1);
    expect(whyMerged(bytes, list, [row])).toBe(undefined);
    expect(whyMerged(changed, list, [row])).toEqual(expect.any(String));
    const pool = everyThread({ threads: 2 });
    try {
      await withRows([row], async () => {
        for (const each of [bytes, changed]) {
          const isProof = each === bytes;
          expect(verifyAggregate(each, list)).toBe(isProof);
          expect(await pool.verifyAggregate(each, list)).toBe(isProof);
          expect(await verifyAggregateStream([each], list)).toBe(isProof);
        }
      });
    } finally {
      await pool.close();
    }
  });
});

// those that need cut commitments at level 1 are of no row in use
const CASES = Object.entries(ADVERSARIES).filter(([name]) => !/block E|e_a|_E/.test(name));

test.each(CASES)('%s', LIMIT, async (_, { row, table = [row], ...adversary }) => {
  const { bytes, list } = forge({ ...adversary, row });
  const isAccepted = await withRows(table, () => verifyAggregate(bytes, list));
  expect(isAccepted).toBe(adversary.isValid ?? false);
});
