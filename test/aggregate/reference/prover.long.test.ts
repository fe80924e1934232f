/** The slow prover against its own definitions: every equation at every level, every sampler. */
import { describe, expect, test, vi } from 'vitest';
import * as HIDDEN_ROWS from '../../reference/hiddenRows.ts';
import { identitiesOf } from '../../reference/prover/identities.ts';
import { readParameters } from '../../reference/prover/parameters.ts';
import { fieldsOf, levelsOf, type Run, runOf } from '../../reference/prover/runs.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import { TOY_ROWS } from '../../reference/toyRows.ts';

// BigInt on a busy machine
vi.setConfig({ testTimeout: 600_000 });

/** Names of the equations that fail, with their level; and how many were looked at. */
function judge(run: Run): { wrong: string[]; count: number } {
  const { levels } = readParameters(run.row);
  const views = levelsOf(run);
  expect(views).toHaveLength(levels.length + 1);
  const wrong: string[] = [];
  let count = 0;
  for (const [level, equations] of identitiesOf(views, levels.length).entries()) {
    for (const [name, holds] of Object.entries(equations)) {
      count++;
      if (!holds) wrong.push(`level ${level}: ${name}`);
    }
  }
  return { wrong, count };
}

describe('every equation of every level', () => {
  for (const set of ['falcon512', 'falcon1024'] as const) {
    for (const count of [1, 2]) {
      test(`${count} of ${set}`, () => {
        const run = runOf(set, count);
        const { wrong, count: looked } = judge(run);
        expect(wrong).toEqual([]);
        expect(looked).toBe(38);
        const sent = fieldsOf(run).reduce((sum, { bytes }) => sum + bytes.length, 0);
        expect(sent).toBe(run.bytes.length);
      });
    }
  }

  for (const [name, row] of Object.entries(TOY_ROWS)) {
    test(`toy row: ${name}`, () => {
      const set = row[0] === 512 ? 'falcon512' : 'falcon1024';
      expect(judge(runOf(set, Math.max(1, row[1] - 1), row)).wrong).toEqual([]);
      expect(judge(runOf(set, row[1], row)).wrong).toEqual([]);
    });
  }

  for (const [name, row] of Object.entries(HIDDEN_ROWS)) {
    test(`hidden row: ${name}`, () => {
      const run = runOf('falcon512', row[1], row);
      expect(judge(run).wrong).toEqual([]);
      const sent = fieldsOf(run).reduce((sum, { bytes }) => sum + bytes.length, 0);
      expect(sent).toBe(run.bytes.length);
    });
  }
});

test('equal inputs give equal bytes', () => {
  const [row] = Object.values(TOY_ROWS);
  expect(runOf('falcon512', 1, row).bytes).toEqual(runOf('falcon512', 1, row).bytes);
});

test('y is sent and absorbed less half the sums, rounded down; U and V beside it', () => {
  const [row] = Object.values(TOY_ROWS);
  /** The data that is absorbed for y_j = half + 3 j - 400, y*_j = star + 5 - 2 j. The run ends. */
  const absorbed = (U: bigint, V: bigint, half: bigint, star: bigint): number[] => {
    let data = new Uint8Array(0);
    const faults: Parameters<typeof runOf>[3] = {
      y: () => ({
        y: [...Array.from({ length: 136 }, (_, j) => half + BigInt(3 * j - 400)), U],
        star: [...Array.from({ length: 136 }, (_, j) => star - BigInt(2 * j - 5)), V],
      }),
      absorb: (step) => {
        if (step.label !== 'y') return step;
        data = Uint8Array.from(step.data);
        throw new Error('enough');
      },
      ignore: (reason) => {
        throw new Error(`failed: ${reason}`);
      },
    };
    expect(() => runOf('falcon512', 1, row, faults)).toThrow('enough');
    expect(data).toHaveLength(4 * (272 + 2 + 10));
    const view = new DataView(data.buffer);
    return Array.from({ length: 274 }, (_, j) => view.getInt32(4 * j, true));
  };
  const rows = Array.from({ length: 136 }, (_, j) => [3 * j - 400, 5 - 2 * j]).flat();
  const most = 2n ** 31n - 1n;
  for (const [U, V, half, star] of [
    [0n, 0n, 0n, 0n],
    [4n, 2n, 3n, -1n],
    [5n, 2n, 3n, -2n],
    [-5n, -2n, -4n, 1n],
    [most, most, most, 0n],
    [most, -most - 1n, -1n, -most - 1n],
  ] as const) {
    expect(absorbed(U, V, half, star)).toEqual([...rows, Number(U), Number(V)]);
  }
  expect(() => absorbed(most + 1n, -most - 1n, 0n, -most - 1n)).toThrow('failed: sum');
  expect(() => absorbed(0n, most + 1n, 2n ** 30n, 2n ** 30n)).toThrow('failed: sum');
});

test('the equations see a deviation', () => {
  const [row] = Object.values(TOY_ROWS);
  const bump = (poly: readonly bigint[]) => poly.map((x, i) => (i === 5 ? x + 1n : x));
  const first = <T>(list: readonly T[], change: (value: T) => T): T[] =>
    list.map((value, i) => (i === 0 ? change(value) : value));
  const wrongOf = (faults: Parameters<typeof runOf>[3]): string[] =>
    judge(runOf('falcon512', 1, row, faults)).wrong;

  const atZero = <T>(change: (value: T) => T) => {
    return (value: T, { level }: { level: number }): T => (level === 0 ? change(value) : value);
  };
  expect(wrongOf({ g: atZero((g) => first(g, bump)) })).toContain('level 0: E4');
  expect(wrongOf({ h: atZero((h) => first(h, bump)) })).toContain('level 0: E5');
  expect(wrongOf({ t: atZero((t) => first(t, (list) => first(list, bump))) })).toContain(
    'level 0: E3',
  );
  const more = (list: readonly bigint[], at: number) => list.with(at, list[at]! + 1n);
  for (const at of [0, 136]) {
    for (const change of [
      ({ y, star }: Projection) => ({ y: more(y, at), star }),
      ({ y, star }: Projection) => ({ y, star: more(star, at) }),
    ]) {
      const wrong = wrongOf({ y: atZero(change) });
      expect(wrong).toContain('level 0: D');
      expect(wrong.includes('level 0: sums')).toBe(at === 136);
    }
  }
  expect(wrongOf({ w: atZero((w) => first(w, (x) => x + 1n)) })).toContain('level 0: D');
  expect(wrongOf({ alpha: (list) => first(list, bump) })).toEqual([]);
  expect(wrongOf({ Y: (Y) => first(Y, (list) => first(list, bump)) })).toContain('level 0: N1');
  const witness = wrongOf({ witness: ({ S, W }) => ({ S: first(S, (l) => first(l, bump)), W }) });
  expect(witness).toContain('level 0: exact norm');
});
