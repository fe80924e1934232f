/**
 * The parameters: the arithmetic of the check, its lemma, its limits, and what
 * it refuses.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commitmentsOf, weakest } from '../../scripts/parameters/binding.ts';
import { BUCKETS, bucketOf } from '../../scripts/parameters/buckets.ts';
import { checkConstants, checkMixed, checkRow } from '../../scripts/parameters/check.ts';
import { TARGET_BITS } from '../../scripts/parameters/constants.ts';
import { tableText } from '../../scripts/parameters/emit.ts';
import { errorBits, rounds } from '../../scripts/parameters/errors.ts';
import { bitsOfValue, expectedBits } from '../../scripts/parameters/gaussianCode.ts';
import {
  add,
  divide,
  exponential,
  type Interval,
  multiply,
  PI,
  point,
  square,
  squareRoot,
  subtract,
} from '../../scripts/parameters/interval.ts';
import { limitSq, quartersSq } from '../../scripts/parameters/limits.ts';
import { projectionError, ranges } from '../../scripts/parameters/projectionTail.ts';
import { measured } from '../../scripts/parameters/refine.ts';
import { isShorter, readShorter } from '../../scripts/parameters/shorter.ts';
import {
  acceptedCandidates,
  KEYS_LABEL as CHECKED_LABEL,
  KEYS_STREAM as CHECKED_STREAM,
  chacha8,
  foldedKeyWords,
  LEAST_ACCEPTED,
  SAMPLES,
  wordsBeyond,
} from '../../scripts/parameters/streams.ts';
import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { TABLE as BUILT_TABLE, TABLE_SHA256 } from '../../src/aggregate/parameters/table.gen.ts';
import { KEYS_LABEL, STREAM } from '../../src/aggregate/proof/transcript.ts';
import { HIDDEN_THRICE } from '../reference/hiddenRows.ts';
import { testRandom } from '../support/random.ts';

const file = new URL('../../vectors/table.json', import.meta.url);
const text = readFileSync(file, 'utf8');
const TABLE: readonly TableRow[] = JSON.parse(text);

/** A double that is zero or at least 2^-148 in magnitude, as a numerator over 2^200. */
const exact = (x: number): bigint => BigInt(x * 2 ** 200);

