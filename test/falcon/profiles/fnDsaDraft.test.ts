/** The FN-DSA draft: the vectors of rust-fn-dsa 0.4.0, its limit, its encodings, its refusals. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { falcon512, falcon1024 } from '../../../src/falcon/index.ts';
import { paramsIn } from '../../../src/falcon/params.ts';
import { hashToPoint } from '../../../src/falcon/points.ts';
import {
  type FnDsaDraft,
  fnDsaDraft512,
  fnDsaDraft1024,
  type PreHash,
} from '../../../src/falcon/profiles/fnDsaDraft.ts';
import { verifyItems } from '../../../src/falcon/verifyItems.ts';
import { bestModule, read, run } from '../../../src/falcon/wasm.ts';
import { fact } from '../../support/facts.ts';
import { testKeys } from '../../support/ours.ts';
import type { Degree } from '../../support/peers.ts';
import { draftPoint } from '../../support/profileReference.ts';
import { testRandom } from '../../support/random.ts';
import { craftPublicKey, encodeSignature } from '../../support/reference.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const hashOf = (name: string, ...parts: Uint8Array[]): Buffer => {
  const hash = createHash(name);
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const shake256 = (outputLength: number, ...parts: Uint8Array[]): Uint8Array =>
  Uint8Array.from(createHash('shake256', { outputLength }).update(Buffer.concat(parts)).digest());

const PROFILE = 'fn-dsa-draft-2026-07';
const SETS = [
  { degree: 512, draft: fnDsaDraft512, falcon: falcon512 },
  { degree: 1024, draft: fnDsaDraft1024, falcon: falcon1024 },
] as const;

/**
 * Vectors of fn-dsa/src/lib.rs, github.com/pornin/rust-fn-dsa at 0629bb1: SHA3-256 of secret key,
 * public key and signature. Seeds: SHAKE256(logn || j, 4 bytes, little-endian), 32 bytes for the
 * key and 40 for the signature; context "domain", message "message", for odd j its SHA3-256.
 */
const file = new URL('../../vectors/fnDsaDraft.json', import.meta.url);
const VECTORS: Readonly<Record<Degree, readonly string[]>> = JSON.parse(readFileSync(file, 'utf8'));

/**
 * How many solved pairs (f, g) the crate gives up on before its key: its solver works in fixed
 * point. Where it is 0, `keygen` gives the crate's key.
 */
