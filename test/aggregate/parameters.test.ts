/**
 * The parameters: the arithmetic of the check, its lemma and its limits; the table, and the tools
 * that make it. What the check refuses is in parameterCheck.test.ts.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commitmentsOf, isQuarters, leastSize } from '../../scripts/parameters/binding.ts';
import { BUCKETS, bucketOf } from '../../scripts/parameters/buckets.ts';
import { checkRow } from '../../scripts/parameters/check.ts';
import { checkTable } from '../../scripts/parameters/checkTable.ts';
import { QUARTERS_BITS, TARGET_BITS } from '../../scripts/parameters/constants.ts';
import { tableText } from '../../scripts/parameters/emit.ts';
import { errorBits, runsOf } from '../../scripts/parameters/errors.ts';
import { bitsOfValue, expectedBits } from '../../scripts/parameters/gaussianCode.ts';
import * as interval from '../../scripts/parameters/interval.ts';
import { blockSize, limitSq, quartersSq } from '../../scripts/parameters/limits.ts';
import { merged } from '../../scripts/parameters/merge.ts';
import { projectionError, ranges } from '../../scripts/parameters/projectionTail.ts';
import { measured } from '../../scripts/parameters/refine.ts';
import { report, summary } from '../../scripts/parameters/report.ts';
import { partsOf } from '../../scripts/parameters/sections.ts';
import {
  acceptedCandidates,
  KEYS_LABEL as CHECKED_LABEL,
  KEYS_STREAM as CHECKED_STREAM,
  chacha8,
  foldedKeyWords,
  keyColumns,
  LEAST_ACCEPTED,
  SAMPLES,
  wordsBeyond,
} from '../../scripts/parameters/streams.ts';
import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { TABLE as BUILT_TABLE } from '../../src/aggregate/parameters/table.gen.ts';
import { MAX_SECTION_ITEMS } from '../../src/aggregate/proof/index.ts';
import { KEYS_LABEL, STREAM } from '../../src/aggregate/proof/transcript.ts';
import { HIDDEN_THRICE, SINGLE_DIGIT } from '../reference/hiddenRows.ts';
import { testRandom } from '../support/random.ts';
import { FOUND, FOUND_512_128, OPEN_512_128 } from './parameterRows.ts';

const file = new URL('../../vectors/table.json', import.meta.url);
const text = readFileSync(file, 'utf8');
const TABLE: readonly TableRow[] = JSON.parse(text);

/** A double that is zero or at least 2^-148 in magnitude, as a numerator over 2^200. */
const exact = (x: number): bigint => BigInt(x * 2 ** 200);

describe('interval arithmetic', () => {
  const random = testRandom('intervals');
  const draw = (): number =>
    (random.below(2 ** 31) + 1) * 2 ** (random.below(60) - 50) * (random.below(2) ? 1 : -1);
  const holds = ([lo, hi]: interval.Interval, numerator: bigint, denominator = 1n): void => {
    const scale = 1n << 200n;
    expect(exact(lo) * denominator <= numerator * scale).toBe(true);
    expect(exact(hi) * denominator >= numerator * scale).toBe(true);
  };

  it('encloses sums, differences, products and quotients of integers', () => {
    for (let i = 0; i < 500; i++) {
      const x = (random.below(2 ** 31) - 2 ** 30) * 2 ** 20 + random.below(2 ** 20);
      const y = random.below(2 ** 30) * 2 ** 18 + random.below(2 ** 18) + 1;
      holds(interval.add(interval.point(x * 4), interval.point(y)), BigInt(x) * 4n + BigInt(y));
      holds(
        interval.subtract(interval.point(x * 4), interval.point(y)),
        BigInt(x) * 4n - BigInt(y),
      );
      holds(interval.multiply(interval.point(x), interval.point(y)), BigInt(x) * BigInt(y));
      holds(interval.divide(interval.point(x), interval.point(y)), BigInt(x), BigInt(y));
      holds(interval.square(interval.point(x)), BigInt(x) ** 2n);
    }
  });

  it('moves every result outwards', () => {
    for (let i = 0; i < 200; i++) {
      const [lo, hi] = interval.add(interval.point(draw()), interval.point(draw()));
      expect(lo).toBeLessThan(hi);
    }
    expect(interval.square([-2, 3])[0]).toBe(0);
    expect(interval.PI[0]).toBeLessThan(interval.PI[1]);
  });

  it('encloses roots and exponentials, narrowly', () => {
    // e = 2.718281828459045235..., just above the nearest double
    const [low, high] = interval.exponential(interval.point(1));
    expect(low).toBeLessThan(Math.E);
    expect(high).toBeGreaterThan(Math.E * (1 + 2 ** -52));
    expect(high - low).toBeLessThan(1e-11);
    for (const x of [-60, -20, -3, -0.25, -1e-9, 0]) {
      const [lo, hi] = interval.exponential(interval.point(x));
      expect(lo / Math.exp(x)).toBeLessThan(1 + 1e-15);
      expect(hi / Math.exp(x)).toBeGreaterThan(1 - 1e-15);
      expect(hi / lo).toBeLessThan(1 + 1e-11);
    }
    for (const x of [0.3, 0.5, 2, 17]) {
      const root = interval.squareRoot(interval.point(x));
      expect(root[0] * root[0]).toBeLessThan(x);
      expect(root[1] * root[1]).toBeGreaterThan(x);
    }
  });
});

