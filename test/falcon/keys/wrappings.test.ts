/**
 * Key files as people have them: what OpenSSL reads of PEM (through node:crypto, with a key of an
 * elliptic curve in the same wrapping) is read here, and what is not is named.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  exportEncryptedSecretKey,
  exportPublicKey,
  exportSecretKey,
  importEncryptedSecretKey,
  importPublicKey,
  importSecretKey,
} from '../../../src/falcon/keys/index.ts';
import { hasBlock } from '../../../src/falcon/keys/pem.ts';
import { isBraced, isHexText, isUtf16 } from '../../../src/falcon/keys/symptoms.ts';
import { testKeys } from '../../support/ours.ts';

const { publicKey, secretKey } = testKeys(512);
const secretPem = exportSecretKey(secretKey);
const publicPem = exportPublicKey(publicKey);
const encrypting = { kdf: 'pbkdf2', iterations: 1000 } as const;
const encryptedPem = await exportEncryptedSecretKey(secretKey, 'pass', encrypting);
const curve = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const bytes = (...parts: readonly (string | readonly number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const MARK = [0xef, 0xbb, 0xbf];
const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const bad = (what: RegExp) =>
  expect.objectContaining({ code: 'BAD_KEY', message: expect.stringMatching(what) });

/** What `openssl pkcs12` writes in front of a key. */
const BAG = `Bag Attributes
    friendlyName: schlüssel
    localKeyID: 54 69 6D 65
Key Attributes: <No Attributes>
`;

/** A wrapping, and whether OpenSSL reads it; undefined where its parser is not asked. */
const WRAPPINGS: readonly [string, (pem: string) => Uint8Array, boolean?][] = [
  ['alone', (pem) => bytes(pem)],
  ['CR LF', (pem) => bytes(pem.replaceAll('\n', '\r\n'))],
  ['a bag of PKCS#12', (pem) => bytes(BAG, pem)],
  ['a subject and issuer', (pem) => bytes('subject=CN = ü\nissuer=CN = ü\n', pem)],
  ['a comment before and after', (pem) => bytes('# my key\n\n', pem, '\n# end\n')],
  ['binary text before', (pem) => bytes([0, 0xff, 0x80, 0x0a], pem)],
  ['a certificate before and after', (pem) => bytes(certificate, pem, certificate)],
  ['parameters before', (pem) => bytes(parameters, pem)],
  ['dashes in the text', (pem) => bytes('-----\n-----BEGIN\n-----END\n', pem)],
  ['space behind the lines', (pem) => bytes(pem.replaceAll('\n', '  \n'))],
];

describe.each(WRAPPINGS)('%s', (_, wrap) => {
  test('is read by OpenSSL', () => {
    expect(createPrivateKey(Buffer.from(wrap(curve.privateKey))).type).toBe('private');
    expect(createPublicKey(Buffer.from(wrap(curve.publicKey))).type).toBe('public');
    // Read as far as the algorithm, which is another.
    const another = bad(/1\.2\.840\.10045\.2\.1 is not the identifier of a Falcon key/);
    expect(() => importSecretKey(wrap(curve.privateKey))).toThrow(another);
    expect(() => importPublicKey(wrap(curve.publicKey))).toThrow(another);
  });

  test('is read here, as bytes and as text, with and without a mark', async () => {
    const asText = (pem: string) => Buffer.from(wrap(pem)).toString();
    for (const mark of ['', '\ufeff']) {
      const inputs = (pem: string) => [bytes(mark, [...wrap(pem)]), mark + asText(pem)];
      for (const input of inputs(secretPem)) expect(importSecretKey(input).key).toEqual(secretKey);
      for (const input of inputs(publicPem)) expect(importPublicKey(input).key).toEqual(publicKey);
      for (const input of inputs(encryptedPem)) {
        expect((await importEncryptedSecretKey(input, 'pass')).key).toEqual(secretKey);
        expect(() => importSecretKey(input)).toThrow(
          expect.objectContaining({ code: 'PASSPHRASE_NEEDED' }),
        );
      }
    }
  });
});

test('CR alone, which OpenSSL does not read', () => {
  expect(importSecretKey(secretPem.replaceAll('\n', '\r')).key).toEqual(secretKey);
});