const SKIPPED: Readonly<Record<Degree, readonly number[]>> = {
  512: [0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
  1024: [0, 0, 0, 0, 2, 1, 4, 1, 0, 0],
};

/** The key that the crate makes of a seed, in both encodings. */
function crateKey(degree: Degree, draft: FnDsaDraft, seed: Uint8Array, skip: number) {
  const params = paramsIn(PROFILE, draft.parameterSet);
  const { publicKey, body } = run(bestModule(), true, (machine) => {
    machine.seed.set(seed);
    expect(machine.exports.keygenDraft(degree === 512 ? 9 : 10, skip)).toBe(0);
    return {
      publicKey: read(machine.publicKey, params.lengths.publicKey),
      body: read(machine.secretKey, params.lengths.secretKey),
    };
  });
  const own = draft.publicKeyFromRound3(publicKey);
  return { publicKey: own, secretKey: Uint8Array.from([...body, ...shake256(64, own)]) };
}

describe.each(SETS)('n = $degree', ({ degree, draft, falcon }) => {
  const logn = degree === 512 ? 9 : 10;
  const vectors = VECTORS[degree].map((hash, j) => {
    const seeds = shake256(72, Uint8Array.of(logn, j, 0, 0, 0));
    const key = crateKey(degree, draft, seeds.subarray(0, 32), SKIPPED[degree][j]!);
    const options = {
      context: ascii('domain'),
      ...(j % 2 === 1 && { preHash: 'SHA3-256' as const }),
    };
    const testSeed = seeds.subarray(32);
    const signature = draft.sign(ascii('message'), key.secretKey, { ...options, testSeed });
    return { ...key, hash, options, signature, seed: seeds.subarray(0, 32) };
  });

  test('the published vectors: key, signature, encodings', (context) => {
    for (const [j, { hash, publicKey, secretKey, signature, options, seed }] of vectors.entries()) {
      const found = hashOf('sha3-256', secretKey, publicKey, signature).toString('hex');
      expect(found, `vector ${j}`).toBe(hash);
      expect(draft.verify(signature, ascii('message'), publicKey, options)).toBe(true);
      expect(draft.getPublicKey(secretKey)).toEqual(publicKey);
      const isSame = SKIPPED[degree][j] === 0;
      expect(Buffer.from(draft.keygen(seed).secretKey).equals(secretKey)).toBe(isSame);
    }
    const same = SKIPPED[degree].filter((skip) => skip === 0).length;
    fact(context, 'FN-DSA draft', `n = ${degree}: 10 equal, ${same} keys from their seeds`);
  });

  test('what a signature is bound to', () => {
    const { publicKey, signature, options } = vectors[0]!;
    const message = ascii('message');
    const verify = (...change: Parameters<typeof draft.verify>) => draft.verify(...change);
    expect(verify(signature, message, publicKey)).toBe(false);
    expect(verify(signature, message, publicKey, { context: ascii('domaim') })).toBe(false);
    expect(verify(signature, ascii('messagf'), publicKey, options)).toBe(false);
    expect(verify(signature, message, vectors[1]!.publicKey, options)).toBe(false);
    expect(verify(signature, message, publicKey, { ...options, preHash: 'SHA3-256' })).toBe(false);
    const odd = vectors[1]!;
    const digest = hashOf('sha3-256', message);
    expect(verify(odd.signature, digest, odd.publicKey, { context: ascii('domain') })).toBe(false);
    const other = { ...odd.options, preHash: 'SHA3-512' as const };
    expect(verify(odd.signature, message, odd.publicKey, other)).toBe(false);
  });

  test('every changed byte of a signature, some of a key', () => {
    const { publicKey, signature, options } = vectors[2]!;
    const message = ascii('message');
    for (let at = 0; at < signature.length; at++) {
      const changed = signature.slice();
      changed[at]! ^= 1 << (at % 8);
      expect(draft.verify(changed, message, publicKey, options), `byte ${at}`).toBe(false);
    }
    for (let at = 0; at < publicKey.length; at += 31) {
      const changed = publicKey.slice();
      changed[at]! ^= 1 << (at % 8);
      expect(draft.verify(signature, message, changed, options), `key byte ${at}`).toBe(false);
    }
    for (const length of [0, 1, 40, 41, 42, signature.length - 1]) {
      const cut = signature.subarray(0, length);
      expect(draft.verify(cut, message, publicKey, options)).toBe(false);
      expect(draft.verify(signature, message, publicKey.subarray(0, length), options)).toBe(false);
    }
    const longer = Uint8Array.from([...signature, 0]);
    expect(draft.verify(longer, message, publicKey, options)).toBe(false);
  });

  test('a longer key, of whose hash a signature would be valid', () => {
    const { publicKey, secretKey } = vectors[3]!;
    const message = ascii('message');
    const signUnder = (key: Uint8Array) =>
      draft.sign(message, Uint8Array.from([...secretKey.slice(0, -64), ...shake256(64, key)]));
    const longer = Uint8Array.from([...publicKey, 0]);
    expect(draft.verify(signUnder(publicKey), message, publicKey)).toBe(true);
    expect(draft.verify(signUnder(longer), message, longer)).toBe(false);
  });

  test('the point', () => {
    const random = testRandom(`draft point ${degree}`);
    for (let i = 0; i < 10; i++) {
      const salt = random.bytes(40);
      const mu = random.bytes(64);
      const point = hashToPoint(draft.parameterSet, salt, mu, PROFILE);
      expect(Array.from(point)).toEqual(draftPoint(degree, salt, mu));
    }
  });

  test('no coefficient beyond 840, of s2 or of s1', () => {
    const params = paramsIn(PROFILE, draft.parameterSet);
    const random = testRandom(`limit ${degree}`);
    /** A signature with small coefficients, but for one of each half. */
    const judge = (x1: number, x2: number) => {
      const [salt, message] = [random.bytes(40), random.bytes(64)];
      for (;;) {
        const [s1, s2] = [x1, x2].map((x) =>
          Array.from({ length: degree }, (_, i) => (i === 5 ? x : random.between(-60, 60))),
        ) as [number[], number[]];
        const publicKey = craftPublicKey(s1, s2, salt, message, draftPoint);
        if (publicKey === undefined) continue; // this s2 has no inverse
        const signature = encodeSignature('padded', salt, s2);
        return verifyItems(params, [{ signature, message, publicKey }]);
      }
    };
    const beyond = [{ index: 0, reason: 'signatureMismatch' }];
    for (const sign of [1, -1]) {
      expect(judge(0, sign * 840)).toEqual([]);
      expect(judge(0, sign * 841)).toEqual(beyond);
      expect(judge(sign * 840, 0)).toEqual([]);
      expect(judge(sign * 841, 0)).toEqual(beyond);
    }
  });

  test('keys convert to those of Falcon and back', () => {
    const { publicKey, secretKey } = testKeys(degree, 0);
    const converted = draft.secretKeyFromRound3(secretKey);
    expect(converted).toHaveLength(draft.lengths.secretKey);
    expect(draft.secretKeyToRound3(converted)).toEqual(secretKey);
    const own = draft.publicKeyFromRound3(publicKey);
    expect(draft.getPublicKey(converted)).toEqual(own);
    expect(draft.publicKeyToRound3(own)).toEqual(publicKey);
    const made = draft.keygen();
    const round3 = draft.secretKeyToRound3(made.secretKey);
    expect(falcon.getPublicKey(round3)).toEqual(draft.publicKeyToRound3(made.publicKey));
    const message = ascii('both');
    const signature = draft.sign(message, made.secretKey);
    expect(draft.verify(signature, message, made.publicKey)).toBe(true);
    expect(falcon.verify(signature, message, draft.publicKeyToRound3(made.publicKey))).toBe(false);
  });

  test('what is thrown', () => {
    const { publicKey, secretKey } = vectors[0]!;
    const message = ascii('message');
    const wrongHash = secretKey.slice();
    wrongHash[secretKey.length - 1]! ^= 1;
    expect(() => draft.getPublicKey(wrongHash)).toThrow('holds the hash of another public key');
    const header = secretKey.slice();
    header[0]! ^= 1;
    const zero = secretKey.slice().fill(0, 1, 600);
    const high = publicKey.slice().fill(255, 1, 3);
    for (const bad of [header, zero, secretKey.subarray(1)]) {
      expect(() => draft.sign(message, bad)).toThrow(RangeError);
      expect(() => draft.getPublicKey(bad)).toThrow(RangeError);
      expect(() => draft.secretKeyToRound3(bad)).toThrow(RangeError);
    }
    expect(() => draft.secretKeyFromRound3(secretKey)).toThrow(RangeError);
    expect(() => draft.publicKeyToRound3(high)).toThrow(RangeError);
    expect(() => draft.publicKeyFromRound3(publicKey.slice(1))).toThrow(RangeError);
    const otherHeader = publicKey.slice().fill(publicKey[0]! ^ 3, 0, 1);
    expect(() => draft.publicKeyToRound3(otherHeader)).toThrow('"publicKey" is not a public key');
    // The first coefficient is q, and q - 1: 14 bits, lowest first.
    const withFirst = (value: number) =>
      publicKey.with(1, value & 255).with(2, (publicKey[2]! & 0xc0) | (value >> 8));
    expect(() => draft.publicKeyToRound3(withFirst(12289))).toThrow(RangeError);
    expect(() => draft.publicKeyToRound3(withFirst(12288))).not.toThrow();
    expect(() => draft.publicKeyFromRound3(publicKey.slice().fill(255, 1, 3))).toThrow(RangeError);
    expect(draft.verify(vectors[0]!.signature, message, high, vectors[0]!.options)).toBe(false);
    expect(() => draft.keygen(new Uint8Array(48))).toThrow(RangeError);
    const testSeed = new Uint8Array(39);
    expect(() => draft.sign(message, secretKey, { testSeed })).toThrow(RangeError);
    expect(() => draft.sign(message, secretKey, { context: new Uint8Array(256) })).toThrow(
      RangeError,
    );
    expect(() => draft.sign(message, secretKey, { preHash: 'MD5' as PreHash })).toThrow(RangeError);
    expect(() => draft.verify(message, message, publicKey, { format: 1 } as never)).toThrow(
      TypeError,
    );
    expect(() => draft.verify('x' as never, message, publicKey)).toThrow(TypeError);
    expect(() => draft.item(message, message, publicKey)).toThrow(RangeError);
    const buffer = new ArrayBuffer(7);
    const detaching = {
      get context() {
        structuredClone(buffer, { transfer: [buffer] });
        return new Uint8Array(0);
      },
    };
    expect(() => draft.sign(new Uint8Array(buffer), secretKey, detaching)).toThrow(TypeError);
    const long = { context: new Uint8Array(255) };
    expect(draft.verify(draft.sign(message, secretKey, long), message, publicKey, long)).toBe(true);
  });
});

/**
 * SHA-256 of signatures that took two attempts, by the crate, on the key of vector 0 of each size,
 * without context: message "message", seed = number, little-endian, and zeros.
 */
const SECOND_ATTEMPTS: Readonly<Record<Degree, readonly (readonly [number, string])[]>> = {
  512: [[1276, '71f804996e9ea481694e60ff3258d45ef1e47abd5b94086f11441dd01ee1735f']],
  1024: [
    [207, '866369fc9b8c196ee29414c66e63f44558c1503dac98e74ce95c04360a260a2c'],
    [244, 'ed764dddfadc3f6ff1150a407434df9f19b19d5fb2cfc57c8eec819e263f763c'],
  ],
};

test.each(SETS)('a second attempt has another salt, n = $degree', ({ degree, draft }) => {
  const logn = degree === 512 ? 9 : 10;
  const seed = shake256(32, Uint8Array.of(logn, 0, 0, 0, 0));
  const { publicKey, secretKey } = draft.keygen(seed);
  const message = ascii('message');
  const mu = draft.statement(message, publicKey).message;
  const keyHash = shake256(40, secretKey.subarray(1, degree === 512 ? 769 : 1281));
  const attempts = (number: number) => {
    const testSeed = new Uint8Array(40);
    new DataView(testSeed.buffer).setUint32(0, number, true);
    const signature = draft.sign(message, secretKey, { testSeed });
    expect(draft.verify(signature, message, publicKey)).toBe(true);
    const derived = shake256(40, keyHash, mu, testSeed);
    const salt = Buffer.from(signature.subarray(1, 41));
    const attempt = [0, 1].find((i) => salt.equals(shake256(40, derived, Uint8Array.of(i))));
    return { attempt, hash: hashOf('sha256', signature).toString('hex') };
  };
  for (const [number, hash] of SECOND_ATTEMPTS[degree]) {
    expect(attempts(number)).toEqual({ attempt: 1, hash });
  }
  expect(attempts(1).attempt).toBe(0);
});

/** The hash functions with the last arc of their OID, and their bytes if they have any number. */
// biome-ignore format: several in a line
const HASHES: readonly [PreHash, string, number, number?][] = [
  ['SHA-256', 'sha256', 1], ['SHA-384', 'sha384', 2], ['SHA-512', 'sha512', 3],
  ['SHA-512/256', 'sha512-256', 6], ['SHA3-256', 'sha3-256', 8], ['SHA3-384', 'sha3-384', 9],
  ['SHA3-512', 'sha3-512', 10], ['SHAKE128', 'shake128', 11, 32], ['SHAKE256', 'shake256', 12, 64],
];

test.each(HASHES)(
  'the representative of a hashed message, %s',
  (preHash, name, arc, outputLength) => {
    const message = testRandom('prehash').bytes(1000);
    const { publicKey } = testKeys(512, 1);
    const own = fnDsaDraft512.publicKeyFromRound3(publicKey);
    const context = ascii('ctx');
    const digest = createHash(name, outputLength === undefined ? {} : { outputLength });
    const oid = Uint8Array.of(6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, arc);
    const start = [shake256(64, own), Uint8Array.of(1, 3), context];
    const mu = shake256(64, ...start, oid, digest.update(message).digest());
    expect(fnDsaDraft512.statement(message, own, { context, preHash })).toEqual({
      publicKey,
      message: mu,
    });
  },
);

describe('signatures that are not canonical', () => {
  const { publicKey, secretKey } = fnDsaDraft512.keygen(testRandom('canonical').bytes(32));
  const message = ascii('canonical');
  const signature = fnDsaDraft512.sign(message, secretKey);

  /** The bits behind the salt, lowest of each byte first. */
  const bitsOf = (bytes: Uint8Array): number[] =>
    Array.from(bytes.subarray(41), (byte) =>
      Array.from({ length: 8 }, (_, i) => (byte >> i) & 1),
    ).flat();
  const withBits = (bits: readonly number[]): Uint8Array => {
    const bytes = signature.slice().fill(0, 41);
    for (const [i, bit] of bits.entries()) bytes[41 + (i >> 3)]! |= bit << (i & 7);
    return bytes;
  };
  const refused = (bytes: Uint8Array) => {
    expect(fnDsaDraft512.verify(bytes, message, publicKey)).toBe(false);
    expect(() => fnDsaDraft512.item(bytes, message, publicKey)).toThrow(
      '"signature" is not one of fnDsaDraft512',
    );
  };

  test('the bits are read as they are written', () => {
    expect(withBits(bitsOf(signature))).toEqual(signature);
    expect(() => fnDsaDraft512.item(signature, message, publicKey)).not.toThrow();
  });

  test('minus zero', () => {
    const bits = bitsOf(signature);
    refused(withBits([1, 0, 0, 0, 0, 0, 0, 0, 1, ...bits.slice(9)]));
  });

  test('a coefficient of 841: sign, 73, six zeros, one', () => {
    const low = [0, 1, 0, 0, 1, 0, 0, 1];
    const rest = new Array<number>(5000 - 15).fill(0).map((_, i) => +(i % 9 === 8));
    refused(withBits([...low, 0, 0, 0, 0, 0, 0, 1, ...rest.slice(0, 511 * 9)]));
    const at840 = [0, 0, 0, 0, 1, 0, 0, 1];
    const bytes = withBits([...at840, 0, 0, 0, 0, 0, 0, 1, ...rest.slice(0, 511 * 9)]);
    expect(() => fnDsaDraft512.item(bytes, message, publicKey)).not.toThrow();
  });

  test('a bit in the padding', () => {
    for (const at of [1, 9, 64]) {
      const bits = bitsOf(signature);
      if (bits.lastIndexOf(1) >= bits.length - at) continue;
      bits[bits.length - at] = 1;
      refused(withBits(bits));
    }
  });

  test('coefficients that go on beyond the end', () => {
    refused(withBits(new Array(5000).fill(1)));
    refused(signature.slice().fill(0, 41));
  });
});
