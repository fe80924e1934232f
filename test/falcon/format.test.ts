import { describe, expect, test } from 'vitest';
import { createVerifyPool } from '../../src/falcon/index.ts';
import { decodeSignature, encodeSignature } from '../../src/falcon/points.ts';
import type { SignatureFormat } from '../../src/falcon/types.ts';
import { craft, drawInvertible } from '../support/crafted.ts';
import { SETS, testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';

const FORMATS = ['compressed', 'padded', 'constantTime'] as const;
const message = new TextEncoder().encode('one encoding');

describe.each(SETS)('a pinned format, $falcon.name', ({ degree: n, falcon }) => {
  const { publicKey, secretKey } = testKeys(n);
  const { lengths } = falcon;
  const prepared = falcon.preparePublicKey(publicKey);

  /** One signature in all three encodings, as a third party makes them. */
  function encodings(): Record<SignatureFormat, Uint8Array> {
    for (;;) {
      const signature = falcon.sign(message, secretKey, { format: 'padded' });
      const decoded = decodeSignature(signature);
      if (typeof decoded === 'string') throw new Error(decoded);
      if (decoded.form !== 'padded') continue; // it needs no padding
      const [compressed, padded, constantTime] = FORMATS.map(
        (form) => encodeSignature({ ...decoded, form })!,
      ) as [Uint8Array, Uint8Array, Uint8Array];
      expect(padded).toEqual(signature);
      return { compressed, padded, constantTime };
    }
  }

  /** The reason of one verdict; all ways to ask must agree. */
  function reasonOf(signature: Uint8Array, format: SignatureFormat | undefined, text = message) {
    const options = format === undefined ? {} : { format };
    const isValid = falcon.verify(signature, text, publicKey, options);
    expect(falcon.verify(signature, text, prepared, options)).toBe(isValid);
    const item = { signature, message: text, publicKey };
    const invalid = falcon.verifyBatch([item, { ...item, publicKey: prepared }, item], options);
    expect(invalid.map(({ index }) => index)).toEqual(isValid ? [] : [0, 1, 2]);
    expect(new Set(invalid.map(({ reason }) => reason)).size).toBe(isValid ? 0 : 1);
    return invalid[0]?.reason;
  }

  const wrong: Record<SignatureFormat, Partial<Record<SignatureFormat, string>>> = {
    compressed: { padded: 'signatureEncoding', constantTime: 'signatureHeader' },
    padded: { compressed: 'signatureLength', constantTime: 'signatureHeader' },
    constantTime: { compressed: 'signatureHeader', padded: 'signatureHeader' },
  };

  test('accepts that encoding and refuses the other two, whose signature is the same', () => {
    const all = encodings();
    for (const made of FORMATS) {
      expect(reasonOf(all[made], undefined)).toBeUndefined();
      for (const asked of FORMATS) {
        expect(reasonOf(all[made], asked), `${made} as ${asked}`).toBe(wrong[asked][made]);
      }
    }
  });

  test('long messages, which are hashed piece by piece, are no exception', () => {
    const long = new Uint8Array(20_000);
    const signature = falcon.sign(long, secretKey, { format: 'padded' });
    expect(reasonOf(signature, 'padded', long)).toBeUndefined();
    expect(reasonOf(signature, 'constantTime', long)).toBe('signatureHeader');
  });

  test('the right format does not make a signature valid', () => {
    const all = encodings();
    const other = message.subarray(1);
    for (const format of FORMATS) {
      expect(reasonOf(all[format], format, other)).toBe('signatureMismatch');
    }
    for (const signature of [new Uint8Array(0), new Uint8Array(41), new Uint8Array(2000)]) {
      for (const format of FORMATS) expect(reasonOf(signature, format)).toBeDefined();
    }
    const bad = publicKey.slice(1);
    expect(falcon.verify(all.padded, message, bad, { format: 'padded' })).toBe(false);
  });

  test('what needs no padding is of both formats that share its bytes', () => {
    const random = testRandom(`full ${n}`);
    // A small coefficient takes 9 bits; one of 128 takes 10.
    const more = 8 * (lengths.signaturePadded - 41) - 9 * n;
    const s2 = drawInvertible(() =>
      Array.from({ length: n }, (_, i) => (random.below(2) - 0.5) * (i < more ? 256 : 2)),
    );
    const zero = new Array<number>(n).fill(0);
    const item = craft('compressed', zero, s2, message);
    expect(item.signature).toHaveLength(lengths.signaturePadded);
    for (const format of FORMATS) {
      const isValid = falcon.verify(item.signature, message, item.publicKey, { format });
      expect(isValid, format).toBe(format !== 'constantTime');
    }
  });

  test('a pool passes it to its threads', async () => {
    const all = encodings();
    const items = FORMATS.map((form) => ({ signature: all[form], message, publicKey }));
    await using pool = createVerifyPool({ parameterSet: falcon.name, threads: 1 });
    for (const format of FORMATS) {
      const many = Array.from({ length: 40 }, () => items).flat();
      const invalid = await pool.verifyBatch(many, { format });
      expect(invalid).toEqual(falcon.verifyBatch(many, { format }));
      expect(invalid).toHaveLength(80);
    }
    const wrongName = { format: 'short' as never };
    await expect(pool.verifyBatch(items, wrongName)).rejects.toThrow(RangeError);
  });

  test('an unknown format or option is a mistake of the caller', () => {
    const { padded } = encodings();
    for (const format of ['Padded', '', 0, null, ['padded']] as never[]) {
      expect(() => falcon.verify(padded, message, publicKey, { format })).toThrow(RangeError);
      expect(() => falcon.verifyBatch([], { format })).toThrow(RangeError);
    }
    const options = { formats: 'padded' } as never;
    expect(() => falcon.verify(padded, message, publicKey, options)).toThrow(TypeError);
    expect(() => falcon.verifyBatch([], options)).toThrow(TypeError);
    expect(falcon.verify(padded, message, publicKey, { format: undefined } as never)).toBe(true);
  });
});
