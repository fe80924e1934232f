/** Derived salts: known answers of the reference, one signature for one message, refusals. */
import { describe, expect, test } from 'vitest';
import { falcon1024 } from '../../src/falcon/index.ts';
import { decodeSignature } from '../../src/falcon/points.ts';
import { derivedSalt } from '../../src/falcon/salts.ts';
import {
  DERIVED_ANSWERS as ANSWERS,
  asciiOf,
  hashOfLines,
  officialCase,
  shakeOf,
} from '../support/algorand.ts';
import { fact } from '../support/facts.ts';
import { BUILDS_OF_SETS, SETS, testKeys } from '../support/ours.ts';
import { nobleObject } from '../support/peers.ts';
import { FORMS } from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

const COUNT = SHORT_RUN ? 32 : 512;

/** Salt and coefficients of a signature of whatever form, in hex. */
function partsOf(signature: Uint8Array) {
  const decoded = decodeSignature(signature);
  if (typeof decoded === 'string') throw new Error(decoded);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const { salt, s2 } = decoded;
  return { salt: hex(salt), s2: hex(new Uint8Array(s2.buffer, s2.byteOffset, s2.byteLength)) };
}

describe.each(BUILDS_OF_SETS)('$falcon.name, $module module', ({ degree, falcon, module }) => {
  test(`${COUNT} known answers; one salt and one s2 in every form`, (context) => {
    const padded: Uint8Array[] = [];
    for (let i = 0; i < COUNT; i++) {
      const { publicKey, secretKey, message } = officialCase(falcon, i);
      using expanded = falcon.expandSecretKey(secretKey);
      const [first, ...others] = FORMS.map((format, k) => {
        const key = (i + k) % 2 ? expanded : secretKey;
        const signature = falcon.sign(message, key, { format, salt: 'derived' });
        expect(falcon.verify(signature, message, publicKey)).toBe(true);
        if (format === 'padded') padded.push(signature);
        return partsOf(signature);
      });
      expect(first!.salt).toBe(Buffer.from(derivedSalt({ publicKey, message })).toString('hex'));
      for (const other of others) expect(other).toEqual(first);
    }
    expect(hashOfLines(padded)).toBe(ANSWERS[degree][COUNT]);
    fact(
      context,
      'derived salts',
      `${falcon.name}, ${module} module: ${COUNT} signatures bit-equal to the reference in C`,
    );
  });

  test('messages longer than a piece', () => {
    const { secretKey } = officialCase(falcon, 0);
    const signatures = [8191, 8192, 8193, 16384, 20_000].map((length) =>
      falcon.sign(shakeOf('long', length), secretKey, { salt: 'derived', format: 'padded' }),
    );
    expect(hashOfLines(signatures)).toBe(ANSWERS[degree].long);
  });
});

/**
 * Messages, in decimal digits, whose first attempt by key 0 of Falcon-1024 is short but does not
 * fit the padded form; SHA-256 of their padded signatures by the reference in C, as above.
 */
const SECOND_ATTEMPTS = [800, 2250, 2415];
const SECOND_ANSWER = '626c3557a8eb40c41079b1da963c7f1cf1b0eb50553d108054c5561c7fc4ad56';

test('an attempt that only the padded form refuses is refused for every form', () => {
  const { secretKey } = officialCase(falcon1024, 0);
  const signatures = SECOND_ATTEMPTS.map((number) => {
    const message = asciiOf(String(number));
    const [padded, ...others] = (['padded', 'compressed', 'constantTime'] as const).map((format) =>
      falcon1024.sign(message, secretKey, { salt: 'derived', format }),
    );
    for (const other of others) expect(partsOf(other)).toEqual(partsOf(padded!));
    return padded!;
  });
  expect(hashOfLines(signatures)).toBe(SECOND_ANSWER);
});

describe.each(SETS)('$falcon.name', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const message = asciiOf('a message');
  const derived = { salt: 'derived' } as const;
  const signature = falcon.sign(message, secretKey, derived);

  test('the same every time; for other verifiers a signature like any other', () => {
    expect(falcon.sign(message, secretKey, derived)).toEqual(signature);
    expect(nobleObject(degree).verify(signature, message, publicKey)).toBe(true);
    expect(falcon.sign(message, secretKey)).not.toEqual(signature);
    const noOption = { salt: undefined } as object;
    expect(falcon.sign(message, secretKey, noOption)).not.toEqual(signature);
    const other = falcon.sign(asciiOf('a messagf'), secretKey, derived);
    expect(partsOf(other).salt).not.toEqual(partsOf(signature).salt);
  });

  test('its coins are not those of deterministic Falcon', () => {
    const ordinary = falcon.det.toRound3(falcon.det.sign(message, secretKey));
    expect(partsOf(ordinary).s2).not.toEqual(partsOf(signature).s2);
  });

  test('attached', () => {
    const sealed = falcon.attached.seal(message, secretKey, derived);
    expect(falcon.attached.seal(message, secretKey, derived)).toEqual(sealed);
    expect(falcon.attached.open(sealed, publicKey)).toEqual(message);
    expect(sealed.subarray(2, 42)).toEqual(signature.subarray(1, 41));
    expect(sealed.subarray(sealed.length - signature.length + 41)).toEqual(signature.subarray(41));
  });

  test('no option gives a derived salt other coins, or a deterministic signature any', () => {
    const testSeed = { salt: new Uint8Array(40), samplerSeed: new Uint8Array(48) };
    const samplerSeed = new Uint8Array(48);
    const sign = (options: unknown) => () =>
      falcon.sign(message, secretKey, options as typeof derived);
    expect(sign({ salt: 'derived', testSeed })).toThrow(TypeError);
    expect(sign({ salt: 'derived', samplerSeed })).toThrow(TypeError);
    for (const salt of [null, '', 'random', 'constant', 0, true, new Uint8Array(40)]) {
      expect(sign({ salt })).toThrow(RangeError);
      expect(() => falcon.attached.seal(message, secretKey, { salt } as never)).toThrow(RangeError);
    }
    expect(() =>
      falcon.attached.seal(message, secretKey, { salt: 'derived', testSeed } as never),
    ).toThrow(TypeError);
    for (const options of [{ testSeed }, derived, { samplerSeed }, { saltVersion: 1 }]) {
      expect(() => falcon.det.sign(message, secretKey, options as never)).toThrow(TypeError);
    }
  });
});
