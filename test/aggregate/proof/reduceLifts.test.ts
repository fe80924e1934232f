/** The right sides of lifts, summed in numbers, against big integers. */
import { expect, test } from 'vitest';
import { Q } from '../../../src/aggregate/proof/constants.ts';
import { liftedRights, weighted } from '../../../src/aggregate/proof/verifier/reduceLifts.ts';
import { testRandom } from '../../support/random.ts';

const random = testRandom('reduceLifts');
const LARGEST = 2 ** 44;
const drawn = (count: number): Float64Array =>
  Float64Array.from({ length: count }, () => {
    const value = new DataView(random.bytes(8).buffer).getBigInt64(0) % BigInt(LARGEST);
    return Number(value);
  });
const filled = (value: number): Float64Array => new Float64Array(1100).fill(value);
const summed = (weights: Float64Array, values: Float64Array): bigint =>
  values.reduce((sum, value, j) => sum + BigInt(weights[j]!) * BigInt(value), 0n);

test('weighted sums at the largest values, and of any length', () => {
  const list = [LARGEST, LARGEST - 1, -LARGEST, 1 - LARGEST, -1, 2 ** 22 - 1].map(filled);
  for (const weights of list) {
    for (const values of list) expect(weighted(weights, values)).toBe(summed(weights, values));
  }
  for (const count of [0, 1, 127, 128, 129, 274, 1000]) {
    const [weights, values] = [drawn(count + 3), drawn(count)];
    expect(weighted(weights, values)).toBe(summed(weights, values));
  }
});

test('both coefficients of a lift', () => {
  const omega = BigInt64Array.of(2n, 3n, -5n, 7n);
  const rights = Float64Array.of(11, 13, 17, -19);
  // (2 + 3i)(11 + 13i) + (7i - 5)(17 - 19i)
  const expected = [22n - 39n - 85n + 133n, 26n + 33n + 95n + 119n];
  expect(liftedRights([omega, omega.map((x) => x + Q)], rights)).toEqual([expected, expected]);
});
