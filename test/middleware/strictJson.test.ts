import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCodedError } from '../../src/errors.ts';
import { type JsonLimits, parseStrictJson } from '../../src/middleware/http/strictJson.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, limits?: JsonLimits) => parseStrictJson(bytes(text), limits);

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isCodedError(error)) return error.code;
    throw error;
  }
  return 'none';
}

describe('JSON from strangers', () => {
  it('gives what JSON.parse gives, for everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, noUnicodeString: false }), (text) => {
        // A generated object may hold `__proto__`; both parsers treat it alike.
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse about which texts are JSON', () => {
    const piece = fc.constantFrom(...'[]{}:,"\\ ab1-.e\n'.split(''), '"a"', 'true', '\\"', '\\\\');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(codeOf(() => parse(text))).toBe('MALFORMED_JSON');
          return;
        }
        if (/"a".*"a"/.test(text)) return; // perhaps the same name twice
        expect(parse(text)).toEqual(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['the same name twice', '{"digest":"0x","digest":"0x00"}'],
    ['the same name twice, once escaped', '{"digest":"0x","d\\u0069gest":"0x00"}'],
    ['the same name twice, deeper', '{"data":[{"a":1,"b":2,"a" : 3}]}'],
    ['too deep', '['.repeat(17) + ']'.repeat(17)],
    ['deep and never closed', '['.repeat(1_000_000)],
    ['an unclosed string', '{"digest":"0x'],
    ['a string closed by an escaped quote only', '{"digest":"0x\\"'],
    ['nothing', ''],
    ['a byte order mark', '\ufeff{}'],
    ['trailing text', '{} {}'],
    ['an over-long name', `{"${'a'.repeat(300)}":1}`],
  ])('refuses %s', (_, text) => {
    expect(codeOf(() => parse(text))).toBe('MALFORMED_JSON');
  });

  it('allows equal names in different objects, and equal strings as values', () => {
    expect(parse('[{"a":"a"},{"a":["a","a"]},{"b":{"a":1},"a":2}]')).toEqual([
      { a: 'a' },
      { a: ['a', 'a'] },
      { b: { a: 1 }, a: 2 },
    ]);
  });

  it('refuses bytes that are not UTF-8', () => {
    const broken = Uint8Array.of(0x22, 0xff, 0x22);
    expect(codeOf(() => parseStrictJson(broken))).toBe('MALFORMED_JSON');
    const overlong = Uint8Array.of(0x22, 0xc0, 0x80, 0x22);
    expect(codeOf(() => parseStrictJson(overlong))).toBe('MALFORMED_JSON');
  });

  it('stops at the token limit before anything is built', () => {
    const limits = { maxTokens: 100, tooManyCode: 'TOO_MANY_ITEMS' } as const;
    expect(parse(`[${'{},'.repeat(49)}{}]`, limits)).toHaveLength(50);
    expect(codeOf(() => parse(`[${'{},'.repeat(60)}{}]`, limits))).toBe('TOO_MANY_ITEMS');
    const before = process.memoryUsage().heapUsed;
    const bomb = bytes(`[${'{},'.repeat(8_000_000)}{}]`);
    expect(codeOf(() => parseStrictJson(bomb, limits))).toBe('TOO_MANY_ITEMS');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  });
});
