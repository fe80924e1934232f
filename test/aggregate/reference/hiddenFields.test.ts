/**
 * The slow verifier's parser on the fields of hidden levels and of what stands behind them: every
 * field that is too short, has a value of q or more, or a bit where there is none is refused by the
 * name of its check.
 */
import { describe, expect, test } from 'vitest';
import { HIDDEN_BETWEEN, HIDDEN_TWICE, HIDDEN_ZERO } from '../../reference/hiddenRows.ts';
import { gaussianField } from '../../reference/prover/gaussian.ts';
import { ALL_CHECKS, type Checks } from '../../reference/verifier/checks.ts';
import {
  type OrdinaryMessage,
  Reader,
  type Sent,
  type TailMessage,
} from '../../reference/verifier/parse.ts';
import { replay } from '../../reference/verifier/replay.ts';
import { Q } from '../../reference/verifier/ring.ts';
import { shapesOf } from '../../reference/verifier/shapes.ts';
import { bitsOf } from './bits.ts';

const read = (bytes: readonly number[], off: Partial<Checks> = {}) =>
  new Reader(Uint8Array.from(bytes), { ...ALL_CHECKS, ...off });
const END = 'end of the bytes';

/** p of k rows: number i is `first` + i. */
const quarters = (k: number, first: number): bigint[] =>
  Array.from({ length: 16 * k }, (_, i) => BigInt(first + i));

/** A projection of values 0, its first and last one, U and V apart. */
const projection = (t: number, first: number, last: number, U: number, V: number): number[] => {
  const values = new Array<bigint>(272).fill(0n).with(0, BigInt(first)).with(271, BigInt(last));
  const tail = Buffer.alloc(8);
  tail.writeInt32LE(U, 0);
  tail.writeInt32LE(V, 4);
  return [...gaussianField([{ values, t }]), ...tail];
};

describe('p', () => {
  test('k rows of 16 numbers, 88 k bytes', () => {
    for (const k of [6, 7, 8]) {
      const bytes = bitsOf(44, quarters(k, 5));
      expect(bytes).toHaveLength(88 * k);
      const reader = read([...bytes, 9]);
      const { values, bytes: taken } = reader.quarters(k, '');
      expect(values.map((row) => [row.length, row[0], row[15]])).toEqual(
        Array.from({ length: k }, (_, row) => [16, BigInt(16 * row + 5), BigInt(16 * row + 20)]),
      );
      expect([...taken]).toEqual(bytes);
      expect([...reader.take(1)]).toEqual([9]);
      expect(() => read(bytes.slice(1)).quarters(k, '')).toThrow(END);
    }
    expect(() => read([]).quarters(6, '')).toThrow(END);
  });

  test('a number of q or more', () => {
    for (const at of [0, 1, 50, 95]) {
      const most = bitsOf(44, quarters(6, 5).with(at, Q - 1n));
      expect(read(most).quarters(6, '').values.flat()[at]).toBe(Q - 1n);
      for (const value of [Q, 2n ** 44n - 1n]) {
        const bytes = bitsOf(44, quarters(6, 5).with(at, value));
        expect(() => read(bytes).quarters(6, 'here')).toThrow('quarterRange: here');
        const weaker = read(bytes, { quarterRange: false });
        expect(weaker.quarters(6, '').values.flat()[at]).toBe(value);
      }
    }
  });
});

describe('b_32', () => {
  test('three numbers, 17 bytes', () => {
    const bytes = bitsOf(44, [7n, Q - 1n, 9n]);
    expect(bytes).toHaveLength(17);
    const reader = read([...bytes, 1]);
    expect(reader.coefficients32('').values).toEqual([[7n, Q - 1n, 9n]]);
    expect(reader.at).toBe(17);
    expect(() => read(bytes.slice(0, 16)).coefficients32('')).toThrow(END);
  });

  test('a number of q or more', () => {
    for (const at of [0, 1, 2]) {
      const bytes = bitsOf(44, [7n, 8n, 9n].with(at, Q));
      expect(() => read(bytes).coefficients32('here')).toThrow('b32Range: here');
      expect(read(bytes, { b32Range: false }).coefficients32('').values[0]![at]).toBe(Q);
    }
  });

  test('the four bits behind it are zero', () => {
    const bytes = bitsOf(44, [7n, 8n, 9n]);
    for (const bit of [4, 5, 6, 7]) {
      const spoiled = bytes.with(16, bytes[16]! | (1 << bit));
      expect(() => read(spoiled).coefficients32('here')).toThrow('b32Fill: here');
      const weaker = read(spoiled, { b32Fill: false });
      expect(weaker.coefficients32('').values).toEqual([[7n, 8n, 9n]]);
    }
  });
});