describe('several blocks', () => {
  const all = publicPem + secretPem + encryptedPem + certificate;

  test('the one whose label fits the call is taken', async () => {
    expect(importPublicKey(all).key).toEqual(publicKey);
    expect(importSecretKey(bytes(all)).key).toEqual(secretKey);
    expect((await importEncryptedSecretKey(all, 'pass')).key).toEqual(secretKey);
  });

  test('two that fit are refused, and none', async () => {
    const other = testKeys(512, 1);
    const two = publicPem + exportPublicKey(other.publicKey);
    expect(() => importPublicKey(two)).toThrow(bad(/^pem: there are 2 blocks PUBLIC KEY/));
    const secrets = secretPem + exportSecretKey(other.secretKey);
    expect(() => importSecretKey(secrets)).toThrow(bad(/there are 2 blocks PRIVATE KEY/));
    const encrypted = importEncryptedSecretKey(encryptedPem + encryptedPem, 'pass');
    await expect(encrypted).rejects.toThrow(bad(/there are 2 blocks ENCRYPTED PRIVATE KEY/));
    expect(() => importPublicKey(certificate + secretPem)).toThrow(
      bad(/it holds CERTIFICATE, PRIVATE KEY, and no PUBLIC KEY/),
    );
    expect(() => importSecretKey(certificate + publicPem + certificate)).toThrow(
      bad(/it holds CERTIFICATE, PUBLIC KEY, and no PRIVATE KEY/),
    );
    await expect(importEncryptedSecretKey(all.replace(encryptedPem, ''), 'p')).rejects.toThrow(
      bad(/PUBLIC KEY, PRIVATE KEY, CERTIFICATE, and no ENCRYPTED PRIVATE KEY/),
    );
  });

  test('the label that is wanted is named', async () => {
    const call = importEncryptedSecretKey(publicPem, 'pass');
    await expect(call).rejects.toThrow(bad(/it is a PUBLIC KEY, not an ENCRYPTED PRIVATE KEY/));
  });

  test('a label with an underscore is named', () => {
    const pem = secretPem.replaceAll('PRIVATE KEY', 'FALCON_SECRET KEY');
    expect(() => importSecretKey(pem)).toThrow(bad(/it is a FALCON_SECRET KEY, not a PRIVATE KEY/));
  });

  test('old encryption is named, as OpenSSL wants a passphrase for it', () => {
    const old = { type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'pass' } as const;
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: old,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    expect(privateKey).toMatch(/Proc-Type: 4,ENCRYPTED/);
    const relabelled = privateKey.replaceAll('EC PRIVATE', 'PRIVATE');
    expect(() => importSecretKey(relabelled)).toThrow(bad(/^pem: it has the header Proc-Type/));
    expect(() => importSecretKey(privateKey)).toThrow(bad(/it is a EC PRIVATE KEY, not/));
  });
});

describe('UTF-16', () => {
  const jwk = JSON.stringify(exportSecretKey(secretKey, { form: 'jwk' }));
  const swap = (buffer: Buffer) => Buffer.from(buffer).swap16();
  test.each<[string, (text: string) => Buffer]>([
    ['little endian', (text) => Buffer.from(text, 'utf16le')],
    ['little endian with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big endian', (text) => swap(Buffer.from(text, 'utf16le'))],
    ['big endian with a mark', (text) => swap(Buffer.from(`\ufeff${text}`, 'utf16le'))],
  ])('%s: named', async (_, encode) => {
    for (const text of [secretPem, jwk, publicPem, `\r\n${encryptedPem}`]) {
      const file = encode(text);
      for (const input of [new Uint8Array(file), file.toString('utf8')]) {
        expect(() => importSecretKey(input)).toThrow(bad(/in UTF-16: save it as UTF-8/));
        expect(() => importPublicKey(input)).toThrow(bad(/in UTF-16: save it as UTF-8/));
        await expect(importEncryptedSecretKey(input, 'pass')).rejects.toThrow(bad(/in UTF-16/));
      }
    }
  });

  test('fewer than eight characters, or others between them, are not', () => {
    for (const text of ['secret!', 'secret\u0107!', 'secret\0!', 'secret\x7f!']) {
      expect(() => importSecretKey(Buffer.from(text, 'utf16le'))).toThrow(
        bad(/bytes that are not/),
      );
    }
  });
});

describe('JSON', () => {
  const forms = ['jwk', 'json'] as const;
  test.each(forms)('%s: UTF-8, with and without a mark', (form) => {
    const fields = { kid: 'schlüssel 🔑', ...exportSecretKey(secretKey, { form }) };
    const text = JSON.stringify(fields);
    for (const json of [text, `\ufeff${text}`, `\n ${text}\n`, `\ufeff \r\n${text}`]) {
      for (const input of [json, bytes(json)]) {
        expect(importSecretKey(input)).toMatchObject({ form, key: secretKey });
        expect(importPublicKey(input)).toMatchObject({ form, key: publicKey });
      }
    }
    const latin1 = Buffer.from(JSON.stringify({ ...fields, kid: 'schlüssel' }), 'latin1');
    expect(() => importSecretKey(latin1)).toThrow(bad(/begins as JSON does, but is not/));
    expect(() => importPublicKey(bytes(MARK, MARK, text))).toThrow(bad(/byte order mark/));
  });
});