describe('interval arithmetic', () => {
  const random = testRandom('intervals');
  const draw = (): number =>
    (random.below(2 ** 31) + 1) * 2 ** (random.below(60) - 50) * (random.below(2) ? 1 : -1);
  const holds = ([lo, hi]: Interval, numerator: bigint, denominator = 1n): void => {
    const scale = 1n << 200n;
    expect(exact(lo) * denominator <= numerator * scale).toBe(true);
    expect(exact(hi) * denominator >= numerator * scale).toBe(true);
  };

  it('encloses sums, differences, products and quotients of integers', () => {
    for (let i = 0; i < 500; i++) {
      const x = (random.below(2 ** 31) - 2 ** 30) * 2 ** 20 + random.below(2 ** 20);
      const y = random.below(2 ** 30) * 2 ** 18 + random.below(2 ** 18) + 1;
      holds(add(point(x * 4), point(y)), BigInt(x) * 4n + BigInt(y));
      holds(subtract(point(x * 4), point(y)), BigInt(x) * 4n - BigInt(y));
      holds(multiply(point(x), point(y)), BigInt(x) * BigInt(y));
      holds(divide(point(x), point(y)), BigInt(x), BigInt(y));
      holds(square(point(x)), BigInt(x) ** 2n);
    }
  });

  it('moves every result outwards', () => {
    for (let i = 0; i < 200; i++) {
      const [lo, hi] = add(point(draw()), point(draw()));
      expect(lo).toBeLessThan(hi);
    }
    expect(square([-2, 3])[0]).toBe(0);
    expect(PI[0]).toBeLessThan(PI[1]);
  });

  it('encloses roots and exponentials, narrowly', () => {
    // e = 2.718281828459045235..., just above the nearest double
    const [low, high] = exponential(point(1));
    expect(low).toBeLessThan(Math.E);
    expect(high).toBeGreaterThan(Math.E * (1 + 2 ** -52));
    expect(high - low).toBeLessThan(1e-11);
    for (const x of [-60, -20, -3, -0.25, -1e-9, 0]) {
      const [lo, hi] = exponential(point(x));
      expect(lo / Math.exp(x)).toBeLessThan(1 + 1e-15);
      expect(hi / Math.exp(x)).toBeGreaterThan(1 - 1e-15);
      expect(hi / lo).toBeLessThan(1 + 1e-11);
    }
    for (const x of [0.3, 0.5, 2, 17]) {
      const root = squareRoot(point(x));
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

/** The row with one number of one level replaced. */
function changed(source: TableRow, level: number, at: number, by: number): TableRow {
  const levels = structuredClone(source[2]) as (number | number[])[][];
  (levels[level]![at] as number) += by;
  return [source[0], source[1], levels];
}

describe('the table of the proof', () => {
  it('has a row for every set and bucket, as it is written', () => {
    const names = TABLE.map(([set, bucket]) => [set, bucket]);
    expect(names).toEqual([512, 1024].flatMap((set) => BUCKETS.map((bucket) => [set, bucket])));
    expect(text).toBe(tableText(TABLE));
  });

  it('is the one that the proof uses, and its hash', () => {
    expect(BUILT_TABLE).toEqual(TABLE);
    const hash = createHash('sha256').update(JSON.stringify(TABLE)).digest('hex');
    expect(TABLE_SHA256).toBe(hash);
  });

  it('gives every count of items the smallest bucket that holds it', () => {
    for (let count = 1; count <= 1722; count++) {
      const bucket = bucketOf(count);
      expect(bucket >= count && (count === 1 || bucketOf(count - 1) <= bucket)).toBe(true);
    }
  });

  it('satisfies every inequality', () => {
    expect(checkConstants()).toEqual([]);
    for (const candidate of TABLE) expect(checkRow(candidate)).toEqual([]);
    expect(checkMixed(TABLE)).toEqual([]);
  });

  it('has 133 bits at every commitment, by doubles too', () => {
    for (const candidate of TABLE) {
      expect(0.292 * weakest(readRow(candidate)).size).toBeGreaterThan(TARGET_BITS - 1e-6);
    }
  });
});

describe('the check of a row of the proof refuses', () => {
  const good = TABLE.find(([set, bucket]) => set === 512 && bucket === 1722)!;
  const tail = good[2].length - 1;
  const tailInSq = good[2][tail]![3] as number;
  const tight = commitmentsOf(readRow(good));

  it('no good row', () => {
    expect(checkRow(good)).toEqual([]);
    expect(tight.length).toBe(3 * tail + 2);
  });

  it.each([
    ['a smaller inner rank', 1, 7, -1, 'inner'],
    ['a smaller outer rank', 1, 8, -1, 'outer'],
    ['a smaller rank of the tail', tail, 1, -1, 'inner'],
    ['a larger bound of the output', 1, 11, 1, 'inSq is not the bound before'],
    ['another bound of the input', 0, 10, 1, 'inSq is not the bound before'],
    ['a tail held to less than the output before', tail, 3, 1 - tailInSq, 'below the bound before'],
    ['fewer digits of t than 44 bits need', 1, 3, -1, 'digits of t'],
    ['a power of the base of g beyond q', 0, 5, 30, 'digits of g'],
    ['a cut that is not allowed', 1, 9, 16, 'cut'],
    ['a fraction', 1, 0, 0.5, 'not all integers'],
    ['codes of y that do not hold what the bound allows', 1, 12, -24, 'y does not fit its code'],
    ['squares of x beyond doubles', 0, 12, 40, 'sum of x^2'],
    ['sums of coefficients of more than 32 bits', 0, 10, 2 ** 44, 'the sums do not fit 32 bits'],
    ['projections that wrap around q', 0, 10, 2 ** 42, 'projections can wrap'],
    ['an unknown code', tail, 5, 256, 'an unknown code'],
    ['errors of more than 21 bits', tail, 6, 64, 'range of e'],
    ['more rows than challenges allow', 0, 0, -2500, 'more than 76 rows'],
    ['a round with too large an error', 0, 0, -2500, 'the error of a round'],
  ])('%s', (_, level, at, by, reason) => {
    expect(checkRow(changed(good, level, at, by)).join()).toContain(reason);
  });

  it.each([
    ['functionals that wrap around q', 2 ** 14, 'the functionals can wrap'],
    ['exact norms that do', 2 ** 18, 'the exact norm can wrap'],
  ])('%s', (_, bucket, reason) => {
    // two levels with rows so long that there are few
    const [first, last] = [good[2][0]!, good[2][tail]!].map((level) => [
      2 ** 30,
      ...level.slice(1),
    ]);
    expect(checkRow([good[0], bucket, [first!, last!]]).join()).toContain(reason);
  });

  it('columns of z that are not n, codes of z beyond 16 bits, codes of g beyond (q-1)/2', () => {
    const withList = (
      at: number,
      change: (list: (number | [number, number])[]) => void,
    ): string => {
      const levels = structuredClone(good[2]) as (number | (number | [number, number])[])[][];
      change(levels[tail]![at] as (number | [number, number])[]);
      return checkRow([good[0], good[1], levels]).join();
    };
    expect(withList(7, (list) => list.push([1, 40]))).toContain('columns of z');
    expect(withList(7, ([run]) => ((run as [number, number])[1] = 64))).toContain('range of z');
    expect(withList(8, (list) => (list[0] = 8 * 35))).toContain('range of g');
    expect(withList(8, (list) => list.pop())).toContain('tables of g');
  });

  it('rows whose errors add up beyond 2^-128', () => {
    const sum = rounds(readRow(good)).map(({ term }) => term);
    expect(sum.filter((term) => term === 'bits').length).toBe(tail + 1);
    // half a million levels of the same shape
    const many = rounds(readRow(good)).reduce((total, { error }) => total + error, 0n) << 3n;
    expect(errorBits(many)).toBeLessThan(128);
  });
});

describe('rows of shorter commitments', () => {
  const rows: readonly TableRow[] = JSON.parse(
    readFileSync(new URL('../../scripts/parameters/shorter.json', import.meta.url), 'utf8'),
  );
  const [, row] = rows;

  it('are none of the table, whose rows are read as ever', () => {
    expect(TABLE.some(isShorter)).toBe(false);
    for (const one of TABLE) expect(readShorter(one)).toMatchObject(readRow(one));
  });

  it('satisfy every inequality, and are shorter', () => {
    expect(rows.length).toBe(3);
    for (const one of rows) {
      expect(isShorter(one)).toBe(true);
      expect(checkRow(one)).toEqual([]);
      const before = TABLE.find(([set, bucket]) => set === one[0] && bucket === one[1])!;
      expect(measured(one).bytes).toBeLessThan(0.93 * measured(before).bytes);
    }
  });

  it('have rows in quarters with three bits more than ranks', () => {
    // 96 and 112 rows of Z_q against 128
    expect(quartersSq(5)).toBe(0n);
    expect(quartersSq(6)).toBeLessThan(quartersSq(7));
    expect(quartersSq(8)).toBeLessThan(limitSq(2));
  });

  it.each([
    ['fewer rows in quarters', 0, 14, -2, 'quarters'],
    ['a longer x', 0, 15, 2 ** 20, 'level 0: quarters'],
    ['codes of y_x that do not hold what the bound allows', 0, 16, -16, 'level 0: x: y does not'],
    ['digits of more than six bits', 0, 13, 5, 'digits of messages'],
    ['cut inner commitments of level 0', 0, 17, 6, 'level 0: ct'],
    ['an input that is held to less than the output before', 2, 10, -(2 ** 28), 'inSq is not'],
  ])('are refused: %s', (_, level, at, by, reason) => {
    expect(checkRow(changed(row!, level, at, by)).join()).toContain(reason);
  });
});

describe('a row of version 3', () => {
  it('has five more numbers, from which the lengths of x and v follow', () => {
    const { version, levels } = readRow(HIDDEN_THRICE);
    expect(version).toBe(3);
    expect(readRow(TABLE[0]!).version).toBe(2);
    const [zero, one, two] = levels;
    // 35 bits of u' in digits of 4, two commitments; three lifts of 44 bits; one more commitment
    expect(zero).toMatchObject({ w: 4, k: 6, xSq: 300_000, codeX: 40, ct: 0, ft: zero!.fu });
    expect(zero!.messages.map(({ digits, polynomials }) => digits * polynomials)).toEqual([
      9,
      9,
      11 * 3,
      9,
    ]);
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
