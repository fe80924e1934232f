import { encode } from 'cborg';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CborLimits,
  formatCbor,
  looksLikeCbor,
  parseStrictCbor,
} from '../../src/middleware/http/cbor.ts';
import { ProblemError } from '../../src/middleware/problems.ts';
import { isCodedError } from '../../src/shared/errors.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const parse = (hex: string, limits?: CborLimits) => parseStrictCbor(bytes(hex), limits);

function faultOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (isCodedError(error)) return error;
    throw error;
  }
  return { code: 'none', message: '' };
}

describe('CBOR from strangers', () => {
  // RFC 8949, appendix A.
  it.each<[string, unknown]>([
    ['00', 0],
    ['1903e8', 1000],
    ['1b000000e8d4a51000', 1_000_000_000_000],
    ['3903e7', -1000],
    ['f93c00', 1],
    ['fb3ff199999999999a', 1.1],
    ['f4', false],
    ['f6', null],
    ['4401020304', Uint8Array.of(1, 2, 3, 4)],
    ['6449455446', 'IETF'],
    ['62c3bc', 'ü'],
    ['83010203', [1, 2, 3]],
    ['8301820203820405', [1, [2, 3], [4, 5]]],
    ['a26161016162820203', { a: 1, b: [2, 3] }],
    ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
    ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
    ['80', []],
    ['a0', {}],
    ['9fff', []],
    // Longer heads than needed are well-formed, too.
    ['9a00000001 1800', [0]],
    ['5900021234', Uint8Array.of(0x12, 0x34)],
  ])('%s', (hex, value) => {
    expect(parse(hex)).toEqual(value);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['two items', '0000'],
    ['an array that ends early', '830102'],
    ['a map that ends early', 'a16161'],
    ['a byte string that ends early', '4401'],
    ['a head that ends early', '5900'],
    ['an array of 2^64 - 1 items', '9bffffffffffffffff'],
    ['an array of 2^32 - 1 items', '9affffffff00'],
    ['a byte string of 2^53 bytes', '5b002000000000000000'],
    ['a map of 2^53 entries', 'bb0020000000000000'],
    ['a byte string without a length', '5f42010243030405ff'],
    ['a text without a length', '7f657374726561646d696e67ff'],
    ['an array without an end', '9f0102'],
    ['an end without a beginning', 'ff'],
    ['an end in an array with a length', '8201ff'],
    ['an end in place of a value of a map', 'bf6161ff'],
    ['an end in a map with a length', 'a16161ff'],
    ['a tag', 'c11a514b67b0'],
    ['the tag of self-described CBOR', 'd9d9f780'],
    ['undefined', 'f7'],
    ['a simple value', 'f0'],
    ['a reserved head', '1c'],
    ['a number as a name', 'a10001'],
    ['an array as a name', 'a18001'],
    ['a text that is not UTF-8', '61ff'],
    ['a long text that is not UTF-8', `7828${'61'.repeat(39)}ff`],
    ['a name that is not UTF-8', 'a161ff00'],
  ])('refuses %s', (_, hex) => {
    expect(faultOf(() => parse(hex)).code).toBe('MALFORMED_CBOR');
  });

  it('accepts the sign for what is not a character, where it is one', () => {
    expect(parse('63efbfbd')).toBe('\ufffd');
  });

  it('refuses a name twice, and says so without quoting it', () => {
    const fault = faultOf(() => parse('a2 66736563726574 01 66736563726574 02'));
    expect(fault).toMatchObject({ code: 'MALFORMED_CBOR' });
    expect(fault.message).toContain('same name twice');
    expect(fault.message).not.toContain('secret');
    expect(faultOf(() => parse('bf 6161 01 6161 02 ff')).code).toBe('MALFORMED_CBOR');
  });

  it('keeps a name of the prototype as a name', () => {
    const value = parse('a1 69 5f5f70726f746f5f5f a1 6161 01') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect((value as { a?: unknown }).a).toBeUndefined();
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it.each([
    ['arrays', '81', ''],
    ['arrays without a length', '9f', ''],
    ['maps', 'a161', '61'],
  ])('refuses %s deeper than allowed, however deep', (_, open, name) => {
    const nested = (depth: number) => `${(open + name).repeat(depth)}00`;
    expect(faultOf(() => parse(nested(17))).message).toContain('deeper');
    expect(faultOf(() => parse(nested(100_000))).message).toContain('deeper');
    expect(faultOf(() => parse(`${'81'.repeat(5)}00`, { maxDepth: 4 })).message).toContain('deep');
    expect(faultOf(() => parse(`${'81'.repeat(4)}00`, { maxDepth: 4 })).code).toBe('none');
    // Side by side is not deep.
    expect(parse(`93${'8180'.repeat(19)}`)).toHaveLength(19);
  });

  it('counts values while it reads, names not', () => {
    const limits = { maxTokens: 5, tooManyCode: 'TOO_MANY_ITEMS' } as const;
    expect(parse('8400000000', limits)).toHaveLength(4);
    expect(faultOf(() => parse('850000000000', limits)).code).toBe('TOO_MANY_ITEMS');
    expect(faultOf(() => parse('850000000000', { maxTokens: 5 })).code).toBe('MALFORMED_CBOR');
    expect(parse('a4 6161 00 6162 00 6163 00 6164 00', limits)).toMatchObject({ d: 0 });
    // A million of them, which are never built.
    const many = new Uint8Array(1_000_000).fill(0x80);
    many[0] = 0x9f;
    expect(faultOf(() => parseStrictCbor(many, limits)).code).toBe('TOO_MANY_ITEMS');
  });

  it('reads what it writes, the same bytes for equal values', () => {
    const scalar = fc.oneof(fc.uint8Array(), fc.string(), fc.integer(), fc.boolean());
    const value = fc.dictionary(fc.string(), fc.array(scalar, { maxLength: 5 }), { maxKeys: 5 });
    fc.assert(
      fc.property(value, (object) => {
        const written = formatCbor(object);
        const read = parseStrictCbor(written);
        expect(formatCbor(read)).toEqual(written);
        const turned = Object.fromEntries(Object.entries(object).toReversed());
        expect(formatCbor(turned)).toEqual(written);
      }),
    );
  });

  it('throws nothing but problems, whatever the bytes', () => {
    let read = 0;
    let refused = 0;
    const noise = fc.uint8Array({ maxLength: 60 });
    const spoilt = fc
      .tuple(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }), fc.nat(), fc.nat(255))
      .map(([value, at, byte]) => {
        const written = encode(value);
        written[at % written.length] = byte;
        return written;
      });
    fc.assert(
      fc.property(fc.oneof(noise, spoilt), (data) => {
        try {
          parseStrictCbor(data);
          read++;
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemError);
          refused++;
        }
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(read, refused)).toBeGreaterThan(300);
  });
});

it('no JSON looks like CBOR, and no array, map or tag of CBOR like JSON', () => {
  for (const text of ['[', ' [', '\n[', '{', '"', '1', '-', 'true', '\ufeff[']) {
    expect(looksLikeCbor(new TextEncoder().encode(text))).toBe(false);
  }
  for (const hex of ['80', '9f', 'a0', 'bf', '9a00000001', 'd9d9f780']) {
    expect(looksLikeCbor(bytes(hex))).toBe(true);
  }
  expect(looksLikeCbor(new Uint8Array(0))).toBe(false);
});
