/** Columns, rows and runs of places against their definitions, place by place. */
import { expect, test } from 'vitest';
import { readRow, type Shape } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import {
  type Columns,
  filledBy,
  filledWithin,
  gather,
  placesOfRows,
  placesOfSegment,
  placesWithin,
  portionsOf,
  runsWithin,
  splitByCost,
  splitColumns,
} from '../../../src/aggregate/proof/columns.ts';
import { type ItemsShape, itemsWithin, owns } from '../../../src/aggregate/proof/itemColumns.ts';
import {
  outersOf,
  paddingOf,
  paddingOfZero,
  pairIndex,
  parametersFor,
  piecesOf,
  type Run,
  runsOf,
} from '../../../src/aggregate/proof/shapes.ts';

/** Three parts: two rows, one of them full, then one row, then two that are full. */
const SHAPE: Shape = { n: 4, lengths: [6, 3, 8], rows: [2, 1, 2], r: 5, pairs: 15 };
// biome-ignore format: several in a line
const COLUMNS: readonly Columns[] = [
  { from: 0, to: 4 }, { from: 0, to: 1 }, { from: 0, to: 2 }, { from: 1, to: 3 },
  { from: 2, to: 4 }, { from: 3, to: 4 },
];
const placesOf = (runs: readonly Run[]): string[] =>
  runs.flatMap(({ row, from, to }) => {
    expect(from).toBeLessThan(to);
    return Array.from({ length: to - from }, (_, i) => `${row} ${from + i}`);
  });

test('portions', () => {
  expect([...portionsOf(0, 512, 256)]).toEqual([0, 256].map((at) => [at, 256]));
  expect([...portionsOf(3, 10, 4)]).toEqual([
    [3, 4],
    [7, 3],
  ]);
  expect([...portionsOf(5, 5, 4)]).toEqual([]);
});

test('columns in parts of equal length', () => {
  const borders = (n: number, parts: number, least?: number) =>
    splitColumns(n, parts, least).map(({ from, to }) => [from, to]);
  expect(borders(5, 3)).toEqual([[0, 5]]);
  expect(borders(32, 1)).toEqual([[0, 32]]);
  expect(borders(100, 1)).toEqual([[0, 100]]);
  expect(borders(100, 2)).toEqual([
    [0, 64],
    [64, 100],
  ]);
  const three = [
    [0, 32],
    [32, 64],
    [64, 96],
  ];
  expect(borders(96, 3)).toEqual(three);
  expect(borders(96, 9)).toEqual(three);
  expect(borders(96, 9, 96)).toEqual([[0, 96]]);
});

test('columns in parts with equal numbers of filled places', () => {
  const starts = (n: number, parts: number, filled?: readonly number[]) => {
    const runs = splitColumns(n, parts, 32, filled);
    expect(runs.map(({ to }) => to)).toEqual([...runs.slice(1).map(({ from }) => from), n]);
    return runs.map(({ from }) => from);
  };
  // of two borders that are as near the later one, else the nearest
  expect(starts(96, 2)).toEqual([0, 64]);
  expect(starts(95, 2)).toEqual([0, 32]);
  expect(starts(160, 3)).toEqual([0, 64, 96]);
  // 160 of 320 places come before column 96
  expect(starts(256, 2, [256, 64])).toEqual([0, 96]);
  expect(starts(256, 2, [256])).toEqual([0, 128]);
  // a block for each, wherever the places are
  expect(starts(96, 3, [32])).toEqual([0, 32, 64]);
  expect(starts(128, 4, [128, 32, 32, 32])).toEqual([0, 32, 64, 96]);
});

test('columns in parts of equal cost', () => {
  const ends = (costs: readonly number[], wanted: number) =>
    splitByCost(costs, wanted).map(({ to }, i, runs) => {
      expect(runs[i]!.from).toBe(i === 0 ? 0 : runs[i - 1]!.to);
      return to;
    });
  expect(ends([5, 5, 5, 5], 10)).toEqual([64, 128]);
  expect(ends([9, 1, 3], 10)).toEqual([64, 96]);
  expect(ends([1, 1, 1], 10)).toEqual([96]);
  expect(ends([11, 11, 1], 10)).toEqual([32, 64, 96]);
});

