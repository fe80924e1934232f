/** Both ends of every bucket of a set: as many items as fit, and one more than fit before. */
import { describe, expect, test } from 'vitest';
import { aggregate, inspectAggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { readRow } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { MAX_SECTION_ITEMS, proofSize } from '../../../src/aggregate/proof/index.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { type SetName, signedItem, signedItems } from '../../reference/items.ts';
import { fact } from '../../support/facts.ts';
import { NIGHTLY } from '../../support/run.ts';
import { rowOf } from './sections.ts';

const LONG = { timeout: 1_800_000 };
/** Larger buckets wait for the nightly run. */
const LARGEST = NIGHTLY ? Number.POSITIVE_INFINITY : 48;

/**
 * Proves and verifies at both edges of every bucket; a file of its own for each set, so that two
 * cores share the work.
 */
export function testEdges(set: SetName): void {
  const degree = set === 'falcon512' ? 512 : 1024;
  const all = TABLE.filter(([of]) => of === degree).map(([, bucket]) => bucket);
  const buckets = all.filter((bucket) => bucket <= LARGEST);
  const proved: { count: number; bytes: number; again: boolean }[] = [];

  describe(`${set}, the edges of buckets`, () => {
    test('the buckets rise to the largest section', () => {
      expect(all).toEqual([...all].sort((a, b) => a - b));
      expect(new Set(all).size).toBe(all.length);
      expect(all[0]).toBe(1);
      expect(all.at(-1)).toBe(MAX_SECTION_ITEMS[set]);
    });

    test.each(buckets)('%i', LONG, async (bucket) => {
      const before = all[all.indexOf(bucket) - 1] ?? 0;
      for (const count of new Set([before + 1, bucket])) {
        expect(rowOf(set, count)[1]).toBe(bucket);
        const items = signedItems(set, count);
        const bytes = await aggregate(items, { format: 'proof' });
        expect(verifyAggregate(bytes, items), `${count} items`).toBe(true);
        const { body, total } = inspectAggregate(bytes).sizes;
        expect(total).toBe(bytes.length);
        expect(Math.abs(proofSize(set, count)! / body - 1), 'as foretold').toBeLessThan(0.03);

        // one statement more or fewer is another bucket, or the same one with more padding
        expect(verifyAggregate(bytes, items.slice(1))).toBe(false);
        expect(verifyAggregate(bytes, [...items, signedItem(set, 0)])).toBe(false);

        const section = parseSection(readRow(rowOf(set, count)), bytes, total - body)!;
        const again = [...section.levels, section.tail].some(({ retry }) => retry > 0);
        proved.push({ count, bytes: body, again });
      }
    });

    test('all of them', (context) => {
      const expected =
        buckets.length * 2 - buckets.filter((b, i) => b - (all[i - 1] ?? 0) === 1).length;
      expect(proved.length).toBe(expected);
      const again = proved.filter((each) => each.again).length;
      const items = proved.reduce((sum, { count }) => sum + count, 0);
      const largest = proved.reduce((most, { bytes }) => Math.max(most, bytes), 0);
      const rss = (process.resourceUsage().maxRSS / 1024).toFixed(0);
      fact(
        context,
        'edges of buckets',
        `${set}: ${proved.length} proofs of ${items} items, ${again} with a retry, ` +
          `at most ${largest} bytes, process at most ${rss} MiB`,
      );
    });
  });
}
