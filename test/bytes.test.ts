import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { abytes, concat, equal, fromHex, isBytes, toHex, wipe } from '../src/bytes.ts';

describe('abytes', () => {
  test('gives the same array back', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(abytes('x', bytes)).toBe(bytes);
    expect(abytes('x', bytes, 3)).toBe(bytes);
    expect(abytes('x', bytes, 1, 3)).toBe(bytes);
    expect(abytes('x', Buffer.from('ab'))).toEqual(Buffer.from('ab'));
  });

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['abc', 'string'],
    [[1, 2], 'array'],
    [new ArrayBuffer(3), 'object'],
    [new Uint16Array(3), 'object'],
    [new DataView(new ArrayBuffer(3)), 'object'],
    [{ length: 3, 0: 1 }, 'object'],
  ])('%s is a TypeError', (value, type) => {
    expect(() => abytes('key', value)).toThrow(TypeError);
    expect(() => abytes('key', value)).toThrow(`"key" expected Uint8Array, got ${type}`);
    expect(isBytes(value)).toBe(false);
  });

  test('a wrong length is a RangeError that says what was expected', () => {
    expect(() => abytes('seed', new Uint8Array(5), 48)).toThrow(RangeError);
    expect(() => abytes('seed', new Uint8Array(5), 48)).toThrow('"seed" expected 48 bytes, got 5');
    expect(() => abytes('key', new Uint8Array(0), 1, 2)).toThrow('expected 1 or 2 bytes, got 0');
  });
});

test('concat, equal, wipe', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (parts) => {
      const all = concat(...parts);
      expect([...all]).toEqual(parts.flatMap((part) => [...part]));
      expect(equal(all, all.slice())).toBe(true);
      if (all.length > 0) {
        const other = all.slice();
        other[all.length - 1]! ^= 1;
        expect(equal(all, other)).toBe(false);
        expect(equal(all, all.subarray(1))).toBe(false);
      }
      wipe(all, undefined);
      expect(all.every((byte) => byte === 0)).toBe(true);
    }),
  );
});

describe('hex', () => {
  test('there and back, in both cases', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const hex = toHex(bytes);
        expect(hex).toBe(Buffer.from(bytes).toString('hex'));
        expect(equal(fromHex(hex), bytes)).toBe(true);
        expect(equal(fromHex(hex.toUpperCase()), bytes)).toBe(true);
      }),
    );
  });

  test('every character but hex digits is refused', () => {
    for (let code = 0; code < 512; code++) {
      const text = `0${String.fromCharCode(code)}`;
      if (/^[0-9a-fA-F]{2}$/.test(text)) expect(toHex(fromHex(text))).toBe(text.toLowerCase());
      else expect(() => fromHex(text)).toThrow(RangeError);
    }
    expect(() => fromHex('abc')).toThrow(RangeError);
    expect(() => fromHex(12 as never)).toThrow(TypeError);
  });
});