describe('y_x', () => {
  const { levels, tail } = shapesOf(HIDDEN_BETWEEN);

  test('is there behind a hidden level alone', () => {
    expect(read([]).projectionOfX(undefined, '')).toBe(undefined);
    expect(read([]).projectionOfX(levels[0], '')).toBe(undefined);
    expect(() => read([]).projectionOfX(levels[1], '')).toThrow(END);
  });

  test('has the code of the level before', () => {
    const bytes = projection(28, -9, 5, -(2 ** 31), 2 ** 31 - 1);
    const reader = read([...bytes, 3]);
    const sent = reader.projectionOfX(levels[1], '')!;
    expect([sent.rows.length, sent.rows[0], sent.rows[271]]).toEqual([272, -9, 5]);
    expect([sent.U, sent.V]).toEqual([-(2 ** 31), 2 ** 31 - 1]);
    expect([...reader.take(1)]).toEqual([3]);
    for (let end = 0; end < bytes.length; end += 11) {
      expect(() => read(bytes.slice(0, end)).projectionOfX(levels[1], '')).toThrow(END);
    }
    expect(() => read(bytes.slice(0, -1)).projectionOfX(levels[1], '')).toThrow(END);
    const other = { ...levels[1]!, tX: 29 };
    expect(() => read(bytes).projectionOfX(other, 'here')).toThrow();
  });

  test('its states', () => {
    const bytes = projection(28, -9, 5, 0, 0);
    const low = bytes.with(0, 0).with(1, 0);
    expect(() => read(low).projectionOfX(levels[1], 'here')).toThrow('states: here y_x');
    const other = bytes.with(5, bytes[5]! ^ 1);
    expect(() => read([...other, 0, 0, 0, 0]).projectionOfX(levels[1], 'here')).toThrow('states');
  });

  test('stands behind V in an ordinary level', () => {
    const bytes = [
      ...[1, ...bitsOf(38, new Array<number>(64).fill(2))],
      ...[3, ...projection(96, 4, 5, 6, 7), ...projection(28, 8, 9, 10, 11)],
      ...bitsOf(44, new Array<number>(124).fill(12)),
      ...bitsOf(38, new Array<number>(64).fill(13)),
    ];
    const level = { ...levels[2]!, cut: 6 };
    const reader = read(bytes);
    const { retry, u, counter, y, yOfX, w, b, b32, u2 } = reader.ordinary(level, levels[1]);
    expect(reader.at).toBe(bytes.length);
    expect([retry, counter, u.length, w, b32.values]).toEqual([1, 3, 1, [], []]);
    expect([y.rows[0], y.rows[271], y.U, y.V]).toEqual([4, 5, 6, 7]);
    expect([yOfX!.rows[0], yOfX!.rows[271], yOfX!.U, yOfX!.V]).toEqual([8, 9, 10, 11]);
    expect([u[0]!.values[0]![5], b.values[1]![63], u2.values[0]![63]]).toEqual([2n, 12n, 13n]);
    const open = read(bytes);
    expect(open.ordinary(level, levels[0]).yOfX).toBe(undefined);
    expect(open.at).toBe(bytes.length - projection(28, 8, 9, 10, 11).length);
  });

  test('stands behind V in the tail', () => {
    const one = { ...tail, r: 2, pairs: tail.pairs.slice(0, 3), tG: [128, 128] };
    const head = [
      ...[2, ...bitsOf(34, new Array<number>(64).fill(1))],
      ...gaussianField([{ values: new Array<bigint>(128).fill(0n), t: 128 }]),
      ...[...new Array<number>(32).fill(7), 15, ...projection(96, 1, 2, 3, 4)],
    ];
    expect(() => read(head).tail(one, levels[1])).toThrow(END);
    const zeros = [...head, ...new Array<number>(682 + 352 + 32).fill(0)];
    expect(() => read([...head, ...projection(28, 1, 1, 1, 1)]).tail(one, levels[1])).toThrow(END);
    // what would be lifts, h and the seal is no code
    expect(() => read(zeros).tail(one, levels[1])).toThrow('states: tail y_x');
    expect(() => read(zeros).tail(one, levels[2])).toThrow(END);
  });
});

