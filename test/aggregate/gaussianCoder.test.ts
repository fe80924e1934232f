import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CodeReader,
  CodeWriter,
  coefficientModel,
  encodeCoefficients,
  highModel,
  type Model,
  maxCodedBytes,
} from '../../src/aggregate/gaussianCoder.ts';
import {
  FREQUENCIES_512,
  FREQUENCIES_1024,
  PROOF_FREQUENCIES,
} from '../../src/aggregate/gaussianTables.gen.ts';
import { NIGHTLY } from '../support/run.ts';
import { referenceDecode, referenceEncode } from './referenceBundle.ts';

const check = [0x01234567, 0xfedcba98] as const;
const checkWords = fc.tuple(fc.nat(0xffffffff), fc.nat(0xffffffff));

/** Reads one list of coefficients, from `begin` onwards, as the sections of a bundle are read. */
function decodeCoefficients(
  set: 'falcon512' | 'falcon1024',
  bytes: Uint8Array,
  begin: number,
  count: number,
  words: readonly [number, number],
): { readonly values: Int16Array; readonly end: number } | undefined {
  const reader = new CodeReader(bytes, begin);
  const values = new Int16Array(count);
  if (!reader.read(coefficientModel(set), values)) return undefined;
  const end = reader.finish(words);
  return Number.isNaN(end) ? undefined : { values, end };
}

/** A lower bound on the coded bytes of any values, for any check words. */
function minCodedBytes(runs: readonly (readonly [Model, count: number])[]): number {
  const bytes = runs.reduce((sum, [{ frequency }, count]) => {
    return sum + (count * (24 - Math.log2(Math.max(...frequency)))) / 8;
  }, 0);
  return Math.max(12, Math.floor(bytes) + 4);
}

const RUNS = NIGHTLY ? 2000 : 200;

const sets = [
  { set: 'falcon512', n: 512, sigma: 165.736617183, table: FREQUENCIES_512 },
  { set: 'falcon1024', n: 1024, sigma: 168.388571447, table: FREQUENCIES_1024 },
] as const;

/** Any even number of values, near the middle and far out. */
const coefficients = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: -400, max: 400 }) },
        { weight: 1, arbitrary: fc.integer({ min: -2047, max: 2047 }) },
        { weight: 1, arbitrary: fc.constantFrom(-2047, 2047, 0) },
      ),
      fc.integer({ min: -300, max: 300 }),
    ),
    { maxLength: 300 },
  )
  .map((pairs) => pairs.flat());

describe('frequencies', () => {
  it.each(sets)('$set: 4095 values share 2^24, none is left out', ({ table }) => {
    expect(table.length).toBe(2048);
    expect(Math.min(...table)).toBe(1);
    expect(table[0]! + 2 * table.slice(1).reduce((a, b) => a + b)).toBe(2 ** 24);
  });

  it.each(sets)('$set: cost of a Gaussian s2 is its entropy', ({ n, sigma, table }) => {
    // In doubles from the definition, beside the big integers of the script.
    const weight = table.map((_, k) => Math.exp((-k * k) / (2 * sigma * sigma)));
    const sum = 2 * weight.reduce((a, b) => a + b) - 1;
    let entropy = 0;
    let cost = 0;
    for (let k = 0; k < table.length; k++) {
      const p = ((k === 0 ? 1 : 2) * weight[k]!) / sum;
      if (p > 0) entropy -= p * Math.log2(weight[k]! / sum);
      cost -= p * Math.log2(table[k]! / 2 ** 24);
    }
    expect((n * entropy) / 8).toBeCloseTo(n === 512 ? 602.9 : 1208.7, 1);
    expect((n * (cost - entropy)) / 8).toBeLessThan(0.03);
  });
});

