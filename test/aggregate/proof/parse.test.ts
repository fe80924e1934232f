/** One encoding of all fields, and only one: everything else is refused. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Parameters, readRow } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { packResidues } from '../../../src/aggregate/proof/bits.ts';
import { Q_NUMBER } from '../../../src/aggregate/proof/constants.ts';
import {
  type CodedRun,
  hasCode,
  runsOfG,
  runsOfLast,
  runsOfY,
  shiftOf,
} from '../../../src/aggregate/proof/gaussianFields.ts';
import { liftsOf } from '../../../src/aggregate/proof/lifts.ts';
import { encodeOrdinary, encodeTail } from '../../../src/aggregate/proof/prover/encode.ts';
import { FieldReader, Refused } from '../../../src/aggregate/proof/verifier/fieldReader.ts';
import { type ParsedSection, parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { NIGHTLY } from '../../support/run.ts';
import {
  encodedLevels,
  type FieldPlace,
  fastSection,
  fieldsOf,
  PROJECTIONS,
  rowOf,
} from './sections.ts';

const LONG = { timeout: 36_000_000 };

/** The bytes of what was read. */
const write = (of: Parameters, section: ParsedSection): Uint8Array =>
  concat(...encodedLevels(of, section).map((bytes) => bytes!));

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

