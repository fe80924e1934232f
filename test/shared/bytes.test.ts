import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ascii, concat, equal, fromHex, toHex, wipe } from '../../src/shared/bytes.ts';

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
      wipe(all);
      expect(all.every((byte) => byte === 0)).toBe(true);
    }),
  );
});

test('ascii', () => {
  expect(ascii('falconry v1')).toEqual(new TextEncoder().encode('falconry v1'));
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
