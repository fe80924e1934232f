/**
 * One encoding of all fields, and only one: what is read is written again as it was, everything
 * else is refused.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Parameters, readRow } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { packResidues } from '../../../src/aggregate/proof/bits.ts';
import { Q_NUMBER } from '../../../src/aggregate/proof/constants.ts';
import { encodeOrdinary, encodeTail } from '../../../src/aggregate/proof/prover/encode.ts';
import { fitsRice } from '../../../src/aggregate/proof/prover/rice.ts';
import { type ParsedSection, parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { concat } from '../../../src/bytes.ts';
import { NIGHTLY } from '../../support/run.ts';
import { type FieldPlace, fastSection, fieldsOf, PROJECTIONS, rowOf } from './sections.ts';

const LONG = { timeout: 36_000_000 };

/** The bytes of what was read. */
function write({ levels, tail }: Parameters, section: ParsedSection): Uint8Array {
  const parts = levels.map((level, i) => encodeOrdinary(level, section.levels[i]!)!);
  return concat(...parts, encodeTail(tail, section.tail)!);
}

const parameters = readRow(rowOf('falcon512', 1));
let proof: Uint8Array;
let fields: FieldPlace[];
let parsed: ParsedSection;
beforeAll(async () => {
  const section = await fastSection('falcon512', 1);
  proof = section.bytes;
  fields = fieldsOf(section);
  parsed = parseSection(parameters, proof, 0)!;
});
const place = (name: string): FieldPlace => fields.find((field) => field.name === name)!;

/** Fields of small random values for any row of the table. */
function madeSection({ levels, tail }: Parameters, seed: number): Omit<ParsedSection, 'end'> {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  const packed = (polys: number, width: number): Uint8Array =>
    new Uint8Array(8 * polys * width).map((_, i) => (i % 5 === 4 ? next(2) : next(256)));
  const lifts = (): Uint8Array => packResidues(Array.from({ length: 189 }, () => next(Q_NUMBER)));
  const rice = (count: number, k: number): Int32Array =>
    Int32Array.from({ length: count }, () => next(2 ** k) - 2 ** (k - 1));
  const projection = (k: number): Int32Array =>
    Int32Array.of(...rice(PROJECTIONS, k), next(2 ** 32) - 2 ** 31);
  return {
    levels: levels.map(({ kappa1, cut, riceY }, i) => ({
      retry: next(16),
      first: Array.from({ length: i === 0 ? 2 : 1 }, () => packed(kappa1, 44 - cut)),
      counter: next(16),
      y: projection(riceY),
      w: rice(i === 0 ? 10 : 0, 30),
      b: lifts(),
      second: packed(kappa1, 44 - cut),
    })),
    tail: {
      retry: next(16),
      t: packed((tail.r - 1) * tail.kappa, 44 - tail.cut),
      g: Float64Array.from(tail.riceG.flatMap((k) => [...rice(64, Math.min(k, 30))])),
      sealT: packed(1, 4),
      counter: next(16),
      y: projection(tail.riceY),
      b: lifts(),
      h: packResidues(Array.from({ length: 64 * (tail.pairs - 2) }, () => next(Q_NUMBER))),
      sealH: packed(1, 4),
      z: rice(64 * tail.n, tail.riceZ),
      e: rice(64 * tail.kappa, tail.riceE),
    },
  };
}

