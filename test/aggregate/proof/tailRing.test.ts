/** The verifier's ring against its definition, at the largest values and at random ones. */
import { expect, test } from 'vitest';
import { Q } from '../../../src/aggregate/proof/constants.ts';
import {
  combination,
  inverse,
  mod,
  multiply,
  type Poly,
} from '../../../src/aggregate/proof/verifier/tailRing.ts';
import { testRandom } from '../../support/random.ts';

const random = testRandom('tailRing');
const made = (degree: number): Poly =>
  BigInt64Array.from({ length: degree }, () =>
    mod(new DataView(random.bytes(8).buffer).getBigInt64(0)),
  );

/** a b modulo X^degree + 1, by definition. */
function byDefinition(a: Poly, b: Poly): Poly {
  const sums = new Array<bigint>(a.length).fill(0n);
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) {
      const at = i + j;
      sums[at % a.length]! += at < a.length ? x * y : -x * y;
    }
  }
  return BigInt64Array.from(sums, mod);
}

test('residues', () => {
  const integers = [0n, 1n, -1n, Q - 1n, 1n - Q, Q, -Q, Q + 1n, -Q - 1n, 5n * Q - 1n, -5n * Q - 1n];
  const residues = [0n, 1n, Q - 1n, Q - 1n, 1n, 0n, 0n, 1n, Q - 1n, Q - 1n, Q - 1n];
  expect(integers.map(mod)).toEqual(residues);
});

test('products', () => {
  for (const degree of [1, 2, 32, 64]) {
    const largest = new BigInt64Array(degree).fill(Q - 1n);
    const alternating = largest.map((x, j) => (j % 2 === 0 ? x : 0n));
    const zero = new BigInt64Array(degree);
    const list = [largest, alternating, zero, made(degree), made(degree), made(degree)];
    for (const a of list) for (const b of list) expect(multiply(a, b)).toEqual(byDefinition(a, b));
  }
});

test('combinations by challenges', () => {
  const largest = new BigInt64Array(64).fill(Q - 1n);
  const sums = (c: readonly Float64Array[], x: readonly Poly[]): Poly =>
    c
      .map((factor, i) => byDefinition(BigInt64Array.from(factor, BigInt), x[i]!))
      .reduce((a, b) => a.map((value, j) => mod(value + b[j]!)));
  const small = (): Float64Array => Float64Array.from(random.bytes(64), (x) => 4 * (x - 128));
  const worst = (value: number): Float64Array => new Float64Array(64).fill(value);
  for (const c of [
    [small()],
    Array.from({ length: 9 }, small),
    new Array(64).fill(worst(511)),
    new Array(64).fill(worst(-511)),
  ] as Float64Array[][]) {
    for (const x of [c.map(() => largest), c.map(() => made(64))]) {
      expect(combination(c, x)).toEqual(sums(c, x));
    }
  }
});

test('inverses', () => {
  const one = new BigInt64Array(64);
  one[0] = 1n;
  for (let round = 0; round < 10; round++) {
    const x = made(64);
    expect(multiply(x, inverse(x)!)).toEqual(one);
  }
  expect(inverse(new BigInt64Array(64))).toBeUndefined();
});
