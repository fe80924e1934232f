/**
 * What chi multiplies at a merged level is reduced mod q before: here it is so large that the
 * integers would wrap around the product of the primes.
 */
import { describe, expect, test } from 'vitest';
import type { Shape } from '../../../src/aggregate/parameters/rows.ts';
import { Seed, sampleCs, sampleShorts } from '../../../src/aggregate/proof/challenges.ts';
import { foldKeys } from '../../../src/aggregate/proof/foldKeys.ts';
import { constantForm, zeroForms } from '../../../src/aggregate/proof/forms.ts';
import { vecOfBlocks } from '../../../src/aggregate/proof/ring.ts';
import { SHORT } from '../../../src/aggregate/proof/transcript.ts';
import { Folding } from '../../../src/aggregate/proof/verifier/folding.ts';
import { openSeeds } from '../../../src/aggregate/proof/verifier/openSeeds.ts';
import { Placing } from '../../../src/aggregate/proof/verifier/placing.ts';
import { foldKeysOnRows } from '../../../src/aggregate/proof/verifier/reduceCarry.ts';
import {
  add,
  multiply,
  type Poly,
  polyOf,
} from '../../../src/aggregate/proof/verifier/tailRing.ts';
import { FORM_BYTES, Labrador, type Smalls, type Vecs } from '../../../src/aggregate/wasm.ts';
import { bytesOf } from '../../reference/items.ts';

const lab = new Labrador();
const [jl, lift, combine, amortise] = ['jl', 'lift', 'combine', 'amortise'].map((name) =>
  bytesOf(name, 32),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const seeds = { jl, lift, combine, amortise };
const DIGITS = { f: 3, b: 13 };
const N = 32;
const [COUNT, MOST, M] = [2, 3, 40];
/** Nine rows of z, of which three are absent, and four of v. */
const shape: Shape = {
  n: N,
  lengths: [...Array.from({ length: 9 }, (_, i) => (i % MOST < COUNT ? N : 0)), COUNT * M],
  rows: [...new Array<number>(9).fill(1), 4],
  r: 13,
  pairs: 91,
  parts: { count: COUNT, most: MOST, f: DIGITS.f, n: N, m: M },
};

const polysOf = (smalls: Smalls): Poly[] =>
  Array.from({ length: smalls.count }, (_, i) => polyOf(lab.i16(smalls), 64 * i));
const C = polysOf(sampleCs(lab, new Seed(lab, amortise, 1), shape.r));
const CHI = polysOf(sampleShorts(lab, new Seed(lab, combine, 1), SHORT.part, 0, COUNT));
const constant = (value: bigint): Poly => polyOf([value, ...new Array<bigint>(63).fill(0n)]);
const product = (...factors: readonly Poly[]): Poly => factors.reduce(multiply);
const zeros = (): Poly[] => new Array<Poly>(N).fill(constant(0n));

/** 2^80, not reduced. */
const LARGE = constantForm(lab, 1n << 40n);
lab.kernels.mulForm(LARGE, LARGE, LARGE);

function columnsOf({ at, columns }: Vecs): Poly[] {
  const coefs = lab.coefs(columns);
  lab.kernels.vecToCoefs(coefs.at, at, 0, columns);
  return Array.from({ length: columns }, (_, i) => polyOf(lab.i64(coefs), 64 * i));
}

const placing = () => {
  const open = openSeeds(lab, seeds, 1, shape.r);
  return new Placing(new Folding(lab, open, N), shape, DIGITS, open.combine);
};

test('forms on v', () => {
  const placed = placing();
  for (const part of [0, 1]) {
    const vec = lab.vecs(1, M);
    for (let column = 0; column < M; column++) lab.kernels.storeColumn(vec.at, column, LARGE);
    placed.addOnV(part, vec);
  }
  const expected = zeros();
  for (let place = 0; place < COUNT * M; place++) {
    const c = C[9 + Math.floor(place / N)]!;
    const here = product(c, CHI[Math.floor(place / M)]!, constant(1n << 80n));
    expected[place % N] = add(expected[place % N]!, here);
  }
  expect(columnsOf(placed.folding.sum)).toEqual(expected);
});

test('a right side', () => {
  const right = zeroForms(lab, 1).at;
  const form = lab.room(FORM_BYTES);
  lab.bytes(0, lab.memoryBytes).copyWithin(form, LARGE, LARGE + FORM_BYTES);
  placing().addRight(1, right, form);
  const coefs = lab.coefs(1);
  lab.kernels.formToCoefs(coefs.at, right);
  expect(polyOf(lab.i64(coefs))).toEqual(product(CHI[1]!, constant(1n << 80n)));
});

test('an ordinary level takes no time for that', () => {
  const { parts: _, ...ordinary } = shape;
  const open = openSeeds(lab, seeds, 1, shape.r);
  const placed = new Placing(new Folding(lab, open, N), ordinary, DIGITS, open.combine);
  const vec = lab.vecs(1, N);
  lab.kernels.storeColumn(vec.at, 0, LARGE);
  const before = lab.bytes(vec.at, vec.stride).slice();
  placed.reduce(vec);
  expect(lab.bytes(vec.at, vec.stride)).toEqual(before);
  placing().reduce(vec);
  expect(lab.bytes(vec.at, vec.stride)).not.toEqual(before);
});

describe('folded keys', () => {
  const use = { number: 1, seed: combine, short: SHORT.amortised, first: 0, rows: 6, columns: N };
  const fold = (from: number | undefined) =>
    foldKeysOnRows(lab, {
      columns: { from: 0, to: N },
      uses: [{ ...use, from }],
      after: [{ shape, seeds, ...DIGITS }],
    }).map(columnsOf)[0];
  const keys = foldKeys(lab, { columns: { from: 0, to: N }, uses: [use] }).flatMap((blocks) =>
    columnsOf(vecOfBlocks(lab, blocks)),
  );

  test('on z of all parts', () => {
    const forms = [0, 1, 2].flatMap((digit) =>
      [0, 1].map((part) =>
        product(C[digit * MOST + part]!, CHI[part]!, constant(-(1n << BigInt(13 * digit)))),
      ),
    );
    const sum = forms.reduce(add);
    expect(fold(undefined)).toEqual(keys.map((key) => multiply(sum, key)));
  });

  // from 1 on, one key of the first part is in the next row
  test.each([5, 1])('on v of every part, from place %i on', (from) => {
    const expected = zeros();
    for (const part of [0, 1]) {
      for (const [i, key] of keys.entries()) {
        const place = part * M + from + i;
        const here = product(C[9 + Math.floor(place / N)]!, CHI[part]!, key);
        expected[place % N] = add(expected[place % N]!, here);
      }
    }
    expect(fold(from)).toEqual(expected);
  });
});
