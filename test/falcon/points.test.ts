import { shake256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { createFalcon } from '../../src/falcon/index.ts';
import { FALCON_512, FALCON_1024, Q } from '../../src/falcon/params.ts';
import {
  type DecodedSignature,
  decodePublicKey,
  decodeSignature,
  encodeSignature,
  hashToPoint,
  type OpenedSignature,
  openSignature,
  recoverS1,
} from '../../src/falcon/points.ts';
import { equal } from '../../src/shared/bytes.ts';
import { testRandom } from '../support/random.ts';

const FORMS = ['compressed', 'padded', 'constantTime'] as const;

/** Falcon, round 3, Algorithm 3, as it is written. */
function pointByDefinition(salt: Uint8Array, message: Uint8Array, n: number): number[] {
  const input = new Uint8Array([...salt, ...message]);
  const stream = shake256(input, { dkLen: 6 * n });
  const c: number[] = [];
  for (let i = 0; c.length < n; i += 2) {
    const word = (stream[i]! << 8) | stream[i + 1]!;
    if (word < 61445) c.push(word % Q);
  }
  return c;
}

describe.each([FALCON_512, FALCON_1024])('$name', ({ name, logn, betaSq }) => {
  const n = 1 << logn;
  const falcon = createFalcon(name);
  const random = testRandom(`points ${name}`);
  const { publicKey, secretKey } = falcon.keygen(random.bytes(48));

  test('hashToPoint is the definition, for messages of all sizes', () => {
    for (const length of [0, 1, 94, 95, 96, 97, 231, 1000, 8191, 8192, 8193, 16384, 50000]) {
      const salt = random.bytes(40);
      const message = random.bytes(length);
      expect([...hashToPoint(name, salt, message)]).toEqual(pointByDefinition(salt, message, n));
    }
  });

  test('s1 + s2 h = c mod q, short, for signatures of every form; decoding loses nothing', () => {
    const h = decodePublicKey(name, publicKey) as Uint16Array;
    for (const form of FORMS) {
      for (let round = 0; round < 5; round++) {
        const message = random.bytes(round * 3000);
        // The same in every run: one of Falcon-1024 in a thousand is as long as the padded form,
        // and named so.
        const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
        const signature = falcon.sign(message, secretKey, { format: form, testSeed });
        const decoded = decodeSignature(signature) as DecodedSignature;
        expect(decoded.parameterSet).toBe(name);
        expect(decoded.form).toBe(form);
        expect(equal(encodeSignature(decoded)!, signature)).toBe(true);
        const { s2, salt } = decoded;
        const opened = openSignature(decoded, message, publicKey) as OpenedSignature;
        const s1 = recoverS1(decoded, message, publicKey) as Int16Array;
        expect(s1).toEqual(opened.s1);
        const c = pointByDefinition(salt, message, n);
        expect([...opened.c]).toEqual(c.map((x) => (x > Q >> 1 ? x - Q : x)));
        const product = new Array<number>(n).fill(0);
        for (let i = 0; i < n; i++) {
          for (let j = 0; j < n; j++) {
            const at = i + j;
            product[at % n]! += at < n ? s2[i]! * h[j]! : -s2[i]! * h[j]!;
          }
        }
        const same = product.every((x, i) => (((x + s1[i]! - c[i]!) % Q) + Q) % Q === 0);
        expect(same).toBe(true);
        const normSq = [...s1, ...s2].reduce((sum, x) => sum + x * x, 0);
        expect(normSq).toBeLessThanOrEqual(betaSq);
        expect(normSq).toBeGreaterThan(betaSq / 2);
      }
    }
  });

  test("the caller's mistakes are errors", () => {
    const salt = new Uint8Array(40);
    const s2 = new Int16Array(n);
    const good = { parameterSet: name, form: 'padded', salt, s2 } as const;
    expect(() => decodeSignature('00' as never)).toThrow(TypeError);
    expect(() => encodeSignature({ ...good, parameterSet: 'falcon256' as never })).toThrow(
      RangeError,
    );
    expect(() => encodeSignature({ ...good, form: 'short' as never })).toThrow(RangeError);
    expect(() => encodeSignature({ ...good, salt: new Uint8Array(39) })).toThrow(RangeError);
    expect(() => encodeSignature({ ...good, s2: new Int16Array(n - 1) })).toThrow(RangeError);
    expect(() => encodeSignature({ ...good, s2: [...s2] as never })).toThrow(TypeError);
    expect(() => hashToPoint(name, new Uint8Array(41), salt)).toThrow(RangeError);
    expect(() => recoverS1({ ...good, s2: s2.with(3, 2048) }, salt, publicKey)).toThrow(RangeError);
    expect(recoverS1(good, salt, publicKey.subarray(1))).toBe('publicKeyLength');
  });
});
