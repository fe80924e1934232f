/** The slow verifier's parser, on values worked out by hand or written by the slow prover. */
import { describe, expect, test } from 'vitest';
import { gaussianField } from '../../reference/prover/gaussian.ts';
import { ALL_CHECKS, Refused } from '../../reference/verifier/checks.ts';
import { boundsOf } from '../../reference/verifier/gaussian.ts';
import { Reader } from '../../reference/verifier/parse.ts';
import { constant, equal, fromIntegers, Q } from '../../reference/verifier/ring.ts';
import { shapesOf } from '../../reference/verifier/shapes.ts';
import { bitsOf } from './bits.ts';
import { TOY1 } from './toyRows.ts';

describe('parser', () => {
  const read = (bytes: readonly number[]) => new Reader(Uint8Array.from(bytes), ALL_CHECKS);

  test('repeats are at most 15', () => {
    expect(read([15]).repeats('retryRange', '')).toBe(15);
    expect(() => read([16]).repeats('retryRange', '')).toThrow('retryRange');
    expect(() => read([255]).repeats('counterRange', '')).toThrow('counterRange');
    expect(() => read([]).repeats('counterRange', '')).toThrow(Refused);
  });

  test('cut values: at most floor((q - 1) / 2^cut)', () => {
    for (const cut of [0, 4, 9, 15]) {
      const most = (Q - 1n) >> BigInt(cut);
      const list = (x: bigint) => bitsOf(44 - cut, [...new Array<bigint>(63).fill(1n), x]);
      expect(read(list(most)).cutValues(1, cut, '').values[0]![63]).toBe(most);
      if (most + 1n < 1n << BigInt(44 - cut)) {
        expect(() => read(list(most + 1n)).cutValues(1, cut, '')).toThrow('cutRange');
      }
      expect(() => read(list(most).slice(1)).cutValues(1, cut, '')).toThrow('end of the bytes');
    }
  });

  test('residues below q', () => {
    const list = (x: bigint) => bitsOf(44, [x, ...new Array<bigint>(63).fill(Q - 1n)]);
    expect(read(list(Q - 1n)).residues(1, '').values[0]![0]).toBe(Q - 1n);
    expect(() => read(list(Q)).residues(1, '')).toThrow('residueRange');
  });

  test('lifts of level 0: 189 values below q, four bits of filling that are zero', () => {
    const values = Array.from({ length: 189 }, (_, i) => BigInt(i));
    const bytes = bitsOf(44, values);
    expect(bytes.length).toBe(1040);
    const sent = read(bytes).lifts(0, '').values;
    expect(sent.map((b) => b.slice(0, 3))).toEqual([
      [0n, 0n, 1n],
      [0n, 63n, 64n],
      [0n, 126n, 127n],
    ]);
    for (const bit of [4, 5, 6, 7]) {
      const spoiled = [...bytes.slice(0, -1), bytes[1039]! | (1 << bit)];
      expect(() => read(spoiled).lifts(0, '')).toThrow('fill');
    }
    const large = bitsOf(44, values.with(100, Q));
    expect(() => read(large).lifts(0, '')).toThrow('residueRange');
    expect(() => read(bytes.slice(0, 1039)).lifts(0, '')).toThrow('end of the bytes');
  });

  test('lifts of other levels: two, without coefficients 0 and 32', () => {
    const values = Array.from({ length: 124 }, (_, i) => BigInt(i + 1));
    const bytes = bitsOf(44, values);
    expect(bytes.length).toBe(682);
    const [first, second, ...rest] = read(bytes).lifts(3, '').values;
    expect(rest).toEqual([]);
    for (const [b, before] of [
      [first!, 0n],
      [second!, 62n],
    ] as const) {
      expect(b.slice(0, 2)).toEqual([0n, before + 1n]);
      expect(b.slice(31, 34)).toEqual([before + 31n, 0n, before + 32n]);
      expect(b[63]).toBe(before + 62n);
    }
    expect(() => read(bitsOf(44, values.with(123, Q))).lifts(1, '')).toThrow('residueRange');
    expect(() => read(bytes.slice(0, 681)).lifts(1, '')).toThrow('end of the bytes');
  });

  /** f_j(h) by its definition, and the sum of those below. */
  const slotsOf = (j: number, h: number): [bigint, bigint] => {
    const bounds = boundsOf(j);
    return [BigInt(bounds[h + 257]! - bounds[h + 256]!), BigInt(bounds[h + 256]!)];
  };
  /** The bytes of two values, one for each state, that move no word. */
  const two = (t: readonly [number, number], h: readonly [number, number]): number[] =>
    h.flatMap((value, i) => {
      const [f, c] = slotsOf(t[i]! % 8, value);
      const state = ((2n ** 32n / f) << 24n) + (2n ** 32n % f) + c;
      return [...Buffer.from(state.toString(16).padStart(12, '0'), 'hex')];
    });

  test('Gaussian codes: frequencies by their sums and their printed values', () => {
    for (const [j, expected] of [
      [0, [834987, 475761, 1, 1]],
      [7, [455908, 385697, 30, 1]],
    ] as const) {
      expect([0, 8, 64, 255].map((h) => Number(slotsOf(j, h)[0]))).toEqual(expected);
      expect([-1, -9, -65, -256].map((h) => Number(slotsOf(j, h)[0]))).toEqual(expected);
    }
    for (let j = 0; j < 8; j++) {
      const bounds = boundsOf(j);
      expect(bounds).toHaveLength(513);
      expect([bounds[0], bounds[256], bounds[512]]).toEqual([0, 2 ** 23, 2 ** 24]);
    }
  });

  test('Gaussian codes: high parts by state, low parts behind; what follows is left', () => {
    const reader = read([...two([0, 9], [3, -2]), 1, 77]);
    // the second value has one low bit
    expect(reader.gaussian([0, 9], '')).toEqual([3, -3]);
    expect([...reader.take(1)]).toEqual([77]);
    const wide = read([...two([63, 24], [-40, 20]), ...bitsOf(10, [127 + 128 * 5]), 0]);
    expect(wide.gaussian([63, 24], '')).toEqual([-40 * 128 + 127, 8 * 20 + 5]);
    expect(wide.at).toBe(14);
    expect(read([0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]).gaussian([], '')).toEqual([]);
  });

  test('Gaussian codes: states, filling and ends that are refused', () => {
    const good = two([8, 8], [0, -1]);
    const refused = (bytes: readonly number[], why: string) =>
      expect(() => read(bytes).gaussian([8, 8], '')).toThrow(why);
    expect(read([...good, 3]).gaussian([8, 8], '')).toEqual([1, -1]);
    for (const at of [0, 6]) {
      refused([...good.with(at, 0).with(at + 1, 0), 3], 'states');
      refused([...good.with(at, good[at]! + 1), 3], 'states');
      refused([...good.with(at + 5, good[at + 5]! ^ 1), 3, 0, 0], 'states');
    }
    for (let bit = 2; bit < 8; bit++) refused([...good, 1 << bit], 'fill');
    refused(good, 'end of the bytes');
    refused(good.slice(0, 11), 'end of the bytes');
    // a state that wants a word where there is none
    refused([0, 1, 0, 0, 0, 0, ...good.slice(6)], 'end of the bytes');
  });

  test('y: 272 codes of one index, then U and V', () => {
    const values = new Array<bigint>(272).fill(0n).with(0, -7n).with(271, 300n);
    const coded = gaussianField([{ values, t: 20 }]);
    const reader = read([...coded, ...[0xfb, 0xff, 0xff, 0x7f], ...[0xfe, 0xff, 0xff, 0xff], 99]);
    const sent = reader.projection(20, '');
    expect(sent.rows).toEqual(values.map(Number));
    expect([sent.U, sent.V]).toEqual([0x7ffffffb, -2]);
    expect([...reader.take(1)]).toEqual([99]);
    expect(() => read([...coded, 0, 0, 0, 0, 0, 0, 0]).projection(20, '')).toThrow('end of');
  });

  test('z and e are one field: each column of z with its index, e with its own', () => {
    const { tail } = shapesOf(TOY1);
    expect([tail.tZ.length, tail.tZ[32], tail.tZ[33], tail.tE]).toEqual([36, 63, 61, 56]);
  });

  test('g above (q - 1)/2 in magnitude would be a second code of a residue', () => {
    const { tail } = shapesOf(TOY1);
    const wide = { ...tail, tG: tail.tG.map(() => 280) };
    const half = Q / 2n;
    const field = (g: bigint) => {
      const values = new Array<bigint>(64 * wide.tG.length).fill(0n).with(70, g);
      const t = new Array<number>(8 * 34 * 3 * 1).fill(0);
      return [0, ...t, ...gaussianField([{ values, t: 280 }])];
    };
    for (const g of [half, -half]) {
      expect(() => read(field(g)).tail(wide)).toThrow('end of the bytes');
    }
    for (const g of [half + 1n, -half - 1n]) {
      expect(() => read(field(g)).tail(wide)).toThrow('centredG');
    }
  });

  test('equal is about every coefficient', () => {
    expect(equal(constant(1n), constant(1n))).toBe(true);
    expect(equal(constant(1n), fromIntegers([1, ...new Array(62).fill(0), 1]))).toBe(false);
  });
});