/** Numbers below what each call says, the same for a seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** Fields of small random values for any row of the table. */
function madeSection({ levels, tail }: Parameters, seed: number): Omit<ParsedSection, 'end'> {
  const next = numbersOf(seed);
  const packed = (polys: number, width: number): Uint8Array =>
    new Uint8Array(8 * polys * width).map((_, i) => (i % 5 === 4 ? next(2) : next(256)));
  const lifts = (number: number): Uint8Array => {
    const { count, sent } = liftsOf(number);
    return residues(count * sent.length);
  };
  const sums = (count: number): number[] =>
    Array.from({ length: count }, () => next(2 ** 32) - 2 ** 31);
  const coded = (runs: readonly CodedRun[]): number[] =>
    runs.flatMap(({ count, code }) => {
      // mostly as the code expects them, and now and then as large as it allows
      const reach = () => 2 ** shiftOf(code) * (next(20) === 0 ? 256 : 16);
      return Array.from({ length: count }, () => {
        const most = reach();
        return next(2 * most) - most;
      });
    });
  const projection = (code: number): Int32Array =>
    Int32Array.from([...coded(runsOfY(code)), ...sums(2)]);
  const residues = (count: number): Uint8Array =>
    packResidues(Array.from({ length: count }, () => next(Q_NUMBER)));
  /** Of x, behind a hidden level. */
  const ofX = (number: number) => {
    const { w, codeX } = levels[number - 1] ?? { w: 0, codeX: 0 };
    return { others: [], ...(w > 0 && { yOfX: projection(codeX) }) };
  };
  const last = coded(runsOfLast(tail));
  return {
    levels: levels.map(({ kappa1, cut, codeY, w, k }, i) => {
      const outer = () => (w === 0 ? packed(kappa1, 44 - cut) : residues(16 * k));
      const hidden = () => concat(residues(16 * k), i === 0 ? residues(3) : new Uint8Array(0));
      return {
        retry: next(16),
        first: Array.from({ length: i === 0 ? 2 : 1 }, outer),
        counter: next(16),
        y: projection(codeY),
        ...ofX(i),
        w: Int32Array.from(sums(i === 0 ? 10 : 0)),
        b: w === 0 ? lifts(i) : hidden(),
        second: outer(),
      };
    }),
    tail: {
      retry: next(16),
      t: packed((tail.r - 1) * tail.kappa, 44 - tail.cut),
      g: Float64Array.from(coded(runsOfG(tail))),
      sealT: packed(1, 4),
      counter: next(16),
      y: projection(tail.codeY),
      ...ofX(levels.length),
      b: lifts(levels.length),
      h: residues(64 * (tail.pairs - 2)),
      sealH: packed(1, 4),
      z: Int32Array.from(last.slice(0, 64 * tail.n)),
      e: Int32Array.from(last.slice(64 * tail.n)),
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
      for (const [i, { y, yOfX }] of made.levels.entries()) {
        expect(read.levels[i]).toMatchObject({ y, ...(yOfX && { yOfX }) });
      }
      expect(read.tail.y).toEqual(made.tail.y);
      expect(read.tail.yOfX).toEqual(made.tail.yOfX);
      expect(write(of, read)).toEqual(bytes);
    }
  });

  test('every high part, with the smallest and the largest low part', () => {
    const { tail } = parameters;
    const runs = runsOfLast(tail);
    for (const low of [0, 1, -1]) {
      const values = runs.flatMap(({ count, code }) => {
        const unit = 2 ** shiftOf(code);
        const of = low < 0 ? unit - 1 : Math.min(low, unit - 1);
        return Array.from({ length: count }, (_, i) => unit * (((i * 7) % 512) - 256) + of);
      });
      const z = Int32Array.from(values.slice(0, 64 * tail.n));
      const e = Int32Array.from(values.slice(64 * tail.n));
      const bytes = write(parameters, { ...parsed, tail: { ...parsed.tail, z, e } });
      const read = parseSection(parameters, bytes, 0)!;
      expect(read.end).toBe(bytes.length);
      expect(read.tail.z).toEqual(z);
      expect(read.tail.e).toEqual(e);
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
      'sums of %i, in four bytes each behind the codes',
      (sum) => {
        const other = -1 - sum;
        const set = (y: Int32Array) => y.with(PROJECTIONS, sum).with(PROJECTIONS + 1, other);
        const bytes = withY(set(parsed.levels[0]!.y), set(parsed.tail.y));
        expect(bytes.length).toBe(proof.length);
        const read = parseSection(parameters, bytes, 0)!;
        expect(read.end).toBe(bytes.length);
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        for (const [name, { y }] of [
          ['0', read.levels[0]!] as const,
          ['tail', read.tail] as const,
        ]) {
          expect(y.length).toBe(PROJECTIONS + 2);
          expect([...y.subarray(PROJECTIONS)]).toEqual([sum, other]);
          const codes = place(`${name} y`);
          expect(place(`${name} sums`).at).toBe(codes.at + codes.length);
          expect(view.getInt32(codes.at + codes.length, true)).toBe(sum);
          expect(view.getInt32(codes.at + codes.length + 4, true)).toBe(other);
        }
        // nothing else is another byte
        const others = bytes.filter((byte, i) => byte !== proof[i]).length;
        expect(others).toBeLessThanOrEqual(16);
      },
    );

    test('the largest codes, with sums at both ends', () => {
      const most = (code: number) => 256 * 2 ** shiftOf(code);
      const ends = (code: number) =>
        Int32Array.from({ length: PROJECTIONS + 2 }, (_, j) => {
          if (j >= PROJECTIONS) return j === PROJECTIONS ? -END : END - 1;
          return j % 2 ? most(code) - 1 : -most(code);
        });
      const bytes = withY(ends(level.codeY), ends(tail.codeY));
      const read = parseSection(parameters, bytes, 0)!;
      expect(read.levels[0]!.y).toEqual(ends(level.codeY));
      expect(read.tail.y).toEqual(ends(tail.codeY));
      const encoded = (y: Int32Array) => encodeOrdinary(level, { ...parsed.levels[0]!, y });
      const largest = most(level.codeY);
      for (const j of [0, 1, PROJECTIONS - 1]) {
        const { y } = parsed.levels[0]!;
        expect(encoded(y.with(j, largest - 1))).toBeDefined();
        expect(encoded(y.with(j, largest))).toBeUndefined();
        expect(encoded(y.with(j, -largest))).toBeDefined();
        expect(encoded(y.with(j, -largest - 1))).toBeUndefined();
      }
      // the sums have no code, and no bound but their bytes
      expect(encoded(parsed.levels[0]!.y.with(PROJECTIONS + 1, END - 1))).toBeDefined();
    });

    test('the bytes end before, in and behind the sums', () => {
      for (const name of ['0 sums', 'tail sums']) {
        const { at } = place(name);
        for (let end = at - 1; end <= at + 8; end++) {
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
  test('by the reader alone: mistakes of ours are thrown', () => {
    expect(() => parseSection({ ...parameters, levels: [undefined as never] }, proof, 0)).toThrow(
      TypeError,
    );
  });

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
    // 44 bits: 2^44 - 118 is q - 1
    const h = place('tail h');
    const top = [largest, 0xff, 0xff, 0xff, 0xff];
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

  test('a bit of the filling of lifts at level 0; those of others fill their bytes', () => {
    const b = place('0 b');
    expect([b.length, place('tail b').length]).toEqual([1040, 682]);
    refuses(changed(b.at + b.length - 1, proof[b.at + b.length - 1]! | 0x10));
    refuses(changed(b.at + b.length - 1, proof[b.at + b.length - 1]! | 0x80));
  });

  test('a lift that is not below q', () => {
    for (const name of ['0 b', 'tail b']) {
      const { at } = place(name);
      const keep = proof[at + 5]! & 0xf0;
      const top = [0xff, 0xff, 0xff, 0xff, keep | 15];
      const least = Q_NUMBER % 256;
      expect(parseSection(parameters, changed(at, least - 1, ...top), 0)).toBeDefined();
      refuses(changed(at, least, ...top));
    }
  });

  test('values without a code', () => {
    const { tail } = parameters;
    const { code } = tail.codesZ[0]!;
    const largest = 256 * 2 ** shiftOf(code);
    expect(hasCode(largest - 1, code)).toBe(true);
    expect(hasCode(-largest, code)).toBe(true);
    expect(hasCode(largest, code)).toBe(false);
    expect(hasCode(-largest - 1, code)).toBe(false);
    const { z } = parsed.tail;
    const write = (x: number) => encodeTail(tail, { ...parsed.tail, z: z.with(0, x) });
    expect(write(largest - 1)).toBeDefined();
    expect(write(-largest)).toBeDefined();
    expect(write(largest)).toBeUndefined();
    expect(write(-largest - 1)).toBeUndefined();
  });

  test('g beyond (q-1)/2, where a row of the table would allow it', () => {
    const tail = { ...parameters.tail, codesG: parameters.tail.codesG.with(0, 8 * 36) };
    const of = { ...parameters, tail };
    const withG = (x: number) => {
      const g = parsed.tail.g.with(0, x);
      return parseSection(of, write(of, { ...parsed, tail: { ...parsed.tail, g } }), 0);
    };
    const most = (Q_NUMBER - 1) / 2;
    expect(withG(most)?.tail.g[0]).toBe(most);
    expect(withG(-most)?.tail.g[0]).toBe(-most);
    expect(withG(most + 1)).toBeUndefined();
    expect(withG(-most - 1)).toBeUndefined();
  });

  test.each(['0 y', 'tail g', 'tail y', 'tail ze'])('%s: states of the coder', (name) => {
    const { at } = place(name);
    for (const state of [at, at + 6]) {
      refuses(changed(state, 0, 0)); // below 2^32
      refuses(changed(state, ...new Array<number>(6).fill(255)));
      refuses(changed(state + 5, proof[state + 5]! ^ 1));
    }
  });

  test('more bytes than there are, and no fewer', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4);
    expect(new FieldReader(bytes, 1).take(3)).toEqual(bytes.subarray(1));
    expect(() => new FieldReader(bytes, 1).take(4)).toThrow(Refused);
    // two states of 2^32, and no values
    const code = [0, 1, 0, 0, 0, 0];
    const runs = [{ count: 0, code: 8 }];
    const none = Uint8Array.from([...code, ...code]);
    expect(new FieldReader(none, 0).gaussian(runs).length).toBe(0);
    expect(() => new FieldReader(none.subarray(1), 0).gaussian(runs)).toThrow(Refused);
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
