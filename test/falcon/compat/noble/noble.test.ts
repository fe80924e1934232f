/** `falconry/noble` beside @noble/post-quantum: same shape, same bytes, same refusals. */
import * as peers from '@noble/post-quantum/falcon.js';
import type { Signer } from '@noble/post-quantum/utils.js';
import { describe, expect, test } from 'vitest';
import * as ours from '../../../../src/falcon/compat/noble/index.ts';
import { decodeSignature } from '../../../../src/falcon/points.ts';
import { testRandom } from '../../../support/random.ts';

ours.falcon512 satisfies Signer;
ours.falcon512padded satisfies Signer;
ours.falcon1024 satisfies Signer;
ours.falcon1024padded satisfies Signer;
// The attached half, too.
ours.falcon512.attached satisfies peers.FalconAttached;
ours.falcon512 satisfies peers.Falcon;

const OURS = { ...ours };
const PEERS = { ...peers };
const NAMES = ['falcon512', 'falcon512padded', 'falcon1024', 'falcon1024padded'] as const;
const OTHERS = {
  falcon512: 'falcon512padded',
  falcon512padded: 'falcon512',
  falcon1024: 'falcon1024padded',
  falcon1024padded: 'falcon1024',
} as const;
const msg = new TextEncoder().encode('one import');
const errorOf = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return (error as Error).constructor.name;
  }
};

