/** What holds for all inputs, tried on random ones. The nightly run tries fifty times as many. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUILDS, SETS, type TestItem, testItems, testKeys } from '../support/ours.ts';
import {
  concatBytes,
  decodeSignature,
  encodeSignature,
  FORMS,
  recover,
  SPEC,
} from '../support/reference.ts';
import { NIGHTLY } from '../support/run.ts';

const runs = (numRuns: number): { numRuns: number; endOnFailure: boolean } => ({
  numRuns: NIGHTLY ? 50 * numRuns : numRuns,
  endOnFailure: true,
});
const bytes = (minLength: number, maxLength = minLength): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength, maxLength });

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const key = fc.integer({ min: 0, max: 5 }).map((index) => testKeys(degree, index));
  const format = fc.constantFrom(...FORMS);
  const options = { keys: 4, length: [0, 400] as [number, number], forms: FORMS };
  const items = testItems(degree, 60, { ...options, label: 'property' });

  test('sign, then verify, for any message, form and randomness', () => {
    fc.assert(
      fc.property(
        bytes(0, 1000),
        key,
        format,
        bytes(40),
        bytes(48),
        (message, { publicKey, secretKey }, form, salt, samplerSeed) => {
          const testSeed = { salt, samplerSeed };
          const signature = falcon.sign(message, secretKey, { format: form, testSeed });
          expect(falcon.verify(signature, message, publicKey)).toBe(true);
          expect(signature.subarray(1, 41)).toEqual(salt);
          if (form === 'padded') expect(signature).toHaveLength(SPEC[degree].padded);
          if (form === 'constantTime') expect(signature).toHaveLength(SPEC[degree].constantTime);
          expect(falcon.sign(message, secretKey, { format: form, testSeed })).toEqual(signature);
        },
      ),
      runs(100),
    );
  });

  test('the three forms hold the same coefficients, and the reference writes the same bytes', () => {
    fc.assert(
      fc.property(bytes(0, 100), key, bytes(40), bytes(48), (message, keys, salt, samplerSeed) => {
        const { publicKey, secretKey } = keys;
        const [compressed, padded, constantTime] = FORMS.map((form) =>
          falcon.sign(message, secretKey, { format: form, testSeed: { salt, samplerSeed } }),
        ) as [Uint8Array, Uint8Array, Uint8Array];
        const { s2 } = decodeSignature(compressed);
        expect(encodeSignature('compressed', salt, s2)).toEqual(compressed);
        expect(encodeSignature('constantTime', salt, s2)).toEqual(constantTime);
        // A signature too long for the padded form is sampled again: then it is another one.
        if (compressed.length <= SPEC[degree].padded) {
          expect(encodeSignature('padded', salt, s2)).toEqual(padded);
        }
        expect(recover(publicKey, compressed, message).normSquared).toBeLessThanOrEqual(
          SPEC[degree].betaSquared,
        );
      }),
      runs(25),
    );
  });

  test('any change to signature, message or key makes it invalid', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...items),
        fc.constantFrom('signature', 'message', 'publicKey'),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (item, part, place, mask) => {
          const original = item[part as 'signature' | 'message' | 'publicKey'];
          fc.pre(original.length > 0);
          const changed = Uint8Array.from(original);
          changed[place % changed.length]! ^= mask;
          const { signature, message, publicKey } = { ...item, [part]: changed } as TestItem;
          if (!falcon.verify(signature, message, publicKey)) return;
          // A key may differ by one in one coefficient and the norm still be below the bound: no
          // fault of ours.
          expect(part).toBe('publicKey');
          expect(recover(publicKey, signature, message).normSquared).toBeLessThanOrEqual(
            SPEC[degree].betaSquared,
          );
        },
      ),
      runs(2000),
    );
  });

  test('any bytes at all give an answer, the same from both builds, and no exception', () => {
    const [plain, relaxed] = BUILDS.map(
      ({ sets }) => sets.find((set) => set.degree === degree)!.falcon,
    );
    const spec = SPEC[degree];
    const signature = fc.oneof(
      bytes(0, 100),
      bytes(spec.padded),
      bytes(0, 2000).map((tail) => concatBytes([0x30 + spec.logn], tail)),
      bytes(spec.constantTime - 1).map((tail) => concatBytes([0x50 + spec.logn], tail)),
    );
    const publicKey = fc.oneof(
      bytes(0, 100),
      bytes(spec.publicKey - 1).map((tail) => concatBytes([spec.logn], tail)),
      key.map((pair) => pair.publicKey),
    );
    fc.assert(
      fc.property(signature, bytes(0, 300), publicKey, (sig, message, pk) => {
        expect(plain!.verify(sig, message, pk)).toBe(false);
        expect(relaxed!.verify(sig, message, pk)).toBe(false);
        const [invalid] = plain!.verifyBatch([{ signature: sig, message, publicKey: pk }]);
        expect(relaxed!.verifyBatch([{ signature: sig, message, publicKey: pk }])).toEqual([
          invalid,
        ]);
      }),
      runs(1000),
    );
  });

  test('a batch says of every item what the item alone is told', () => {
    const item = fc
      .record({
        base: fc.constantFrom(...items),
        kind: fc.constantFrom('valid', 'prepared', 'message', 'signature', 'short'),
        place: fc.nat(),
      })
      .map(({ base, kind, place }) => {
        if (kind === 'prepared') {
          return { ...base, publicKey: falcon.preparePublicKey(base.publicKey) };
        }
        if (kind === 'message')
          return { ...base, message: concatBytes(base.message, [place & 255]) };
        if (kind === 'short') {
          return { ...base, signature: base.signature.subarray(0, place % base.signature.length) };
        }
        if (kind === 'signature') {
          const signature = Uint8Array.from(base.signature);
          signature[place % signature.length]! ^= 1 + (place % 255);
          return { ...base, signature };
        }
        return base;
      });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 80 }), (batch) => {
        const expected = batch.flatMap(({ signature, message, publicKey }, index) =>
          falcon.verify(signature, message, publicKey) ? [] : [index],
        );
        expect(falcon.verifyBatch(batch).map(({ index }) => index)).toEqual(expected);
      }),
      runs(100),
    );
  });

  test('a seed gives one key pair; its public key follows from the secret one', () => {
    fc.assert(
      fc.property(bytes(48), (seed) => {
        const { publicKey, secretKey } = falcon.keygen(seed);
        expect(publicKey).toHaveLength(SPEC[degree].publicKey);
        expect(secretKey).toHaveLength(SPEC[degree].secretKey);
        expect(falcon.getPublicKey(secretKey)).toEqual(publicKey);
        expect(falcon.keygen(seed)).toEqual({ publicKey, secretKey });
      }),
      runs(degree === 512 ? 20 : 8),
    );
  });

  test('attached: what was sealed is opened, and nothing else', () => {
    fc.assert(
      fc.property(bytes(0, 500), key, fc.nat(), (message, { publicKey, secretKey }, place) => {
        const sealed = falcon.attached.seal(message, secretKey);
        expect(falcon.attached.open(sealed, publicKey)).toEqual(message);
        const changed = Uint8Array.from(sealed);
        changed[place % changed.length]! ^= 0x20;
        expect(() => falcon.attached.open(changed, publicKey)).toThrow();
        expect(() => falcon.attached.open(sealed.subarray(0, -1), publicKey)).toThrow();
        expect(() => falcon.attached.open(concatBytes(sealed, [0]), publicKey)).toThrow();
      }),
      runs(60),
    );
  });
});