test('bytes that are no key by the look of them', () => {
  const hex = Buffer.from(secretKey).toString('hex');
  for (const text of [hex, `0x${hex.toUpperCase()}\r\n`, hex.slice(0, 64)]) {
    for (const input of [text, bytes(text)]) {
      expect(() => importSecretKey(input)).toThrow(bad(/text in hexadecimal/));
      expect(() => importPublicKey(input)).toThrow(bad(/text in hexadecimal/));
    }
  }
  for (const text of [`${hex}g\n`, `g${hex}`, hex.slice(0, 63), `0x${hex.slice(0, 63)}`]) {
    expect(() => importSecretKey(text)).toThrow(bad(/key file$/));
  }
  for (const text of ['+'.repeat(64), `yx${hex}`, `0y${hex}`, '`'.repeat(64), ':'.repeat(64)]) {
    expect(() => importSecretKey(text)).toThrow(bad(/key file$/));
  }
  expect(() => importSecretKey(bytes(MARK, [...secretKey]))).toThrow(bad(/a byte order mark/));
  expect(() => importPublicKey(bytes(MARK, [...publicKey]))).toThrow(bad(/a byte order mark/));
  for (const place of [0, 1, 2]) {
    const almost = bytes(MARK.with(place, 1), [...secretKey]);
    expect(() => importSecretKey(almost)).toThrow(bad(/1284 bytes that are not a .* any form$/));
  }
});

test('what is looked for in bytes may begin and end with them', () => {
  const begin = '-----BEGIN ';
  for (const text of [begin, `x${begin}`, `${begin}x`]) expect(hasBlock(bytes(text))).toBe(true);
  for (const text of ['', begin.slice(1), '-----BEGIN_', '+----BEGIN ']) {
    expect(hasBlock(bytes(text))).toBe(false);
  }
  const hex = '0'.repeat(64);
  for (const text of [hex, `${hex} `, `${hex}\n\n`]) expect(isHexText(bytes(text))).toBe(true);
  for (const text of [`${hex}!`, '/'.repeat(64), ' '.repeat(64)]) {
    expect(isHexText(bytes(text))).toBe(false);
  }
  expect([' {', '!{'].map((text) => isBraced(bytes(text)))).toEqual([true, false]);
  const wide = (text: string) => [...Buffer.from(text, 'utf16le')];
  const eight = wide('eight of');
  for (const file of [eight, [7, 7, 7, ...eight], wide('eight of\u0107')]) {
    expect(isUtf16(bytes(file))).toBe(true);
  }
  for (const file of [[7, 7, 7, 7, ...eight], eight.slice(0, 15), wide('seven x\u0107')]) {
    expect(isUtf16(bytes(file))).toBe(false);
  }
});

test('a key with its encrypted twin: the one that needs no passphrase', async () => {
  for (const pem of [secretPem + encryptedPem, encryptedPem + secretPem]) {
    expect(importSecretKey(pem).key).toEqual(secretKey);
    expect((await importEncryptedSecretKey(pem, 'pass')).key).toEqual(secretKey);
  }
});

test('lines that are almost those of a block', () => {
  // Text, as they do not begin or end as the first line of a block does.
  for (const line of ['-----BEGIN_NOTES-----', '----BEGIN NOTES-----', '-----BEGIN NOTES----+']) {
    expect(importSecretKey(`${line}\n${secretPem}`).key).toEqual(secretKey);
  }
  const label = (text: string) => secretPem.replaceAll('PRIVATE KEY', text);
  for (const text of ['*PRIVATE KEY', 'PRIVATE*KEY', 'PRIVATE KEY*', '', 'K'.repeat(41)]) {
    expect(() => importSecretKey(label(text))).toThrow(bad(/a line BEGIN is malformed/));
  }
  for (const text of ['K', 'K'.repeat(40)]) {
    expect(() => importSecretKey(label(text))).toThrow(bad(new RegExp(`it is a ${text}, not a `)));
  }
  for (const end of ['-----END PRIVATE KEY----+', '-----END PRIVATE KEY------', '----', '-']) {
    const text = secretPem.replace('-----END PRIVATE KEY-----', end);
    expect(() => importSecretKey(text)).toThrow(bad(/there is no line END PRIVATE KEY/));
  }
  const empty = '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n';
  for (const text of [empty, empty.replace('\n', '\n\n \r\n')]) {
    expect(() => importSecretKey(text)).toThrow(bad(/^pem: /));
  }
});