/** E e^(-t |X|^2) for X = sum of (+-1 +- i) w_k, by all signs. */
function phiOf(w: readonly (readonly [number, number])[], t: number): number {
  const norm = Math.hypot(...w.flat());
  let sum = 0;
  for (let signs = 0; signs < 4 ** w.length; signs++) {
    let re = 0;
    let im = 0;
    for (const [k, [u, v]] of w.entries()) {
      const a = (signs >> (2 * k)) & 1 ? 1 : -1;
      const b = (signs >> (2 * k + 1)) & 1 ? 1 : -1;
      re += (a * u - b * v) / norm;
      im += (a * v + b * u) / norm;
    }
    sum += Math.exp(-t * (re * re + im * im));
  }
  return sum / 4 ** w.length;
}

describe('the lemma of the projection', () => {
  it('is proved for every vector, with 2^-134 a level', () => {
    const bits = errorBits(projectionError());
    expect(bits).toBeGreaterThanOrEqual(134.1);
    // a pair of two equal coefficients alone comes near it: what is proved cannot be much better
    expect(bits).toBeLessThan(134.5);
  });

  it('bounds phi of vectors of every share', () => {
    const random = testRandom('projection of pairs');
    const all = ranges();
    expect(all.map(({ to }) => to).slice(0, -1)).toEqual(all.map(({ from }) => from).slice(1));
    expect([all[0]!.from, all.at(-1)!.to]).toEqual([0, 1]);
    const met = new Set<number>();
    for (let trial = 0; trial < 300; trial++) {
      const count = 1 + random.below(6);
      const w = Array.from({ length: count }, (_, k) => {
        const size = k === 0 ? 1 + random.below(12) : 1 + random.below(6);
        return [random.below(2 * size + 1) - size, random.below(size) + 1] as const;
      });
      const squares = w.map(([u, v]) => u * u + v * v);
      const share = Math.max(...squares) / squares.reduce((a, b) => a + b);
      for (const [i, { from, to, t, phi }] of all.entries()) {
        if (share < from || share > to) continue;
        met.add(i);
        expect(phiOf(w, t)).toBeLessThan(phi);
      }
    }
    expect(met.size).toBe(all.length);
  });

  it('is sharp to a thousandth for many equal coefficients, or two', () => {
    const even = ranges()[0]!;
    const gaussian = 1 / (1 + 2 * even.t);
    const two = phiOf(
      [
        [1, 0],
        [1, 0],
      ],
      even.t,
    );
    expect(even.phi / Math.max(gaussian, two)).toBeLessThan(1.001);
  });
});

