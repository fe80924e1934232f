/**
 * The half-integer witness: u/2 modulo q has coefficients near q/2, but a row of entries ±1 sees
 * only integers of u with the parity of the sum of u: if that is even, it projects u/2 to next to
 * nothing. Rows of bits do not: each takes the sum of some coefficients, and half of these sums are
 * odd.
 *
 * The matrix is judged here by itself; what a whole proof of such a witness comes to is in
 * projection.test.ts.
 */
import { expect, test } from 'vitest';
import { projectionOf } from '../../reference/verifier/challenges.ts';
import { centred, mod, Q } from '../../reference/verifier/ring.ts';
import { RANDOM_ROWS } from './attack.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const HALF = (Q + 1n) / 2n; // 1/2 modulo q

const sumOf = (list: readonly bigint[]): bigint => list.reduce((sum, x) => sum + x, 0n);
function witness(parity: bigint): { u: bigint[]; w: bigint[] } {
  const u = Array.from({ length: 64 }, (_, j) => BigInt((5 * j) % 7) - 3n);
  if ((((sumOf(u) - parity) % 2n) + 2n) % 2n !== 0n) u[0]! += 1n;
  return { u, w: u.map((x) => mod(x * HALF)) };
}

const entries = projectionOf(KEY, 0, 0);
const bit = (row: number, c: number): bigint => BigInt(entries[64 * row + c]!);
const sign = (row: number, c: number): bigint => 2n * bit(row, c) - 1n;

/** <row j, w> modulo q, centred, of the random rows. */
const projected = (w: readonly bigint[], entry: typeof bit): bigint[] =>
  Array.from({ length: RANDOM_ROWS }, (_, row) =>
    centred(sumOf(w.map((x, c) => x * entry(row, c)))),
  );
const isLarge = (x: bigint): boolean => x * x > (Q / 4n) ** 2n;

test('signs do not see the denominator where the sum is even', () => {
  const { u, w } = witness(0n);
  expect(w.filter((x) => isLarge(centred(x))).length).toBeGreaterThan(20);
  const x = projected(w, sign);
  expect(x.filter(isLarge)).toEqual([]);
  expect(sumOf(x.map((y) => y * y))).toBeLessThan(BigInt(RANDOM_ROWS) * sumOf(u.map((y) => y * y)));
  // where it is odd, all of them do
  expect(projected(witness(1n).w, sign).every(isLarge)).toBe(true);
});

test.each([0n, 1n])('bits see it in half of their rows, with a sum of parity %i', (parity) => {
  const { w } = witness(parity);
  const seen = projected(w, bit).filter(isLarge).length;
  // five standard deviations of 136 bits
  expect(Math.abs(seen - RANDOM_ROWS / 2)).toBeLessThan(2.5 * Math.sqrt(RANDOM_ROWS));
});
