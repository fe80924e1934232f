/** The reader of JSON: as JSON.parse, but for integers that a number does not hold. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { parseByReader, parseBySource } from '../../src/client/exactJson.ts';
import { parseExactJson } from '../../src/client/index.ts';
import { NIGHTLY } from '../support/run.ts';

const runs = NIGHTLY ? 20_000 : 300;

/**
 * Beside every text one that makes the reader walk it, since that is skipped where no run of digits
 * is long.
 */
const WALK = 9_007_199_254_740_993n;
const walked = (text: string) => {
  const all = `[${text},${WALK}]`;
  const read = parseExactJson(all);
  // Both ways, whichever this engine takes.
  expect(parseByReader(all)).toEqual(read);
  expect(parseBySource(all)).toEqual(read);
  const [value, big] = read as unknown[];
  expect(big).toBe(WALK);
  return value;
};

/** An engine that calls revivers without the source, as those before ECMAScript 2026 do. */
async function withoutSource<T>(work: (parse: typeof parseExactJson) => T): Promise<T> {
  const parse = JSON.parse;
  JSON.parse = (text, reviver?: (key: string, value: unknown) => unknown) =>
    parse(text, reviver && ((key, value) => reviver(key, value)));
  try {
    vi.resetModules();
    const module = await import('../../src/client/exactJson.ts');
    return work(module.parseExactJson);
  } finally {
    JSON.parse = parse;
    vi.resetModules();
  }
}

describe('integers', () => {
  test('ids of 18 digits are exact, in any place', () => {
    const text =
      ' {"process_id" : 912345678901234567 ,"list":[ 912345678901234568,{"id":-912345678901234569}]} ';
    expect(parseExactJson(text)).toEqual({
      process_id: 912345678901234567n,
      list: [912345678901234568n, { id: -912345678901234569n }],
    });
  });

  test('every integer keeps its value, and is a number as long as a number holds it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
        const read = parseExactJson(String(integer));
        expect(BigInt(read as bigint)).toBe(integer);
        expect(typeof read).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'bigint');
        expect(parseByReader(String(integer))).toBe(read);
        expect(parseBySource(String(integer))).toBe(read);
      }),
      { numRuns: runs },
    );
    expect(parseExactJson('9007199254740991')).toBe(9007199254740991);
    expect(parseExactJson('9007199254740992')).toBe(9007199254740992n);
    expect(Object.is(walked('-0'), -0)).toBe(true);
  });

  test('are exact in an engine that does not tell their source', async () => {
    const text = '{"id":912345678901234567,"n":[1,-912345678901234568,1.5,1e30]}';
    const read = await withoutSource((parse) => parse(text));
    expect(read).toEqual({
      id: 912345678901234567n,
      n: [1, -912345678901234568n, 1.5, 1e30],
    });
    expect(parseExactJson(text)).toEqual(read);
    await withoutSource((parse) => {
      expect(() => parse('{"id":912345678901234567')).toThrow(SyntaxError);
    });
  });

  test('what is no plain integer stays a number, and digits in strings stay text', () => {
    expect(walked('12345678901234567890.5')).toBe(12345678901234567000);
    expect(walked('1e30')).toBe(1e30);
    expect(walked('"912345678901234567"')).toBe('912345678901234567');
    expect(walked(String.raw`"\"912345678901234567\\"`)).toBe('"912345678901234567\\');
    expect(walked('{"912345678901234567":1}')).toEqual({ '912345678901234567': 1 });
  });
});

describe('everything else is as JSON.parse has it', () => {
  test('any JSON, with any blanks', () => {
    const blanks = fc.constantFrom('', ' ', '\n', '\t\r ', '  ');
    fc.assert(
      fc.property(fc.json(), fc.jsonValue(), blanks, (text, value, blank) => {
        for (const each of [text, JSON.stringify(value, null, blank)]) {
          const spaced = each.replaceAll(/([[\]{},:])(?=(?:[^"]*"[^"]*")*[^"]*$)/g, (mark) =>
            each.includes('\\') ? mark : blank + mark + blank,
          );
          const expected = JSON.parse(spaced);
          // Numbers of the generator may be integers beyond 2^53: those are the one difference.
          const rounded = (read: unknown): unknown =>
            JSON.parse(JSON.stringify(read, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
          expect(rounded(walked(spaced))).toEqual(JSON.parse(JSON.stringify(expected)));
          expect(rounded(parseExactJson(spaced))).toEqual(JSON.parse(JSON.stringify(expected)));
        }
      }),
      { numRuns: runs },
    );
  });

  test('any string, escaped or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (string) => {
        const escaped = JSON.stringify(string);
        const all = [...string].map((c) =>
          [...Array(c.length).keys()]
            .map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`)
            .join(''),
        );
        expect(walked(escaped)).toBe(string);
        expect(walked(`"${all.join('')}"`)).toBe(string);
        expect(walked(`{${escaped}:0}`)).toEqual(JSON.parse(`{${escaped}:0}`));
      }),
      { numRuns: runs },
    );
  });

  test('the same texts are refused', () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '}', '9'.repeat(18), '\\', '-'))
      .map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      });
    const refuses = (parse: (text: string) => unknown, text: string) => {
      try {
        parse(text);
        return false;
      } catch (error) {
        return (error as Error).name;
      }
    };
    let refused = 0;
    fc.assert(
      fc.property(mutated, (text) => {
        const expected = refuses(JSON.parse, text);
        if (expected) refused++;
        expect(refuses(parseExactJson, text)).toBe(expected);
        expect(refuses(parseByReader, text)).toBe(expected);
        expect(refuses(parseBySource, text)).toBe(expected);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 10);
    expect(refuses(parseExactJson, '{912345678901234567:1}')).toBe('SyntaxError');
    expect(refuses(parseExactJson, '0912345678901234567')).toBe('SyntaxError');
  });

  test('names that mean something to objects, and names twice', () => {
    const read = walked('{"__proto__":{"a":1},"constructor":2,"x":1,"x":2}') as object;
    expect(Object.keys(read)).toEqual(['__proto__', 'constructor', 'x']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect((read as { x: number }).x).toBe(2);
  });

  test('long strings and many values do not slow it to a crawl', () => {
    const hex = 'ab12'.repeat(200_000);
    const text = JSON.stringify({ aggregate: `0x${hex}`, list: Array(100_000).fill(1) });
    const startMs = performance.now();
    expect(walked(text)).toEqual(JSON.parse(text));
    // Far less than a second. What is quadratic in either takes minutes.
    expect(performance.now() - startMs).toBeLessThan(40_000);
  });
});