describe('limits of norms', () => {
  it('are those of the block size 133/0.292 with the best number of columns', () => {
    const size = TARGET_BITS / 0.292;
    const delta =
      Math.log((size / (2 * Math.PI * Math.E)) * (Math.PI * size) ** (1 / size)) / (2 * (size - 1));
    const lnQ = Math.log(2 ** 44 - 117);
    for (const kappa of [3, 9, 24]) {
      const n = 64 * kappa;
      let least = Number.POSITIVE_INFINITY;
      for (let d = n + 1; d < 12 * n; d++) least = Math.min(least, (d - 1) * delta + (n / d) * lnQ);
      const limit = Math.log(Number(limitSq(kappa))) / 2;
      // below every whole number of columns, and not by much
      expect(limit).toBeLessThan(least);
      expect(least - limit).toBeLessThan(1e-4);
    }
    expect(limitSq(60)).toBe((2n ** 44n - 117n) ** 2n);
  });

  it('are those of 136 bits for rows in quarters, of which four are a whole one', () => {
    for (const k of [5, 6, 7, 8]) {
      const limit = quartersSq(k);
      expect(0.292 * blockSize(limit, k / 4)).toBeCloseTo(QUARTERS_BITS, 4);
      expect(blockSize(limit, k, 16)).toBe(blockSize(limit, k / 4));
    }
    expect(quartersSq(8)).toBeLessThan(limitSq(2));
    expect(quartersSq(0)).toBe(0n);
    // the largest X for six rows: 4 * 24/5 * X is what they withstand
    expect(Math.floor(Number((5n * quartersSq(6)) / 96n))).toBe(21_505);
  });
});

describe('codes by standard deviation', () => {
  it('share the slots of a table, and cost next to nothing beyond the entropy', () => {
    for (let index = 40; index < 48; index++) {
      let sum = 0;
      for (let h = -256; h < 256; h++) sum += 2 ** -(bitsOfValue(h * 32, index) - 5);
      expect(sum).toBeCloseTo(1, 12);
    }
    expect(bitsOfValue(256 * 32, 40)).toBe(Number.POSITIVE_INFINITY);
    for (let sigma = 300; sigma < 2000; sigma *= 1.07) {
      const entropy = Math.log2(sigma * Math.sqrt(2 * Math.PI * Math.E));
      const bits = expectedBits(sigma * sigma);
      expect(Math.abs(bits - entropy - 0.002)).toBeLessThan(0.012);
    }
  });
});

describe('what fixed labels lead to', () => {
  it('ChaCha8 of the zero key', () => {
    const start = new Int32Array(16);
    start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
    const out = new Int32Array(16);
    chacha8(start, out);
    expect(Buffer.from(out.buffer).toString('hex', 0, 16)).toBe('3e00ef2f895f40d67f5bb8e81f09a5a1');
  });

  it('takes the keys of the proof', () => {
    expect([CHECKED_LABEL, CHECKED_STREAM]).toEqual([KEYS_LABEL, STREAM.keys]);
  });

  it('finds words of the key at or above q, in both places of a pair', () => {
    const pair = (low: bigint, high: bigint): Uint8Array => {
      const bits = low | (high << 44n);
      return Uint8Array.from({ length: 11 }, (_, i) => Number((bits >> BigInt(8 * i)) & 255n));
    };
    const q = 2n ** 44n - 117n;
    expect(wordsBeyond(pair(q - 1n, q - 1n))).toBe(0);
    expect(wordsBeyond(pair(q, 0n))).toBe(1);
    expect(wordsBeyond(pair(0n, q))).toBe(1);
    expect(wordsBeyond(pair(2n ** 44n - 1n, 2n ** 44n - 1n))).toBe(2);
    for (let bit = 0n; bit < 44n; bit++) {
      const word = (2n ** 44n - 1n) ^ (1n << bit);
      const found = word >= q ? 2 : 0;
      expect(wordsBeyond(pair(word, word))).toBe(found);
    }
    expect(foldedKeyWords([40, 20])).toBe(0);
  });

  it('more than half of all candidates for a challenge pass', () => {
    expect(acceptedCandidates()).toBeGreaterThan(LEAST_ACCEPTED * SAMPLES);
  });
});

