/** ETHFALCON: its published file, its hash against another library's, and what it refuses. */
import { describe, expect, test } from 'vitest';
import { createFalcon, falcon512 } from '../../../src/falcon/index.ts';
import { decodeSignature, encodeSignature, hashToPoint } from '../../../src/falcon/points.ts';
import { ethFalcon512 } from '../../../src/falcon/profiles/ethFalcon.ts';
import { boundOf, craft } from '../../support/craft.ts';
import { fact } from '../../support/facts.ts';
import { attach, buildKatFile, KAT_ENTRIES } from '../../support/katFile.ts';
import { BUILDS, katSigner, testKeys } from '../../support/ours.ts';
import { ethPoint } from '../../support/profileReference.ts';
import { testRandom } from '../../support/random.ts';

/**
 * SHA-256 of test/ethfalcon512-KAT.rsp of github.com/ZKNoxHQ/ETHFALCON at 1355fbe (5 February
 * 2026): NIST's requests and randomness, the Falcon-512 keys, 100 signatures.
 */
const KAT_SHA256 = '065be93443f309465facd5643d5ee8a4fb6a4c74d80a0e70f531c5822d5d7780';

test.for(BUILDS)('the published file is made again, module $module', ({ module }, context) => {
  const falcon = createFalcon('falcon512', { module, profile: 'eth-falcon' });
  const layout = { kind: 'submission', header: '# Falcon-512' } as const;
  const file = buildKatFile(katSigner(falcon, 'compressed'), layout);
  expect(file.entries).toHaveLength(KAT_ENTRIES);
  expect(file.sha256).toBe(KAT_SHA256);
  for (const { publicKey, message, signature } of file.entries) {
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
    expect(falcon512.verify(signature, message, publicKey)).toBe(false);
    expect(falcon.attached.open(attach(signature, message), publicKey)).toEqual(message);
  }
  fact(context, 'response files of 100 entries, SHA-256', `ETHFALCON (${module}): ${file.sha256}`);
});

test('the point, for messages around every border', () => {
  const random = testRandom('eth points');
  for (const length of [0, 1, 95, 96, 97, 231, 232, 8151, 8152, 8153, 8192, 8193, 20_000]) {
    const salt = random.bytes(40);
    const message = random.bytes(length);
    const point = hashToPoint('falcon512', salt, message, 'eth-falcon');
    expect(Array.from(point), `${length} bytes`).toEqual(ethPoint(512, salt, message));
  }
});

describe('signatures', () => {
  const { publicKey, secretKey } = testKeys(512, 0);
  const message = testRandom('eth').bytes(100);
  const signature = ethFalcon512.sign(message, secretKey);

  test('keys are those of Falcon-512, prepared and expanded ones too', () => {
    expect(ethFalcon512.name).toBe('falcon512');
    expect(ethFalcon512.profile).toBe('eth-falcon');
    expect(falcon512.profile).toBe('round3');
    const prepared = falcon512.preparePublicKey(publicKey);
    using expanded = falcon512.expandSecretKey(secretKey);
    const padded = ethFalcon512.sign(message, expanded, { format: 'padded' });
    expect(padded).toHaveLength(666);
    expect(ethFalcon512.verify(padded, message, prepared)).toBe(true);
    expect(falcon512.verify(padded, message, prepared)).toBe(false);
  });

  test('one of round 3 is none of this profile', () => {
    const round3 = falcon512.sign(message, secretKey);
    expect(falcon512.verify(round3, message, publicKey)).toBe(true);
    expect(ethFalcon512.verify(round3, message, publicKey)).toBe(false);
  });

  test('a batch says which are invalid, and why', () => {
    const other = message.slice();
    other[99]! ^= 1;
    const items = [
      { signature, message, publicKey },
      { signature, message: other, publicKey },
      { signature: signature.subarray(0, 40), message, publicKey },
      { signature: falcon512.sign(message, secretKey), message, publicKey },
      { signature, message, publicKey: publicKey.subarray(1) },
      { signature, message, publicKey: falcon512.preparePublicKey(publicKey) },
    ];
    expect(ethFalcon512.verifyBatch(items)).toEqual([
      { index: 1, reason: 'signatureMismatch' },
      { index: 2, reason: 'signatureLength' },
      { index: 3, reason: 'signatureMismatch' },
      { index: 4, reason: 'publicKeyLength' },
    ]);
  });

  test('there is no constant-time form', () => {
    const sign = () => ethFalcon512.sign(message, secretKey, { format: 'constantTime' });
    expect(sign).toThrow(
      new RangeError('"format" expected one of compressed, padded in eth-falcon'),
    );
    const decoded = decodeSignature(signature);
    if (typeof decoded === 'string') throw new Error(decoded);
    const recoded = encodeSignature({ ...decoded, form: 'constantTime' })!;
    expect(ethFalcon512.verify(recoded, message, publicKey)).toBe(false);
    const batch = ethFalcon512.verifyBatch([{ signature: recoded, message, publicKey }]);
    expect(batch).toEqual([{ index: 0, reason: 'signatureHeader' }]);
    const padded = encodeSignature({ ...decoded, form: 'padded' })!;
    expect(ethFalcon512.verify(padded, message, publicKey)).toBe(true);
  });

  test('the bound, exactly', () => {
    const at = craft(512, 'eth at', boundOf(512), {}, ethPoint);
    expect(ethFalcon512.verify(at.signature('padded'), at.message, at.publicKey)).toBe(true);
    const above = craft(512, 'eth above', boundOf(512) + 1, {}, ethPoint);
    expect(ethFalcon512.verify(above.signature('padded'), above.message, above.publicKey)).toBe(
      false,
    );
  });
});

test('which profiles can be made', () => {
  expect(() => createFalcon('falcon1024', { profile: 'eth-falcon' })).toThrow(RangeError);
  for (const profile of ['fn-dsa-draft-2026-07', 'x', 1, null]) {
    expect(() => createFalcon('falcon512', { profile: profile as never })).toThrow(RangeError);
  }
});
