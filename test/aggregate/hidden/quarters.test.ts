/** The key matrix folded by what (Q) puts on its rows, against the definition on big integers. */
import { expect, test } from 'vitest';
import { readRow } from '../../../src/aggregate/parameters/rows.ts';
import { expandKeys, Seed, sampleShorts } from '../../../src/aggregate/proof/challenges.ts';
import { foldKeys } from '../../../src/aggregate/proof/foldKeys.ts';
import { joinBlocks, vecOfBlocks } from '../../../src/aggregate/proof/ring.ts';
import { SHORT } from '../../../src/aggregate/proof/transcript.ts';
import {
  type FoldedUse,
  quarterUses,
  rowCoefficients,
} from '../../../src/aggregate/proof/verifier/hidden.ts';
import { Labrador, type Vecs } from '../../../src/aggregate/wasm.ts';
import { HIDDEN_TWICE, SINGLE_DIGIT } from '../../reference/hiddenRows.ts';
import { bytesOf } from '../../reference/items.ts';
import { chachaStream, scalars } from '../labrador/chacha.ts';
import { add, mod, multiply, type Poly, zero } from '../labrador/plain.ts';
import { polysOf } from './observed.ts';

const lab = new Labrador();
const Q = 2n ** 44n - 117n;
const seed = (name: string): Uint8Array => bytesOf(name, 32);

/** Coefficients of the columns of a row, centred. */
function columnsOf(vecs: Vecs, row = 0): Poly[] {
  const coefs = lab.coefs(vecs.columns);
  lab.kernels.vecToCoefs(coefs.at, lab.row(vecs, row), 0, vecs.columns);
  return polysOf(lab.i64(coefs));
}

/** A monomial X^e with a negative or positive exponent. */
function monomial(exponent: number, factor: bigint): Poly {
  const reduced = ((exponent % 128) + 128) % 128;
  return zero().with(reduced % 64, reduced < 64 ? factor : -factor);
}

test.each([
  ['level 0, six rows', HIDDEN_TWICE, 0],
  ['level 1, eight rows', SINGLE_DIGIT, 1],
] as const)('%s', (_, row, number) => {
  const level = readRow(row).levels[number]!;
  const lift = seed('lift');
  const combine = seed('combine');
  const seeds = { lift, combine, jl: seed('jl'), amortise: seed('amortise') };
  const uses = quarterUses(level, number, seeds);
  expect(uses.map(({ columns }) => columns)).toEqual(
    level.messages.map(({ polynomials, digits }) => polynomials * digits),
  );
  const end = Math.max(...uses.map(({ columns }) => columns));
  const parts = [
    [0, 32],
    [32, end],
  ].map(([from, to]) =>
    foldKeys<FoldedUse>(lab, { columns: { from: from!, to: to! }, uses }, rowCoefficients),
  );
  const keys = expandKeys(lab, level.k, { to: end });
  const rows = Array.from({ length: level.k }, (_, i) => columnsOf(keys, i));
  const betas = polysOf(
    lab.i16(sampleShorts(lab, new Seed(lab, combine, number + 1), SHORT.lift, 0, 2)),
  );
  const words = 2 * (137 + 137 + 8 * level.k * level.messages.length + (number === 0 ? 3 : 2));
  const drawn = [0, 1].map((k) => {
    const word13 = 4 + 256 * (number + 1) + 65_536 * k;
    return scalars(chachaStream(lift, [word13, 0, 0], 0, Math.ceil((words * 44) / 512) + 1), words);
  });
  for (const [message, { columns }] of uses.entries()) {
    const folded = columnsOf(vecOfBlocks(lab, joinBlocks(parts.map((list) => list[message]!))));
    expect(folded.length).toBe(columns);
    const factors = rows.map((_, i) =>
      betas
        .map((beta, k) => {
          const at = 2 * (274 + 8 * (level.k * message + i));
          const sum = Array.from({ length: 8 }, (_, j) => {
            const [real, imaginary] = drawn[k]!.slice(at + 2 * j, at + 2 * j + 2);
            return add(monomial(-4 * j, real!), monomial(32 - 4 * j, imaginary!));
          }).reduce(add);
          return multiply(beta, sum);
        })
        .reduce(add),
    );
    for (const column of [0, 1, 31, 32, columns - 1].filter((c) => c < columns)) {
      const expected = factors
        .map((factor, i) => multiply(factor, rows[i]![column]!))
        .reduce(add)
        .map((x) => mod(x, Q));
      expect(folded[column]!.map((x) => mod(x, Q))).toEqual(expected);
    }
  }
});
