/** Deterministic Falcon: the official known answers, both forms, conversions, peers. */
import { describe, expect, test } from 'vitest';
import { decodeSignature } from '../../src/falcon/points.ts';
import { constantSalt } from '../../src/falcon/salts.ts';
import {
  DET_ANSWERS as ANSWERS,
  asciiOf,
  hashOfLines,
  officialCase,
  shakeOf,
} from '../support/algorand.ts';
import { fact } from '../support/facts.ts';
import { BUILDS_OF_SETS, SETS, testItems, testKeys } from '../support/ours.ts';
import { nobleObject } from '../support/peers.ts';
import { BitWriter, concatBytes } from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

const COUNT = SHORT_RUN ? 32 : 512;

/**
 * The same code's signatures by key 0 of the first 8191, 8192, 8193, 16384, 20000 bytes of
 * SHAKE256("long"): around the piece of 8192 bytes in which a message is hashed.
 */
const LONG_MESSAGES = [8191, 8192, 8193, 16384, 20_000];
const LONG_ANSWERS = {
  512: '067d20ed2c65469bdef16077cf6744f205d71dc888537cd5505a0e69ce9e72d2',
  1024: 'cfb9c08ac5c6b4b5175853bad874c7512574eb23cf8fdd4f65cb2336d371538d',
} as const;

/** The same code's keys, public then secret, of the seeds 0, 1, 2, ... of these lengths. */
const SEED_LENGTHS = [8, 9, 31, 32, 47, 48, 49, 64, 88, 89, 127, 128];
const KEYS_OF_SEEDS = {
  512: '3aa8292239d6bb42e4b57b381422b586a9c5163416e0f7db43c08099c4a02dfa',
  1024: '87df067caf998eb501579123ede8f54fa0b0a1afadb11dd937eba7f6fc9e0418',
} as const;

/** s2 of an ordinary signature of whatever form. */
function s2Of(signature: Uint8Array): Int16Array {
  const decoded = decodeSignature(signature);
  if (typeof decoded === 'string') throw new Error(decoded);
  return decoded.s2;
}

/** The constant-time form, written out here: 12 bits for each coefficient. */
function constantTimeOf(header: number, version: number, s2: Int16Array): Uint8Array {
  const writer = new BitWriter();
  for (const x of s2) writer.write(x & 0xfff, 12);
  return concatBytes([header, version], writer.bytes());
}

describe.each(BUILDS_OF_SETS)('det$degree, $module module', ({ degree, falcon, module }) => {
  const { det } = falcon;
  const logn = Math.log2(degree);

  test(`${COUNT} known answers, from their seeds; one s2 in every form`, (context) => {
    const compressed: Uint8Array[] = [];
    const constantTime: Uint8Array[] = [];
    for (let i = 0; i < COUNT; i++) {
      const { publicKey, secretKey, message } = officialCase(falcon, i);
      using expanded = falcon.expandSecretKey(secretKey);
      const signature = det.sign(message, i % 2 ? expanded : secretKey);
      const fixed = det.sign(message, i % 2 ? secretKey : expanded, { format: 'constantTime' });
      compressed.push(signature);
      constantTime.push(fixed);

      const ordinary = det.toRound3(signature);
      expect(det.verify(i % 2 ? fixed : signature, message, publicKey)).toBe(true);
      if (i >= 32) continue; // the rest of this is slow
      const s2 = s2Of(ordinary);
      expect(s2Of(det.toRound3(fixed))).toEqual(s2);
      expect(fixed).toEqual(constantTimeOf(0xd0 + logn, 0, s2));
      expect(det.convert(signature, 'constantTime')).toEqual(fixed);
      expect(det.convert(fixed, 'compressed')).toEqual(signature);
      expect(det.verify(i % 2 ? signature : fixed, message, publicKey)).toBe(true);
      expect(falcon.verify(ordinary, message, publicKey)).toBe(true);
    }
    expect(Buffer.from(compressed[0]!).toString('hex').slice(0, 32)).toBe(ANSWERS[degree].first);
    expect(hashOfLines(compressed)).toBe(ANSWERS[degree][COUNT]);
    expect(hashOfLines(constantTime.slice(0, 32))).toBe(ANSWERS[degree].constantTime);
    fact(context, 'deterministic Falcon', `det${degree}, ${module}: ${COUNT} of 512 known answers`);
  });

  test('messages longer than a piece', () => {
    const { publicKey, secretKey } = officialCase(falcon, 0);
    const signatures = LONG_MESSAGES.map((length) => {
      const message = shakeOf('long', length);
      const signature = det.sign(message, secretKey);
      expect(det.verify(signature, message, publicKey)).toBe(true);
      return signature;
    });
    expect(hashOfLines(signatures)).toBe(LONG_ANSWERS[degree]);
  });

  test('keys of seeds of 8 to 128 bytes', () => {
    const keys = SEED_LENGTHS.flatMap((length) => {
      const seed = Uint8Array.from({ length }, (_, i) => i);
      const { publicKey, secretKey } = falcon.keygen(seed, { allowShortSeed: true });
      return [publicKey, secretKey];
    });
    expect(hashOfLines(keys)).toBe(KEYS_OF_SEEDS[degree]);
  });
});

