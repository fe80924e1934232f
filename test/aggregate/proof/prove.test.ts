/** The fast prover beside the slow one: the same transcript, the same bytes. */
import { describe, expect, test } from 'vitest';
import { type ProveProgress, proofSize, proveSection } from '../../../src/aggregate/proof/index.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { fastSection, judge, referenceSection } from './sections.ts';

const LONG = { timeout: 3_600_000 };

interface Shown {
  readonly kind: string;
  readonly label?: string;
  readonly st?: Uint8Array;
  readonly seed?: Uint8Array;
  readonly seal?: Uint8Array;
}
const line = ({ kind, label, st, seed, seal }: Shown): string =>
  `${kind} ${label} ${hex(st ?? seed ?? seal!)}`;

describe('the slow prover', () => {
  test.each([
    ['falcon512', 1],
    ...(SHORT_RUN ? [] : ([['falcon1024', 1]] as const)),
    ...(NIGHTLY
      ? ([
          ['falcon512', 2],
          ['falcon512', 3],
          ['falcon512', 9],
          ['falcon512', 40],
          ['falcon1024', 2],
          ['falcon1024', 3],
          ['falcon1024', 9],
        ] as const)
      : []),
  ] as const)('%s, %i items: state by state, byte by byte', LONG, async (set, count) => {
    const { section, events } = referenceSection(set, count);
    // attempts that failed included
    const seen: string[] = [];
    const items = signedItems(set, count);
    const bytes = await proveSection(set, headerOf(items), items, {
      trace: (event) => {
        seen.push(line(event));
      },
    });
    expect(seen).toEqual(events.filter((event) => 'label' in event).map((e) => line(e as Shown)));
    expect(hex(bytes!)).toBe(hex(section.bytes));
  });
});

describe('larger sections', () => {
  test.each([
    ['falcon512', 110],
    ...(NIGHTLY
      ? ([
          ['falcon512', 5632],
          ['falcon1024', 2944],
        ] as const)
      : []),
  ] as const)(
    '%s, %i items: verified, and of the size that was foretold',
    LONG,
    async (set, count) => {
      const section = await fastSection(set, count);
      expect(judge(section)).toBe(section.bytes.length);
      const estimate = proofSize(set, count)!;
      expect(Math.abs(estimate / section.bytes.length - 1)).toBeLessThan(0.02);
    },
  );

  test.each([
    ['falcon512', 5632],
    ['falcon1024', 2944],
  ] as const)('%s: there is no proof of 0 items, nor of more than %i', (set, most) => {
    expect(proofSize(set, 0)).toBeUndefined();
    expect(proofSize(set, most)).toBeGreaterThan(50_000);
    expect(proofSize(set, most + 1)).toBeUndefined();
  });
});

describe('on the way', () => {
  const items = signedItems('falcon512', 3);

  test('progress never falls, names the steps and comes to its total', LONG, async () => {
    const seen: ProveProgress[] = [];
    await proveSection('falcon512', headerOf(items), items, {
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.length).toBeGreaterThan(1);
    for (const [i, { done, total }] of seen.entries()) {
      expect(done).toBeGreaterThanOrEqual(seen[i - 1]?.done ?? 0);
      expect(total).toBe(seen[0]!.total);
    }
    expect(seen.at(-1)!.done).toBe(seen[0]!.total);
  });

  test('a signal ends it, before and between', LONG, async () => {
    const header = headerOf(items);
    await expect(
      proveSection('falcon512', header, items, { signal: AbortSignal.abort('before') }),
    ).rejects.toMatchObject({ code: 'ABORTED', cause: 'before' });
    const controller = new AbortController();
    await expect(
      proveSection('falcon512', header, items, {
        signal: controller.signal,
        onProgress: () => controller.abort('between'),
      }),
    ).rejects.toMatchObject({ code: 'ABORTED', cause: 'between' });
  });

  test('two at once are the same as one after the other', LONG, async () => {
    const [a, b] = await Promise.all([fastSection('falcon512', 2), fastSection('falcon1024', 1)]);
    expect(hex(a.bytes)).toBe(hex((await fastSection('falcon512', 2)).bytes));
    expect(hex(b.bytes)).toBe(hex((await fastSection('falcon1024', 1)).bytes));
  });
});
