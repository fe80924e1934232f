/** The folded keys expand what the uses have, once, and touch nothing else. */
import { expect, test } from 'vitest';
import { foldKeys, type KeyUse, shortCoefficients } from '../../../src/aggregate/proof/foldKeys.ts';
import { joinBlocks } from '../../../src/aggregate/proof/ring.ts';
import { SHORT } from '../../../src/aggregate/proof/transcript.ts';
import { type Forms, Labrador } from '../../../src/aggregate/wasm.ts';
import { bytesOf } from '../../reference/items.ts';

const lab = new Labrador();
const { kernels } = lab;
const seen: string[] = [];
Object.defineProperty(lab, 'kernels', {
  value: {
    ...kernels,
    expandKey(at: number, first: number, count: number) {
      seen.push(`expand ${first} ${count}`);
      return kernels.expandKey(at, first, count);
    },
    combine(to: number, rows: number, coefficients: number, blocks: number) {
      seen.push(`combine ${rows} ${blocks}`);
      return kernels.combine(to, rows, coefficients, blocks);
    },
    reduceColumns(at: number, first: number, count: number) {
      seen.push(`reduce ${first} ${count}`);
      return kernels.reduceColumns(at, first, count);
    },
  },
});

const use = (columns: number, rows: number): KeyUse => ({
  ...{ columns, rows, number: 1, seed: bytesOf('seed', 32) },
  ...{ short: SHORT.amortised, first: 0 },
});
const uses = [use(64, 6), use(150, 4), use(65, 2), use(30, 8)];

test('in runs of 64 columns, for the uses that have them', () => {
  seen.length = 0;
  foldKeys(lab, { columns: { from: 0, to: 160 }, uses });
  const expanded = (first: number, count: number, rows: number): string[] =>
    new Array<string>(rows).fill(`expand ${first} ${count}`);
  expect(seen).toEqual([
    ...expanded(0, 64, 8),
    ...['combine 6 2', 'combine 4 2', 'combine 2 2', 'combine 8 1'],
    ...expanded(64, 64, 4),
    ...['combine 4 2', 'combine 2 1'],
    ...expanded(128, 22, 4),
    'combine 4 1',
  ]);
});

test('the same in parts, and none where no use has columns', () => {
  const whole = foldKeys(lab, { columns: { from: 0, to: 160 }, uses });
  const parts = [
    [0, 32],
    [32, 128],
    [128, 160],
  ].map(([from, to]) => foldKeys(lab, { columns: { from: from!, to: to! }, uses }));
  for (const [i, all] of whole.entries()) {
    expect(joinBlocks(parts.map((list) => list[i]!))).toEqual(all);
    expect(all.columns).toBe(uses[i]!.columns);
  }
  seen.length = 0;
  const none = foldKeys(lab, { columns: { from: 160, to: 192 }, uses });
  expect(none.map(({ columns }) => columns)).toEqual([0, 0, 0, 0]);
  expect(seen).toEqual([]);
});

test('the parts of residues are joined where a use has columns', () => {
  const inTwoParts = (_: Labrador, list: readonly KeyUse[]): (readonly Forms[])[] =>
    list.map((one) => [shortCoefficients(lab, one), shortCoefficients(lab, one)].flat());
  const seenIn = (from: number, to: number): string[] => {
    seen.length = 0;
    foldKeys(lab, { columns: { from, to }, uses: [use(70, 2), use(100, 2)] }, inTwoParts);
    return seen.filter((what) => !what.startsWith('expand'));
  };
  const joined = (columns: number): string[] => [
    `reduce 0 ${columns}`,
    `combine 2 ${Math.ceil(columns / 32)}`,
    `reduce 0 ${columns}`,
  ];
  const combined = (blocks: number): string[] => new Array<string>(2).fill(`combine 2 ${blocks}`);
  expect(seenIn(64, 96)).toEqual([
    ...[...combined(1), ...combined(1)],
    ...[...joined(6), ...joined(32)],
  ]);
  expect(seenIn(96, 128)).toEqual([...combined(1), ...joined(4)]);
  expect(seenIn(128, 160)).toEqual([]);
});