describe.each(SETS)('det$degree', ({ degree, falcon }) => {
  const { det } = falcon;
  const { publicKey, secretKey } = testKeys(degree);
  const message = asciiOf('a message');
  const signature = det.sign(message, secretKey);

  test('no message, key object, form, call or time makes a difference but the message', () => {
    using expanded = falcon.expandSecretKey(secretKey);
    for (const key of [secretKey, expanded, secretKey]) {
      expect(det.sign(message, key)).toEqual(signature);
      expect(det.sign(Buffer.from(message), key)).toEqual(signature);
    }
    expect(det.sign(asciiOf('a messagf'), secretKey)).not.toEqual(signature);
    expect(det.sign(message, testKeys(degree, 1).secretKey)).not.toEqual(signature);
  });

  test('lengths', () => {
    expect(det.lengths).toEqual(
      degree === 512
        ? { signature: 713, signatureConstantTime: 770 }
        : { signature: 1423, signatureConstantTime: 1538 },
    );
    expect(signature.length).toBeLessThanOrEqual(det.lengths.signature);
    const fixed = det.sign(message, secretKey, { format: 'constantTime' });
    expect(fixed).toHaveLength(det.lengths.signatureConstantTime);
    expect(Object.isFrozen(det) && Object.isFrozen(det.lengths)).toBe(true);
  });

  test('with its salt it is an ordinary signature, for every verifier', () => {
    const ordinary = det.toRound3(signature);
    expect(ordinary.subarray(1, 41)).toEqual(constantSalt(0, falcon.name));
    expect(falcon.verify(ordinary, message, publicKey)).toBe(true);
    expect(nobleObject(degree).verify(ordinary, message, publicKey)).toBe(true);
    expect(det.fromRound3(ordinary)).toEqual(signature);
    const fixed = det.convert(signature, 'constantTime');
    expect(det.fromRound3(det.toRound3(fixed))).toEqual(fixed);
    expect(falcon.verify(det.toRound3(fixed), message, publicKey)).toBe(true);
    // zeros behind the compressed form are none of the deterministic signature
    const padded = concatBytes(
      ordinary,
      new Uint8Array(falcon.lengths.signaturePadded - ordinary.length),
    );
    expect(falcon.verify(padded, message, publicKey)).toBe(true);
    expect(det.fromRound3(padded)).toEqual(signature);
  });

  test('salt versions: 0 unless the caller accepts others', () => {
    const ofVersion = (version: number) => {
      const testSeed = {
        salt: constantSalt(version, falcon.name),
        samplerSeed: new Uint8Array(48).fill(version),
      };
      return det.fromRound3(falcon.sign(message, secretKey, { testSeed }));
    };
    const three = ofVersion(3);
    expect(det.saltVersion(signature)).toBe(0);
    expect(det.saltVersion(three)).toBe(3);
    expect(det.saltVersion(det.convert(three, 'constantTime'))).toBe(3);
    const accepts = (bytes: Uint8Array, saltVersions?: readonly number[] | 'any') =>
      det.verify(bytes, message, publicKey, saltVersions === undefined ? {} : { saltVersions });
    expect(accepts(signature)).toBe(true);
    expect(accepts(three)).toBe(false);
    expect(accepts(three, [3])).toBe(true);
    expect(accepts(signature, [3])).toBe(false);
    expect(accepts(three, [0, 3, 3])).toBe(true);
    expect(accepts(three, 'any')).toBe(true);
    expect(accepts(ofVersion(255), 'any')).toBe(true);
    expect(accepts(ofVersion(255), [255])).toBe(true);
    // the version is part of what is signed
    expect(accepts(three.with(1, 4), 'any')).toBe(false);
  });

  test('a batch: the same verdicts, in slices', () => {
    const items = testItems(degree, 4).map(({ message: own }, i) => ({
      message: own,
      publicKey: i % 2 ? falcon.preparePublicKey(publicKey) : publicKey,
      signature: det.sign(own, secretKey, i < 2 ? {} : { format: 'constantTime' }),
    }));
    expect(det.verifyBatch(items)).toEqual([]);
    expect(det.verifyBatch([])).toEqual([]);
    const many = Array.from({ length: SHORT_RUN ? 8200 : 20_000 }, (_, i) => items[i % 4]!);
    const wrong = { ...items[0]!, message: items[1]!.message };
    const version = { ...items[0]!, signature: items[0]!.signature.with(1, 1) };
    many[5] = wrong;
    many[8191] = version;
    many[8192] = wrong;
    many[8195] = { ...items[1]!, publicKey: publicKey.subarray(1) };
    expect(det.verifyBatch(many)).toEqual([
      { index: 5, reason: 'signatureMismatch' },
      { index: 8191, reason: 'saltVersion' },
      { index: 8192, reason: 'signatureMismatch' },
      { index: 8195, reason: 'publicKeyLength' },
    ]);
    expect(det.verifyBatch([version], { saltVersions: [1] })).toEqual([
      { index: 0, reason: 'signatureMismatch' },
    ]);
  });
});
