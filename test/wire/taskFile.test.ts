import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CodedError } from '../../src/shared/errors.ts';
import { decodeWireHex, encodeWireHex } from '../../src/wire/hex.ts';
import {
  checkStatements,
  checkTriples,
  MAX_KEY_OR_SIGNATURE_BYTES,
  parseStatementFile,
  parseTaskFile,
} from '../../src/wire/taskFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';

const triple = { digest: '0x00ff', public_key: '0x09', signature: '0x39aB' };

function thrownBy(run: () => unknown): CodedError {
  try {
    run();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('wire hex', () => {
  it('gives back any bytes, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const hex = encodeWireHex(bytes);
        expect(hex).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
        expect(decodeWireHex(hex, 100)).toEqual(bytes);
        expect(decodeWireHex(`0x${hex.slice(2).toUpperCase()}`, 100)).toEqual(bytes);
      }),
    );
  });

  it('knows its digits among all characters', () => {
    for (let code = 0; code < 0x300; code++) {
      const character = String.fromCharCode(code);
      const isDigit = /^[0-9a-fA-F]$/.test(character);
      for (const text of [`0x0${character}`, `0x${character}0`]) {
        expect(decodeWireHex(text, 1) instanceof Uint8Array, `code ${code}`).toBe(isDigit);
      }
    }
  });

  it.each([
    [undefined, 'missing'],
    [null, 'type'],
    [17, 'type'],
    [['0x00'], 'type'],
    ['', 'prefix'],
    ['00', 'prefix'],
    ['0X00', 'prefix'],
    [' 0x00', 'prefix'],
    ['0x0', 'oddLength'],
    ['0x0g', 'digit'],
    ['0x-1', 'digit'],
    ['0x000000', 'tooLong'],
  ])('names what is wrong with %j', (value, fault) => {
    expect(decodeWireHex(value, 2)).toBe(fault);
  });
});

describe('task file', () => {
  it('reads triples in order, ignores other fields', () => {
    const items = parseTaskFile(JSON.stringify([triple, { ...triple, digest: '0x', note: 1 }]));
    expect(items).toEqual([
      {
        message: Uint8Array.of(0, 255),
        publicKey: Uint8Array.of(9),
        signature: Uint8Array.of(0x39, 0xab),
      },
      {
        message: new Uint8Array(0),
        publicKey: Uint8Array.of(9),
        signature: Uint8Array.of(0x39, 0xab),
      },
    ]);
    expect(parseTaskFile(formatTaskFile(items))).toEqual(items);
    const marked = `\ufeff${formatTaskFile(items)}`;
    for (const file of [marked, new TextEncoder().encode(marked)]) {
      expect(parseTaskFile(file)).toEqual(items);
      expect(parseStatementFile(file)).toHaveLength(items.length);
    }
    for (const wrong of [`\ufeff${marked}`, new Uint8Array(Buffer.from('["ü"]', 'latin1'))]) {
      expect(() => parseTaskFile(wrong)).toThrow(
        expect.objectContaining({ code: 'MALFORMED_JSON' }),
      );
    }
  });

  it('reads statements with and without signatures', () => {
    const { signature, ...statement } = triple;
    const wanted = [{ message: Uint8Array.of(0, 255), publicKey: Uint8Array.of(9) }];
    expect(parseStatementFile(JSON.stringify([statement]))).toEqual(wanted);
    expect(parseStatementFile(JSON.stringify([{ ...statement, signature: 5 }]))).toEqual(wanted);
    expect(checkStatements([statement]).items).toEqual(wanted);
    expect(signature).toBeDefined();
  });

  it('names every element at fault, and every fault of it', () => {
    const file = JSON.stringify([
      triple,
      { ...triple, digest: 'zz' },
      null,
      { digest: '0x', signature: '0x1' },
      triple,
      [triple],
    ]);
    const error = thrownBy(() => parseTaskFile(file));
    expect(error.code).toBe('BAD_TASK_FILE');
    expect(error.invalid).toEqual([
      { index: 1, reason: 'digest must start with 0x' },
      { index: 2, reason: 'must be an object' },
      {
        index: 3,
        reason: 'public_key is missing; signature must have an even number of hex digits',
      },
      { index: 5, reason: 'must be an object' },
    ]);
    expect(checkTriples(JSON.parse(file)).faults?.map(({ path, code }) => [path, code])).toEqual([
      ['/1/digest', 'prefix'],
      ['/2', 'notAnObject'],
      ['/3/public_key', 'missing'],
      ['/3/signature', 'oddLength'],
      ['/5', 'notAnObject'],
    ]);
  });

  it('keeps to its limits', () => {
    const of = (bytes: number) => `0x${'00'.repeat(bytes)}`;
    const code = (value: unknown, limits = {}) => checkTriples(value, limits).faults?.[0]?.code;
    expect(code(new Array(1722).fill(triple))).toBeUndefined();
    expect(code(new Array(1723).fill(triple))).toBe('tooMany');
    expect(code([triple, triple], { maxSignatures: 1 })).toBe('tooMany');
    expect(code([{ ...triple, digest: of(4096) }])).toBeUndefined();
    expect(code([{ ...triple, digest: of(4097) }])).toBe('tooLong');
    expect(code([{ ...triple, digest: of(3) }], { maxMessageBytes: 2 })).toBe('tooLong');
    expect(code([{ ...triple, signature: of(MAX_KEY_OR_SIGNATURE_BYTES + 1) }])).toBe('tooLong');
    expect(code([])).toBe('empty');
    for (const value of [null, undefined, 5, 'x', {}, { length: 1, 0: triple }]) {
      expect(code(value)).toBe('notAnArray');
    }
    expect(thrownBy(() => parseTaskFile('[0]', { maxFileBytes: 2 })).code).toBe('BODY_TOO_LARGE');
    expect(thrownBy(() => parseTaskFile(JSON.stringify(new Array(1723).fill(triple)))).code).toBe(
      'TOO_MANY_ITEMS',
    );
  });

  it('refuses what is not JSON or not UTF-8', () => {
    for (const file of ['', '[', '[{}', '{"a":1}x', "[{'digest':1}]", Uint8Array.of(0x5b, 0xff)]) {
      expect(thrownBy(() => parseTaskFile(file)).code).toBe('MALFORMED_JSON');
    }
    expect(thrownBy(() => parseTaskFile('['.repeat(100_000))).code).toBe('MALFORMED_JSON');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(thrownBy(() => parseTaskFile(deep)).code).toBe('BAD_TASK_FILE');
  });

  it('ends every JSON value with items or with a coded error', () => {
    fc.assert(
      fc.property(fc.json(), (file) => {
        expect(['BAD_TASK_FILE', 'TOO_MANY_ITEMS']).toContain(
          thrownBy(() => parseTaskFile(file)).code,
        );
      }),
    );
  });
});
