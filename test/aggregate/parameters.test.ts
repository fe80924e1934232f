import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BUCKETS, bucketOf } from '../../scripts/parameters/buckets.ts';
import { checkConstants, checkRow, limitSq } from '../../scripts/parameters/check.ts';
import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { TABLE, TABLE_SHA256 } from '../../src/aggregate/parameters/table.ts';

const row = (set: number, bucket: number): TableRow =>
  TABLE.find((candidate) => candidate[0] === set && candidate[1] === bucket)!;

/** The row with one number of one level replaced. */
function changed(source: TableRow, level: number, at: number, by: number): TableRow {
  const levels = structuredClone(source[2]) as (number | number[])[][];
  (levels[level]![at] as number) += by;
  return [source[0], source[1], levels];
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
