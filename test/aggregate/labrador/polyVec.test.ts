import { describe, expect, test } from 'vitest';
import { FORM_MAX, PRIMES } from '../../../scripts/generate/labradorPlan.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { labradorModule } from './area.ts';
import { add, centred, HALF_Q, multiply, type Poly, source, zero } from './plain.ts';

const random = source('labrador vectors');
const BLOCK = 24576;

describe.each(BOTH_MODULES)('vectors in NTT form, %s module', async (module) => {
  const m = await labradorModule(module);
  const { exports } = m;
  const [COEFS, FORM, OTHER] = m.rooms(512, 768, 768);
  const VECS = m.room(60 * BLOCK);
  const SUMS = m.room(1536 * 60);
  const COEFFICIENTS = m.room(3072 * 16);
  const bytes = new Uint8Array(m.buffer);

  const toForm = (form: number, a: Poly) => {
    m.writeCoefs(COEFS, a);
    exports.coefsToForm!(form, COEFS);
  };
  /** A row of columns, in NTT form, padded with zero columns to whole blocks. */
  const writeRow = (at: number, columns: Poly[]) => {
    const blocks = Math.ceil(columns.length / 32);
    bytes.fill(0, at, at + blocks * BLOCK);
    for (const [j, column] of columns.entries()) {
      toForm(FORM, column);
      exports.storeColumn!(at, j, FORM);
    }
    return blocks;
  };
  const readColumn = (at: number, j: number): Poly => {
    exports.loadColumn!(FORM, at, j);
    exports.formToCoefs!(COEFS, FORM);
    return m.readCoefs(COEFS);
  };
  const readSum = (index: number): Poly => {
    exports.sumsToCoefs!(COEFS, SUMS + 1536 * index);
    return m.readCoefs(COEFS);
  };
  const inner = (a: Poly[], b: Poly[]): Poly =>
    a.reduce((sum, x, j) => add(sum, multiply(x, b[j]!)), zero()).map((x) => centred(x));
  const row = (length: number, bound: bigint) =>
    Array.from({ length }, (_, j) => (j % 3 === 0 ? random.extreme(bound) : random.poly(bound)));

  test('columns go in and come out, alone or in pairs', () => {
    const columns = row(70, HALF_Q);
    writeRow(VECS, columns);
    for (const j of [0, 1, 2, 31, 32, 33, 63, 64, 69]) {
      expect(readColumn(VECS, j)).toEqual(columns[j]);
    }
    toForm(FORM, columns[5]!);
    toForm(OTHER, columns[6]!);
    exports.storePair!(VECS, 40, FORM, OTHER);
    expect(readColumn(VECS, 39)).toEqual(columns[39]);
    expect(readColumn(VECS, 40)).toEqual(columns[5]);
    expect(readColumn(VECS, 41)).toEqual(columns[6]);
    expect(readColumn(VECS, 42)).toEqual(columns[42]);
    expect(readColumn(VECS, 70)).toEqual(zero()); // padding
  });

  test('a matrix times rows', () => {
    const length = 37;
    const key = [0, 1, 2].map(() => row(length, HALF_Q));
    const rows = [0, 1].map(() => row(length, 4096n));
    const blocks = 2;
    for (const [i, x] of key.entries()) writeRow(VECS + i * blocks * BLOCK, x);
    for (const [i, x] of rows.entries()) writeRow(VECS + (3 + i) * blocks * BLOCK, x);
    const stride = blocks * BLOCK;
    bytes.fill(0, SUMS, SUMS + 6 * 1536);
    exports.products!(SUMS, VECS, 3, stride, VECS + 3 * stride, 2, stride, blocks);
    for (const [i, x] of key.entries()) {
      for (const [j, y] of rows.entries()) {
        expect(readSum(2 * i + j)).toEqual(inner(x, y));
      }
    }
    // a sum of sums is the inner product of both halves
    exports.addSums!(SUMS, SUMS + 1536);
    expect(readSum(0)).toEqual(
      add(inner(key[0]!, rows[0]!), inner(key[0]!, rows[1]!)).map((x) => centred(x)),
    );
  });

  test.each([1, 2, 5])('products of all pairs of %i rows, in order', (count) => {
    const length = 33;
    const rows = Array.from({ length: count }, () => row(length, 8191n));
    const stride = 2 * BLOCK;
    for (const [i, x] of rows.entries()) writeRow(VECS + i * stride, x);
    const pairs = (count * (count + 1)) / 2;
    bytes.fill(0, SUMS, SUMS + pairs * 1536);
    exports.pairProducts!(SUMS, VECS, count, stride, 2);
    let index = 0;
    for (let a = 0; a < count; a++) {
      for (let b = a; b < count; b++) expect(readSum(index++)).toEqual(inner(rows[a]!, rows[b]!));
    }
    expect(index).toBe(pairs);
  });

  test.each([2, 4, 7, 32])('combinations of %i rows', (count) => {
    const length = count > 10 ? 3 : 35;
    const blocks = Math.ceil(length / 32);
    const rows = Array.from({ length: count }, () => row(length, 2n ** 30n));
    const coefficients = Array.from({ length: count }, () => random.poly(1000n));
    const even = count + (count % 2);
    const list = new Uint32Array(m.buffer, m.at('ROWS'), 32);
    for (let i = 0; i < even; i++) {
      list[i] = VECS + (i < count ? i : 0) * blocks * BLOCK; // a spare row gets the coefficient 0
      if (i < count) writeRow(list[i]!, rows[i]!);
    }
    for (let i = 0; i < even; i += 2) {
      toForm(FORM, coefficients[i]!);
      toForm(OTHER, coefficients[i + 1] ?? zero());
      exports.prepareCoefficients!(COEFFICIENTS + 3072 * (i / 2), FORM, OTHER);
    }
    const out = VECS + 40 * BLOCK;
    exports.combine!(out, even, COEFFICIENTS, blocks);
    for (let j = 0; j < length; j++) {
      const expected = rows
        .reduce((sum, x, i) => add(sum, multiply(coefficients[i]!, x[j]!)), zero())
        .map((x) => centred(x));
      expect(readColumn(out, j)).toEqual(expected);
    }
    for (const x of m.lanes(out, (blocks * BLOCK) / 2)) {
      if (Math.abs(x) > FORM_MAX) throw new Error(`${x} is no NTT form`);
    }
  });

  test('the largest lanes there can be, in every place and sign, do not overflow a block', () => {
    for (const signs of [1, -1]) {
      const [a, b] = [VECS, VECS + BLOCK];
      for (const [k, p] of PRIMES.entries()) {
        const edge = (p + 1) / 2;
        m.lanes(a + 4096 * k, 2048).fill(edge);
        m.lanes(b + 4096 * k, 2048).fill(signs * edge);
      }
      bytes.fill(0, SUMS, SUMS + 2 * 1536);
      exports.twoProducts!(SUMS, SUMS + 1536, a, b, b);
      const sums = new Int32Array(m.buffer, SUMS, 2 * 384);
      for (const [k, p] of PRIMES.entries()) {
        const edge = BigInt((p + 1) / 2);
        for (let i = 0; i < 64; i++) {
          const [x, y] = [sums[64 * k + i]!, sums[384 + 64 * k + i]!];
          const modP = (v: bigint) => ((v % BigInt(p)) + BigInt(p)) % BigInt(p);
          expect(modP(BigInt(x) << 16n)).toBe(modP(BigInt(signs) * 32n * edge * edge));
          expect(modP(BigInt(y) << 16n)).toBe(modP(32n * edge * edge));
          expect(Math.abs(x)).toBeLessThanOrEqual(29753);
        }
      }
      // sums at their bound, 6940 such blocks, stand for the same as their least residues
      const most = signs * 6940 * 29753;
      for (let i = 0; i < 384; i++) sums[i] = most;
      const atBound = readSum(0);
      for (let i = 0; i < 384; i++) sums[i] = most % PRIMES[Math.floor(i / 64)]!;
      expect(readSum(0)).toEqual(atBound);
    }
  });
});
