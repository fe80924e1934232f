/** The shape of the library: what it exports, what it refuses at once, what it leaves untouched. */
import { describe, expect, test } from 'vitest';
import * as library from '../../src/falcon/index.ts';
import { createFalcon, falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { SETS, testKeys } from '../support/ours.ts';
import { nobleObject } from '../support/peers.ts';
import { concatBytes, SPEC } from '../support/reference.ts';

const NOT_BYTES: readonly unknown[] = [
  undefined,
  null,
  '',
  'ab',
  5,
  [1, 2, 3],
  {},
  new Uint16Array(8),
  new ArrayBuffer(8),
  new DataView(new ArrayBuffer(8)),
];

test('both parameter sets are frozen and of one shape', () => {
  expect(falcon512.name).toBe('falcon512');
  expect(falcon1024.name).toBe('falcon1024');
  expect(Object.keys(falcon512).sort()).toEqual(Object.keys(falcon1024).sort());
  for (const falcon of [falcon512, falcon1024]) {
    expect(Object.isFrozen(falcon)).toBe(true);
    expect(Object.isFrozen(falcon.lengths)).toBe(true);
    expect(Object.isFrozen(falcon.attached)).toBe(true);
  }
});

test('what the room exports', () => {
  expect(Object.keys(library)).toEqual(
    expect.arrayContaining(['falcon512', 'falcon1024', 'createFalcon', 'createVerifyPool']),
  );
});

test('createFalcon: the build that was asked for', () => {
  for (const module of ['plain', 'relaxed'] as const) {
    expect(createFalcon('falcon512', { module }).module).toBe(module);
  }
  expect(['plain', 'relaxed']).toContain(falcon512.module);
  expect(() => createFalcon('falcon256' as never)).toThrow(RangeError);
  expect(() => createFalcon('falcon512', { module: 'fast' } as never)).toThrow(RangeError);
  expect(() => createFalcon('falcon512', { modul: 'plain' } as never)).toThrow(TypeError);
});

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const spec = SPEC[degree];
  const { publicKey, secretKey } = testKeys(degree);
  const message = new Uint8Array([1, 2, 3]);
  const signature = falcon.sign(message, secretKey);

  test('lengths', () => {
    expect(falcon.lengths).toEqual({
      publicKey: spec.publicKey,
      secretKey: spec.secretKey,
      seed: 48,
      salt: 40,
      signature: spec.compressedMax,
      signaturePadded: spec.padded,
      signatureConstantTime: spec.constantTime,
    });
  });

  test('without a seed every key pair is another one', () => {
    const a = falcon.keygen();
    const b = falcon.keygen();
    expect(a.publicKey).not.toEqual(b.publicKey);
    const own = falcon.sign(message, a.secretKey);
    expect(falcon.verify(own, message, a.publicKey)).toBe(true);
    expect(falcon.verify(own, message, b.publicKey)).toBe(false);
  });

  test('wrong types throw TypeError', () => {
    for (const bad of NOT_BYTES as never[]) {
      expect(() => falcon.sign(bad, secretKey)).toThrow(TypeError);
      expect(() => falcon.sign(message, bad)).toThrow(TypeError);
      expect(() => falcon.verify(bad, message, publicKey)).toThrow(TypeError);
      expect(() => falcon.verify(signature, bad, publicKey)).toThrow(TypeError);
      expect(() => falcon.verify(signature, message, bad)).toThrow(TypeError);
      expect(() => falcon.getPublicKey(bad)).toThrow(TypeError);
      expect(() => falcon.expandSecretKey(bad)).toThrow(TypeError);
      expect(() => falcon.preparePublicKey(bad)).toThrow(TypeError);
      expect(() => falcon.attached.seal(bad, secretKey)).toThrow(TypeError);
      expect(() => falcon.attached.open(bad, publicKey)).toThrow(TypeError);
      if (bad !== undefined) expect(() => falcon.keygen(bad)).toThrow(TypeError);
    }
  });

  test('wrong lengths of own arguments throw RangeError', () => {
    for (const length of [0, 1, 7, 129, 1000]) {
      expect(() => falcon.keygen(new Uint8Array(length))).toThrow(RangeError);
    }
    for (const key of [secretKey.subarray(1), concatBytes(secretKey, [0]), new Uint8Array(0)]) {
      expect(() => falcon.sign(message, key)).toThrow(RangeError);
      expect(() => falcon.getPublicKey(key)).toThrow(RangeError);
      expect(() => falcon.expandSecretKey(key)).toThrow(RangeError);
      expect(() => falcon.attached.seal(message, key)).toThrow(RangeError);
    }
    const salt = new Uint8Array(40);
    const samplerSeed = new Uint8Array(48);
    for (const testSeed of [
      { salt: salt.subarray(1), samplerSeed },
      { salt, samplerSeed: samplerSeed.subarray(1) },
    ]) {
      expect(() => falcon.sign(message, secretKey, { testSeed })).toThrow(RangeError);
    }
  });

  test('unknown options throw', () => {
    for (const options of [
      { formats: 'padded' },
      { format: 'padded', seed: new Uint8Array(48) },
      { testSeed: { salt: new Uint8Array(40) } },
      5,
      'padded',
      null,
    ]) {
      expect(() => falcon.sign(message, secretKey, options as never)).toThrow(TypeError);
    }
    expect(() => falcon.sign(message, secretKey, { format: 'short' } as never)).toThrow(/format/);
  });

  test('a secret key that is none: refused, by every call that takes one', () => {
    const bad: [string, Uint8Array][] = [
      ['header', secretKey.with(0, 0x50)],
      ['header of the other set', secretKey.with(0, spec.logn === 9 ? 0x5a : 0x59)],
      ['all zero', new Uint8Array(spec.secretKey).with(0, secretKey[0]!)],
      ['all ones', new Uint8Array(spec.secretKey).fill(0xff).with(0, secretKey[0]!)],
      // -2^5 as the first coefficient of f at 512 (six bits), -2^4 at 1024 (five)
      [
        'forbidden value in f',
        secretKey.with(1, (secretKey[1]! & (degree === 512 ? 3 : 7)) | 0x80),
      ],
      ['the forbidden value in F', secretKey.with(-1, 0x80)],
      ['another F', secretKey.with(-1, secretKey.at(-1)! ^ 1)],
    ];
    for (const [name, key] of bad) {
      expect(() => falcon.sign(message, key), name).toThrow();
      expect(() => falcon.expandSecretKey(key), name).toThrow();
      expect(() => falcon.getPublicKey(key), name).toThrow();
    }
    // A refusal leaves nothing behind: the next call is as good as any.
    expect(falcon.verify(falcon.sign(message, secretKey), message, publicKey)).toBe(true);
  });

  test('arguments are neither changed nor kept', () => {
    const originals = { signature, message, publicKey, secretKey };
    const copies = {
      signature: Uint8Array.from(signature),
      message: Uint8Array.from(message),
      publicKey: Uint8Array.from(publicKey),
      secretKey: Uint8Array.from(secretKey),
    };
    const prepared = falcon.preparePublicKey(copies.publicKey);
    falcon.sign(copies.message, copies.secretKey);
    falcon.getPublicKey(copies.secretKey);
    falcon.verify(copies.signature, copies.message, copies.publicKey);
    expect(copies).toEqual(originals);
    copies.publicKey.fill(0);
    expect(falcon.verify(signature, message, prepared)).toBe(true);
    prepared.publicKey.fill(0);
    expect(falcon.verify(signature, message, prepared)).toBe(true);
  });

  test('views into larger buffers, and shared memory, are read where they are', () => {
    const at = (bytes: Uint8Array, shift: number): Uint8Array => {
      const buffer = new Uint8Array(bytes.length + 64).fill(0xee);
      buffer.set(bytes, shift);
      return buffer.subarray(shift, shift + bytes.length);
    };
    for (const shift of [1, 7, 33]) {
      expect(falcon.verify(at(signature, shift), at(message, shift), at(publicKey, shift))).toBe(
        true,
      );
      const own = falcon.sign(at(message, shift), at(secretKey, shift));
      expect(falcon.verify(own, message, publicKey)).toBe(true);
    }
    const shared = new Uint8Array(new SharedArrayBuffer(signature.length));
    shared.set(signature);
    expect(falcon.verify(shared, message, publicKey)).toBe(true);
    expect(falcon.verify(Buffer.from(signature), Buffer.from(message), publicKey)).toBe(true);
  });

  test('prepared public keys: of this set only', () => {
    const prepared = falcon.preparePublicKey(publicKey);
    expect(prepared.parameterSet).toBe(falcon.name);
    expect(prepared.publicKey).toEqual(publicKey);
    const other = SETS.find((set) => set.degree !== degree)!;
    const foreign = other.falcon.preparePublicKey(testKeys(other.degree).publicKey);
    expect(() => falcon.verify(signature, message, foreign)).toThrow(TypeError);
    expect(() => falcon.verifyBatch([{ signature, message, publicKey: foreign }])).toThrow(
      TypeError,
    );
    const lookalike = { parameterSet: falcon.name, publicKey };
    expect(() => falcon.verify(signature, message, lookalike as never)).toThrow(TypeError);
    for (const bad of [
      publicKey.subarray(1),
      publicKey.with(0, 0x0f),
      publicKey.with(1, 0xff).with(2, 0xff),
    ]) {
      expect(() => falcon.preparePublicKey(bad)).toThrow(RangeError);
    }
  });

  test('attached: bytes that do not open', () => {
    const sealed = falcon.attached.seal(message, secretKey);
    expect(sealed.length).toBeLessThanOrEqual(spec.compressedMax + 2 + message.length);
    for (let length = 0; length < sealed.length; length += 13) {
      expect(() => falcon.attached.open(sealed.subarray(0, length), publicKey)).toThrow();
    }
    expect(() => falcon.attached.open(sealed, testKeys(degree, 1).publicKey)).toThrow();
    expect(() => falcon.attached.open(sealed, publicKey.subarray(1))).toThrow();
    const swapped = sealed.with(0, sealed[1]!).with(1, sealed[0]!);
    expect(() => falcon.attached.open(swapped, publicKey)).toThrow();
  });

  test('long messages', () => {
    for (const length of [8191, 8192, 8193, 100_000, 3_000_001]) {
      const long = new Uint8Array(length).map((_, i) => i);
      const own = falcon.sign(long, secretKey);
      expect(falcon.verify(own, long, publicKey)).toBe(true);
      expect(nobleObject(degree).verify(own, long, publicKey)).toBe(true);
      expect(falcon.verify(own, long.with(-1, 9 ^ long.at(-1)!), publicKey)).toBe(false);
    }
  });
});