describe('the table of the proof', () => {
  it('has a row for every set and bucket, as it is written', () => {
    const names = TABLE.map(([set, bucket]) => [set, bucket]);
    const ofSet = (set: 512 | 1024) => BUCKETS[set].map((bucket) => [set, bucket]);
    expect(names).toEqual([...ofSet(512), ...ofSet(1024)]);
    expect(text).toBe(tableText(TABLE));
  });

  it('is the one that the proof uses, with the hash of the text of every row', () => {
    expect(BUILT_TABLE).toEqual(TABLE);
    const rows = text
      .replaceAll(/\s/g, '')
      .slice(1, -1)
      .split(/,(?=\[\d+,\d+,\[\[)/);
    const hashes = BUILT_TABLE.map((row) => Buffer.from(readRow(row).rowHash).toString('hex'));
    expect(hashes).toEqual(
      rows.map((row) => createHash('shake256', { outputLength: 32 }).update(row).digest('hex')),
    );
    expect(new Set(hashes).size).toBe(TABLE.length);
  });

  it('gives every count of items the smallest bucket that holds it', () => {
    for (const [set, most] of [
      [512, MAX_SECTION_ITEMS.falcon512],
      [1024, MAX_SECTION_ITEMS.falcon1024],
    ] as const) {
      expect(BUCKETS[set].at(-1)).toBe(most);
      for (let count = 1; count <= most; count++) {
        const bucket = bucketOf(set, count);
        expect(bucket >= count && (count === 1 || bucketOf(set, count - 1) <= bucket)).toBe(true);
      }
    }
  });

  it('satisfies every inequality', () => {
    expect(checkTable(TABLE, text)).toEqual([]);
  });

  it('has 133 bits at every commitment, 136 at quarters, by doubles too', () => {
    for (const candidate of [...TABLE, ...FOUND]) {
      const all = commitmentsOf(readRow(candidate));
      const quarters = all.filter(isQuarters);
      expect(0.292 * leastSize(all)).toBeGreaterThan(TARGET_BITS - 1e-6);
      if (quarters.length === 0) continue;
      expect(0.292 * leastSize(quarters)).toBeGreaterThan(QUARTERS_BITS - 1e-6);
    }
  });

  it('has three commitments a level, two in the tail, and one more where messages are hidden', () => {
    const names = (row: TableRow) => commitmentsOf(readRow(row)).map(({ name }) => name);
    expect(names(OPEN_512_128).length).toBe(3 * 4 + 2);
    expect(names(FOUND_512_128).length).toBe(3 * 4 + 2 + 2);
    expect(names(FOUND_512_128).filter((name) => name === 'quarters').length).toBe(2);
  });
});

describe('the columns of the key matrix that the check looks at', () => {
  it('are those of every commitment, quarters among them', () => {
    // six rows of quarters meet 11 digits of three lifts of level 0; no other rank is beyond two
    const columns = keyColumns([HIDDEN_THRICE]);
    expect(columns.slice(2)).toEqual([33, 33, 33, 33]);
    // inner: two rows of the tail meet 140 columns; outer: one row of level 2 meets v_t, 4 digits
    // of 2 polynomials for every row, and v_g
    const { r, pairs } = readRow(HIDDEN_THRICE).levels[2]!;
    expect(columns[1]).toBeGreaterThanOrEqual(140);
    expect(columns[0]).toBeGreaterThanOrEqual(4 * r * 2 + 4 * pairs);
    // eight rows of the level whose two lifts have 15 digits of 3 bits
    expect(keyColumns([SINGLE_DIGIT]).slice(7)).toEqual([30]);
  });

  it('are enough for several rows', () => {
    const both = keyColumns([HIDDEN_THRICE, SINGLE_DIGIT]);
    const [one, other] = [HIDDEN_THRICE, SINGLE_DIGIT].map((row) => keyColumns([row]));
    expect(both).toEqual(other!.map((count, i) => Math.max(count, one![i] ?? 0)));
  });
});

describe('rows of searches', () => {
  it('replace those that are dearer, and no others', () => {
    expect(measured(FOUND_512_128).bytes).toBeLessThan(0.93 * measured(OPEN_512_128).bytes);
    expect(merged([OPEN_512_128], FOUND)).toEqual(FOUND);
    expect(merged(FOUND, [OPEN_512_128])).toEqual(FOUND);
    expect(merged([], [...FOUND, ...FOUND].reverse())).toEqual(FOUND);
  });

  it('have all 18 numbers, and satisfy every inequality', () => {
    const [set, bucket, levels] = OPEN_512_128;
    const short: TableRow = [set, bucket, [levels[0]!.slice(0, 13), ...levels.slice(1)]];
    expect(() => merged([], [short])).toThrow('level 0: not 18 numbers');
    const narrow: TableRow = [set, bucket, levels.slice(1)];
    expect(() => merged([], [narrow])).toThrow('inSq is not the bound before');
  });

  it('are written as they are read', () => {
    for (const row of FOUND) {
      expect(checkRow(row)).toEqual([]);
      expect(JSON.parse(tableText([row]))).toEqual([row]);
    }
  });
});

describe('the report', () => {
  it('has parts that add up to all bytes', () => {
    for (const row of [...FOUND, OPEN_512_128]) {
      const { bytes } = measured(row);
      const parts = partsOf(readRow(row), bytes);
      expect(Object.values(parts).reduce((a, b) => a + b)).toBe(bytes);
      expect(Math.min(...Object.values(parts))).toBeGreaterThanOrEqual(0);
    }
    // level 0: four messages of seven rows, and three b_32; level 1: three of six; 4 * 2 * kappa1
    // polynomials of 37 bits less 7, and two lifts at levels 2 and 3
    const hidden = 4 * 7 * 88 + 17 + 3 * 6 * 88;
    const open = (2 * 6 * 64 * 33 + 2 * 4 * 64 * 38) / 8 + 2 * 682;
    const { bytes } = measured(FOUND_512_128);
    expect(partsOf(readRow(FOUND_512_128), bytes)["u' and b, or p and b_32"]).toBe(hidden + open);
  });

  it('names every row, every kind of commitment and every error', () => {
    const lines = [...summary(TABLE), ...report(TABLE)].join('\n');
    const counted = TABLE.reduce((sum, row) => sum + commitmentsOf(readRow(row)).length, 0);
    expect(lines).toContain(`${counted} pairs of rank and norm`);
    for (const [set, bucket] of TABLE) expect(lines).toMatch(new RegExp(` ${set} +${bucket} `));
    const names = ['error alpha', 'error bits', 'K, runs', 'quarters', 'y_x, U_x, V_x', 'ct'];
    for (const name of [...names, 'all runs', 'largest loss']) {
      expect(lines).toContain(name);
    }
  });

  it('counts the runs of the theorem', () => {
    const parameters = readRow(FOUND_512_128);
    const [zero, ...others] = [...parameters.levels, parameters.tail].map(({ r }) => r + 1);
    // two good points on each line; one round more for alpha and for rho
    const { extractor, all } = runsOf(parameters);
    expect(extractor).toBe(others.reduce((product, k) => product * k, zero!));
    const fromLevel = others.map((_, i) => others.slice(i).reduce((product, k) => product * k, 1));
    const ofBreaks = fromLevel.reduce((sum, runs) => sum + 4 * 2 * runs, 6 * 2 * extractor);
    expect(all).toBe(extractor + ofBreaks);
    // what docs/soundness.md says of the largest rows (2, item 5)
    const largest = TABLE.filter(([, bucket]) => bucket === 1722).map((row) =>
      runsOf(readRow(row)),
    );
    const log2s = largest.map((runs) => [runs.extractor, runs.all].map((x) => Math.log2(x)));
    expect(log2s.map((pair) => pair.map((x) => x.toFixed(2)))).toEqual([
      ['18.56', '22.30'],
      ['20.00', '23.74'],
    ]);
    expect(Math.max(...TABLE.map((row) => runsOf(readRow(row)).all))).toBe(largest[1]!.all);
  });
});

describe('a row', () => {
  it('has numbers from which the lengths of x and v follow', () => {
    const { levels } = readRow(HIDDEN_THRICE);
    const [zero, one, two] = levels;
    // 35 bits of u' in digits of 4, two commitments; three lifts of 44 bits; one more commitment
    expect(zero).toMatchObject({ w: 4, k: 6, xSq: 300_000, codeX: 40, ct: 0, ft: zero!.fu });
    const columns = zero!.messages.map(({ digits, polynomials }) => digits * polynomials);
    expect(columns).toEqual([9, 9, 11 * 3, 9]);
    expect(zero!.messages.map(({ from }) => from)).toEqual([0, 9, 18, 51]);
    expect(zero!.messages.map(({ isLifts }) => isLifts)).toEqual([false, false, true, false]);
    expect(zero!.lengthX).toBe(60);
    // 38 bits of t in digits of 9; nothing is cut off u, of two polynomials
    expect(one).toMatchObject({ w: 5, ct: 6, ft: 5, lengthX: 9 * 2 + 9 * 2 + 9 * 2 });
    // 29 bits of t; 40 of u; two lifts
    expect(two).toMatchObject({ w: 6, ct: 15, ft: 4, lengthX: 7 + 8 * 2 + 7 });
    const { r, pairs } = two!;
    expect(two!.m).toBe(30 + 4 * r * 2 + (4 + 5) * pairs + 3 * 2 + 2 * 1);
    expect(zero!.m).toBe(60 + 5 * zero!.r * 2 + (4 + 5) * zero!.pairs + 3);
  });
});
