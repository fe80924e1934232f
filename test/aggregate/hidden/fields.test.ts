/** The encoding: the fields of every level in their order, as the transcript absorbed them. */
import { expect, test } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { encodeGaussian } from '../../../src/aggregate/proof/prover/gaussian.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { HIDDEN_BETWEEN, HIDDEN_TWICE, HIDDEN_ZERO } from '../../reference/hiddenRows.ts';
import { signedItems } from '../../reference/items.ts';
import { hex } from '../../support/hex.ts';
import { observed, type Seen } from './observed.ts';

const i32 = (list: readonly number[]): Uint8Array => {
  const bytes = new DataView(new ArrayBuffer(4 * list.length));
  for (const [i, x] of list.entries()) bytes.setInt32(4 * i, x, true);
  return new Uint8Array(bytes.buffer);
};

/** A projection: 272 values in their code, then two sums. */
const block = (y: readonly number[], code: number): Uint8Array =>
  concat(encodeGaussian(y.slice(0, 272), [{ count: 272, code }])!, i32(y.slice(272)));

/** The bytes of levels before the tail, by the order of the text. */
function ordinaryBytes(seen: Seen, row: readonly unknown[], before?: readonly unknown[]) {
  const { absorbed, y, yOfX, number } = seen;
  const of = (label: string): Uint8Array => absorbed[label]!;
  const w = of('y').subarray(1096, number === 0 ? undefined : 1096);
  return concat(
    of('retry'),
    ...(number === 0 ? [of('uA'), of('uB')] : [of('u1')]),
    of('counter'),
    block(y, row[12] as number),
    ...(yOfX === undefined ? [] : [block(yOfX, before![16] as number)]),
    w,
    of('b'),
    of('u2'),
  );
}

/** The fields of the tail between its seals. */
function tailBytes(
  { absorbed, y, yOfX }: Seen,
  row: readonly unknown[],
  before: readonly unknown[],
) {
  const of = (label: string): Uint8Array => absorbed[label]!;
  return concat(
    of('t').subarray(-32),
    of('counter'),
    block(y, row[5] as number),
    ...(yOfX === undefined ? [] : [block(yOfX, before[16] as number)]),
    of('b'),
    of('h'),
  );
}

test.each([
  ['level 0 hidden', HIDDEN_ZERO, 1],
  ['levels 0 and 1 hidden', HIDDEN_TWICE, 1],
  ['level 1 hidden', HIDDEN_BETWEEN, 2],
] as const)('%s', async (_, row: TableRow, count) => {
  const { levels, bytes } = await observed(row, signedItems('falcon512', count));
  const rows = row[2];
  const parts = levels.slice(0, -1).map((seen, i) => ordinaryBytes(seen, rows[i]!, rows[i - 1]));
  const before = concat(...parts);
  expect(hex(bytes.subarray(0, before.length))).toBe(hex(before));
  expect(hex(bytes)).toContain(hex(tailBytes(levels.at(-1)!, rows.at(-1)!, rows.at(-2)!)));
});

test('the lengths of what is absorbed', async () => {
  const { levels } = await observed(HIDDEN_TWICE, signedItems('falcon512', 1));
  const lengths = levels.map(({ absorbed }) =>
    Object.entries(absorbed).map(([label, data]) => `${label} ${data.length}`),
  );
  const [k, y] = [6, 272 * 4 + 8];
  expect(lengths.slice(0, 2)).toEqual([
    ...[
      [
        'retry 1',
        ...[`uA ${88 * k}`, `uB ${88 * k}`, 'counter 1', `y ${y + 40}`],
        ...[`b ${88 * k + 17}`, `u2 ${88 * k}`],
      ],
      ['retry 1', `u1 ${88 * k}`, 'counter 1', `y ${2 * y}`, `b ${88 * k}`, `u2 ${88 * k}`],
    ],
  ]);
  expect(lengths[2]).toContain(`y ${2 * y}`);
  expect(lengths[2]).toContain('b 682');
});
