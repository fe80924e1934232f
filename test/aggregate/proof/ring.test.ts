/** Sums mod q of what several shares made. */
import { expect, test } from 'vitest';
import { Q } from '../../../src/aggregate/proof/constants.ts';
import {
  centred,
  coefsOf,
  joinLists,
  numbersOf,
  sumOfLists,
  writeParts,
} from '../../../src/aggregate/proof/ring.ts';
import { Labrador } from '../../../src/aggregate/wasm.ts';
import { testRandom } from '../../support/random.ts';

const HALF = (Q - 1n) / 2n;
const EDGES = [-HALF, 1n - HALF, -(1n << 32n) - 1n, -(1n << 32n), -(1n << 31n), -1n, 0n, 1n].concat(
  [(1n << 31n) - 1n, 1n << 31n, (1n << 32n) - 1n, 1n << 32n, HALF - 1n, HALF],
);
const random = testRandom('ring');
const list = (): BigInt64Array<ArrayBuffer> =>
  BigInt64Array.from({ length: 256 }, (_, i) => {
    const known = EDGES[i % 3 === 0 ? random.below(EDGES.length) : -1];
    return known ?? centred(new DataView(random.bytes(8).buffer).getBigInt64(0));
  });

test('sums are centred, and leave their summands alone', () => {
  const lab = new Labrador();
  for (const count of [1, 2, 3, 8]) {
    const lists = Array.from({ length: count }, list);
    const before = lists.map((values) => values.slice());
    const expected = lists[0]!.map((_, i) =>
      centred(lists.reduce((sum, values) => sum + values[i]!, 0n)),
    );
    expect(sumOfLists(lists)).toEqual(expected);
    expect(lab.i64(coefsOf(lab, lists))).toEqual(expected);
    expect(lists).toEqual(before);
  }
});

test('every pair of edges', () => {
  const pairs = EDGES.flatMap((a) => EDGES.map((b) => [a, b] as const));
  const [a, b] = [BigInt64Array.from(pairs, ([x]) => x), BigInt64Array.from(pairs, ([, y]) => y)];
  expect(sumOfLists([a, b])).toEqual(a.map((x, i) => centred(x + b[i]!)));
});

test.each([1, 15, 22, 31])('parts of %i bits, and what is above', (bits) => {
  const edges = [...EDGES, ...[-1n, 0n, 1n].map((x) => (1n << BigInt(bits - 1)) + x)];
  const values = BigInt64Array.from([...edges, ...edges.map((x) => -x), ...list(), 2n ** 52n - 1n]);
  const before = values.slice();
  const [low, high] = [new BigInt64Array(values.length), new BigInt64Array(values.length)];
  writeParts(low, high, values, bits);
  expect(low).toEqual(values.map((x) => BigInt.asIntN(bits, x)));
  expect(high).toEqual(values.map((x, i) => (x - low[i]!) >> BigInt(bits)));
  expect(values).toEqual(before);
});

test('numbers', () => {
  const most = 2n ** 53n - 1n;
  const values = BigInt64Array.from([...EDGES, most, -most, ...list()]);
  expect(numbersOf(values)).toEqual(Float64Array.from(values, Number));
});

test('runs behind each other; a single one is not copied', () => {
  const lists = [list(), list(), list()];
  expect([...joinLists(lists)]).toEqual(lists.flatMap((values) => [...values]));
  expect(joinLists([lists[0]!])).toBe(lists[0]);
  expect(sumOfLists([lists[0]!])).toBe(lists[0]);
});
