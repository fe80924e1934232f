/**
 * Bytes are copied, once, from what is truly a Uint8Array: whatever a caller hands in, however it
 * looks and whatever becomes of it, no call reads more than was judged, and nothing is kept.
 */
import { createContext, runInContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { SETS, testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';

/** A buffer that can change its length; the project's own language level does not know them yet. */
function resizable<T extends ArrayBuffer | SharedArrayBuffer>(
  kind: new (length: number) => T,
  length: number,
  maxByteLength: number,
): T & { resize(length: number): void } {
  return Reflect.construct(kind, [length, { maxByteLength }]);
}

const SEALED_ERROR = expect.objectContaining({ code: 'INVALID_SIGNATURES' });

/** A Uint8Array that says that it has another length. */
class Lying extends Uint8Array {
  static told = 0;
  override get length(): number {
    return Lying.told;
  }
}

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const other = testKeys(degree, 1).publicKey;
  const message = testRandom(`boundary ${degree}`).bytes(50);
  const signature = falcon.sign(message, secretKey);
  const sealed = falcon.attached.seal(message, secretKey);
  const { lengths } = falcon;

  /** A signature of zeros, of the padded form: never valid, unless the module is damaged. */
  const zeros = new Uint8Array(lengths.signaturePadded);
  zeros[0] = 0x30 + (degree === 512 ? 9 : 10);

  afterEach(() => {
    // Whatever a test has tried, the module still tells true from false.
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
    expect(falcon.verify(signature, message, other)).toBe(false);
    expect(falcon.verify(zeros, message, publicKey)).toBe(false);
    expect(falcon.verifyBatch([{ signature: zeros, message, publicKey }])).toHaveLength(1);
  });

  describe('nothing is kept of the caller’s memory', () => {
    test('preparePublicKey of a Buffer', () => {
      const buffer = Buffer.from(publicKey);
      const prepared = falcon.preparePublicKey(buffer);
      buffer.set(other);
      expect(Buffer.compare(prepared.publicKey, publicKey)).toBe(0);
      prepared.publicKey.fill(0);
      expect(Buffer.compare(prepared.publicKey, publicKey)).toBe(0);
      expect(falcon.verify(signature, message, prepared)).toBe(true);
    });

    test('open of a Buffer gives a message of its own', () => {
      const buffer = Buffer.from(sealed);
      const opened = falcon.attached.open(buffer, publicKey);
      buffer.fill(0);
      expect(Buffer.compare(opened, message)).toBe(0);
      expect(opened.buffer).not.toBe(buffer.buffer);
    });

    test('results are plain arrays in memory of their own', () => {
      const [m, sk, pk] = [message, secretKey, publicKey].map((bytes) => Buffer.from(bytes));
      const pair = falcon.keygen(Buffer.alloc(48, 5));
      for (const bytes of [
        pair.publicKey,
        pair.secretKey,
        falcon.getPublicKey(sk!),
        falcon.sign(m!, sk!),
        falcon.attached.seal(m!, sk!),
        falcon.attached.open(Buffer.from(sealed), pk!),
        falcon.preparePublicKey(pk!).publicKey,
      ]) {
        expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
        expect(bytes.buffer).toBeInstanceOf(ArrayBuffer);
        expect(bytes.buffer.byteLength).toBe(bytes.length);
      }
    });
  });

  describe('a length that is not true', () => {
    const huge = (told: number, bytes: Uint8Array): Uint8Array => {
      Lying.told = told;
      const lying = new Lying(600_000).fill(0x11);
      lying.set(bytes);
      return lying;
    };
    /** An own property in place of the prototype's. */
    const own = (told: number, bytes: Uint8Array): Uint8Array => {
      const array = new Uint8Array(600_000).fill(0x11);
      array.set(bytes);
      return Object.defineProperty(array, 'length', { value: told });
    };

    test.each([
      ['a subclass', huge],
      ['an own property', own],
    ])('%s: no call reads or writes more than is there', (_, lie) => {
      const pk = lie(publicKey.length, publicKey);
      const sig = lie(signature.length, signature);
      expect(falcon.verify(signature, message, pk)).toBe(false);
      expect(falcon.verify(sig, message, publicKey)).toBe(false);
      expect(falcon.verify(signature, lie(message.length, message), publicKey)).toBe(false);
      expect(falcon.verifyBatch([{ signature: sig, message, publicKey }])).toHaveLength(1);
      expect(falcon.verifyBatch([{ signature, message, publicKey: pk }])).toHaveLength(1);
      const long = lie(message.length, message);
      expect(falcon.verifyBatch([{ signature, message: long, publicKey }])).toHaveLength(1);
      expect(() => falcon.preparePublicKey(pk)).toThrow(RangeError);
      expect(() => falcon.sign(message, lie(secretKey.length, secretKey))).toThrow(RangeError);
      expect(() => falcon.getPublicKey(lie(secretKey.length, secretKey))).toThrow(RangeError);
      expect(() => falcon.expandSecretKey(lie(secretKey.length, secretKey))).toThrow(RangeError);
      expect(() => falcon.keygen(lie(48, new Uint8Array(48)))).toThrow(RangeError);
      const salt = lie(40, new Uint8Array(40));
      const testSeed = { salt, samplerSeed: new Uint8Array(48) };
      expect(() => falcon.sign(message, secretKey, { testSeed })).toThrow(RangeError);
      expect(() => falcon.attached.open(lie(sealed.length, sealed), publicKey)).toThrow(
        SEALED_ERROR,
      );
    });

    test('a smaller one hides nothing either', () => {
      const lying = Object.defineProperty(Uint8Array.from(message), 'length', { value: 3 });
      expect(falcon.verify(signature, lying, publicKey)).toBe(true);
      expect(falcon.verify(falcon.sign(lying, secretKey), message, publicKey)).toBe(true);
      const opened = falcon.attached.open(falcon.attached.seal(lying, secretKey), publicKey);
      expect(Buffer.compare(opened, message)).toBe(0);
    });
  });

  test('a subclass is asked for nothing: no getter, no method, no species', () => {
    const asked: (string | symbol)[] = [];
    class Curious extends Uint8Array {}
    for (const name of [
      ...['length', 'byteLength', 'byteOffset', 'buffer', 'slice', 'subarray', 'set', 'fill'],
      ...['constructor', Symbol.iterator, Symbol.toStringTag],
    ]) {
      Object.defineProperty(Curious.prototype, name, {
        get() {
          asked.push(name);
          return undefined;
        },
      });
    }
    const curious = (bytes: Uint8Array, length = bytes.length) => {
      const array = new Curious(length);
      Uint8Array.prototype.set.call(array, bytes);
      return array as Uint8Array;
    };
    const [sig, msg, pk] = [signature, message, publicKey].map((bytes) => curious(bytes));
    const sk = curious(secretKey);
    expect(falcon.verify(sig!, msg!, pk!)).toBe(true);
    expect(falcon.verifyBatch([{ signature: sig!, message: msg!, publicKey: pk! }])).toEqual([]);
    expect(falcon.verify(falcon.sign(msg!, sk), message, publicKey)).toBe(true);
    const long = curious(message, 20_000);
    const det = falcon.det.sign(message, secretKey);
    expect(falcon.verify(falcon.sign(long, sk), long, pk!)).toBe(true);
    expect(Buffer.compare(falcon.getPublicKey(sk), publicKey)).toBe(0);
    expect(Buffer.compare(falcon.preparePublicKey(pk!).publicKey, publicKey)).toBe(0);
    expect(reproducible(msg!, sk, pk!)).not.toContain(false);
    expect(falcon.det.fromRound3(curious(falcon.det.toRound3(curious(det))))).toEqual(det);
    falcon.attached.open(curious(falcon.attached.seal(msg!, sk)), pk!);
    falcon.keygen(curious(new Uint8Array(48)));
    expect(asked).toEqual([]);
  });

  describe('arrays that are somewhere else', () => {
    const detached = (bytes: Uint8Array): Uint8Array => {
      const array = Uint8Array.from(bytes);
      structuredClone(array, { transfer: [array.buffer] });
      return array;
    };
    const outOfBounds = (bytes: Uint8Array): Uint8Array => {
      const buffer = resizable(ArrayBuffer, bytes.length + 8, 2 * bytes.length + 8);
      const array = new Uint8Array(buffer, 8, bytes.length);
      buffer.resize(4);
      return array;
    };

    test.each([
      ['detached', detached],
      ['out of bounds', outOfBounds],
    ])('%s: a TypeError, and not an empty array', (_, lose) => {
      const empty = falcon.sign(new Uint8Array(0), secretKey);
      expect(falcon.verify(empty, new Uint8Array(0), publicKey)).toBe(true);
      for (const call of [
        () => falcon.verify(empty, lose(message), publicKey),
        () => falcon.verify(lose(signature), message, publicKey),
        () => falcon.verify(signature, message, lose(publicKey)),
        () => falcon.verifyBatch([{ signature: empty, message: lose(message), publicKey }]),
        () => falcon.verifyBatch([{ signature: lose(signature), message, publicKey }]),
        () => falcon.verifyBatch([{ signature, message, publicKey: lose(publicKey) }]),
        () => falcon.sign(lose(message), secretKey),
        () => falcon.det.sign(lose(message), secretKey),
        () => falcon.det.sign(message, lose(secretKey)),
        () => falcon.det.verify(lose(signature), message, publicKey),
        () => falcon.det.verifyBatch([{ signature: lose(signature), message, publicKey }]),
        () => falcon.det.convert(lose(signature), 'compressed'),
        () => falcon.det.fromRound3(lose(signature)),
        () => falcon.sign(lose(message), secretKey, { salt: 'derived' }),
        () => falcon.sign(message, lose(secretKey)),
        () => falcon.keygen(lose(new Uint8Array(48))),
        () => falcon.getPublicKey(lose(secretKey)),
        () => falcon.expandSecretKey(lose(secretKey)),
        () => falcon.preparePublicKey(lose(publicKey)),
        () => falcon.attached.seal(lose(message), secretKey),
        () => falcon.attached.open(lose(sealed), publicKey),
      ]) {
        expect(call).toThrow(TypeError);
        expect(call).toThrow(/detached or out of the bounds/);
      }
    });

    const onResizable = (bytes: Uint8Array): Uint8Array => {
      const buffer = resizable(ArrayBuffer, bytes.length + 100, bytes.length + 200);
      const array = new Uint8Array(buffer);
      buffer.resize(bytes.length);
      array.set(bytes);
      return array;
    };
    const onShared = (bytes: Uint8Array): Uint8Array => {
      const array = new Uint8Array(new SharedArrayBuffer(bytes.length));
      array.set(bytes);
      return array;
    };
    const onGrowable = (bytes: Uint8Array): Uint8Array => {
      const buffer = resizable(SharedArrayBuffer, bytes.length, 2 * bytes.length);
      const array = new Uint8Array(buffer);
      array.set(bytes);
      return array;
    };
    const ofOtherRealm = (bytes: Uint8Array): Uint8Array =>
      runInContext('Uint8Array.from(list)', createContext({ list: [...bytes] }));

    test.each([
      ['a resizable buffer', onResizable],
      ['shared memory', onShared],
      ['growable shared memory', onGrowable],
      ['another realm', ofOtherRealm],
    ])('%s: their bytes', (_, move) => {
      const [sig, msg, pk, sk] = [signature, message, publicKey, secretKey].map(move);
      expect(falcon.verify(sig!, msg!, pk!)).toBe(true);
      expect(falcon.verifyBatch([{ signature: sig!, message: msg!, publicKey: pk! }])).toEqual([]);
      const det = move(falcon.det.sign(msg!, sk!));
      expect(falcon.det.verifyBatch([{ signature: det, message: msg!, publicKey: pk! }])).toEqual(
        [],
      );
      const long = move(new Uint8Array(20_000).fill(3));
      for (const [text, key] of [
        [msg!, sk!],
        [msg!, falcon.expandSecretKey(sk!)],
        [long, sk!],
      ] as const) {
        expect(falcon.verify(falcon.sign(text, key), text, pk!)).toBe(true);
        expect(reproducible(text, key, pk!)).not.toContain(false);
      }
      expect(Buffer.compare(falcon.getPublicKey(sk!), publicKey)).toBe(0);
      expect(falcon.verify(sig!, msg!, falcon.preparePublicKey(pk!))).toBe(true);
      const opened = falcon.attached.open(move(falcon.attached.seal(msg!, sk!)), pk!);
      expect(Buffer.compare(opened, message)).toBe(0);
      expect(opened.buffer).toBeInstanceOf(ArrayBuffer);
      const seed = move(new Uint8Array(48).fill(9));
      expect(falcon.keygen(seed)).toEqual(falcon.keygen(Uint8Array.from(seed)));
    });

    test.each([
      ['a Proxy', (bytes: Uint8Array) => new Proxy(bytes, {})],
      ['an object of its prototype', () => Object.create(Uint8Array.prototype)],
      ['clamped', (bytes: Uint8Array) => Uint8ClampedArray.from(bytes)],
      [
        'a name of its own',
        (bytes: Uint8Array) =>
          Object.defineProperty(new DataView(bytes.buffer), Symbol.toStringTag, {
            value: 'Uint8Array',
          }),
      ],
    ])('%s: a TypeError', (_, pretend) => {
      const fake = (bytes: Uint8Array) => pretend(bytes) as Uint8Array;
      expect(() => falcon.verify(fake(signature), message, publicKey)).toThrow(TypeError);
      expect(() => falcon.verify(signature, fake(message), publicKey)).toThrow(TypeError);
      expect(() => falcon.verify(signature, message, fake(publicKey))).toThrow(TypeError);
      expect(() => falcon.sign(fake(message), secretKey)).toThrow(TypeError);
      expect(() => falcon.sign(message, fake(secretKey))).toThrow(TypeError);
      expect(() =>
        falcon.verifyBatch([{ signature, message, publicKey: fake(publicKey) }]),
      ).toThrow(TypeError);
    });
  });

  /** Signatures whose salt and coins follow from the key and the message: all of this is true. */
  function reproducible(
    msg: Uint8Array,
    key: Parameters<typeof falcon.sign>[1],
    pk: Parameters<typeof falcon.verify>[2],
  ): boolean[] {
    const { det } = falcon;
    const fixed = det.sign(msg, key, { format: 'constantTime' });
    const ordinary = det.toRound3(det.convert(fixed, 'compressed'));
    return [
      det.verify(det.sign(msg, key), msg, pk),
      det.verify(fixed, msg, pk),
      det.verify(det.fromRound3(ordinary), msg, pk) && det.saltVersion(fixed) === 0,
      falcon.verify(falcon.sign(msg, key, { salt: 'derived' }), msg, pk),
    ];
  }

  test('a prototype by which the host draws only 7 bytes is noticed', () => {
    const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
    const kept = Object.getOwnPropertyDescriptor(typedArray, 'byteLength')!;
    Object.defineProperty(typedArray, 'byteLength', { get: () => 7 });
    let error: unknown;
    try {
      falcon.sign(message, secretKey);
    } catch (thrown) {
      error = thrown;
    } finally {
      Object.defineProperty(typedArray, 'byteLength', kept);
    }
    expect(error).toMatchObject({ code: 'NO_RANDOMNESS' });
  });

  test('prototypes that are changed later have no say', () => {
    const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
    const names = ['length', 'byteOffset', 'buffer', Symbol.toStringTag];
    const methods = ['set', 'slice', 'subarray', 'fill', 'indexOf'];
    const kept = new Map<string | symbol, PropertyDescriptor>(
      [...names, ...methods].map((name) => [
        name,
        Object.getOwnPropertyDescriptor(typedArray, name)!,
      ]),
    );
    const results: unknown[] = [];
    const expanded = falcon.expandSecretKey(secretKey);
    const prepared = falcon.preparePublicKey(publicKey);
    const long = new Uint8Array(20_000);
    const longSignature = falcon.sign(long, secretKey);
    const seed = new Uint8Array(48);
    try {
      for (const name of names) Object.defineProperty(typedArray, name, { get: () => 7 });
      for (const name of methods) Object.defineProperty(typedArray, name, { value: undefined });
      results.push(
        falcon.verify(signature, message, publicKey),
        falcon.verify(signature, message, prepared),
        falcon.verify(longSignature, long, publicKey),
        falcon.verify(signature, message, falcon.preparePublicKey(prepared.publicKey)),
        falcon.verify(falcon.sign(message, secretKey), message, publicKey),
        falcon.verify(falcon.sign(message, expanded), message, publicKey),
        falcon.verify(zeros, message, publicKey),
        falcon.attached.open(falcon.attached.seal(message, secretKey), publicKey),
        falcon.keygen(seed),
        falcon.getPublicKey(secretKey),
        ...reproducible(message, secretKey, publicKey),
        ...reproducible(message, expanded, prepared),
        ...reproducible(long, secretKey, publicKey),
      );
      expanded.destroy();
    } finally {
      for (const [name, descriptor] of kept) Object.defineProperty(typedArray, name, descriptor);
    }
    expect(results).toEqual([
      ...[true, true, true, true, true, true, false],
      message,
      falcon.keygen(seed),
      publicKey,
      ...Array.from({ length: 12 }, () => true),
    ]);
  });
});
