/** Keys in every form: in and out, keys made by others, and every reason to refuse one. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { encode, encodeInteger, encodeOid, TAG } from '../../../src/falcon/keys/der.ts';
import {
  exportPublicKey,
  exportSecretKey,
  importPublicKey,
  importSecretKey,
  type PublicKeyForm,
  type SecretKeyForm,
} from '../../../src/falcon/keys/index.ts';
import { run } from '../../../src/falcon/wasm.ts';
import { SETS, testKeys } from '../../support/ours.ts';

const PUBLIC: readonly PublicKeyForm[] = ['raw', 'bare', 'spki', 'pem', 'jwk', 'json'];
const SECRET: readonly SecretKeyForm[] = [
  ...(['raw', 'bare', 'extended', 'pkcs8', 'pem', 'jwk', 'json'] as const),
];
const LAYOUTS = ['oqs', 'bouncyCastle'] as const;
const OIDS = {
  512: ['1.3.9999.3.11', '1.3.9999.3.6', '1.3.9999.3.1', '1.3.9999.3.16'],
  1024: ['1.3.9999.3.14', '1.3.9999.3.9', '1.3.9999.3.4', '1.3.9999.3.19'],
} as const;
const vector = (name: string) =>
  readFileSync(new URL(`../../vectors/keys/${name}`, import.meta.url), 'utf8');
const refused = (code: string, form: string | undefined, what: RegExp) =>
  expect.objectContaining({
    code,
    ...(form === undefined ? {} : { form }),
    message: expect.stringMatching(what),
  });
const bad = (form: string | undefined, what: RegExp) => refused('BAD_KEY', form, what);
const flip = (bytes: Uint8Array, at: number, mask = 1) =>
  bytes.map((byte, i) => (i === at ? byte ^ mask : byte));
const seq = (...parts: Uint8Array[]) => encode(TAG.sequence, ...parts);
const octets = (...parts: Uint8Array[]) => encode(TAG.octetString, ...parts);
const bitString = (bytes: Uint8Array) => encode(TAG.bitString, Uint8Array.of(0), bytes);
const NULL = encode(TAG.null);
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const other = testKeys(degree, 1);
  const [oid] = OIDS[degree];
  const algorithm = seq(encodeOid(oid));
  const { name } = falcon;

  describe('round trips', () => {
    test.each(PUBLIC)('public key, %s: as bytes, as text, as an object', (form) => {
      const wrapped = exportPublicKey(publicKey, { form });
      const inputs: unknown[] = [wrapped];
      if (form === 'pem') inputs.push(Buffer.from(wrapped as string), `\n ${wrapped as string}`);
      if (form === 'jwk' || form === 'json')
        inputs.push(JSON.stringify(wrapped), Buffer.from(JSON.stringify(wrapped)));
      for (const input of inputs) {
        const found = importPublicKey(input as string, { form, parameterSet: name });
        const identifier = form === 'spki' || form === 'pem' ? { oid } : {};
        expect(found).toEqual({ form, parameterSet: name, key: publicKey, ...identifier });
      }
    });

    test.each(LAYOUTS.flatMap((layout) => SECRET.map((form) => [form, layout] as const)))(
      'secret key, %s, %s: as bytes, as text, as an object',
      (form, layout) => {
        const wrapped = exportSecretKey(secretKey, { form, layout });
        const inputs: unknown[] = [wrapped];
        if (form === 'pem') inputs.push(Buffer.from(wrapped as string));
        if (form === 'jwk' || form === 'json')
          inputs.push(JSON.stringify(wrapped), Buffer.from(JSON.stringify(wrapped)));
        for (const input of inputs) {
          const found = importSecretKey(input as string, { form, parameterSet: name });
          const identifier = form === 'pkcs8' || form === 'pem' ? { oid } : {};
          const key = secretKey;
          expect(found).toEqual({ form, parameterSet: name, key, publicKey, ...identifier });
        }
      },
    );

    test.each(OIDS[degree])('%s is written and read', (identifier) => {
      const spki = exportPublicKey(publicKey, { oid: identifier });
      const pkcs8 = exportSecretKey(secretKey, { oid: identifier });
      expect(importPublicKey(spki)).toMatchObject({ oid: identifier, parameterSet: name });
      expect(importSecretKey(pkcs8)).toMatchObject({ oid: identifier, parameterSet: name });
    });

    test('what oqs-provider writes has both raw keys in one piece', () => {
      const der = Buffer.from(exportSecretKey(secretKey, { form: 'pkcs8' }));
      expect(der.includes(Buffer.concat([secretKey, publicKey]))).toBe(true);
      const other = exportSecretKey(secretKey, { form: 'pkcs8', layout: 'bouncyCastle' });
      expect(Buffer.from(other).includes(Buffer.concat([secretKey, publicKey]))).toBe(false);
    });

    test('only wrappings with an identifier give one', () => {
      expect('oid' in importPublicKey(publicKey)).toBe(false);
      expect('oid' in importSecretKey(secretKey)).toBe(false);
    });

    test('PEM is the default', () => {
      expect(exportPublicKey(publicKey)).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
      expect(exportSecretKey(secretKey)).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    });

    test('results are fresh memory, and the input stays as it was', () => {
      const copy = secretKey.slice();
      const { key } = importSecretKey(copy);
      expect(key.buffer).not.toBe(copy.buffer);
      expect(copy).toEqual(secretKey);
      expect(exportSecretKey(copy, { form: 'raw' }).buffer).not.toBe(copy.buffer);
      expect(copy).toEqual(secretKey);
    });
  });

  describe('keys made by others', () => {
    test('BouncyCastle 1.72: both keys are read, and they belong together', () => {
      const found = importSecretKey(vector(`bouncycastle-${degree}.key.pem`));
      const given = importPublicKey(vector(`bouncycastle-${degree}.pub.pem`));
      const identifier = OIDS[degree][2];
      expect(found).toMatchObject({ form: 'pem', parameterSet: name, oid: identifier });
      expect(given).toMatchObject({ form: 'pem', parameterSet: name, oid: identifier });
      expect(found.publicKey).toEqual(given.key);
      const message = Uint8Array.of(1, 2, 3);
      expect(falcon.verify(falcon.sign(message, found.key), message, given.key)).toBe(true);
    });

    const info = (inner: Uint8Array) => seq(encodeInteger(0), algorithm, octets(inner));
    test.each([
      ['oqs-provider without public keys', octets(secretKey)],
      ['the raw secret key alone', secretKey],
      ['both raw keys', join(secretKey, publicKey)],
      ['the bare secret key', secretKey.slice(1)],
      ['both bare keys', join(secretKey.slice(1), publicKey.slice(1))],
    ])('PKCS#8 with %s', (_, inner) => {
      expect(importSecretKey(info(inner)).key).toEqual(secretKey);
    });

    test('PKCS#8 of version 2 with attributes and the public key behind', () => {
      const inside = octets(secretKey);
      const attributes = encode(TAG.attributes, seq());
      const v2 = (key: Uint8Array, version = 1) =>
        seq(
          encodeInteger(version),
          algorithm,
          octets(inside),
          attributes,
          encode(TAG.publicKey, Uint8Array.of(0), key),
        );
      expect(importSecretKey(v2(publicKey)).key).toEqual(secretKey);
      const without = [encodeInteger(1), algorithm, octets(inside)];
      expect(importSecretKey(seq(...without)).key).toEqual(secretKey);
      expect(importSecretKey(v2(publicKey.slice(1))).key).toEqual(secretKey);
      expect(() => importSecretKey(v2(other.publicKey))).toThrow(
        refused('KEY_MISMATCH', 'pkcs8', /belongs to another secret key/),
      );
      expect(() => importSecretKey(v2(publicKey, 0))).toThrow(bad('pkcs8', /left over/));
      expect(() => importSecretKey(v2(publicKey, 2))).toThrow(bad('pkcs8', /version 2/));
    });

    test('PKCS#8 with two public keys: both must belong to the secret key', () => {
      const v2 = (inside: Uint8Array, outside: Uint8Array) =>
        seq(
          encodeInteger(1),
          algorithm,
          octets(octets(secretKey, inside)),
          encode(TAG.publicKey, Uint8Array.of(0), outside),
        );
      expect(importSecretKey(v2(publicKey, publicKey)).key).toEqual(secretKey);
      const mismatch = refused('KEY_MISMATCH', 'pkcs8', /belongs to another secret key/);
      expect(() => importSecretKey(v2(publicKey, other.publicKey))).toThrow(mismatch);
      expect(() => importSecretKey(v2(other.publicKey, publicKey))).toThrow(mismatch);
    });

    const spki = (bits: Uint8Array) => seq(algorithm, bitString(bits));
    test.each([
      ['the bare key', publicKey.slice(1)],
      ['a SEQUENCE', seq(octets(publicKey.slice(1)))],
    ])('SPKI with %s', (_, bits) => {
      expect(importPublicKey(spki(bits))).toMatchObject({ form: 'spki', key: publicKey });
    });

    test.each<[string, Uint8Array, RegExp]>([
      ['a byte too few', publicKey.slice(2), /has \d+ bytes instead of/],
      ['a short h', seq(octets(new Uint8Array(5))), /has 5 bytes/],
      ['two elements', seq(octets(publicKey.slice(1)), NULL), /left over/],
      ['bytes behind', join(seq(octets()), publicKey), /left over/],
    ])('SPKI with %s is refused', (_, bits, what) => {
      expect(() => importPublicKey(spki(bits))).toThrow(bad('spki', what));
    });
  });

  describe('every public key that is refused', () => {
    const der = exportPublicKey(publicKey, { form: 'spki' });
    test.each<[string, string | undefined, unknown, RegExp]>([
      ['another header byte', 'raw', flip(publicKey, 0), /first byte/],
      ['coefficients beyond q, raw', 'raw', publicKey.map((b, i) => (i ? 0xff : b)), /not a valid/],
      ['a coefficient beyond q, bare', 'bare', publicKey.slice(1).fill(0xff), /not a valid/],
      ['a byte too many', undefined, join(publicKey, Uint8Array.of(0)), /in any form/],
      ['nothing', undefined, new Uint8Array(0), /^0 bytes/],
      ['empty text', undefined, '', /neither PEM nor a JWK/],
      ['text that is no PEM', undefined, 'key', /neither PEM nor a JWK/],
      ['text beyond ASCII', undefined, 'ключ', /neither PEM nor a JWK/],
      ['64 kB', undefined, new Uint8Array(65_536), /65536 bytes that are not/],
      ['a byte beyond ASCII', undefined, Uint8Array.of(0x7b, 0x80), /^2 bytes that are not/],
      ['64 kB of white space', undefined, ' '.repeat(65_536), /neither PEM nor a JWK/],
      ['PEM after another sign', undefined, `!${exportPublicKey(publicKey)}`, /neither PEM/],
      ['64 kB and a byte', undefined, new Uint8Array(65_537), /longer than 65536/],
      ['64 kB and a character', undefined, ' '.repeat(65_537), /longer than 65536/],
      ['a secret key in PEM', 'pem', exportSecretKey(secretKey), /secret key, not a PUBLIC KEY/],
      [
        'a certificate',
        'pem',
        exportPublicKey(publicKey).replaceAll('PUBLIC KEY', 'CERTIFICATE'),
        /CERTIFICATE, not/,
      ],
      ['PKCS#8', 'spki', exportSecretKey(secretKey, { form: 'pkcs8' }), /no algorithm/],
      ['bytes behind the DER', undefined, join(der, Uint8Array.of(0)), /in any form/],
      ['another algorithm', 'spki', flip(der, 12, 0x20), /not the identifier of a Falcon key/],
      ['parameters of the algorithm', 'spki', seq(seq(encodeOid(oid), NULL)), /no parameters/],
      ['bits that are no bytes', 'spki', flip(der, 17, 1), /whole bytes/],
      [
        'an element too many',
        'spki',
        seq(algorithm, bitString(publicKey), NULL),
        /left over in the SubjectPublicKeyInfo/,
      ],
    ])('%s', (_, form, input, what) => {
      expect(() => importPublicKey(input as Uint8Array)).toThrow(bad(form, what));
    });
  });

  describe('every secret key that is refused', () => {
    const text = exportSecretKey(secretKey);
    const sequence = (...parts: Uint8Array[]) =>
      seq(encodeInteger(0), algorithm, octets(seq(...parts)));
    const [f, g] = [new Uint8Array(degree === 512 ? 384 : 640), new Uint8Array(5)];
    const layout = (bytes: Uint8Array) => seq(encodeInteger(0), algorithm, octets(bytes));
    test.each<[string, string | undefined, unknown, RegExp]>([
      ['another header byte', 'raw', flip(secretKey, 0), /first byte/],
      ['zeros', 'bare', new Uint8Array(secretKey.length - 1), /not a valid secret key/],
      ['a changed f', 'raw', flip(secretKey, 9), /not a valid secret key/],
      ['a byte too many', undefined, join(secretKey, Uint8Array.of(0)), /in any form/],
      ['a public key', undefined, publicKey, /in any form/],
      ['a public key in PEM', 'pem', exportPublicKey(publicKey), /PUBLIC KEY, not a PRIVATE KEY/],
      ['a public JWK', 'jwk', exportPublicKey(publicKey, { form: 'jwk' }), /"priv" is missing/],
      ['no base64', 'pem', text.replace(/[\w+/]\n/, '!\n'), /not base64/],
      ['another layout', 'pkcs8', layout(new Uint8Array(50)), /in no layout known/],
      ['another layout inside', 'pkcs8', layout(octets(new Uint8Array(50))), /in no layout known/],
      ['bytes behind', 'pkcs8', layout(join(octets(secretKey), f)), /left over/],
      ['version 2 inside', 'pkcs8', sequence(encodeInteger(2)), /version 2 of the private key/],
      ['no f', 'pkcs8', sequence(encodeInteger(0)), /no polynomial f/],
      ['a short g', 'pkcs8', sequence(encodeInteger(0), octets(f), octets(g)), /g has 5 bytes/],
      ['parameters', 'pkcs8', seq(encodeInteger(0), seq(encodeOid(oid), NULL)), /no parameters/],
      ['another tag', 'pkcs8', seq(NULL), /no version/],
    ])('%s', (_, form, input, what) => {
      expect(() => importSecretKey(input as Uint8Array)).toThrow(bad(form, what));
    });

    test('another public key, in every form that has one', () => {
      const jwk = exportSecretKey(secretKey, { form: 'jwk' });
      const { pub } = exportPublicKey(other.publicKey, { form: 'jwk' });
      const swap = (bytes: Uint8Array, from: Uint8Array, to: Uint8Array) => {
        const at = Buffer.from(bytes).indexOf(from);
        expect(at).toBeGreaterThan(0);
        return join(bytes.slice(0, at), to, bytes.slice(at + to.length));
      };
      const [mine, theirs] = [publicKey.slice(1), other.publicKey.slice(1)];
      const inputs = [
        { ...jwk, pub },
        swap(exportSecretKey(secretKey, { form: 'extended' }), mine, theirs),
        ...LAYOUTS.map((inside) =>
          swap(exportSecretKey(secretKey, { form: 'pkcs8', layout: inside }), mine, theirs),
        ),
      ];
      for (const input of inputs) {
        expect(() => importSecretKey(input)).toThrow(
          expect.objectContaining({ code: 'KEY_MISMATCH' }),
        );
      }
    });
  });

  describe('JSON Web Keys', () => {
    const jwk = exportSecretKey(secretKey, { form: 'jwk' });

    test('have the type AKP and the name of the parameter set, never FN-DSA', () => {
      expect(Object.keys(jwk)).toEqual(['kty', 'alg', 'pub', 'priv']);
      expect([jwk.kty, jwk.alg]).toEqual(['AKP', name]);
      expect(Buffer.from(jwk.pub, 'base64url')).toEqual(Buffer.from(publicKey));
      expect(Buffer.from(jwk.priv, 'base64url')).toEqual(Buffer.from(secretKey));
    });

    test('may have more members', () => {
      expect(importSecretKey({ ...jwk, kid: '1', use: 'sig' }).key).toEqual(secretKey);
      expect(importPublicKey({ ...jwk, key_ops: ['verify'] }).key).toEqual(publicKey);
      const text = Buffer.from(JSON.stringify({ ...jwk, kid: '\x7f' }));
      expect(importPublicKey(text).key).toEqual(publicKey);
    });

    test.each<[string, unknown, RegExp]>([
      ['another type', { ...jwk, kty: 'OKP' }, /"kty" is not AKP/],
      ['no type', {}, /"kty" is not AKP/],
      ['another algorithm', { ...jwk, alg: 'ML-DSA-44' }, /"alg" is not/],
      ['the standard to come', { ...jwk, alg: 'FN-DSA-512' }, /FN-DSA is another scheme/],
      ['no public key', { ...jwk, pub: undefined }, /"pub" is not a string/],
      ['padding', { ...jwk, pub: `${jwk.pub}=` }, /"pub" has \d+ digits/],
      ['the other alphabet', { ...jwk, pub: `+${jwk.pub.slice(1)}` }, /"pub" is not base64url/],
      ['a character beyond ASCII', { ...jwk, pub: `ł${jwk.pub.slice(1)}` }, /not base64url/],
      ['a short key', { ...jwk, pub: jwk.pub.slice(4) }, /"pub" has \d+ digits instead of/],
      ['an endless key', { ...jwk, pub: 'A'.repeat(65_540) }, /"pub" has 65540 digits/],
      ['no algorithm', { ...jwk, alg: undefined }, /"alg" is not/],
      ['a number for one', { ...jwk, alg: 5 }, /"alg" is not/],
      ['a secret key that is none', { ...jwk, priv: 5 }, /"priv" is not a string/],
      ['broken JSON', '{"kty":"AKP"', /not valid JSON/],
    ])('%s: refused', (_, input, what) => {
      expect(() => importSecretKey(input as string)).toThrow(bad('jwk', what));
    });
  });

  test('a bare key that begins as JSON does is a bare key', () => {
    const bare = publicKey.slice(1);
    bare[0] = 0x7b; // the first coefficient is 7872 to 7935
    expect(importPublicKey(bare).form).toBe('bare');
  });

  test('DER is told from bare bytes of the same length, and a bare key can be asked for', () => {
    const like = (length: number) => seq(seq(new Uint8Array(length - 8)));
    const [publicLike, secretLike] = [publicKey, secretKey].map(({ length }) => like(length - 1));
    expect(publicLike!.length).toBe(publicKey.length - 1);
    expect(() => importPublicKey(publicLike!)).toThrow(bad('spki', /no algorithm identifier/));
    expect(() => importPublicKey(publicLike!, { form: 'bare' })).toThrow(
      bad('bare', /not a valid/),
    );
    expect(secretLike!.length).toBe(secretKey.length - 1);
    expect(() => importSecretKey(secretLike!)).toThrow(
      refused('PASSPHRASE_NEEDED', 'encryptedPkcs8', /passphrase/),
    );
    expect(() => importSecretKey(secretLike!, { form: 'bare' })).toThrow(
      bad('bare', /not a valid/),
    );
    const extendedLike = like(secretKey.length + publicKey.length - 2);
    expect(() => importSecretKey(extendedLike, { form: 'extended' })).toThrow(
      bad('extended', /not a valid/),
    );
    const pem = exportSecretKey(secretKey).replaceAll('PRIVATE', 'ENCRYPTED PRIVATE');
    expect(() => importSecretKey(pem)).toThrow(
      refused('PASSPHRASE_NEEDED', 'encryptedPem', /passphrase/),
    );
  });

  test('what is no fault of the key keeps its own code', () => {
    const codes: unknown[] = [];
    const attempt = (read: () => unknown) => {
      try {
        read();
      } catch (error) {
        codes.push((error as { code?: unknown }).code);
      }
    };
    run(falcon.module, false, () => {
      // A call is in the module: no other can enter it.
      attempt(() => importPublicKey(publicKey));
      attempt(() => importSecretKey(secretKey));
    });
    expect(codes).toEqual(['REENTERED', 'REENTERED']);
  });

  test('what is asked for is demanded', () => {
    const wanted = name === 'falcon512' ? 'falcon1024' : 'falcon512';
    expect(() => importPublicKey(publicKey, { form: 'pem' })).toThrow(bad('raw', /form pem is/));
    expect(() => importPublicKey(publicKey, { parameterSet: wanted })).toThrow(bad('raw', /asked/));
    expect(() => importSecretKey(secretKey, { form: 'pem' })).toThrow(bad('raw', /form pem is/));
    expect(() => importSecretKey(secretKey, { parameterSet: wanted })).toThrow(bad('raw', /asked/));
  });

  test('a caller’s mistakes throw at once', () => {
    const call = (run: (any: never) => unknown, value: unknown) => () => run(value as never);
    for (const input of [undefined, null, 5, new Int8Array(4), new DataView(new ArrayBuffer(4))]) {
      expect(call(importPublicKey, input), String(input)).toThrow(TypeError);
      expect(call(importSecretKey, input), String(input)).toThrow(TypeError);
      expect(call(exportPublicKey, input), String(input)).toThrow(TypeError);
      expect(call(exportSecretKey, input), String(input)).toThrow(TypeError);
    }
    expect(call(importPublicKey, null)).toThrow('"input" expected Uint8Array, got null');
    expect(() => exportPublicKey(secretKey)).toThrow(RangeError);
    expect(() => exportPublicKey(publicKey.map(() => 0xff))).toThrow(RangeError);
    expect(() => exportSecretKey(flip(secretKey, 9))).toThrow(RangeError);
    for (const options of [{ form: 'PEM' }, { oid: '1.2.3' }, { layout: 'liboqs' }, { oid: 5 }]) {
      expect(() => exportSecretKey(secretKey, options as never)).toThrow(RangeError);
    }
    const [, ...foreign] = OIDS[degree === 512 ? 1024 : 512];
    for (const identifier of foreign) {
      expect(() => exportPublicKey(publicKey, { oid: identifier })).toThrow(RangeError);
    }
    for (const options of [{ form: 'der' }, { parameterSet: 'falcon256' }]) {
      expect(() => importPublicKey(publicKey, options as never)).toThrow(RangeError);
    }
    expect(() => importPublicKey(publicKey, { pem: true } as never)).toThrow(TypeError);
    expect(() => exportSecretKey(secretKey, { passphrase: 'x' } as never)).toThrow(TypeError);
  });
});

test('the frame of a BouncyCastle key is written byte for byte', () => {
  // The first bytes of EJBCA's PRESIGN_VALIDATION_KEY_FALCON512_PRIV.
  const pem = exportSecretKey(testKeys(512).secretKey, {
    layout: 'bouncyCastle',
    oid: '1.3.9999.3.6',
  });
  expect(pem.split('\n')[1]!.slice(0, 41)).toBe('MIIIqwIBADAHBgUrzg8DBgSCCJswggiXAgEABIIBg');
});
