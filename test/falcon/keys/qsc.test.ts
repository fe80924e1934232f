/** Keys of oqs-provider: the QSC encoding with its variants, and hybrids. */
import { describe, expect, test } from 'vitest';
import { encode, encodeInteger, encodeOid, TAG } from '../../../src/falcon/keys/der.ts';
import { importPublicKey, importSecretKey } from '../../../src/falcon/keys/index.ts';
import { SETS, testKeys } from '../../support/ours.ts';

const refused = (code: string, form: string | undefined, what: RegExp) =>
  expect.objectContaining({ code, form, message: expect.stringMatching(what) });
const bad = (form: string | undefined, what: RegExp) => refused('BAD_KEY', form, what);
const seq = (...parts: Uint8Array[]) => encode(TAG.sequence, ...parts);
const octets = (...parts: Uint8Array[]) => encode(TAG.octetString, ...parts);
const bitString = (bytes: Uint8Array) => encode(TAG.bitString, Uint8Array.of(0), bytes);
const NULL = encode(TAG.null);
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

describe.each(SETS)('Falcon-$degree', ({ degree }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const other = testKeys(degree, 1);
  const algorithm = seq(encodeOid(degree === 512 ? '1.3.9999.3.11' : '1.3.9999.3.14'));
  const info = (inner: Uint8Array) => seq(encodeInteger(0), algorithm, octets(inner));
  const [lengthOfF, lengthOfG] = degree === 512 ? [384, 384] : [640, 640];
  const f = octets(secretKey.slice(1, 1 + lengthOfF));
  const g = octets(secretKey.slice(1 + lengthOfF, 1 + lengthOfF + lengthOfG));
  const F = octets(secretKey.slice(1 + lengthOfF + lengthOfG));
  const hOf = (key: Uint8Array) => octets(key.slice(1));
  const [version, h] = [encodeInteger(0), hOf(publicKey)];
  test.each([
    ['version, f, g, F, SEQUENCE { h }', seq(version, f, g, F, seq(h))],
    ['version, f, g, F, h', seq(version, f, g, F, h)],
    ['version, f, g, F, [0] { h }', seq(version, f, g, F, encode(0xa0, h))],
    ['version 1, f, g, F', seq(encodeInteger(1), f, g, F)],
    ['f, g, F, SEQUENCE { h }', seq(f, g, F, seq(h))],
    ['f, g, F, h', seq(f, g, F, h)],
    ['f, g, F, the raw key', seq(f, g, F, octets(publicKey))],
    ['f, g, F', seq(f, g, F)],
  ])('PKCS#8 with SEQUENCE { %s }, also in an OCTET STRING', (_, inner) => {
    for (const inside of [inner, octets(inner)]) {
      expect(importSecretKey(info(inside))).toMatchObject({ key: secretKey, publicKey });
    }
  });

  test.each<[string, Uint8Array, RegExp]>([
    ['two public keys', seq(f, g, F, h, h), /left over in the private key/],
    ['a public key and more in a SEQUENCE', seq(f, g, F, seq(h, h)), /left over in the public/],
    ['another element', seq(f, g, F, NULL), /no polynomial h/],
    ['a short f', seq(octets(new Uint8Array(5)), g, F), /f has 5 bytes/],
    ['no F', seq(f, g), /no polynomial F/],
    ['a short h', seq(f, g, F, octets(new Uint8Array(5))), /public key has 5 bytes/],
  ])('PKCS#8 with %s in the SEQUENCE: refused', (_, inner, what) => {
    for (const inside of [inner, octets(inner)]) {
      expect(() => importSecretKey(info(inside))).toThrow(bad('pkcs8', what));
    }
  });

  test('PKCS#8 with another h in the SEQUENCE: refused', () => {
    for (const key of [hOf(other.publicKey), seq(hOf(other.publicKey))]) {
      expect(() => importSecretKey(info(seq(f, g, F, key)))).toThrow(
        refused('KEY_MISMATCH', 'pkcs8', /belongs to another/),
      );
    }
  });

  const hybrids: readonly [number, string][] =
    degree === 512
      ? [12, 13, 17, 18, 7, 8, 2, 3].map((arc, i) => [arc, i % 2 ? 'rsa3072' : 'p256'])
      : [15, 20, 10, 5].map((arc) => [arc, 'p521']);
  test.each(hybrids)('a hybrid key, 1.3.9999.3.%i, is named: %s', (arc, partner) => {
    const identifier = `1.3.9999.3.${arc}`;
    const padded = [17, 18, 20].includes(arc) ? 'padded' : '';
    const hybrid = `${partner}_falcon${padded}${degree} \\(${identifier.replaceAll('.', '\\.')}\\)`;
    const what = new RegExp(`it is a hybrid key, ${hybrid}`);
    const kind = seq(encodeOid(identifier));
    // The length of the other key in four bytes, that key, and Falcon's.
    const both = join(new Uint8Array(100), publicKey);
    expect(() => importPublicKey(seq(kind, bitString(both)))).toThrow(bad('spki', what));
    const secret = seq(encodeInteger(0), kind, octets(octets(secretKey)));
    expect(() => importSecretKey(secret)).toThrow(bad('pkcs8', what));
  });
});
