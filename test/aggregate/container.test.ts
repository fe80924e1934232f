import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeHeader,
  formOfKind,
  kindOf,
  MAX_ITEMS,
  parseHeader,
  SALT_BYTES,
  setOfKind,
} from '../../src/aggregate/container.ts';
import { NIGHTLY } from '../support/run.ts';

const RUNS = NIGHTLY ? 5000 : 500;

const pattern = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 255);

function header(kinds: readonly number[]) {
  return encodeHeader({
    format: 'bundle',
    version: 1,
    statement: pattern(32, 1),
    kinds: Uint8Array.from(kinds),
    salts: pattern(SALT_BYTES * kinds.length, 2),
  });
}

/** A header with runs written by hand, each [kind, length]. */
function byHand(count: number, runs: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = new Uint8Array(40 + 2 * runs.length + SALT_BYTES * count);
  const view = new DataView(bytes.buffer);
  bytes.set([0x46, 0x4c, 0x52, 0x59, 1, 1]);
  view.setUint16(38, count);
  for (const [i, [kind, length]] of runs.entries()) {
    view.setUint16(40 + 2 * i, (kind << 13) | (length - 1));
  }
  return bytes;
}

describe('container', () => {
  it('gives every pair of set and form a kind of its own', () => {
    const kinds = (['falcon512', 'falcon1024'] as const).flatMap((set) =>
      (['compressed', 'padded', 'constantTime'] as const).map((form) => {
        const kind = kindOf(set, form);
        expect([setOfKind(kind), formOfKind(kind)]).toEqual([set, form]);
        return kind;
      }),
    );
    expect(kinds).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is laid out as documented', () => {
    const bytes = header([0, 0, 0, 4]);
    expect(bytes.length).toBe(40 + 4 + 160);
    expect([...bytes.subarray(0, 6)]).toEqual([0x46, 0x4c, 0x52, 0x59, 1, 1]);
    expect(bytes.subarray(6, 38)).toEqual(pattern(32, 1));
    expect([...bytes.subarray(38, 44)]).toEqual([0, 4, 0x00, 0x02, 0x80, 0x00]);
    expect(bytes.subarray(44)).toEqual(pattern(160, 2));
  });

  it('reads what it writes, for any order of kinds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 60 }),
        fc.uint8Array({ maxLength: 9 }),
        (kinds, body) => {
          const head = header(kinds);
          const bytes = new Uint8Array([...head, ...body]);
          expect(parseHeader(bytes)).toEqual({
            format: 'bundle',
            version: 1,
            statement: pattern(32, 1),
            kinds: Uint8Array.from(kinds),
            salts: pattern(40 * kinds.length, 2),
            bodyAt: head.length,
          });
          for (let i = 0; i < head.length; i++) {
            expect(parseHeader(bytes.subarray(0, i))).toBeUndefined();
          }
        },
      ),
      { numRuns: RUNS / 5 },
    );
  });

  it('whatever parses, is written again in the same way', () => {
    let parsed = 0;
    const fields = fc.record({
      count: fc.integer({ min: 0, max: 12 }),
      runs: fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 12 })), {
        maxLength: 6,
      }),
    });
    fc.assert(
      fc.property(fields, ({ count, runs }) => {
        const bytes = byHand(count, runs);
        const found = parseHeader(bytes);
        if (found === undefined) return;
        parsed++;
        expect(encodeHeader(found)).toEqual(bytes.subarray(0, found.bodyAt));
      }),
      { numRuns: 20 * RUNS },
    );
    expect(parsed).toBeGreaterThan(20);
  });

  it('refuses every other way to write the runs', () => {
    expect(parseHeader(byHand(3, [[0, 3]]))).toBeDefined();
    expect(parseHeader(byHand(3, [[0, 1], [1, 2]]))).toBeDefined(); // biome-ignore format: pairs
    const refused: [string, number, [number, number][]][] = [
      ['no item', 0, [[0, 1]]],
      ['two runs of one kind', 3, [[0, 1], [0, 2]]], // biome-ignore format: pairs
      ['a run beyond the count', 3, [[0, 4]]],
      ['a later run beyond the count', 3, [[0, 2], [1, 2]]], // biome-ignore format: pairs
      ['a kind that does not exist', 3, [[6, 3]]],
      ['another kind that does not exist', 3, [[7, 3]]],
    ];
    for (const [what, count, runs] of refused) {
      expect(parseHeader(byHand(count, runs)), what).toBeUndefined();
    }
  });

  it('refuses other magics, formats, and counts before it allocates', () => {
    const good = header([0, 1]);
    for (let i = 0; i < 5; i++) {
      for (const flip of [1, 2, 128]) {
        const bytes = good.slice();
        bytes[i]! ^= flip;
        expect(parseHeader(bytes)).toBeUndefined();
      }
    }
    const most: [number, number] = [0, MAX_ITEMS];
    expect(parseHeader(byHand(MAX_ITEMS, [most]))).toBeDefined();
    expect(parseHeader(byHand(MAX_ITEMS + 1, [most, [1, 1]]))).toBeUndefined();
    expect(parseHeader(byHand(MAX_ITEMS, [most]).subarray(0, -1))).toBeUndefined();
  });

  it('holds the most items that a run can say', () => {
    const kinds = new Array<number>(MAX_ITEMS).fill(5);
    const found = parseHeader(header(kinds));
    expect(found?.kinds).toEqual(Uint8Array.from(kinds));
    expect(found?.bodyAt).toBe(42 + 40 * MAX_ITEMS);
  });

  it('reads from within a larger buffer', () => {
    const bytes = header([2, 2, 3]);
    const inside = new Uint8Array(bytes.length + 20).fill(9);
    inside.set(bytes, 11);
    expect(parseHeader(inside.subarray(11, 11 + bytes.length))).toEqual(parseHeader(bytes));
  });
});
