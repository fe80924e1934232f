/** What deterministic Falcon refuses: bytes that are no signature, and a caller's mistakes. */
import { describe, expect, test } from 'vitest';
import { toOrdinary } from '../../src/falcon/deterministic.ts';
import type { DeterministicInvalidReason, Falcon } from '../../src/falcon/index.ts';
import { asciiOf, shakeOf } from '../support/algorand.ts';
import { BUILDS_OF_SETS, SETS, testKeys } from '../support/ours.ts';
import { BitWriter, concatBytes } from '../support/reference.ts';

const message = asciiOf('a message');

describe.each(BUILDS_OF_SETS)('det$degree, $module module', ({ degree, falcon }) => {
  const { det, lengths } = falcon;
  const { publicKey, secretKey } = testKeys(degree);
  const logn = Math.log2(degree);
  const other = logn === 9 ? 10 : 9;
  const compressed = det.sign(message, secretKey);
  const fixed = det.sign(message, secretKey, { format: 'constantTime' });
  const preparedKey = falcon.preparePublicKey(publicKey);
  const zeros = (count: number) => new Uint8Array(count);
  /** Of coefficients that are all this one, but for the first. */
  const allOf = (first: number, value: number) => {
    const writer = new BitWriter();
    for (let i = 0; i < degree; i++) writer.write((i === 0 ? first : value) & 0xfff, 12);
    return concatBytes([0xd0 + logn, 0], writer.bytes());
  };

  /** The reason, of `verifyBatch`; `verify` and the conversions must agree with it. */
  function judge(
    signature: Uint8Array,
    of: { message: Uint8Array } = { message },
  ): DeterministicInvalidReason | undefined {
    const item = { signature, message: of.message, publicKey };
    const [invalid] = det.verifyBatch([item], { saltVersions: [0] });
    const isValid = det.verify(signature, of.message, publicKey, { saltVersions: [0] });
    expect(isValid).toBe(invalid === undefined);
    expect(det.verify(signature, of.message, preparedKey)).toBe(isValid);
    return invalid?.reason;
  }

  const refusal = expect.objectContaining({ code: 'INVALID_SIGNATURES' });
  function expectNoConversion(signature: Uint8Array): void {
    expect(() => det.convert(signature, 'compressed')).toThrow(refusal);
    expect(() => det.convert(signature, 'constantTime')).toThrow(refusal);
    expect(() => det.toRound3(signature)).toThrow(refusal);
  }

  test('headers: of other sets, of ordinary signatures, of no form', () => {
    for (let header = 0; header < 256; header++) {
      for (const [signature, own] of [
        [compressed, 0xb0 + logn],
        [fixed, 0xd0 + logn],
      ] as const) {
        const bytes = signature.with(0, header);
        const reason = judge(bytes);
        if (header === own) {
          expect(reason).toBe(undefined);
        } else if (header === 0xb0 + logn || header === 0xd0 + logn) {
          expect(['signatureLength', 'signatureEncoding']).toContain(reason);
          expectNoConversion(bytes);
        } else {
          expect(reason).toBe('signatureHeader');
          expectNoConversion(bytes);
          expect(() => det.saltVersion(bytes)).toThrow(refusal);
        }
      }
    }
  });

  test('lengths: one byte less or more, none at all, far too many', () => {
    for (const bytes of [
      zeros(0),
      compressed.subarray(0, 1),
      compressed.subarray(0, 2),
      fixed.subarray(0, fixed.length - 1),
      concatBytes(fixed, [0]),
      concatBytes(fixed, zeros(2000)),
      compressed.subarray(0, compressed.length - 1),
      concatBytes(compressed, [0]),
      concatBytes(compressed, zeros(det.lengths.signature - compressed.length)),
      concatBytes(compressed, zeros(det.lengths.signature - compressed.length + 1)),
    ]) {
      expect(judge(bytes)).toBe('signatureLength');
      expectNoConversion(bytes);
    }
    expect(() => det.saltVersion(compressed.subarray(0, 2))).toThrow(refusal);
    expect(() => det.saltVersion(Uint8Array.of(0xb0 + logn, 1))).toThrow(refusal);
    expect(() => det.saltVersion(concatBytes(fixed, [0]))).toThrow(refusal);
    expect(det.saltVersion(compressed.subarray(0, 3))).toBe(0);
  });

  test('zeros up to the padded length, where an ordinary signature may have them', () => {
    const padded = lengths.signaturePadded - 39;
    const bytes = concatBytes(compressed, zeros(padded - compressed.length));
    expect(bytes).toHaveLength(padded);
    expect(bytes.length).toBeGreaterThan(compressed.length);
    expect(judge(bytes)).toBe('signatureLength');
    expectNoConversion(bytes);
    const dirty = bytes.with(padded - 1, 1);
    expect(judge(dirty)).toBe('signatureEncoding');
    expectNoConversion(dirty);
  });

  test('a compressed signature of just the padded length is none that is padded', () => {
    const length = lengths.signaturePadded - 39;
    const writer = new BitWriter();
    const bits = 8 * (length - 2);
    for (let i = 0; i < degree; i++)
      writer.writeCompressed(false, 1, i < bits - 9 * degree ? 1 : 0);
    const full = concatBytes([0xb0 + logn, 0], writer.bytes());
    expect(full).toHaveLength(length);
    expect(judge(full)).toBe('signatureMismatch');
    expect(det.convert(det.convert(full, 'constantTime'), 'compressed')).toEqual(full);
    if (degree === 512) return; // 1 in far more than 70,000 at 512
    const keys = falcon.keygen(asciiOf('bulk-key-0000'), { allowShortSeed: true });
    const own = shakeOf('bulk-msg-0000-0477', 477);
    const signature = det.sign(own, keys.secretKey);
    expect(signature).toHaveLength(length);
    expect(det.verify(signature, own, keys.publicKey)).toBe(true);
    expect(det.fromRound3(det.toRound3(signature))).toEqual(signature);
  });

  test('salt version', () => {
    expect(judge(compressed.with(1, 1))).toBe('saltVersion');
    expect(judge(fixed.with(1, 255))).toBe('saltVersion');
    const item = { signature: compressed.with(1, 1), message, publicKey };
    expect(det.verifyBatch([item], { saltVersions: 'any' })).toEqual([
      { index: 0, reason: 'signatureMismatch' },
    ]);
  });

  test('coefficients: other ones, not canonical, too long for the compressed form', () => {
    expect(judge(compressed.with(40, compressed[40]! ^ 0x10))).toBeDefined();
    expect(judge(fixed.with(40, fixed[40]! ^ 1))).toBe('signatureMismatch');
    expect(judge(allOf(-2048, 0))).toBe('signatureEncoding');
    expectNoConversion(allOf(-2048, 0));
    const long = allOf(2047, 2047);
    expect(judge(long)).toBe('signatureMismatch');
    expect(det.convert(long, 'constantTime')).toEqual(long);
    expect(() => det.convert(long, 'compressed')).toThrow(refusal);
    expect(det.fromRound3(det.toRound3(long))).toEqual(long);
    const minusZero = concatBytes([0xb0 + logn, 0], zeros(600)).with(2, 0x80);
    expect(judge(minusZero)).toBeDefined();
    expectNoConversion(minusZero);
  });

  test('another message, another key, another set', () => {
    expect(judge(compressed, { message: asciiOf('a messagf') })).toBe('signatureMismatch');
    const theirs = testKeys(degree, 1).publicKey;
    expect(det.verify(compressed, message, theirs)).toBe(false);
    const set = SETS.find(({ falcon: one }) => one.name !== falcon.name)!.falcon;
    const keys = testKeys(other === 9 ? 512 : 1024);
    expect(set.det.verify(compressed, message, keys.publicKey)).toBe(false);
    expect(set.det.verifyBatch([{ signature: compressed, message, publicKey }])).toEqual([
      { index: 0, reason: set.name === 'falcon1024' ? 'signatureHeader' : 'signatureLength' },
    ]);
    expect(() => set.det.sign(message, secretKey)).toThrow(RangeError);
    const prepared = falcon.preparePublicKey(publicKey);
    expect(() => set.det.verify(compressed, message, prepared)).toThrow(TypeError);
  });

  test('as an aggregate takes them: with the salt, or as they are', () => {
    for (const signature of [compressed, fixed]) {
      expect(toOrdinary(signature)).toEqual(det.toRound3(signature));
      expect(toOrdinary(signature.with(1, 9))).toEqual(det.toRound3(signature.with(1, 9)));
    }
    const same = [
      det.toRound3(compressed),
      zeros(0),
      compressed.with(0, 0xb0 + 8),
      compressed.subarray(0, 2),
      concatBytes(compressed, [0]),
    ];
    for (const bytes of same) expect(toOrdinary(bytes)).toBe(bytes);
  });

  test('ordinary signatures that are none: other salts, other sets, not canonical', () => {
    const ordinary = det.toRound3(compressed);
    for (const bytes of [
      falcon.sign(message, secretKey),
      falcon.sign(message, secretKey, { salt: 'derived' }),
      ordinary.with(2, other),
      ordinary.with(3, 0x47),
      ordinary.with(40, 1),
      ordinary.with(0, 0xb0 + logn),
      ordinary.with(0, 0x30 + other),
      compressed,
      concatBytes(ordinary, [0]),
      ordinary.subarray(0, ordinary.length - 1),
      zeros(0),
      zeros(3000),
      zeros(lengths.signatureConstantTime + 1),
    ]) {
      expect(() => det.fromRound3(bytes)).toThrow(refusal);
    }
    expect(det.fromRound3(ordinary.with(1, 7))[1]).toBe(7);
    // refusing costs no instance of the module
    expect(det.sign(message, secretKey)).toEqual(compressed);
  });
});

