/** The slow prover against its own definitions: every equation at every level, every sampler. */
import { describe, expect, test, vi } from 'vitest';
import * as HIDDEN_ROWS from '../../reference/hiddenRows.ts';
import { identitiesOf } from '../../reference/prover/identities.ts';
import { readParameters } from '../../reference/prover/parameters.ts';
import type { Poly } from '../../reference/prover/ring.ts';
import { fieldsOf, levelsOf, type Run, runOf } from '../../reference/prover/runs.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type { Place } from '../../reference/prover/trace.ts';
import type { LevelRow } from '../../reference/tableRow.ts';
import { TOY_ROWS, type ToyRow } from '../../reference/toyRows.ts';

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
        expect(looked).toBe(42);
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
  // biome-ignore format: one line
  const tuples = [
    [0n, 0n, 0n, 0n], [4n, 2n, 3n, -1n], [5n, 2n, 3n, -2n], [-5n, -2n, -4n, 1n],
    [most, most, most, 0n], [most, -most - 1n, -1n, -most - 1n],
  ] as const;
  for (const [U, V, half, star] of tuples) {
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

type Faults = NonNullable<Parameters<typeof runOf>[3]>;
type Rows = readonly (readonly Poly[])[];
/** Of two bits, in coefficient 0. */
const otherDigit = (poly: Poly): Poly => poly.with(0, poly[0] === 1n ? 0n : 1n);
const plusOne = (poly: Poly): Poly => poly.with(5, poly[5]! + 1n);
const firstOf = <T>(list: readonly T[], change: (value: T) => T): T[] =>
  list.with(0, change(list[0]!));

type AtLevel = <T>(level: number, change: (value: T) => T) => (value: T, place: Place) => T;
const at: AtLevel = (level, change) => (value, place) =>
  place.level === level ? change(value) : value;
const wrongOf = (row: ToyRow, faults: Faults): string[] =>
  judge(runOf('falcon512', row[1], row, faults)).wrong;

describe('the equations of hidden levels and of those behind them see a deviation', () => {
  const { HIDDEN_ZERO, HIDDEN_TWICE, HIDDEN_BETWEEN } = HIDDEN_ROWS;
  const levels = (...names: string[]): string[] => names.map((name) => `level ${name}`).sort();

  for (const message of ['A', 'B', 'b', '2']) {
    test(`in a digit and in a quarter of message ${message}`, () => {
      const x: Faults['x'] = at(0, (of) =>
        of.message === message ? { ...of, x: firstOf(of.x, otherDigit) } : of,
      );
      // and nobody can prove what follows from it
      const wrong = levels(
        ...['0: digits of messages', message === 'b' ? '0: E6' : '0: E1, E2'],
        ...['1: E6', '1: hLast'],
        ...(message === 'b' ? ['1: T_b', '1: D'] : []),
      );
      expect(wrongOf(HIDDEN_ZERO, { x }).sort()).toEqual(wrong);
      const p: Faults['p'] = at(0, (of) =>
        of.message === message ? { ...of, p: firstOf(of.p, (c) => c ^ 1n) } : of,
      );
      expect(wrongOf(HIDDEN_ZERO, { p }).sort()).toEqual(levels('0: quarters', '1: D', '1: Q'));
    });
  }

  test('in what is sent of a lift, and in y of x', () => {
    const b32: Faults['b32'] = at(0, (list) => firstOf(list, (x) => x + 1n));
    const wrong = levels('0: D', '0: b32', '1: D', '1: T_b');
    expect(wrongOf(HIDDEN_ZERO, { b32 }).sort()).toEqual(wrong);
    const yX: Faults['yX'] = at(1, ({ y, star }) => ({ y, star: firstOf(star, (x) => x + 1n) }));
    expect(wrongOf(HIDDEN_ZERO, { yX }).sort()).toEqual(levels('1: D', '1: P_x'));
  });

  test('which the next level takes over', () => {
    const p: Faults['p'] = at(0, (of) => ({ ...of, p: firstOf(of.p, (c) => c ^ 1n) }));
    const wrong = levels('0: quarters', '1: D', '1: Q', '2: D', '2: T_b');
    expect(wrongOf(HIDDEN_TWICE, { p }).sort()).toEqual(wrong);
  });

  test('in cut inner commitments', () => {
    const rows = at<Rows>(2, (list) => firstOf(list, (row) => firstOf(row, plusOne)));
    const carried = levels('2: E3', '2: digits of t', '3: E6', '3: hLast');
    expect(wrongOf(HIDDEN_BETWEEN, { tCut: rows }).sort()).toEqual(carried);
    expect(wrongOf(HIDDEN_BETWEEN, { e: rows }).sort()).toEqual(carried);
    const z: Faults['z'] = at(2, ({ z, e }) => ({ z, e: firstOf(e, plusOne) }));
    const summed = levels('2: E3', '2: E5', '3: E6', '3: hLast');
    expect(wrongOf(HIDDEN_BETWEEN, { z }).sort()).toEqual(summed);
  });
});

/** A row with these numbers of its level 0 replaced. */
const withNumbers = ([set, bucket, [zero, ...rest]]: ToyRow, numbers: Record<number, number>) =>
  [set, bucket, [zero!.map((x, i) => numbers[i] ?? x) as LevelRow, ...rest]] as ToyRow;

test('the digits of hidden messages have at most the squared norm X', () => {
  const row = HIDDEN_ROWS.HIDDEN_ZERO;
  const [X_AT, tX_AT] = [15, 16];
  const normOf = (run: Run): number => {
    const { x } = levelsOf(run)[0]!.values as { x: readonly (readonly bigint[])[] };
    return Number(x.flat().reduce((sum, c) => sum + c * c, 0n));
  };
  const X = normOf(runOf('falcon512', 1, row));
  const failures = (replaced: Record<number, number>, faults: Faults = {}): string[] => {
    const reasons: string[] = [];
    const ignore = (reason: string): boolean => reasons.push(reason) > 0;
    runOf('falcon512', 1, withNumbers(row, replaced), { ...faults, ignore });
    return reasons;
  };
  expect(failures({ [X_AT]: X })).toEqual([]);
  expect(failures({ [X_AT]: X - 1 })).toEqual(['norm of x']);
  // with no counter is y_x as short, or has all its values a code
  expect(failures({ [X_AT]: Math.floor(X / 2) })).toEqual(['norm of x', 'projection of x']);
  const yX: Faults['yX'] = ({ y, star }) => ({ y: firstOf(y, (x) => x + 400n), star });
  expect(failures({}, { yX })).toEqual([]);
  expect(failures({ [tX_AT]: 0 }, { yX })).toEqual(['projection of x', 'code of yx']);
});

test('the first counter counts with which both projections pass', () => {
  const row = HIDDEN_ROWS.HIDDEN_ZERO;
  const far = 2n ** 25n;
  /** Makes these attempts at level 1 fail, by number, and gives the counter that was sent. */
  const counterOf = (name: 'y' | 'yX', bad: readonly number[]): number => {
    let attempt = 0;
    const spoil: Faults['y'] = (value, { level }) => {
      if (level !== 1 || !bad.includes(attempt++)) return value;
      return { y: firstOf(value.y, (x) => x + far), star: value.star };
    };
    const run = runOf('falcon512', 1, row, { [name]: spoil });
    expect(judge(run).wrong).toEqual([]);
    const { bytes } = fieldsOf(run).find((field) => field.level === 1 && field.name === 'counter')!;
    return bytes[0]!;
  };
  expect(counterOf('y', [])).toBe(0);
  expect(counterOf('yX', [0])).toBe(1);
  expect(counterOf('y', [0, 1])).toBe(2);
  expect(counterOf('yX', [0, 1, 2])).toBe(3);
});

test('numbers of a row outside their ranges are refused', () => {
  const row = HIDDEN_ROWS.HIDDEN_ZERO;
  const refused = (numbers: Record<number, number>) =>
    expect(() => readParameters(withNumbers(row, numbers)), JSON.stringify(numbers)).toThrow(
      RangeError,
    );
  expect(readParameters(row).levels[0]).toMatchObject({ w: 2, k: 6, X: 20000, tX: 24, ct: 0 });
  for (const w of [0, 1, 7]) refused({ 13: w });
  refused({ 14: 5 });
  for (const X of [0, 2 ** 43]) refused({ 15: X });
  refused({ 16: 144 });
  for (const number of [14, 15, 16]) {
    const open = { 13: 0, 14: 0, 15: 0, 16: 0 };
    expect(() => readParameters(withNumbers(row, { 1: 9, 2: 7, ...open }))).not.toThrow(/hidden/);
    refused({ ...open, [number]: 6 });
  }
  // never at level 0
  for (const ct of [4, 16]) refused({ 17: ct });
});
