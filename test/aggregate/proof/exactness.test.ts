/**
 * The fast verifier computes with integers modulo six primes: every integer polynomial must stay
 * below half their product. Here the largest coefficients that any bytes can bring about are
 * bounded for every row of the table, in bits.
 */
import { expect, test } from 'vitest';
import { type Parameters, readMergedRow, readRow } from '../../../src/aggregate/parameters/rows.ts';
import { MERGED_TABLE, TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { fact } from '../../support/facts.ts';

/** P/2 (1 - 2^-12.4), docs of assembly/labrador/ntt.ts */
const LIMIT = 80.8;
const HALF_Q = 2 ** 43;
/** largest sums of magnitudes of the coefficients: short challenges, c, alpha */
const [SHORT, C, ALPHA] = [4 * 64, 58, 56];
const LIFTS = 3;

const sum = (count: number, term: (i: number) => number): number =>
  Array.from({ length: count }, (_, i) => term(i)).reduce((a, b) => a + b, 0);

test('no integer of the verifier reaches half the product of the primes', (context) => {
  let largest = 0;
  const holds = (what: string, bound: number): void => {
    largest = Math.max(largest, Math.log2(bound));
    expect(Math.log2(bound), what).toBeLessThan(LIMIT);
  };
  const rows: Parameters[] = [
    ...TABLE.map(readRow),
    ...MERGED_TABLE.map((row) => readMergedRow(row, row[1])),
  ];
  for (const { levels, tail, set, bucket } of rows) {
    const name = `${set} ${bucket} ${levels[1]?.parts?.most ?? ''}`;
    const lifted = LIFTS * SHORT * C * HALF_Q; // c_a times the lifts of a place
    const first = levels[0]!;
    const ofPair = (1 + ALPHA) * lifted + lifted + (2 ** 13 + 1) * (lifted + 2 * C);
    holds(`${name} level 0`, first.r * ofPair);

    for (const [i, level] of levels.entries()) {
      const next = levels[i + 1] ?? tail;
      const { f, b, fu, bu, fg, bg, kappa, kappa1 } = level;
      const onKeys = 2 * kappa1 * SHORT * HALF_Q;
      const onT = SHORT * C * 2 ** (bu * (fu - 1));
      const onG = SHORT * (2 * C * C * 2 ** (bg * (fg - 1)) + 2 * HALF_Q);
      const onH = (C * C + SHORT) * 2 ** (bu * (fu - 1));
      const onV = onKeys + onT + onG + onH + 1;
      holds(`${name} level ${i}: phi of z before it is reduced`, (kappa * SHORT + 1) * HALF_Q);
      const rowsOfV = next.rows.at(-1)!;
      const digits = sum(f, (digit) => C * 2 ** (b * digit)) * next.rows[0]!;
      holds(`${name} level ${i}: right side`, (3 * kappa1 + LIFTS + 1) * SHORT * 2 ** 44);
      const ofLevel = next.r * (lifted + C * 4);
      if ('parts' in next) {
        // reduced, as the keys are, before chi multiplies both; (Q) and (T_b) beside them
        const { most } = next.parts!;
        holds(`${name} level ${i}: v before it is reduced`, onV);
        const onZ = most * 2 * SHORT * HALF_Q * digits;
        const ofV = rowsOfV * C * (2 * SHORT + 2) * HALF_Q;
        holds(`${name} level ${i + 1}`, onZ + ofV + ofLevel);
        holds(`${name} right side`, most * SHORT * HALF_Q + LIFTS * SHORT * 2 ** 44);
        continue;
      }
      holds(`${name} level ${i + 1}`, HALF_Q * digits + rowsOfV * C * onV + ofLevel);
    }

    const most = (code: number): number => 2 ** (8 + Math.floor(code / 8));
    const z = Math.max(...tail.codesZ.map(({ code }) => most(code)));
    const e = most(tail.codeE);
    holds(`${name} tail: phi on e`, tail.r * lifted);
    holds(`${name} tail: <phi, (z, e)>`, HALF_Q * 64 * (tail.n * z + tail.kappa * e));
    holds(`${name} tail: <z, z>`, 64 * tail.n * z * z);
    // squared norms as numbers
    expect(64 * (tail.n * z * z + tail.kappa * e * e), name).toBeLessThan(2 ** 53);
    for (const { inSq, codeY } of [...levels, tail]) {
      // x = 2 y' - 0 or 1: a sum beyond 2^53 is not exact, and beyond the bound all the same
      expect((2 * most(codeY) + 1) ** 2, name).toBeLessThan(2 ** 53);
      expect(288 * inSq, name).toBeLessThan(2 ** 53);
    }
  }
  fact(context, 'verifier', `largest integer 2^${largest.toFixed(1)}, primes hold 2^${LIMIT}`);
});