describe('a hidden level', () => {
  const level0 = () => [
    ...[2, ...bitsOf(44, quarters(6, 100)), ...bitsOf(44, quarters(6, 300))],
    ...[4, ...projection(80, 1, 2, 3, 4), ...new Array<number>(40).fill(0)],
    ...[...bitsOf(44, quarters(6, 500)), ...bitsOf(44, [21n, 22n, 23n])],
    ...bitsOf(44, quarters(6, 700)),
  ];

  test('level 0: retry, p_A, p_B, counter, y, w, p_b, b_32, p_2', () => {
    const level = shapesOf(HIDDEN_ZERO).levels[0]!;
    const bytes = level0();
    const reader = read([...bytes, 1]);
    const { retry, u, counter, y, yOfX, w, b, b32, u2 } = reader.ordinary(level);
    expect(reader.at).toBe(bytes.length);
    expect([retry, counter, y.V, yOfX, w.length]).toEqual([2, 4, 4, undefined, 10]);
    const firsts = [...u, b, u2].map(({ values }) => [values.length, values[0]![0]]);
    expect(firsts).toEqual([100n, 300n, 500n, 700n].map((first) => [6, first]));
    expect(b32.values).toEqual([[21n, 22n, 23n]]);
    for (let end = 0; end < bytes.length; end += 97) {
      expect(() => read(bytes.slice(0, end)).ordinary(level), `${end}`).toThrow(END);
    }
  });

  test('level 0: every p has its range, every repeat its limit', () => {
    const level = shapesOf(HIDDEN_ZERO).levels[0]!;
    const bytes = level0();
    const all = 528;
    const behind = bytes.length - all;
    for (const [at, why] of [
      [0, 'retryRange: level 0'],
      [1, 'quarterRange: level 0 p_A'],
      [1 + all, 'quarterRange: level 0 p_B'],
      [1 + 2 * all, 'counterRange: level 0'],
      [behind - 17 - all, 'quarterRange: level 0 p_b'],
      [behind - 17, 'b32Range: level 0'],
      [behind, 'quarterRange: level 0 p_2'],
    ] as const) {
      const spoiled = [...bytes.slice(0, at), ...new Array(6).fill(255), ...bytes.slice(at + 6)];
      expect(() => read(spoiled).ordinary(level)).toThrow(why);
    }
    const spoiled = bytes.with(behind - 1, 0x80);
    expect(() => read(spoiled).ordinary(level)).toThrow('b32Fill: level 0');
  });

  test('another level: retry, p_1, counter, y, p_b, p_2', () => {
    const { levels } = shapesOf(HIDDEN_BETWEEN);
    const bytes = [
      ...[2, ...bitsOf(44, quarters(6, 100)), 4, ...projection(96, 1, 2, 3, 4)],
      ...[...bitsOf(44, quarters(6, 300)), ...bitsOf(44, quarters(6, 500))],
    ];
    const reader = read(bytes);
    const { u, b, b32, u2, yOfX } = reader.ordinary(levels[1]!, levels[0]);
    expect(reader.at).toBe(bytes.length);
    expect([u.length, b32.bytes.length, yOfX]).toEqual([1, 0, undefined]);
    const firsts = [...u, b, u2].map(({ values }) => values[5]![15]);
    expect(firsts).toEqual([195n, 395n, 595n]);
  });
});

describe('what is absorbed', () => {
  const sent = (length: number, value: number): Sent => ({
    bytes: new Uint8Array(length).fill(value),
    values: [],
  });
  const NOTHING = sent(0, 0);
  const [y, yOfX] = [1, 2].map((x) => ({ rows: new Array<number>(272).fill(x), U: 5, V: 6 }));

  /** Labels, lengths and first bytes, in order. */
  function absorbed(first: Partial<OrdinaryMessage>, second: Partial<OrdinaryMessage>) {
    const common = { retry: 7, counter: 8, y: y!, yOfX: undefined, w: [], b32: NOTHING };
    const level = { ...common, u: [sent(11, 1)], b: sent(12, 2), u2: sent(13, 3) };
    const seal = new Uint8Array(32);
    const rest: Omit<TailMessage, 'u'> = {
      ...{ ...common, yOfX, t: sent(14, 4), g: [], sealT: seal, b: sent(15, 5) },
      ...{ h: sent(16, 6), sealH: seal, z: [], e: [] },
    };
    const seen: [string, number, number | undefined][] = [];
    replay(
      shapesOf(HIDDEN_TWICE),
      { rowHash: new Uint8Array(32), header: Uint8Array.of(9), count: 2 },
      {
        levels: [
          { ...level, u: [sent(9, 8), sent(10, 9)], w: new Array<number>(10).fill(3), ...first },
          { ...level, ...second },
        ],
        tail: rest,
        length: 0,
      },
      undefined,
      (step) => {
        seen.push([step.label, step.data.length, step.data[0]]);
        return step;
      },
    );
    return seen;
  }

  test('labels in their order; b_32 behind p_b, y_x behind y', () => {
    const [alone, both] = [4 * 274, 2 * 4 * 274];
    // biome-ignore format: one level after the other
    const expected = [
      ['falconry/proof/v3', 37, 0], ['header', 1, 9],
      ['retry', 1, 7], ['uA', 9, 8], ['uB', 10, 9],
      ['counter', 1, 8], ['y', alone + 40, 1], ['b', 12 + 17, 2], ['u2', 13, 3],
      ['retry', 1, 7], ['u1', 11, 1], ['counter', 1, 8], ['y', both, 1], ['b', 12, 2], ['u2', 13, 3],
      ['retry', 1, 7], ['t', 14 + 32, 4],
      ['counter', 1, 8], ['y', both, 1], ['b', 15, 5], ['h', 16 + 32, 6],
    ];
    expect(absorbed({ b32: sent(17, 4) }, { yOfX })).toEqual(expected);
  });
});
