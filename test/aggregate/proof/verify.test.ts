/** The fast verifier beside the slow prover and verifier: the same proofs, the same transcript. */
import { describe, expect, test } from 'vitest';
import type { TraceEvent as FastEvent } from '../../../src/aggregate/proof/transcript.ts';
import { foldOnIdle } from '../../../src/aggregate/proof/verifier/folds.ts';
import { verifySectionIn } from '../../../src/aggregate/proof/verifier/verify.ts';
import { type SetName, signedItems } from '../../reference/items.ts';
import { stepsOf } from '../../reference/prover/runs.ts';
import { hashOfRow, tableRow } from '../../reference/table.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { fact } from '../../support/facts.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { fastSection, finished, judge, referenceSection, rowOf } from './sections.ts';

const LONG = { timeout: 3_600_000 };

// prove.test.ts has the fast prover make the same bytes.
describe.skipIf(SHORT_RUN)('proofs of the slow prover', () => {
  test.each([
    ['falcon512', 1],
    ['falcon1024', 1],
    ...(NIGHTLY ? ([['falcon512', 3]] as const) : []),
  ] as const)('%s, %i items: accepted by both modules, with its transcript', LONG, (set, count) => {
    const { section, events } = referenceSection(set, count);
    for (const module of ['plain', 'relaxed'] as const) {
      const seen: FastEvent[] = [];
      const end = judge(section, { module, trace: (event) => seen.push(event) });
      expect(end).toBe(section.bytes.length);
      const line = (event: FastEvent): string =>
        `${event.kind} ${event.label} ${hex(event.kind === 'absorb' ? event.st : event.kind === 'seed' ? event.seed : event.seal)}`;
      const expected = stepsOf(events).map(line);
      const isSeal = (text: string) => text.startsWith('seal');
      const got = seen.map(line);
      // the verifier makes the seals last
      expect(got.filter((text) => !isSeal(text))).toEqual(expected.filter((t) => !isSeal(t)));
      expect(got.filter(isSeal)).toEqual(expected.filter(isSeal));
    }
  });

  test('bytes before and after the section are left to the caller', LONG, () => {
    const { section } = referenceSection('falcon512', 1);
    const bytes = Uint8Array.from([7, 7, 7, ...section.bytes, 1, 2]);
    expect(judge(section, { bytes, at: 3 })).toBe(3 + section.bytes.length);
    expect(judge(section, { bytes, at: 2 })).toBeUndefined();
    expect(judge(section, { bytes, at: 4 })).toBeUndefined();
    for (const at of [bytes.length, bytes.length + 1]) {
      expect(judge(section, { bytes, at })).toBeUndefined();
    }
  });

  test('a proof over the row of a larger bucket is refused', LONG, () => {
    const { section } = referenceSection('falcon512', 2, rowOf('falcon512', 4));
    expect(judge(section)).toBeUndefined();
  });
});

describe('proofs of the fast prover', () => {
  const counts: readonly (readonly [SetName, readonly number[]])[] = NIGHTLY
    ? [
        ['falcon512', [2, 4, 5, 8, 9, 40, 41, 104, 105, 110, 500, 1722, 1723, 5632]],
        ['falcon1024', [2, 3, 8, 9, 110, 500, 1722, 2944]],
      ]
    : [
        ['falcon512', [2, 8, 40, 100]],
        ['falcon1024', [2]],
      ];

  test.for(counts)('%s: accepted', LONG, async ([set, list], context) => {
    for (const count of list) {
      const section = await fastSection(set, count);
      const before = performance.now();
      expect(judge(section), `${count} items`).toBe(section.bytes.length);
      const seconds = ((performance.now() - before) / 1000).toFixed(2);
      fact(context, 'verified', `${count} ${set}: ${section.bytes.length} bytes in ${seconds} s`);
    }
  });

  test('folded in parts, of all kinds: accepted', LONG, async () => {
    const { items: statements, ...section } = await fastSection('falcon512', 40);
    const kinds: string[] = [];
    const end = await verifySectionIn({ ...section, statements, at: 0 }, 8, async (jobs) =>
      jobs.map((job) => {
        kinds.push(job.kind);
        return finished(foldOnIdle(job));
      }),
    );
    expect(end).toBe(section.bytes.length);
    for (const kind of ['items', 'rows', 'keys']) {
      expect(kinds.filter((one) => one === kind).length, kind).toBeGreaterThan(1);
    }
  });

  test.skipIf(SHORT_RUN)(
    'the slow verifier agrees, also on both sections of a mixed batch',
    LONG,
    async () => {
      const [a, b] = [signedItems('falcon512', 2), signedItems('falcon1024', 1)];
      const mixed = [a[0]!, b[0]!, a[1]!];
      for (const set of ['falcon512', 'falcon1024'] as const) {
        const section = await fastSection(set, 0, mixed);
        expect(judge(section)).toBe(section.bytes.length);
        const verdict = verifyReferenceSection({
          set: set === 'falcon512' ? 512 : 1024,
          row: rowOf(set, section.items.length),
          rowHash: hashOfRow(tableRow(set, section.items.length)),
          header: section.header,
          statements: section.items,
          salts: section.items.map((_, i) => section.salts.subarray(40 * i, 40 * i + 40)),
          bytes: section.bytes,
        });
        expect(verdict).toEqual({ ok: true, length: section.bytes.length });
      }
    },
  );
});
