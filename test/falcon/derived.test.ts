/** Derived salts: known answers of the reference, one signature for one message, refusals. */
import { describe, expect, test } from 'vitest';
import { decodeSignature } from '../../src/falcon/points.ts';
import { derivedSalt } from '../../src/falcon/salts.ts';
import { asciiOf, hashOfLines, officialCase, shakeOf } from '../support/algorand.ts';
import { fact } from '../support/facts.ts';
import { BUILDS_OF_SETS, SETS, testKeys } from '../support/ours.ts';
import { nobleObject } from '../support/peers.ts';
import { FORMS } from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

const COUNT = SHORT_RUN ? 32 : 512;

/**
 * SHA-256 of the padded signatures as lines of hex, of the first 32 and of all 512 cases, and of
 * messages longer than a piece (as in deterministic.test.ts). Made by the reference in C with
 * emulated floating point (algorand/falcon at commit ce15e75), which was handed salt and coins
 * ready made: `falcon_sign_dyn_finish` with the generator SHAKE256("falconry derived coins v1" ‖
 * logn ‖ secret key ‖ message), in the padded form.
 */
const ANSWERS = {
  512: {
    32: '1c867c54500c9f116ab92018780e1ac7765546c119f1f50cd2ec0427967da0de',
    512: '643e61d433cb0e024afd89a1f72cd158687f88457b55a8fdedc67339e36b982c',
    long: '677daef4f2ec96e373f8da3d326787be337199930b409667c4e91000fb65974c',
  },
  1024: {
    32: 'bfa8756f35c98bd83520cf27756c186c41801bc85650e57c2990eac1065d2bbf',
    512: 'c7963a6722abab9bcd8a71bbdb3c6386486ddaa384625a9cbdbb00b7688a9d18',
    long: 'b7e5befe9cf2790917c77f4a9be0a139bbd5838054c955341fec3ff2b0654e3c',
  },
} as const;

/** Salt and coefficients of a signature of whatever form. */
function partsOf(signature: Uint8Array) {
  const decoded = decodeSignature(signature);
  if (typeof decoded === 'string') throw new Error(decoded);
  return { salt: decoded.salt, s2: decoded.s2 };
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
      expect(first!.salt).toEqual(derivedSalt({ publicKey, message }));
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
    for (const options of [
      { testSeed },
      { salt: 'derived' },
      { samplerSeed },
      { saltVersion: 1 },
    ]) {
      expect(() => falcon.det.sign(message, secretKey, options as never)).toThrow(TypeError);
    }
  });
});