describe("the caller's mistakes", () => {
  const { falcon, degree }: { falcon: Falcon; degree: 512 | 1024 } = SETS[0]! as never;
  const { det } = falcon;
  const { publicKey, secretKey } = testKeys(degree);
  const signature = det.sign(message, secretKey);

  test('types', () => {
    for (const bad of [undefined, null, 'ab', 5, [1], {}, new Uint16Array(2)] as never[]) {
      expect(() => det.sign(bad, secretKey)).toThrow(TypeError);
      expect(() => det.sign(message, bad)).toThrow(TypeError);
      expect(() => det.verify(bad, message, publicKey)).toThrow(TypeError);
      expect(() => det.verify(signature, bad, publicKey)).toThrow(TypeError);
      expect(() => det.verify(signature, message, bad)).toThrow(TypeError);
      expect(() => det.saltVersion(bad)).toThrow(TypeError);
      expect(() => det.convert(bad, 'compressed')).toThrow(TypeError);
      expect(() => det.toRound3(bad)).toThrow(TypeError);
      expect(() => det.fromRound3(bad)).toThrow(TypeError);
      expect(() => det.verifyBatch([bad])).toThrow(TypeError);
      expect(() => det.sign(message, secretKey, { format: bad ?? null })).toThrow(RangeError);
      expect(() => det.convert(signature, bad)).toThrow(RangeError);
    }
  });

  test('keys, forms, options', () => {
    expect(() => det.sign(message, secretKey.subarray(1))).toThrow(RangeError);
    expect(() => det.sign(message, new Uint8Array(1281).with(0, 0x59))).toThrow(RangeError);
    const expanded = falcon.expandSecretKey(secretKey);
    expanded.destroy();
    expect(() => det.sign(message, expanded)).toThrow(TypeError);
    for (const format of ['padded', 'ct', '', 'toString']) {
      expect(() => det.sign(message, secretKey, { format } as never)).toThrow(RangeError);
      expect(() => det.convert(signature, format as never)).toThrow(RangeError);
    }
    const unknown = { formats: 1 } as never;
    expect(() => det.sign(message, secretKey, unknown)).toThrow(TypeError);
    expect(() => det.verify(signature, message, publicKey, unknown)).toThrow(TypeError);
    expect(() => det.verifyBatch([], unknown)).toThrow(TypeError);
    expect(() => det.toRound3(signature, unknown)).toThrow(TypeError);
    expect(() => det.fromRound3(signature, unknown)).toThrow(TypeError);
  });

  test('salt versions that are none', () => {
    const verify = (saltVersions: unknown) => () =>
      det.verify(signature, message, publicKey, { saltVersions } as never);
    for (const version of [-1, 256, 0.5, Number.NaN, '0', null, undefined]) {
      expect(verify([version])).toThrow(RangeError);
      expect(verify([0, version])).toThrow(RangeError);
    }
    expect(verify([])).toThrow(RangeError);
    expect(verify(new Array(257).fill(0))).toThrow(RangeError);
    for (const none of [null, 0, 'all', {}, Uint8Array.of(0)]) {
      expect(verify(none)).toThrow(TypeError);
    }
    expect(verify(Array.from({ length: 256 }, (_, i) => i))()).toBe(true);
    expect(verify(undefined)()).toBe(true);
  });
});
