/** Keys that are kept: the same as expanded ones, in no more memory than allowed, while held. */
import { afterEach, expect, test } from 'vitest';
import { aggregate } from '../../../src/aggregate/index.ts';
import { keysSeed } from '../../../src/aggregate/proof/challenges.ts';
import type { Columns } from '../../../src/aggregate/proof/columns.ts';
import { holdKeys, keptKeyBytes, writeKeys } from '../../../src/aggregate/proof/keyCache.ts';
import { BLOCK_BYTES, BLOCK_COLUMNS, Labrador } from '../../../src/aggregate/wasm.ts';
import { signedItems } from '../../reference/items.ts';
import { hex } from '../../support/hex.ts';
import { SHORT_RUN } from '../../support/run.ts';
import { everyThread } from '../everyThread.ts';

const lab = new Labrador();
const seed = keysSeed(lab);

/** The columns as they are written, and how many of them the kernel has expanded. */
function written(row: number, { from, to }: Columns): { bytes: string; expanded: number } {
  return lab.scope(() => {
    const { at, stride } = lab.vecs(1, to - from);
    let expanded = 0;
    const counting = Object.create(lab, {
      bytes: { value: lab.bytes.bind(lab) },
      kernels: {
        value: {
          expandKey(where: number, first: number, count: number) {
            expanded += count;
            lab.kernels.expandKey(where, first, count);
          },
        },
      },
    }) as Labrador;
    // the address counts for this row alone
    writeKeys(counting, seed, new Array<number>(row + 1).fill(at), { from, to }, row);
    return { bytes: hex(lab.bytes(at, stride)), expanded };
  });
}

const RANGES: readonly Columns[] = [
  { from: 64, to: 95 },
  { from: 64, to: 128 },
  { from: 0, to: 170 },
  { from: 96, to: 99 },
  { from: 32, to: 300 },
];

const releases: (() => void)[] = [];
const hold = (blocks: number): void => {
  releases.push(holdKeys(BLOCK_BYTES * blocks));
};
afterEach(() => {
  for (const release of releases.splice(0)) release();
});

test('kept keys are the keys, in any order of ranges, up to the limit', () => {
  const expected = RANGES.map((range) => [3, 4].map((row) => written(row, range).bytes));
  expect(keptKeyBytes()).toBe(0);
  for (const blocks of [0, 1, 5, 100]) {
    hold(blocks);
    for (let round = 0; round < 2; round++) {
      for (const [i, range] of RANGES.entries()) {
        for (const [j, row] of [3, 4].entries()) {
          expect(written(row, range).bytes).toBe(expected[i]![j]);
          expect(keptKeyBytes()).toBeLessThanOrEqual(BLOCK_BYTES * blocks);
        }
      }
    }
    releases.pop()!();
    expect(keptKeyBytes()).toBe(0);
  }
});

test('a whole block is expanded once', () => {
  hold(100);
  const range = { from: 32, to: 170 };
  expect(written(7, range).expanded).toBe(138);
  expect(written(7, range).expanded).toBe(138 % BLOCK_COLUMNS);
  expect(written(8, range).expanded).toBe(138);
  expect(keptKeyBytes()).toBe(8 * BLOCK_BYTES);
  // up to the end of a block
  expect(written(7, { from: 32, to: 160 }).expanded).toBe(0);
  expect(written(9, { from: 0, to: 64 }).expanded).toBe(64);
  expect(keptKeyBytes()).toBe(10 * BLOCK_BYTES);
});

test('limits of several holders add up; each is given back once', () => {
  hold(2);
  const release = holdKeys(3 * BLOCK_BYTES);
  written(0, { from: 0, to: 320 });
  expect(keptKeyBytes()).toBe(5 * BLOCK_BYTES);
  release();
  release();
  expect(keptKeyBytes()).toBe(0);
  written(0, { from: 0, to: 320 });
  expect(keptKeyBytes()).toBe(2 * BLOCK_BYTES);
});

test('keys are kept as long as they fit', () => {
  hold(2);
  const release = holdKeys(BLOCK_BYTES - 1);
  written(0, { from: 0, to: 320 });
  expect(keptKeyBytes()).toBe(2 * BLOCK_BYTES);
  release();
  expect(keptKeyBytes()).toBe(2 * BLOCK_BYTES);
  releases.push(holdKeys(BLOCK_BYTES - 1));
  const releaseLast = holdKeys(1);
  written(0, { from: 0, to: 320 });
  expect(keptKeyBytes()).toBe(3 * BLOCK_BYTES);
  releaseLast();
  expect(keptKeyBytes()).toBe(0);
});

test('pools with it make the same proofs, and give it back', { timeout: 600_000 }, async () => {
  const items = signedItems('falcon512', 20);
  const expected = await aggregate(items, { format: 'proof' });
  const wrong = expected.slice();
  wrong[wrong.length - 100]! ^= 1;
  for (const threads of SHORT_RUN ? [2] : [1, 2, 3]) {
    const keyCacheBytes = 2 ** 22;
    await using pool = everyThread({ threads, keyCacheBytes });
    for (let round = 0; round < 2; round++) {
      expect(hex(await pool.aggregate(items, { format: 'proof' }))).toBe(hex(expected));
      expect(await pool.verifyAggregate(expected, items)).toBe(true);
      expect(await pool.verifyAggregate(wrong, items)).toBe(false);
    }
    expect(keptKeyBytes()).toBeGreaterThan(0);
    expect(keptKeyBytes()).toBeLessThanOrEqual(keyCacheBytes / threads);
    await pool.close();
    expect(keptKeyBytes()).toBe(0);
  }
});
