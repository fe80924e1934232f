import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type JsonLimits,
  parseSlimJson,
  parseStrictJson,
  type SlimJson,
} from '../../src/middleware/http/strictJson.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { NIGHTLY } from '../support/run.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, limits?: JsonLimits) => parseStrictJson(bytes(text), limits);

/** What comes of it: a value, or the code and the text of a refusal. */
function outcomeOf(run: () => unknown): { value: unknown } | { code: string; message: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}
const codeOf = (run: () => unknown) => ({ code: 'none', ...outcomeOf(run) }).code;

describe('JSON from strangers', () => {
  it('gives what JSON.parse gives, for everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, noUnicodeString: false }), (text) => {
        // A generated object may hold `__proto__`; both parsers treat it alike.
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: NIGHTLY ? 500 : 150 },
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
      { numRuns: NIGHTLY ? 5000 : 2000 },
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
    ['two byte order marks', '\ufeff\ufeff{}'],
    ['a byte order mark alone', '\ufeff'],
    ['a byte order mark behind a space', ' \ufeff{}'],
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

  it('skips a byte order mark', () => {
    const text = `\ufeff{"digest":"0x${'00'.repeat(64)}","kid":"\ufeffü"}`;
    expect(parse(text)).toEqual(JSON.parse(text.slice(1)));
    const { value, left } = parseSlimJson(bytes(text));
    const [name] = [...left.keys()];
    expect(value).toEqual({ digest: name, kid: '\ufeffü' });
    expect(codeOf(() => parse('\ufeff{"a":1,"a":2}'))).toBe('MALFORMED_JSON');
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

describe('long hex strings that stay where they are', () => {
  const LONG = `0x${'0123456789abcdefABCDEF'.repeat(4)}`;

  /** The value with every string in its place. */
  const restored = ({ value, left }: SlimJson): unknown =>
    JSON.parse(JSON.stringify(value), (_, part) => {
      const text = typeof part === 'string' ? left.get(part) : undefined;
      return text === undefined ? part : new TextDecoder().decode(text);
    });

  it('change neither value nor fault of a text', () => {
    const texts = ['"0x"', '"0x00"', LONG.slice(0, 60), `${LONG}z`, LONG, `0X${LONG.slice(2)}`];
    const strings = texts.map((text) => `"${text.replaceAll('"', '')}"`);
    const pieces = ['[', ']', '{', '}', ':', ',', '"a":', '"b":', ' ', '1', '"', '\\', '\u00e9'];
    const piece = fc.constantFrom(...strings, ...strings, ...pieces);
    let valid = 0;
    const nested = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...strings, '1', 'null'),
        fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join(', ')}]`),
        fc
          .tuple(tie('value'), tie('value'))
          .map(([a, b]) => `{"a":${a} , ${a === b ? strings[4] : '"b"'}:${b}}`),
      ),
    })).value as fc.Arbitrary<string>;
    const broken = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(nested, broken), (text) => {
        const expected = outcomeOf(() => parse(text));
        expect(outcomeOf(() => restored(parseSlimJson(bytes(text))))).toEqual(expected);
        if ('value' in expected) valid++;
      }),
      { numRuns: 3000 },
    );
    expect(valid).toBeGreaterThan(500);
  });

  it('are those of at least 64 characters, and no others', () => {
    const text = JSON.stringify([LONG, LONG.slice(0, 63), LONG.slice(0, 64), `${LONG} `]);
    const slim = parseSlimJson(bytes(text));
    expect([...slim.left.values()].map(({ length }) => length)).toEqual([90, 64]);
    expect(restored(slim)).toEqual(JSON.parse(text));
  });

  it('cannot be named by a sender', () => {
    const first = parseSlimJson(bytes(JSON.stringify([LONG])));
    const [name] = first.left.keys();
    const second = parseSlimJson(bytes(JSON.stringify([LONG, name])));
    expect(second.left.has(name!)).toBe(false);
    expect(restored(second)).toEqual([LONG, name]);
  });
});