test('the places of a segment, row by row', () => {
  expect(placesOfSegment(SHAPE, 0, 6, 1000)).toEqual([
    { row: 0, column: 0, count: 4, at: 1000, number: 0, part: 0 },
    { row: 1, column: 0, count: 2, at: 1512, number: 4, part: 0 },
  ]);
  expect(placesOfSegment(SHAPE, 2, 4, 0)).toEqual([
    { row: 3, column: 0, count: 4, at: 0, number: 12, part: 0 },
  ]);
});

test('the places within some columns', () => {
  const all = placesOfRows(SHAPE, 1);
  const counts = all.map(({ row, count, at, number }) => [row, count, at, number]);
  expect(counts).toEqual([
    [0, 4, 0, 0],
    [1, 2, 4, 4],
    [2, 3, 6, 8],
    [3, 4, 9, 12],
    [4, 4, 13, 16],
  ]);
  for (const columns of COLUMNS) {
    const expected = all.flatMap(({ row, count, at, number }) =>
      Array.from({ length: count }, (_, i) => [row, i, at + i, number + i] as const)
        .filter(([, column]) => column >= columns.from && column < columns.to)
        .map(([of, column, ...rest]) => [of, column - columns.from, ...rest]),
    );
    const within = placesWithin(all, columns, 1);
    const places = within.flatMap(({ row, column, count, at, number }) => {
      expect(count).toBeGreaterThan(0);
      return Array.from({ length: count }, (_, i) => [row, column + i, at + i, number + i]);
    });
    expect(places).toEqual(expected);
  }
});

test('a place that begins within the columns', () => {
  const place = { row: 3, column: 2, count: 3, at: 10, number: 50, part: 1 };
  expect(placesWithin([place], { from: 0, to: 4 }, 5)).toEqual([{ ...place, count: 2 }]);
  expect(placesWithin([place], { from: 3, to: 4 }, 5)).toEqual([
    { row: 3, column: 0, count: 1, at: 15, number: 51, part: 1 },
  ]);
});

test('polynomials within some columns', () => {
  const polynomials = Int16Array.from({ length: 64 * 17 }, (_, i) => i);
  expect(gather(polynomials, placesOfRows(SHAPE, 64), COLUMNS[0]!)).toBe(polynomials);
  for (const columns of COLUMNS.slice(1)) {
    const places = placesWithin(placesOfRows(SHAPE, 1), columns, 1);
    const numbers = places.flatMap(({ at, count }) =>
      Array.from({ length: count }, (_, i) => at + i),
    );
    expect([...gather(polynomials, placesOfRows(SHAPE, 64), columns)]).toEqual(
      numbers.flatMap((place) => [...polynomials.subarray(64 * place, 64 * place + 64)]),
    );
  }
});

test('how much of each row is filled', () => {
  expect(filledBy(SHAPE, SHAPE.lengths)).toEqual([4, 2, 3, 4, 4]);
  expect(filledBy(SHAPE, [3, 0, 5])).toEqual([3, 0, 0, 4, 1]);
  expect(filledWithin([3, 10, 0, 8, 5], { from: 4, to: 8 })).toEqual([0, 4, 0, 4, 1]);
});

test('runs of places, within columns', () => {
  expect(runsOf(SHAPE, 0, 3, 8)).toEqual([
    { row: 0, from: 3, to: 4 },
    { row: 1, from: 0, to: 4 },
  ]);
  expect(runsOf(SHAPE, 2, 5, 5)).toEqual([]);
  expect(placesOf(paddingOf(SHAPE))).toEqual(['1 2', '1 3', '2 3']);
  const runs = runsOf(SHAPE, 2, 1, 8);
  for (const columns of COLUMNS) {
    const expected = placesOf(runs).filter((place) => {
      const column = Number(place.split(' ')[1]);
      return column >= columns.from && column < columns.to;
    });
    expect(placesOf(runsWithin(runs, columns))).toEqual(expected);
  }
});

