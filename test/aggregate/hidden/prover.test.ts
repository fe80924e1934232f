/** The prover of hidden messages: threads, and the reasons for another attempt. */
import { describe, expect, test } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import {
  ColumnProver,
  type Helper,
  proveSection,
  runStep,
} from '../../../src/aggregate/proof/index.ts';
import { HIDDEN_BETWEEN, HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { hashOfRow } from '../../reference/table.ts';
import { hex } from '../../support/hex.ts';
import { withLevel } from './judged.ts';

const items = signedItems('falcon512', 1);

/** @param retries ends with that many retry bytes */
async function proved(row: TableRow, helpers: readonly Helper[] = [], retries = Infinity) {
  const labels: string[] = [];
  const enough = new Error('enough');
  const bytes = await proveSection('falcon512', headerOf(items, [hashOfRow(row)]), items, {
    other: { row, hash: hashOfRow(row) },
    helpers,
    trace: (event) => {
      if (event.kind === 'absorb') labels.push(event.label);
      if (labels.filter((label) => label === 'retry').length === retries) throw enough;
    },
  }).catch((error: unknown) => {
    if (error !== enough) throw error;
    return undefined;
  });
  return { bytes, labels };
}

/** A column prover behind a border that lets plain data pass alone. */
function helper(calls: string[]): Helper {
  const prover = new ColumnProver();
  return {
    memoryBytes: 0,
    async run(step, input) {
      calls.push(step);
      return structuredClone(runStep(prover, step, structuredClone(input)));
    },
  };
}

test('columns may be divided among threads: the proof is the same', async () => {
  // x of level 0 is longer than the columns of the first thread
  const long = withLevel(HIDDEN_TWICE, 0, { 8: 2, 15: 40_000 });
  const wide = withLevel(long, 1, { 0: 300 });
  const many = new Array<number>(5).fill(128);
  const row = withLevel(wide, 2, { 0: 300, 7: [[300, 63]], 8: many });
  const calls: string[] = [];
  const { bytes } = await proved(row, [helper(calls)]);
  expect(calls).toContain('lift');
  expect(hex(bytes!)).toBe(hex((await proved(row)).bytes!));
});

test('the start says that the proof is one of version 3', async () => {
  const { labels } = await proved(HIDDEN_BETWEEN);
  expect(labels[0]).toBe('falconry/proof/v3');
});

describe('the level fails', () => {
  test('if x is longer than X', async () => {
    const { bytes, labels } = await proved(withLevel(HIDDEN_TWICE, 0, { 15: 5000 }));
    expect(bytes).toBeUndefined();
    expect(labels.filter((label) => label === 'retry').length).toBe(16);
    expect(labels).not.toContain('u1');
  });

  test('with every counter and retry byte if the second block has no code', async () => {
    // digits of 6 bits: a projection of some hundreds, and a code for less than 256
    const row = withLevel(HIDDEN_TWICE, 1, { 13: 6, 15: 2_000_000, 16: 0 });
    const { labels } = await proved(row, [], 4);
    const counters = new Array<string>(16).fill('counter');
    expect(labels.slice(labels.indexOf('t'))).toEqual(['t', ...counters, 'retry']);
  });
});
