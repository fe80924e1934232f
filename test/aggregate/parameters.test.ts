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

  it('has limits of the norm as derived by hand: 2^7.8, 2^23.4 and 2^38.2', () => {
    const log2 = (x: bigint) => Math.log2(Number(x)) / 2;
    expect(log2(limitSq(1))).toBeCloseTo(7.787, 2);
    expect(log2(limitSq(9))).toBeCloseTo(23.366, 2);
    expect(log2(limitSq(24))).toBeCloseTo(38.15, 2);
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

  it('no good row', () => {
    expect(checkRow(good)).toEqual([]);
    expect(readRow(good).tail.r).toBeGreaterThanOrEqual(2);
  });
});
