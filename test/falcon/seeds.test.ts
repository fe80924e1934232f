/** The lengths of seeds: short ones only for known answers, and only when asked for. */
import { describe, expect, test } from 'vitest';
import { ethFalcon512 } from '../../src/falcon/profiles/ethFalcon.ts';
import { SETS } from '../support/ours.ts';

const ALL = [...SETS.map(({ falcon }) => falcon), ethFalcon512];

describe.each(ALL)('$name, $profile', (falcon) => {
  const short = { allowShortSeed: true };
  const keygen = (length: number, options?: object) =>
    falcon.keygen(new Uint8Array(length), options);

  test.each([0, 1, 7, 8, 31, 129])('%i bytes are refused', (length) => {
    const error = new RangeError(`"seed" expected 32 to 128 bytes, got ${length}`);
    expect(() => keygen(length)).toThrow(error);
    expect(() => keygen(length, { allowShortSeed: false })).toThrow(error);
    expect(() => keygen(length, { allowShortSeed: undefined })).toThrow(error);
  });

  test.each([0, 7, 129])('%i bytes are refused as a short seed, too', (length) => {
    expect(() => keygen(length, short)).toThrow(
      new RangeError(`"seed" expected 8 to 128 bytes, got ${length}`),
    );
  });

  test('the shortest and the longest give keys', () => {
    for (const [length, options] of [[32], [128], [8, short], [31, short], [128, short]] as const) {
      expect(keygen(length, options).publicKey).toHaveLength(falcon.lengths.publicKey);
    }
    expect(keygen(48, short)).toEqual(keygen(48));
    expect(falcon.keygen(undefined, short)).not.toEqual(falcon.keygen(undefined, short));
  });

  test('unknown options are refused, with a seed and without', () => {
    for (const seed of [undefined, new Uint8Array(48)]) {
      for (const options of [null, [], 8, 'short', { short: true }, { allowShortSeed: 1 }]) {
        expect(() => falcon.keygen(seed, options as never)).toThrow(TypeError);
      }
    }
  });

  test('an inherited option is none', () => {
    Object.defineProperty(Object.prototype, 'allowShortSeed', { value: true, configurable: true });
    try {
      expect(() => keygen(8, {})).toThrow(RangeError);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'allowShortSeed');
    }
  });
});