describe.each(NAMES)('%s', (name) => {
  const own = OURS[name];
  const peer = PEERS[name];
  const other = OURS[OTHERS[name]];
  const random = testRandom(`noble ${name}`);
  const seed = random.bytes(48);
  const { publicKey, secretKey } = own.keygen(seed);

  test('has the fields, lengths and keys of the peer', () => {
    expect(own.info).toEqual(peer.info);
    expect(own.lengths).toEqual(peer.lengths);
    expect(own.attached.info).toEqual(peer.attached.info);
    expect(own.attached.lengths).toEqual(peer.attached.lengths);
    expect(Object.isFrozen(own) && Object.isFrozen(own.attached)).toBe(true);
    expect(own.keygen(seed)).toEqual(peer.keygen(seed));
    expect(own.attached.keygen(seed)).toEqual({ publicKey, secretKey });
    expect(own.getPublicKey(secretKey)).toEqual(publicKey);
    expect(own.attached.getPublicKey(secretKey)).toEqual(publicKey);
  });

  test('signs the bytes of the peer from the same random bytes, and each verifies the other', () => {
    const bytes = { 40: random.bytes(40), 48: random.bytes(48) } as Record<number, Uint8Array>;
    const opts = { random: (length = 0) => bytes[length]!.slice() };
    const signature = own.sign(msg, secretKey, opts);
    expect(signature).toEqual(peer.sign(msg, secretKey, opts as never));
    expect(peer.verify(signature, msg, publicKey)).toBe(true);
    const fresh = peer.sign(msg, secretKey);
    expect(own.verify(fresh, msg, publicKey)).toBe(true);
    expect(own.verify(own.sign(msg, secretKey), msg, publicKey, {})).toBe(true);
    const sealed = own.attached.seal(msg, secretKey, opts);
    expect(sealed).toEqual(peer.attached.seal(msg, secretKey, opts as never));
    expect(peer.attached.open(sealed, publicKey)).toEqual(msg);
    expect(own.attached.open(sealed, publicKey)).toEqual(msg);
    const empty = new Uint8Array(0);
    expect(own.attached.open(own.attached.seal(empty, secretKey), publicKey)).toEqual(empty);
  });

  test('refuses the other encoding, and every change', () => {
    const signature = own.sign(msg, secretKey);
    expect(own.verify(other.sign(msg, secretKey), msg, publicKey)).toBe(false);
    for (const longer of [0, 1]) {
      const bad = Uint8Array.of(...signature, longer);
      expect(own.verify(bad, msg, publicKey)).toBe(false);
    }
    expect(own.verify(signature, msg.subarray(1), publicKey)).toBe(false);
    expect(own.verify(signature, msg, publicKey.subarray(1))).toBe(false);
    const sealed = own.attached.seal(msg, secretKey);
    for (let at = 0; at < sealed.length; at += 37) {
      const bad = sealed.slice();
      bad[at]! ^= 0x40;
      expect(() => own.attached.open(bad, publicKey)).toThrow('invalid signature');
    }
    for (const short of [0, 1, 42, 43, sealed.length - 1]) {
      const bad = sealed.subarray(0, short);
      expect(() => own.attached.open(bad, publicKey)).toThrow('invalid signature');
    }
    expect(() => own.attached.open(sealed, publicKey.subarray(1))).toThrow('invalid signature');
  });

  test('extraEntropy makes signatures repeat, but no two messages share a salt', () => {
    for (const extraEntropy of [false, random.bytes(48)] as const) {
      const once = own.sign(msg, secretKey, { extraEntropy });
      expect(own.sign(msg, secretKey, { extraEntropy })).toEqual(once);
      expect(own.verify(once, msg, publicKey)).toBe(true);
      const next = own.sign(msg.subarray(1), secretKey, { extraEntropy });
      expect(next.subarray(1, 41)).not.toEqual(once.subarray(1, 41));
      const another = own.sign(msg, secretKey, { extraEntropy: random.bytes(48) });
      expect(another).not.toEqual(once);
      const key = own.keygen(random.bytes(48)).secretKey;
      expect(own.sign(msg, key, { extraEntropy }).subarray(1, 41)).not.toEqual(
        once.subarray(1, 41),
      );
    }
    expect(own.sign(msg, secretKey)).not.toEqual(own.sign(msg, secretKey));
  });

  test('what repeats never signs one point twice: formats share a signature, or no salt', () => {
    const parts = (signature: Uint8Array) => {
      const decoded = decodeSignature(signature);
      if (typeof decoded === 'string') throw new Error(decoded);
      return { salt: decoded.salt, s2: decoded.s2 };
    };
    const derived = { extraEntropy: false } as const;
    expect(parts(other.sign(msg, secretKey, derived))).toEqual(
      parts(own.sign(msg, secretKey, derived)),
    );
    const mixed = { extraEntropy: random.bytes(48) };
    expect(parts(other.sign(msg, secretKey, mixed)).salt).not.toEqual(
      parts(own.sign(msg, secretKey, mixed)).salt,
    );
  });

  test('refuses what the peer refuses, with the same class of error', () => {
    const signature = own.sign(msg, secretKey);
    const context = new Uint8Array(1);
    const wrongKey = secretKey.slice();
    wrongKey.fill(0, 1, secretKey.length === 1281 ? 385 : 641); // f = 0 is not invertible
    const bad = [undefined, 1, 'x', {}, [], new Uint16Array(4)] as never[];
    const calls: ((falcon: typeof own) => unknown)[] = [
      ...bad.flatMap((value) => [
        (f: typeof own) => f.sign(value, secretKey),
        (f: typeof own) => f.sign(msg, value),
        (f: typeof own) => f.verify(value, msg, publicKey),
        (f: typeof own) => f.verify(signature, value, publicKey),
        (f: typeof own) => f.verify(signature, msg, value),
        (f: typeof own) => f.attached.open(value, publicKey),
        (f: typeof own) => f.attached.open(signature, value),
        (f: typeof own) => f.attached.seal(value, secretKey),
        (f: typeof own) => f.getPublicKey(value),
      ]),
      ...[0, 47, 49].map((length) => (f: typeof own) => f.keygen(new Uint8Array(length))),
      ...[0, 47, 49].map(
        (length) => (f: typeof own) =>
          f.sign(msg, secretKey, { extraEntropy: new Uint8Array(length) }),
      ),
      ...[0, 39, 88].map(
        (length) => (f: typeof own) =>
          f.sign(msg, secretKey, { random: () => new Uint8Array(length) }),
      ),
      (f) => f.sign(msg, secretKey.subarray(1)),
      (f) => f.sign(msg, wrongKey),
      (f) => f.getPublicKey(wrongKey),
      (f) => f.sign(msg, secretKey, { context }),
      (f) => f.verify(signature, msg, publicKey, { context }),
      (f) => f.attached.open(signature, publicKey, { context }),
      (f) => f.sign(msg, secretKey, { random: 5 as never }),
      (f) => f.sign(msg, secretKey, { format: 'padded' } as never),
      (f) => f.verify(signature, msg, publicKey, { format: 'padded' } as never),
      (f) => f.verify(signature, msg, publicKey, null as never),
    ];
    for (const call of calls) {
      const theirs = errorOf(() => call(peer as never));
      expect(typeof theirs, call.toString()).toBe('string');
      expect(
        errorOf(() => call(own)),
        call.toString(),
      ).toBe(theirs);
    }
    expect(() => own.sign(msg, wrongKey)).toThrow('invalid secretKey');
  });

  test('asks for no random bytes before it knows that the arguments are right', () => {
    let calls = 0;
    const opts = { random: (length = 0) => new Uint8Array(length).fill(++calls) };
    expect(() => own.sign('x' as never, secretKey, opts)).toThrow(TypeError);
    expect(() => own.sign(msg, secretKey.subarray(1), opts)).toThrow(RangeError);
    expect(() => own.attached.seal({} as never, secretKey, opts)).toThrow(TypeError);
    expect(calls).toBe(0);
  });
});