describe('the documented test vectors', () => {
  const document = readFileSync(new URL('../../docs/bundle-format.md', import.meta.url), 'utf8');
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

  it.each(sets)('$set: table and short lists', ({ set, n, table }) => {
    const column = n === 512 ? 1 : 2;
    const rows = document.matchAll(/^\| ([-\d, ]+|none) \| `([0-9a-f]+)` \| `([0-9a-f]+)` \|$/gm);
    let count = 0;
    for (const row of rows) {
      const values = row[1] === 'none' ? [] : row[1]!.split(',').map(Number);
      const coded = encodeCoefficients(set, Int16Array.from(values), [0, 0]);
      expect(Buffer.from(coded).toString('hex')).toBe(row[column + 1]);
      const { length } = values;
      expect(decodeCoefficients(set, coded, 0, length, [0, 0])?.end).toBe(coded.length);
      count++;
    }
    expect(count).toBe(5);
    const shorts = Uint8Array.from(table.flatMap((f) => [f >> 8, f & 255]));
    expect(document).toContain(`\`${sha256(shorts)}\``);
    const long = Int16Array.from({ length: 1000 }, (_, i) => ((7 * i * i) % 701) - 350);
    expect(document).toContain(`\`${sha256(encodeCoefficients(set, long, [0, 0]))}\``);
  });
});