describe('one encoding', () => {
  test('a proof', () => {
    expect(parsed.end).toBe(proof.length);
    expect(write(parameters, parsed)).toEqual(proof);
  });

  test('random fields over every row of the table', LONG, () => {
    const rows = NIGHTLY ? TABLE : TABLE.filter((_, i) => i % 9 === 0);
    for (const [i, row] of rows.entries()) {
      const of = readRow(row);
      const made = madeSection(of, i + 1);
      const bytes = write(of, { ...made, end: 0 });
      const read = parseSection(of, concat(Uint8Array.of(1, 2), bytes, Uint8Array.of(3)), 2)!;
      expect(read.end, `row ${i}`).toBe(bytes.length + 2);
      expect(read.tail.z).toEqual(made.tail.z);
      expect(read.tail.g).toEqual(made.tail.g);
      expect(read.levels.map(({ y }) => y)).toEqual(made.levels.map(({ y }) => y));
      expect(read.tail.y).toEqual(made.tail.y);
      expect(write(of, read)).toEqual(bytes);
    }
  });

  test('every quotient, at every place in a byte', () => {
    const { tail } = parameters;
    const quotients = Int32Array.from({ length: 64 * tail.n }, (_, i) => (i * 7 + (i >> 5)) % 32);
    for (const rest of [0, 1, 2 ** tail.riceZ - 2, 2 ** tail.riceZ - 1]) {
      const z = quotients.map((quotient) => {
        const number = quotient * 2 ** tail.riceZ + rest;
        return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
      });
      const bytes = write(parameters, { ...parsed, tail: { ...parsed.tail, z } });
      const read = parseSection(parameters, bytes, 0)!;
      expect(read.end).toBe(bytes.length);
      expect(read.tail.z).toEqual(z);
      expect(read.tail.e).toEqual(parsed.tail.e);
    }
  });

  describe('the projection', () => {
    const level = parameters.levels[0]!;
    const { tail } = parameters;
    /** The section with another y at level 0, and another at the tail. */
    const withY = (first: Int32Array, last = parsed.tail.y): Uint8Array =>
      write(parameters, {
        ...parsed,
        levels: parsed.levels.with(0, { ...parsed.levels[0]!, y: first }),
        tail: { ...parsed.tail, y: last },
      });
    const END = 2 ** 31;

    test.each([-END, -END + 1, -256, -1, 0, 1, 255, 256, END - 2, END - 1])(
      'a sum of %i, in four bytes behind the codes',
      (sum) => {
        const bytes = withY(
          parsed.levels[0]!.y.with(PROJECTIONS, sum),
          parsed.tail.y.with(PROJECTIONS, sum),
        );
        expect(bytes.length).toBe(proof.length);
        const read = parseSection(parameters, bytes, 0)!;
        expect(read.end).toBe(bytes.length);
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        for (const [name, { y }] of [
          ['0', read.levels[0]!] as const,
          ['tail', read.tail] as const,
        ]) {
          expect(y.length).toBe(PROJECTIONS + 1);
          expect(y[PROJECTIONS]).toBe(sum);
          const codes = place(`${name} y`);
          expect(place(`${name} sum`).at).toBe(codes.at + codes.length);
          expect(view.getInt32(codes.at + codes.length, true)).toBe(sum);
        }
        // nothing else is another byte
        const others = bytes.filter((byte, i) => byte !== proof[i]).length;
        expect(others).toBeLessThanOrEqual(8);
      },
    );

    test('the largest codes, with sums at both ends', () => {
      const largest = 2 ** (level.riceY + 4) - 1;
      const ends = (k: number) =>
        Int32Array.from({ length: PROJECTIONS + 1 }, (_, j) => {
          const top = 2 ** (k + 4) - 1;
          return j === PROJECTIONS ? -END : j % 2 ? top : -top - 1;
        });
      const bytes = withY(ends(level.riceY), ends(tail.riceY));
      const read = parseSection(parameters, bytes, 0)!;
      expect(read.levels[0]!.y).toEqual(ends(level.riceY));
      expect(read.tail.y).toEqual(ends(tail.riceY));
      const encoded = (y: Int32Array) => encodeOrdinary(level, { ...parsed.levels[0]!, y });
      for (const j of [0, 1, PROJECTIONS - 1]) {
        const { y } = parsed.levels[0]!;
        expect(encoded(y.with(j, largest))).toBeDefined();
        expect(encoded(y.with(j, largest + 1))).toBeUndefined();
        expect(encoded(y.with(j, -largest - 1))).toBeDefined();
        expect(encoded(y.with(j, -largest - 2))).toBeUndefined();
      }
      // the sum has no code, and no bound but its bytes
      expect(encoded(parsed.levels[0]!.y.with(PROJECTIONS, END - 1))).toBeDefined();
    });

    test('zero bits to a whole byte, whatever the codes leave of it', () => {
      const zeros = new Int32Array(PROJECTIONS + 1).with(PROJECTIONS, -1);
      const left = new Set<number>();
      for (let ones = 0; ones < 8; ones++) {
        // one more bit for each value with a quotient of 1
        const y = zeros.map((x, j) => (j < ones ? 2 ** (level.riceY - 1) : x));
        const bytes = withY(y);
        expect(parseSection(parameters, bytes, 0)!.levels[0]!.y).toEqual(y);
        const bits = PROJECTIONS * (level.riceY + 1) + ones;
        const rest = -bits & 7;
        left.add(rest);
        const last = place('0 y').at + Math.ceil(bits / 8) - 1;
        expect([...bytes.subarray(last + 1, last + 5)]).toEqual([255, 255, 255, 255]);
        for (let bit = 8 - rest; bit < 8; bit++) {
          const filled = bytes.slice();
          filled[last]! |= 1 << bit;
          expect(parseSection(parameters, filled, 0)).toBeUndefined();
        }
      }
      expect(left.size).toBe(8);
    });

    test('the bytes end before, in and behind the sum', () => {
      for (const name of ['0 sum', 'tail sum']) {
        const { at } = place(name);
        for (let end = at - 1; end <= at + 4; end++) {
          expect(parseSection(parameters, proof.subarray(0, end), 0)).toBeUndefined();
        }
      }
    });
  });

  test('what stands behind it makes no difference', () => {
    for (const behind of [0, 255]) {
      for (const count of [1, 2, 3, 4, 5, 64]) {
        const bytes = concat(proof, new Uint8Array(count).fill(behind));
        const read = parseSection(parameters, bytes, 0)!;
        expect(read.end).toBe(proof.length);
        expect(read.tail.e).toEqual(parsed.tail.e);
      }
    }
  });
});

