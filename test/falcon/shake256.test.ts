import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shake256 } from '../../src/falcon/points.ts';

const host = (bytes: Uint8Array, length: number) =>
  new Uint8Array(createHash('shake256', { outputLength: length }).update(bytes).digest());

describe('shake256', () => {
  test('is that of the host for every length around the borders of blocks and of the input region', () => {
    for (const middle of [0, 136, 272, 8192, 16384]) {
      for (let length = Math.max(0, middle - 10); length < middle + 10; length++) {
        const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
        expect(shake256([bytes], 32)).toEqual(host(bytes, 32));
      }
    }
  });

  test('does not depend on where its parts are cut', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 12 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 64 }), (list, length) => {
        expect(shake256(list, length)).toEqual(host(Buffer.concat(list), length));
      }),
      { numRuns: 100 },
    );
  });

  test('refuses other arguments', () => {
    for (const length of [0, 65, 1.5, Number.NaN]) {
      expect(() => shake256([], length)).toThrow(RangeError);
    }
    expect(() => shake256(['text' as never], 32)).toThrow(TypeError);
    expect(shake256([], 32)).toEqual(host(new Uint8Array(0), 32));
  });
});
