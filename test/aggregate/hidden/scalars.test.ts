/** How many scalars are drawn, and how often: no more than the equations of a level ask for. */
import { beforeEach, expect, test } from 'vitest';
import { readRow } from '../../../src/aggregate/parameters/rows.ts';
import { Seed } from '../../../src/aggregate/proof/challenges.ts';
import { scalarsBehind } from '../../../src/aggregate/proof/lifts.ts';
import {
  type FoldedUse,
  quarterUses,
  rowCoefficients,
  scalarsOf,
} from '../../../src/aggregate/proof/verifier/hidden.ts';
import { FORM_BYTES, Labrador } from '../../../src/aggregate/wasm.ts';
import { HIDDEN_BETWEEN, HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { bytesOf } from '../../reference/items.ts';

const lab = new Labrador();
const { kernels } = lab;
/** the words of every list that was drawn */
const drawn: number[] = [];
Object.defineProperty(lab, 'kernels', {
  value: {
    ...kernels,
    uniformScalars(at: number, count: number) {
      drawn.push(count);
      return kernels.uniformScalars(at, count);
    },
  },
});
beforeEach(() => {
  drawn.length = 0;
});

/** Words of (P) and of (P_x). */
const OF_PROJECTION = 2 * 137;

test('behind an open level those of (P) alone, behind a hidden one those of all equations', () => {
  const { levels } = readRow(HIDDEN_BETWEEN);
  const ofHidden = 2 * (137 + 137 + 8 * 6 * 3 + 2);
  const expected = [OF_PROJECTION, ofHidden, OF_PROJECTION];
  for (const [number, level] of levels.entries()) {
    drawn.length = 0;
    const lists = scalarsOf(lab, new Seed(lab, bytesOf('lift', 32), number + 1), level, number);
    expect(lists.map(({ length }) => length)).toEqual([expected[number], expected[number]]);
    expect(drawn).toEqual([expected[number], expected[number]]);
  }
  expect(scalarsBehind(levels[1]!, 1)).toEqual({ lifts: ofHidden - 4, end: ofHidden });
  for (const number of [0, 2]) {
    expect(scalarsBehind(levels[number]!, number)).toEqual({
      lifts: OF_PROJECTION,
      end: OF_PROJECTION,
    });
  }
});

test('those of (Q) once for all messages of a level', () => {
  const [jl, lift, combine, amortise] = ['jl', 'lift', 'combine', 'amortise'].map((name) =>
    bytesOf(name, 32),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const { levels } = readRow(HIDDEN_TWICE);
  const ofLevels = levels.map((level, number) =>
    quarterUses(level, number, { jl, lift, combine, amortise }),
  );
  expect(ofLevels.map(({ length }) => length)).toEqual([4, 3]);
  const bytesIn = (uses: readonly FoldedUse[]): Uint8Array[][] =>
    lab.scope(() =>
      rowCoefficients(lab, uses).map((parts) =>
        parts.map(({ at, count }) => lab.bytes(at, FORM_BYTES * count).slice()),
      ),
    );
  const together = bytesIn(ofLevels.flat());
  const words = [4, 3].map((messages) => 2 * OF_PROJECTION + 16 * 6 * messages);
  expect(drawn).toEqual(words.flatMap((count) => [count, count]));
  const alone = ofLevels.flat().flatMap((use) => bytesIn([use]));
  expect(together).toEqual(alone);
});