describe('refused', () => {
  const refuses = (bytes: Uint8Array) => expect(parseSection(parameters, bytes, 0)).toBeUndefined();
  const changed = (at: number, ...values: number[]) => {
    const bytes = proof.slice();
    bytes.set(values, at);
    return bytes;
  };

  test.each(['0 retry', '0 counter', 'tail retry', 'tail counter'])('%s above 15', (name) => {
    expect(parseSection(parameters, changed(place(name).at, 15), 0)).toBeDefined();
    refuses(changed(place(name).at, 16));
    refuses(changed(place(name).at, 255));
  });

  test('a cut value above (q-1) / 2^cut, a residue of q', () => {
    const largest = (Q_NUMBER - 1) % 256;
    // 44 bits: 2^44 - 540 is q - 1
    const h = place('tail h');
    const top = [largest, 0xfd, 0xff, 0xff, 0xff];
    const keep = proof[h.at + 5]! & 0xf0;
    expect(parseSection(parameters, changed(h.at, ...top, keep | 15), 0)).toBeDefined();
    refuses(changed(h.at, largest + 1, ...top.slice(1), keep | 15));
    refuses(changed(h.at, ...new Array<number>(6).fill(255)));
    const { cut } = parameters.levels[0]!;
    const most = Math.floor((Q_NUMBER - 1) / 2 ** cut);
    const width = 44 - cut;
    const u = proof.slice();
    const set = (value: number) => {
      for (let bit = 0; bit < width; bit++) {
        const at = place('0 u').at + (bit >> 3);
        u[at] = (u[at]! & ~(1 << (bit & 7))) | ((Math.floor(value / 2 ** bit) % 2) << (bit & 7));
      }
      return u;
    };
    expect(parseSection(parameters, set(most), 0)).toBeDefined();
    if (most + 1 < 2 ** width) refuses(set(most + 1));
  });

  test('a bit of the filling', () => {
    const b = place('0 b');
    refuses(changed(b.at + b.length - 1, proof[b.at + b.length - 1]! | 0x10));
    refuses(changed(b.at + b.length - 1, proof[b.at + b.length - 1]! | 0x80));
  });

  test('a quotient of 32, values without a code', () => {
    const y = place('0 y');
    refuses(changed(y.at, 255, 255, 255, 255));
    const { tail } = parameters;
    const largest = 2 ** (tail.riceZ + 4) - 1;
    expect(fitsRice(largest, tail.riceZ)).toBe(true);
    expect(fitsRice(-largest - 1, tail.riceZ)).toBe(true);
    expect(fitsRice(largest + 1, tail.riceZ)).toBe(false);
    const { z } = parsed.tail;
    const write = (x: number) => encodeTail(tail, { ...parsed.tail, z: z.with(0, x) });
    expect(write(largest)).toBeDefined();
    expect(write(-largest - 1)).toBeDefined();
    expect(write(largest + 1)).toBeUndefined();
    expect(write(-largest - 2)).toBeUndefined();
  });

  test('ones up to the last bit of the bytes', () => {
    const { e } = parsed.tail;
    for (const count of [1, 2, 3, 4, 5]) {
      const bytes = proof.slice(0, proof.length - (e.length >> 2));
      bytes.fill(255, bytes.length - count);
      refuses(bytes);
      refuses(proof.subarray(0, bytes.length));
    }
  });

  test('the bytes end early, at any place', LONG, () => {
    for (let end = 0; end < proof.length; end += NIGHTLY ? 1 : 41) refuses(proof.subarray(0, end));
    refuses(proof.subarray(0, proof.length - 1));
    expect(parseSection(parameters, proof, proof.length)).toBeUndefined();
    expect(parseSection(parameters, proof, proof.length + 5)).toBeUndefined();
  });
});

describe('any bytes', () => {
  const runs = NIGHTLY ? 50_000 : 2_000;

  test('what is accepted is what is written', LONG, () => {
    let accepted = 0;
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      // a proof up to some place, and something else behind it
      fc
        .tuple(fc.nat(proof.length), fc.uint8Array({ maxLength: 200 }), fc.boolean())
        .map(([at, more, toTheEnd]) =>
          concat(proof.subarray(0, at), more, proof.subarray(toTheEnd ? at + more.length : at)),
        ),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        const section = parseSection(parameters, input, 0);
        if (section === undefined) return true;
        accepted += 1;
        const written = write(parameters, section);
        return section.end === written.length && written.every((byte, i) => byte === input[i]);
      }),
      { numRuns: runs },
    );
    expect(accepted).toBeGreaterThan(runs / 1000);
  });
});