describe.each(sets)('coder of $set', ({ set, n, table }) => {
  it('gives the bytes of the reference coder, and takes them back', () => {
    fc.assert(
      fc.property(coefficients, checkWords, (values, words) => {
        const bytes = encodeCoefficients(set, Int16Array.from(values), words);
        expect(bytes).toEqual(referenceEncode(n, values, words));
        expect(decodeCoefficients(set, bytes, 0, values.length, words)).toEqual({
          values: Int16Array.from(values),
          end: bytes.length,
        });
      }),
      { numRuns: RUNS },
    );
  });

  it('holds every value', () => {
    const values = Int16Array.from({ length: 4096 }, (_, i) => Math.min(i, 4094) - 2047);
    const bytes = encodeCoefficients(set, values, check);
    expect(decodeCoefficients(set, bytes, 0, values.length, check)?.values).toEqual(values);
    expect(referenceDecode(n, bytes, values.length, check).values).toEqual(Array.from(values));
  });

  it('stays within its bounds at the likeliest and the rarest values', () => {
    for (const value of [0, 1, -1, 2047, -2047]) {
      for (const count of [0, 2, 4, 512, 100_000]) {
        for (const word of [0, 0xffffffff]) {
          const values = new Int16Array(count).fill(value);
          const size = encodeCoefficients(set, values, [word, word]).length;
          expect(size).toBeGreaterThanOrEqual(minCodedBytes([[coefficientModel(set), count]]));
          expect(size).toBeLessThanOrEqual(maxCodedBytes(count));
        }
      }
    }
  });

  it('reads from any position and leaves what follows', () => {
    const values = Int16Array.from({ length: 64 }, (_, i) => 5 * i - 160);
    const coded = encodeCoefficients(set, values, check);
    const bytes = new Uint8Array(coded.length + 12).fill(0xa5);
    bytes.set(coded, 7);
    expect(decodeCoefficients(set, bytes, 7, 64, check)).toEqual({ values, end: 7 + coded.length });
  });

  it('has one string of bytes for each list: whatever decodes, encodes to the same bytes', () => {
    let decoded = 0;
    const judge = (bytes: Uint8Array, count: number) => {
      const found = decodeCoefficients(set, bytes, 0, count, check);
      if (found === undefined) return;
      decoded++;
      expect(encodeCoefficients(set, found.values, check)).toEqual(bytes.subarray(0, found.end));
    };
    const values = Int16Array.from({ length: 40 }, (_, i) => ((i * 97) % 500) - 250);
    const coded = encodeCoefficients(set, values, check);
    judge(coded, values.length);
    expect(decoded).toBe(1);
    for (let bit = 0; bit < 8 * coded.length; bit++) {
      const bytes = coded.slice();
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      judge(bytes, values.length);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(12), (bytes, pairs) => {
        judge(bytes, 2 * pairs);
      }),
      { numRuns: 10 * RUNS },
    );
  });

  it('refuses every cut, a state out of range, and an end in other states', () => {
    const values = Int16Array.from({ length: 32 }, (_, i) => 11 * i - 170);
    const coded = encodeCoefficients(set, values, check);
    for (let length = 0; length < coded.length; length++) {
      expect(decodeCoefficients(set, coded.subarray(0, length), 0, 32, check)).toBeUndefined();
    }
    for (const at of [0, 6]) {
      const low = coded.slice();
      low.fill(0, at, at + 2);
      expect(decodeCoefficients(set, low, 0, 32, check)).toBeUndefined();
    }
    expect(decodeCoefficients(set, coded, 0, 32, check)).toBeDefined();
    expect(decodeCoefficients(set, coded, 0, 32, [check[0] + 1, check[1]])).toBeUndefined();
    expect(decodeCoefficients(set, coded, 0, 32, [check[0], check[1] - 1])).toBeUndefined();
    // One value fewer or more than were coded.
    expect(decodeCoefficients(set, coded, 0, 30, check)).toBeUndefined();
    const longer = new Uint8Array(coded.length + 8);
    longer.set(coded);
    expect(decodeCoefficients(set, longer, 0, 34, check)).toBeUndefined();
  });

  it('refuses a first state below 2^32 that would lead to the same values', () => {
    // One word that belongs into the first state is left in the stream: the first value and all
    // states after it come out as they should, from other bytes.
    const M = 2n ** 24n;
    let made = 0;
    for (let seed = 1; seed <= 50; seed++) {
      const values = Array.from({ length: 8 }, (_, i) => ((seed * (i + 3) * 37) % 401) - 200);
      const coded = encodeCoefficients(set, Int16Array.from(values), check);
      const x = BigInt(`0x${Buffer.from(coded.subarray(0, 6)).toString('hex')}`);
      const f = BigInt(table[Math.abs(values[0]!)]!);
      let c = 0n;
      for (let v = -2047; v < values[0]!; v++) c += BigInt(table[Math.abs(v)]!);
      const popped = f * (x / M) + (x % M) - c;
      if (popped >= 2n ** 32n) continue; // no word is read here, so none can be left
      const short = popped >> 16n;
      const word = Number(popped & 0xffffn);
      const state = (short / f) * M + (short % f) + c;
      if (state >= 2n ** 32n) continue;
      const head = Buffer.from(state.toString(16).padStart(12, '0'), 'hex');
      const bytes = Uint8Array.from([
        ...head,
        ...coded.subarray(6, 12),
        ...[word >> 8, word & 255],
        ...coded.subarray(12),
      ]);
      expect(() => referenceDecode(n, bytes, 8, check)).toThrow('a state below 2^32');
      expect(decodeCoefficients(set, bytes, 0, 8, check)).toBeUndefined();
      made++;
    }
    expect(made).toBeGreaterThan(10);
  });

  it('takes starting states from 2^32 on', () => {
    const model = coefficientModel(set);
    const states = (first: number, second: number) =>
      Uint8Array.from(
        [first, second].flatMap((state) => [
          ...Buffer.from(state.toString(16).padStart(12, '0'), 'hex'),
        ]),
      );
    const least = 2 ** 32;
    const isRead = (...of: Parameters<typeof states>) =>
      new CodeReader(states(...of), 0).read(model, new Int16Array(0));
    expect(isRead(least, least)).toBe(true);
    expect(isRead(least - 1, least)).toBe(false);
    expect(isRead(least, least - 1)).toBe(false);
  });

  it('moves a word in for a state of 2^32 - 1, and none for 2^32', () => {
    // A list whose states come to 2^48 - 2^16 and more before the last value is written: its word
    // moved out, 2^32 - 1 is left.
    const { least, frequency, start } = coefficientModel(set);
    const u = frequency.findIndex((f, i) => i > -least && f > 256 && f < 512);
    expect(start[u]!).toBeGreaterThan(2 ** 24 - 2 ** 16);
    const word = frequency[u]! * (2 ** 24 - 1) - 2 ** 32;
    for (const lane of [0, 1]) {
      const values = [0, 0, 0, 0].with(2 + lane, u + least);
      const words = [0, 0].with(lane, word) as [number, number];
      const coded = encodeCoefficients(set, Int16Array.from(values), words);
      expect(coded).toEqual(referenceEncode(n, values, words));
      expect([...decodeCoefficients(set, coded, 0, 4, words)!.values]).toEqual(values);
    }
  });

  it('stops where the bytes end, and asks for enough of them first', () => {
    const model = coefficientModel(set);
    // the last word is that of the second state, then that of the first
    for (const values of [
      [0, 2047],
      [2047, 0],
    ]) {
      const coded = encodeCoefficients(set, Int16Array.from(values), check);
      expect(coded.length).toBe(14);
      expect(new CodeReader(coded, 0).read(model, new Int16Array(2))).toBe(true);
      for (const end of [12, 13]) {
        const cut = coded.subarray(0, end);
        expect(new CodeReader(cut, 0).read(model, new Int16Array(2))).toBe(false);
      }
    }
    // the tables are made once
    expect(coefficientModel(set)).toBe(model);
  });

  it('throws for what it cannot hold', () => {
    for (const value of [2048, -2048, 32767, -32768]) {
      expect(() => encodeCoefficients(set, Int16Array.of(0, value), check)).toThrow(RangeError);
      expect(() => encodeCoefficients(set, Int16Array.of(value, 0), check)).toThrow(RangeError);
    }
    expect(() => encodeCoefficients(set, Int16Array.of(1, 2, 3), check)).toThrow(RangeError);
  });
});