test('the items with places in some columns, and who counts them', () => {
  // biome-ignore format: one line
  const triples = [[10, 3, 9], [7, 17, 6], [40, 17, 2], [16, 4, 16]] as const;
  for (const [n, width, count] of triples) {
    const length = Math.ceil((width * count) / n);
    const level = { n, rows: [length, 1, length] } as unknown as ItemsShape['level'];
    const kind = { set: 'falcon512', profile: 'round3' } as const;
    const shape: ItemsShape = { ...kind, level, bucket: count, width, count };
    for (let from = 0; from < n; from++) {
      for (let to = from + 1; to <= n; to++) {
        const isHere = (place: number): boolean => place % n >= from && place % n < to;
        const items = Array.from({ length: count }, (_, i) => i);
        const columns = { from, to };
        const places = (item: number) => Array.from({ length: width }, (_, t) => width * item + t);
        expect(itemsWithin(shape, columns)).toEqual(items.filter((i) => places(i).some(isHere)));
        const counted = items.filter((i) => owns(shape, columns, i));
        expect(counted).toEqual(items.filter((i) => isHere(width * i)));
      }
    }
  }
});

test('rows of the table: the smallest bucket that holds the items', () => {
  for (const [set, degree] of [
    ['falcon512', 512],
    ['falcon1024', 1024],
  ] as const) {
    const buckets = TABLE.filter(([of]) => of === degree).map(([, bucket]) => bucket);
    for (const [i, bucket] of buckets.entries()) {
      expect(parametersFor(set, bucket)).toEqual(
        readRow(TABLE.find(([of, b]) => of === degree && b === bucket)!),
      );
      expect(parametersFor(set, bucket)!.set).toBe(degree);
      expect(parametersFor(set, (buckets[i - 1] ?? 0) + 1)!.bucket).toBe(bucket);
    }
    for (const none of [0, -1, Number.NaN, buckets.at(-1)! + 1]) {
      expect(parametersFor(set, none)).toBeUndefined();
    }
  }
});

test('padding at level 0: what no item fills', () => {
  const parameters = parametersFor('falcon512', 9)!;
  const [level] = parameters.levels;
  const { n, rows } = level!;
  const { bucket, width } = parameters;
  const count = bucket - 1;
  const first = [0, rows[0]!, rows[0]! + rows[1]!];
  const padding = new Set(placesOf(paddingOfZero(parameters, count)));
  const isFilled = (part: number, place: number): boolean =>
    part === 1 ? place % bucket < count && place < 2 * bucket : place < width * count;
  let places = 0;
  for (const [part, of] of rows.entries()) {
    for (let place = 0; place < of * n; place++) {
      const name = `${first[part]! + Math.floor(place / n)} ${place % n}`;
      if (padding.has(name)) places++;
      expect(padding.has(name), name).toBe(!isFilled(part, place));
    }
  }
  expect(padding.size).toBe(places);
});

test('pairs, pieces and outer commitments follow each other', () => {
  let number = 0;
  for (let a = 0; a < 5; a++) for (let b = a; b < 5; b++) expect(pairIndex(5, a, b)).toBe(number++);
  for (const row of TABLE) {
    for (const [i, level] of readRow(row).levels.entries()) {
      const { f, ft, fu, fg, r, kappa, kappa1, pairs, cut, ct, lengthX, m } = level;
      const pieces = piecesOf(level, i === 0 ? 3 : 2);
      const g = lengthX + ft * r * kappa;
      const h = g + fg * pairs;
      const inner = h + fu * pairs;
      expect(pieces).toMatchObject({ t: lengthX, g, h, inner });
      const step = cut === 0 ? 0 : kappa1;
      const last = inner + (ct === 0 ? 0 : f * kappa);
      expect(pieces.e).toEqual(Array.from({ length: i === 0 ? 3 : 2 }, (_, k) => last + k * step));
      expect(pieces.end).toBe(m);
      let at = lengthX;
      for (const { from, count } of outersOf(level, i)) {
        expect([from, count > 0]).toEqual([at, true]);
        at += count;
      }
      expect(at).toBe(inner);
    }
  }
});
