import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BUCKETS, bucketOf } from '../../scripts/parameters/buckets.ts';
import { checkConstants, checkRow, limitSq } from '../../scripts/parameters/check.ts';
import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { TABLE, TABLE_SHA256 } from '../../src/aggregate/parameters/table.gen.ts';

const row = (set: number, bucket: number): TableRow =>
  TABLE.find((candidate) => candidate[0] === set && candidate[1] === bucket)!;

/** The row with one number of one level replaced. */
function changed(source: TableRow, level: number, at: number, by: number): TableRow {
  const levels = structuredClone(source[2]) as (number | number[])[][];
  (levels[level]![at] as number) += by;
  return [source[0], source[1], levels];
}

/** The complementary error function to seven digits: Abramowitz and Stegun, 7.1.28. */
function erfc(x: number): number {
  const a = [0.0705230784, 0.0422820123, 0.0092705272, 0.0001520143, 0.0002765672, 0.0000430638];
  return a.reduce((sum, c, i) => sum + c * x ** (i + 1), 1) ** -16;
}

describe('the table of parameters', () => {
  it('has a row for every set and bucket, and its hash', () => {
    const names = TABLE.map(([set, bucket]) => [set, bucket]);
    expect(names).toEqual([512, 1024].flatMap((set) => BUCKETS.map((bucket) => [set, bucket])));
    const hash = createHash('sha256').update(JSON.stringify(TABLE)).digest('hex');
    expect(TABLE_SHA256).toBe(hash);
  });

  it('satisfies every inequality', () => {
    expect(checkConstants()).toEqual([]);
    for (const candidate of TABLE) expect(checkRow(candidate)).toEqual([]);
  });

  it('has the code of y that is best for half of a projection by signs, and at most 17', () => {
    // of a Gaussian of variance inSq / 4: bits with parameter k are k + 1 + sum over i > 0 of P(|y|
    // >= i 2^(k-1))
    const bitsOf = (sigma: number, k: number): number => {
      let bits = k + 1;
      for (let i = 1; i < 64; i++) bits += erfc((i * 2 ** (k - 1)) / sigma / Math.SQRT2);
      return bits;
    };
    for (const row of TABLE) {
      const { levels, tail } = readRow(row);
      for (const { inSq, riceY } of [...levels, tail]) {
        const all = Array.from({ length: 18 }, (_, k) => bitsOf(Math.sqrt(inSq) / 2, k));
        expect(all[riceY]! - Math.min(...all)).toBeLessThan(0.01);
      }
    }
  });

  it('has the limits of the norm that doubles give: 2^(2 sqrt(64 kappa log2 q log2 delta))', () => {
    for (const kappa of [1, 9, 24]) {
      const limit = 2 * Math.sqrt(64 * kappa * Math.log2(2 ** 44 - 539) * Math.log2(1.00374));
      expect(Math.log2(Number(limitSq(kappa))) / 2).toBeCloseTo(limit, kappa === 1 ? 4 : 8);
    }
  });

  it('gives every count of items the smallest bucket that holds it', () => {
    for (let count = 1; count <= 1722; count++) {
      const bucket = bucketOf(count);
      expect(bucket >= count && (count === 1 || bucketOf(count - 1) <= bucket)).toBe(true);
    }
  });
});

describe('the check of a row refuses', () => {
  const good = row(512, 1722);
  const tail = good[2].length - 1;
  it.each([
    ['a smaller inner rank', changed(good, 1, 7, -1)],
    ['a smaller outer rank', changed(good, 1, 8, -1)],
    ['a smaller rank of the tail', changed(good, tail, 1, -1)],
    ['a larger bound of the output', changed(good, 1, 11, 1)],
    ['another bound of the input', changed(good, 0, 10, 1)],
    ['a tail held to less than the output before', changed(good, tail, 3, -(2 ** 29))],
    ['more bits of y than sums can hold', changed(good, 1, 12, 8)],
    ['fewer digits of t than 44 bits need', changed(good, 1, 3, -1)],
    ['a cut that is not allowed', changed(good, 1, 9, 16)],
    ['a fraction', changed(good, 1, 0, 0.5)],
  ])('%s', (_, candidate) => {
    expect(checkRow(candidate).length).toBeGreaterThan(0);
  });

  it.each([
    ['codes that do not hold what the bound allows', 1, 12, -4, 'y does not fit its code'],
    ['squares of x that add up beyond doubles', 0, 12, 1, 'sum of x^2'],
    ['sums of coefficients of more than 32 bits', 0, 10, 2 ** 42, 'the sum does not fit 32 bits'],
    ['projections that wrap around q', 0, 10, 2 ** 42, 'projections can wrap'],
  ])('%s', (_, level, at, by, reason) => {
    expect(checkRow(good).join()).not.toContain(reason);
    expect(checkRow(changed(good, level, at, by)).join()).toContain(`level ${level}: ${reason}`);
  });

  it('a power of the base of g beyond q', () => {
    expect(checkRow(changed(good, 0, 5, 3)).join()).toContain('digits of g');
  });

  it('codes of g that reach beyond (q-1)/2', () => {
    const levels = structuredClone(good[2]) as (number | number[])[][];
    (levels[tail]![8] as number[])[0] = 39;
    expect(checkRow([good[0], good[1], levels]).join()).toContain('Rice parameters of g');
  });

  it('no good row', () => {
    expect(checkRow(good)).toEqual([]);
    expect(readRow(good).tail.r).toBeGreaterThanOrEqual(2);
  });
});
