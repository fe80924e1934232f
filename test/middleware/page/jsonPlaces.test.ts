/**
 * Places in JSON texts: the walk agrees with JSON.parse on what is JSON, and finds the elements
 * where they are.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonPlaces, placeOf } from '../../../src/middleware/page/browser/worker/jsonPlaces.ts';
import { NIGHTLY } from '../../support/run.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('jsonPlaces', () => {
  test('finds a fault exactly where JSON.parse finds one', () => {
    let faulty = 0;
    const scar = fc.record({
      at: fc.nat(),
      removed: fc.nat(3),
      put: fc.constantFrom('', ',', '"', '{', ']', ':', '\\', '01', 'nul', '\n', '\u0001', '-'),
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), scar, (json, { at, removed, put }) => {
        const from = at % (json.length + 1);
        for (const text of [json, json.slice(0, from) + put + json.slice(from + removed)]) {
          const { fault } = jsonPlaces(text);
          expect(fault === undefined, JSON.stringify(text)).toBe(isJson(text));
          if (fault) faulty++;
          expect(fault?.offset ?? 0).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: NIGHTLY ? 5000 : 1500 },
    );
    expect(faulty).toBeGreaterThan(1000);
  });

  test('finds the elements of the outermost array', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 3 })),
        fc.constantFrom('', ' ', '\n', '\r\n\t'),
        (values, blank) => {
          const parts = values.map((value) => JSON.stringify(value));
          const text = `[${parts.map((part) => blank + part + blank).join(',')}]`;
          const { elements, fault } = jsonPlaces(text);
          expect(fault).toBeUndefined();
          expect(elements.map((from, i) => text.slice(from, from + parts[i]!.length))).toEqual(
            parts,
          );
        },
      ),
    );
  });

  test('says what is wrong, and where', () => {
    const cases: [string, string, number, number][] = [
      ['', 'the file is empty', 1, 1],
      ['  \n ', 'the file is empty', 2, 2],
      ['[1,\n2', 'the file ends too early', 2, 2],
      ['[1,\n2\n3]', 'expected a comma or ]', 3, 1],
      ['[1,]', 'expected a value', 1, 4],
      ['[{"a" 1}]', 'expected a colon', 1, 7],
      ['[{a: 1}]', 'expected a name in double quotes', 1, 3],
      ['[{"a": 1,}]', 'expected a name in double quotes', 1, 10],
      ['["abc]', 'this string does not end properly', 1, 2],
      ['[1] 2', 'nothing may follow the end of the array', 1, 5],
      ['[tru]', 'expected a value', 1, 2],
    ];
    for (const [text, message, line, column] of cases) {
      const { fault } = jsonPlaces(text);
      expect(fault?.message, text).toBe(message);
      expect(placeOf(text, fault!.offset), text).toEqual({ line, column });
    }
  });

  test('deep nesting and long strings need no deep stack', () => {
    expect(jsonPlaces('['.repeat(200_000) + ']'.repeat(200_000)).fault).toBeUndefined();
    const long = `["0x${'ab'.repeat(8_000_000)}", 1]`;
    const startMs = performance.now();
    expect(jsonPlaces(long).elements).toEqual([1, long.length - 2]);
    // A tenth of a second. A reader that looks back at what it has read would take hours.
    expect(performance.now() - startMs).toBeLessThan(40_000);
  });
});