describe('the high parts of a proof', () => {
  const document = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

  it.each(PROOF_FREQUENCIES.map((table, j) => [j, table] as const))(
    'table %i: 512 values share 2^24, and it is the documented one',
    (j, table) => {
      expect(table.length).toBe(256);
      expect(Math.min(...table)).toBe(1);
      expect(2 * table.reduce((a, b) => a + b)).toBe(2 ** 24);
      const words = new Uint8Array(Uint32Array.from(table).buffer);
      const hash = createHash('sha256').update(words).digest('hex');
      const shown = [0, 8, 64, 255].map((h) => table[h]).join(' | ');
      expect(document).toContain(`| ${j} | ${shown} | \`${hash}\` |`);
    },
  );

  const runsOf = fc.array(
    fc.tuple(fc.nat(7), fc.array(fc.integer({ min: -256, max: 255 }), { maxLength: 20 })),
    { minLength: 1, maxLength: 6 },
  );

  it('go run by run, each with its table, in one string', () => {
    fc.assert(
      fc.property(runsOf, checkWords, (list, words) => {
        const runs = list.map(([j, values]) => {
          const even = values.length % 2 === 0 ? values : [...values, 0];
          return [highModel(j), Int16Array.from(even)] as const;
        });
        const count = runs.reduce((sum, [, values]) => sum + values.length, 0);
        const writer = new CodeWriter(count, words);
        for (const [model, values] of runs.toReversed()) writer.write(model, values);
        const bytes = writer.finish();
        expect(bytes.length).toBeLessThanOrEqual(maxCodedBytes(count));
        const sizes = runs.map(([model, { length }]) => [model, length] as const);
        expect(bytes.length).toBeGreaterThanOrEqual(minCodedBytes(sizes));
        const reader = new CodeReader(bytes, 0);
        for (const [model, values] of runs) {
          const out = new Int16Array(values.length);
          expect(reader.read(model, out)).toBe(true);
          expect(out).toEqual(values);
        }
        expect(reader.finish(words)).toBe(bytes.length);
      }),
      { numRuns: RUNS },
    );
  });

  it('stay within their bounds at the likeliest and the rarest values', () => {
    for (let j = 0; j < 8; j++) {
      const model = highModel(j);
      for (const value of [0, -1, 255, -256]) {
        for (const count of [0, 2, 272, 100_000]) {
          const writer = new CodeWriter(count, [0, 0]);
          writer.write(model, new Int16Array(count).fill(value));
          const { length } = writer.finish();
          expect(length).toBeGreaterThanOrEqual(minCodedBytes([[model, count]]));
          expect(length).toBeLessThanOrEqual(maxCodedBytes(count));
          // docs/protocol.md, 11.2
          expect(length).toBeLessThanOrEqual(3 * count + 12);
        }
      }
    }
  });

  it('are not written beyond the model', () => {
    for (const value of [256, -257]) {
      const writer = new CodeWriter(2, [0, 0]);
      expect(() => writer.write(highModel(3), Int16Array.of(0, value))).toThrow(RangeError);
    }
  });
});
