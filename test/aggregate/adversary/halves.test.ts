/**
 * The half-integer witness: e/2 modulo q has coefficients near q/2, but a row of entries ±1 sees
 * only integers of e with an even sum, and projects it to next to nothing. Ternary rows do not.
 */
import { expect, test } from 'vitest';
import { projectionOf, ROWS } from '../../reference/verifier/challenges.ts';
import { centred, mod, Q } from '../../reference/verifier/ring.ts';
import { blockOf } from '../../reference/verifier/streams.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const HALF = (Q + 1n) / 2n; // 1/2 modulo q
const e = Array.from({ length: 64 }, (_, j) => BigInt((5 * j) % 7) - 3n);
if (e.reduce((sum, x) => sum + x, 0n) % 2n !== 0n) e[0]! += 1n;
const witness = e.map((x) => mod(x * HALF));

function normSqOf(entryAt: (row: number, c: number) => number): bigint {
  let sum = 0n;
  for (let row = 0; row < ROWS; row++) {
    const y = centred(witness.reduce((dot, x, c) => dot + x * BigInt(entryAt(row, c)), 0n));
    sum += y * y;
  }
  return sum;
}

test('ternary rows see the denominator, rows of ±1 do not', () => {
  const ternary = projectionOf(KEY, 0, 0, 0);
  expect(normSqOf((row, c) => ternary[64 * row + c]!)).toBeGreaterThan((Q / 4n) ** 2n);

  const plane = Array.from({ length: ROWS / 4 }, (_, g) =>
    blockOf(KEY, { type: 2, level: 0, index: 0 }, g),
  );
  const sign = (row: number, c: number) => {
    const byte = plane[row >> 2]![16 * (c >> 5) + (c % 16)]!;
    return 1 - 2 * ((byte >> ((c & 16 ? 4 : 0) + (row & 3))) & 1);
  };
  expect(normSqOf(sign)).toBeLessThan(BigInt(ROWS) * e.reduce((sum, x) => sum + x * x, 0n));
});
