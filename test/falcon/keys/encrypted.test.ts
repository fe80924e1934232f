/**
 * Keys under a passphrase. The independent hands are Node's own scrypt, PBKDF2 and AES, and the
 * `openssl` of the machine where there is one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createCipheriv, createDecipheriv, pbkdf2Sync, scryptSync } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { DerReader, encode, encodeInteger, encodeOid, TAG } from '../../../src/falcon/keys/der.ts';
import {
  exportEncryptedSecretKey,
  exportPublicKey,
  exportSecretKey,
  importEncryptedSecretKey,
  importSecretKey,
} from '../../../src/falcon/keys/index.ts';
import { SETS, testKeys } from '../../support/ours.ts';

const { publicKey, secretKey } = testKeys(512);
const plain = exportSecretKey(secretKey, { form: 'pkcs8' });
const refused = (code: string, what: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(what) });
const octets = (bytes: Uint8Array) => encode(TAG.octetString, bytes);
const sequence = (...parts: Uint8Array[]) => encode(TAG.sequence, ...parts);
const salt = new Uint8Array(16).fill(1);
const iv = new Uint8Array(16).fill(2);
const AES = sequence(encodeOid('2.16.840.1.101.3.4.1.42'), octets(iv));
const HMACS = {
  sha1: '1.2.840.113549.2.7',
  sha256: '1.2.840.113549.2.9',
  sha384: '1.2.840.113549.2.10',
  sha512: '1.2.840.113549.2.11',
};

/** An EncryptedPrivateKeyInfo of these parts. */
const file = (kdf: Uint8Array, data: Uint8Array, cipher = AES, pbes = '1.2.840.113549.1.5.13') =>
  sequence(sequence(encodeOid(pbes), sequence(kdf, cipher)), octets(data));
const scryptOf = (...numbers: number[]) =>
  sequence(
    encodeOid('1.3.6.1.4.1.11591.4.11'),
    sequence(octets(salt), ...numbers.map(encodeInteger)),
  );
const pbkdf2Of = (...parts: Uint8Array[]) =>
  sequence(encodeOid('1.2.840.113549.1.5.12'), sequence(octets(salt), ...parts));
const hmac = (hash: keyof typeof HMACS) => sequence(encodeOid(HMACS[hash]), encode(TAG.null));

function aes(key: Uint8Array, data: Uint8Array = plain): Uint8Array {
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  return new Uint8Array(Buffer.concat([cipher.update(data), cipher.final()]));
}
/** Cheap, so that the test is quick. */
const scryptKey = (passphrase = 'pass'): Uint8Array =>
  scryptSync(passphrase, salt, 32, { N: 16, r: 8, p: 1 });
const CHEAP = scryptOf(16, 8, 1);

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const pair = testKeys(degree);

  // scrypt is made to be slow: one parameter set is enough.
  const derivations = degree === 512 ? (['scrypt', 'pbkdf2'] as const) : (['pbkdf2'] as const);
  test.each(derivations)('%s: out and in again', async (kdf) => {
    const options = kdf === 'pbkdf2' ? { kdf, iterations: 1000 } : {};
    const pem = await exportEncryptedSecretKey(pair.secretKey, 'naïve 🔑', options);
    expect(pem).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    const bytes = new TextEncoder().encode('naïve 🔑');
    const found = await importEncryptedSecretKey(pem, bytes, { parameterSet: falcon.name });
    expect(found).toEqual({
      form: 'encryptedPem',
      parameterSet: falcon.name,
      key: pair.secretKey,
      publicKey: pair.publicKey,
      oid: `1.3.9999.3.${degree === 512 ? 11 : 14}`,
    });
  });
});

test('two files of one key have nothing in common, and the key is in neither', async () => {
  const options = { form: 'encryptedPkcs8', kdf: 'pbkdf2', iterations: 1000 } as const;
  const files = [
    await exportEncryptedSecretKey(secretKey, 'pass', options),
    await exportEncryptedSecretKey(secretKey, 'pass', options),
  ];
  const [one, two] = files.map((each) => Buffer.from(each));
  expect(one!.length).toBe(two!.length);
  expect(one!.subarray(-64)).not.toEqual(two!.subarray(-64));
  for (const each of [one!, two!]) {
    expect(each.includes(Buffer.from(secretKey.subarray(100, 132)))).toBe(false);
    expect(each.includes(Buffer.from(publicKey.subarray(100, 132)))).toBe(false);
  }
});

test('salt and initial vector are fresh, of 16 bytes', async () => {
  const parts = await Promise.all(
    (['scrypt', 'pbkdf2'] as const).flatMap((kdf) =>
      [0, 1].map(async () => {
        const options = { form: 'encryptedPkcs8', kdf } as const;
        const der = await exportEncryptedSecretKey(secretKey, 'pass', options);
        const algorithm = new DerReader(der, '').enter(TAG.sequence, '').enter(TAG.sequence, '');
        algorithm.oid('');
        const parameters = algorithm.enter(TAG.sequence, '');
        const derivation = parameters.enter(TAG.sequence, '');
        derivation.oid('');
        const cipher = parameters.enter(TAG.sequence, '');
        cipher.oid('');
        return [derivation.enter(TAG.sequence, ''), cipher].map((reader) =>
          Buffer.from(reader.read(TAG.octetString, '')).toString('hex'),
        );
      }),
    ),
  );
  const all = parts.flat();
  expect(new Set(all).size).toBe(8);
  for (const each of all) expect(each).toMatch(/^(?!0{16}|.*0{16}$)[\da-f]{32}$/);
});

test('the layout and the identifier are those asked for', async () => {
  const options = { layout: 'bouncyCastle', oid: '1.3.9999.3.6', kdf: 'pbkdf2', iterations: 1000 };
  const pem = await exportEncryptedSecretKey(secretKey, 'pass', options as never);
  expect(await importEncryptedSecretKey(pem, 'pass')).toMatchObject({ oid: '1.3.9999.3.6' });
});

describe('files that Node’s own primitives made', () => {
  test('scrypt', async () => {
    const der = file(CHEAP, aes(scryptKey()));
    const found = await importEncryptedSecretKey(der, 'pass', { form: 'encryptedPkcs8' });
    expect(found).toMatchObject({ form: 'encryptedPkcs8', key: secretKey });
    const withLength = file(scryptOf(16, 8, 1, 32), aes(scryptKey()));
    expect((await importEncryptedSecretKey(withLength, 'pass')).key).toEqual(secretKey);
  });

  test.each(Object.keys(HMACS) as (keyof typeof HMACS)[])('PBKDF2 with %s', async (hash) => {
    const key = pbkdf2Sync('pass', salt, 1234, 32, hash);
    const der = file(pbkdf2Of(encodeInteger(1234), encodeInteger(32), hmac(hash)), aes(key));
    expect((await importEncryptedSecretKey(der, 'pass')).key).toEqual(secretKey);
  });

  test('PBKDF2 with SHA-1, which is meant when nothing is said', async () => {
    const key = pbkdf2Sync('pass', salt, 10, 32, 'sha1');
    const der = file(pbkdf2Of(encodeInteger(10)), aes(key));
    expect((await importEncryptedSecretKey(der, 'pass')).key).toEqual(secretKey);
  });
});

const hasOpenssl = spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.startsWith(
  'OpenSSL 3',
);
describe.runIf(hasOpenssl)('OpenSSL', () => {
  const openssl = (input: string | Uint8Array, ...args: string[]) => {
    const { stdout, stderr } = spawnSync('openssl', args, { input, encoding: 'utf8' });
    return { out: stdout, err: stderr };
  };

  test.each(['scrypt', 'pbkdf2'] as const)('opens what we encrypt by %s', async (kdf) => {
    const pem = await exportEncryptedSecretKey(secretKey, 'pass', { kdf });
    // It has no Falcon, so it stops once it has opened the key and read the identifier inside.
    const right = openssl(pem, 'pkcs8', '-passin', 'pass:pass');
    expect(right.err).toMatch(/unsupported private key algorithm.*TYPE=1\.3\.9999\.3\.11/);
    const wrong = openssl(pem, 'pkcs8', '-passin', 'pass:other');
    expect(wrong.err).not.toMatch(/TYPE=/);
    expect(wrong.err).toMatch(/error/i);
  });

  test.each([
    ['-scrypt'],
    ['-v2', 'aes-256-cbc', '-v2prf', 'hmacWithSHA512'],
    ['-v2', 'aes-256-cbc', '-iter', '50000'],
  ])('we open what it encrypts with %s %s', async (...options) => {
    const key = openssl('', 'genpkey', '-algorithm', 'ed25519').out;
    const pem = openssl(key, 'pkcs8', '-topk8', '-passout', 'pass:pass', ...options).out;
    expect(pem).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    // Opened, as the identifier of Ed25519 inside shows.
    await expect(importEncryptedSecretKey(pem, 'pass')).rejects.toThrow(
      refused('BAD_KEY', /1\.3\.101\.112 is not the identifier of a Falcon key/),
    );
    await expect(importEncryptedSecretKey(pem, 'wrong')).rejects.toThrow(
      refused('WRONG_PASSPHRASE', /does not open/),
    );
  });

  test.each([
    ['SPKI', exportPublicKey(publicKey), /OBJECT +:1\.3\.9999\.3\.11\n.*BIT STRING/s],
    ['PKCS#8', exportSecretKey(secretKey), /INTEGER +:00\n.*:1\.3\.9999\.3\.11\n.*OCTET STRING/s],
    [
      'PKCS#8, BouncyCastle’s',
      exportSecretKey(secretKey, { layout: 'bouncyCastle', oid: '1.3.9999.3.6' }),
      /:1\.3\.9999\.3\.6\n.*OCTET STRING/s,
    ],
  ])('parses our %s', (_, pem, what) => {
    const out = execFileSync('openssl', ['asn1parse'], { input: pem }).toString();
    expect(out).toMatch(what);
    expect(out).not.toMatch(/error/i);
  });
});

describe('a wrong passphrase', () => {
  test('is told, also if the padding looks right by chance', async () => {
    const der = file(CHEAP, aes(scryptKey()));
    const ciphertext = aes(scryptKey());
    const isPadded = (passphrase: string) => {
      const decipher = createDecipheriv('aes-256-cbc', scryptKey(passphrase), iv);
      decipher.update(ciphertext);
      try {
        decipher.final();
        return true;
      } catch {
        return false;
      }
    };
    const wrong = Array.from({ length: 1000 }, (_, i) => `wrong ${i}`);
    const lucky = wrong.find(isPadded)!; // one in 256
    for (const passphrase of [wrong[0]!, lucky]) {
      const error = await importEncryptedSecretKey(der, passphrase).catch((e: Error) => e);
      expect(error).toEqual(refused('WRONG_PASSPHRASE', /^encryptedPkcs8: the passphrase does/));
      expect((error as Error).cause === undefined).toBe(passphrase === lucky);
    }
  });

  test('without one, the import says that one is needed', async () => {
    const der = file(CHEAP, aes(scryptKey()));
    expect(() => importSecretKey(der)).toThrow(refused('PASSPHRASE_NEEDED', /^encryptedPkcs8/));
    const pem = await exportEncryptedSecretKey(secretKey, 'x', { kdf: 'pbkdf2', iterations: 1000 });
    expect(() => importSecretKey(pem)).toThrow(refused('PASSPHRASE_NEEDED', /^encryptedPem/));
  });
});

describe('cost', () => {
  test.each([
    ['memory of scrypt, by N', scryptOf(2 ** 22, 8, 1)],
    ['memory of scrypt, by r', scryptOf(2, 2 ** 30, 1)],
    ['memory of scrypt, by p', scryptOf(2, 1, 2 ** 30)],
    ['work of scrypt', scryptOf(2 ** 14, 8, 129)],
    ['iterations of PBKDF2', pbkdf2Of(encodeInteger(2 ** 24 + 1), hmac('sha256'))],
    ['most iterations that can be written', pbkdf2Of(encodeInteger(2 ** 31 - 1))],
  ])('%s: refused before any is spent', async (_, kdf) => {
    const error = importEncryptedSecretKey(file(kdf, iv), 'pass');
    await expect(error).rejects.toThrow(refused('KEY_TOO_COSTLY', /scrypt|PBKDF2/));
  });

  test('the limits are the caller’s, up to the last unit', async () => {
    const der = file(CHEAP, aes(scryptKey()));
    const open = (limits: object) => importEncryptedSecretKey(der, 'pass', { limits });
    const memoryBytes = 128 * 8 * (16 + 1);
    expect((await open({ memoryBytes, work: 128 })).key).toEqual(secretKey);
    for (const limits of [{ memoryBytes: memoryBytes - 1 }, { work: 127 }]) {
      await expect(open(limits)).rejects.toThrow(refused('KEY_TOO_COSTLY', /N = 16, r = 8, p = 1/));
    }
    const key = pbkdf2Sync('pass', salt, 1234, 32, 'sha1');
    const other = file(pbkdf2Of(encodeInteger(1234)), aes(key));
    const opened = await importEncryptedSecretKey(other, 'pass', { limits: { work: 1234 } });
    expect(opened.key).toEqual(secretKey);
    await expect(
      importEncryptedSecretKey(other, 'pass', { limits: { work: 1233 } }),
    ).rejects.toThrow(refused('KEY_TOO_COSTLY', /1234 iterations/));
  });
});

describe('every file that is refused', () => {
  const good = aes(scryptKey());
  const aesOid = encodeOid('2.16.840.1.101.3.4.1.42');
  test.each<[string, unknown, RegExp]>([
    ['a key without passphrase', plain, /not an encrypted key/],
    ['the same in PEM', exportSecretKey(secretKey), /PRIVATE KEY, not an ENCRYPTED/],
    ['a JWK', exportSecretKey(secretKey, { form: 'jwk' }), /not encrypted/],
    ['no DER', new Uint8Array(100), /not an encrypted key/],
    ['PBES1', file(CHEAP, good, AES, '1.2.840.113549.1.5.3'), /is not PBES2/],
    [
      'AES-128',
      file(CHEAP, good, sequence(encodeOid('2.16.840.1.101.3.4.1.2'), octets(iv))),
      /not AES-256-CBC/,
    ],
    ['a short vector', file(CHEAP, good, sequence(aesOid, octets(iv.slice(1)))), /has 15 bytes/],
    [
      'more after the vector',
      file(CHEAP, good, sequence(aesOid, octets(iv), encode(TAG.null))),
      /left over in the cipher/,
    ],
    ['half a block', file(CHEAP, good.slice(1)), /whole blocks/],
    ['no data', file(CHEAP, new Uint8Array(0)), /whole blocks/],
    ['another derivation', file(sequence(encodeOid('1.2.3'), sequence()), good), /neither scrypt/],
    ['N that is no power of two', file(scryptOf(24, 8, 1), good), /parameters of scrypt/],
    ['N of one', file(scryptOf(1, 8, 1), good), /parameters of scrypt/],
    ['N of zero', file(scryptOf(0, 8, 1), good), /parameters of scrypt/],
    ['r of zero', file(scryptOf(16, 0, 1), good), /parameters of scrypt/],
    ['p of zero', file(scryptOf(16, 8, 0), good), /parameters of scrypt/],
    ['another key length', file(scryptOf(16, 8, 1, 16), good), /key length/],
    ['a number too many', file(scryptOf(16, 8, 1, 32, 1), good), /left over/],
    ['no iterations', file(pbkdf2Of(encodeInteger(0)), good), /iterations is zero/],
    [
      'an unknown function',
      file(pbkdf2Of(encodeInteger(10), sequence(encodeOid('1.2.840.113549.2.5'))), good),
      /function 1\.2\.840\.113549\.2\.5 of PBKDF2/,
    ],
    [
      'a salt that is a choice of others',
      file(
        sequence(
          encodeOid('1.2.840.113549.1.5.12'),
          sequence(sequence(encodeOid('1.2.3')), encodeInteger(10)),
        ),
        good,
      ),
      /no salt/,
    ],
    [
      'another key inside',
      file(CHEAP, aes(scryptKey(), sequence(encodeInteger(0), sequence(encodeOid('1.3.101.112'))))),
      /1\.3\.101\.112 is not/,
    ],
    ['bytes behind', sequence(...[sequence(), octets(iv)]), /no encryption algorithm/],
  ])('%s', async (_, input, what) => {
    await expect(importEncryptedSecretKey(input as Uint8Array, 'pass')).rejects.toThrow(
      refused('BAD_KEY', what),
    );
  });

  test('a spoilt key is not accepted', async () => {
    // CBC is malleable: a bit of the ciphertext spoils a block and turns a bit of the next.
    const der = file(CHEAP, good);
    for (const at of [200, 900, 1500, 2000]) {
      const spoilt = der.map((byte, i) => (i === at ? byte ^ 1 : byte));
      await expect(importEncryptedSecretKey(spoilt, 'pass')).rejects.toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(BAD_KEY|KEY_MISMATCH)$/) }),
      );
    }
  });
});

test('a caller’s mistakes are refused with TypeError or RangeError', async () => {
  const der = file(CHEAP, aes(scryptKey()));
  for (const passphrase of [undefined, null, 5, ['x']]) {
    await expect(importEncryptedSecretKey(der, passphrase as never)).rejects.toThrow(TypeError);
    await expect(exportEncryptedSecretKey(secretKey, passphrase as never)).rejects.toThrow(
      TypeError,
    );
  }
  for (const passphrase of ['', new Uint8Array(0), '\ud800']) {
    await expect(importEncryptedSecretKey(der, passphrase)).rejects.toThrow(RangeError);
    await expect(exportEncryptedSecretKey(secretKey, passphrase)).rejects.toThrow(RangeError);
  }
  const wrong = [{ limits: { work: 0 } }, { limits: { memoryBytes: 1.5 } }, { form: 'pem' }];
  for (const options of wrong) {
    const imported = importEncryptedSecretKey(der, 'pass', options as never);
    await expect(imported).rejects.toThrow(RangeError);
  }
  for (const options of [
    { kdf: 'argon2' },
    { kdf: 'pbkdf2', iterations: 999 },
    { kdf: 'pbkdf2', iterations: 2 ** 24 + 1 },
    { iterations: 5000 },
    { form: 'pem' },
    { layout: 'x' },
  ]) {
    const exported = exportEncryptedSecretKey(secretKey, 'pass', options as never);
    await expect(exported, JSON.stringify(options)).rejects.toThrow(RangeError);
  }
  await expect(exportEncryptedSecretKey(publicKey, 'pass')).rejects.toThrow(RangeError);
});

describe('a host that lacks something', () => {
  test('WebCrypto', async () => {
    const real = globalThis.crypto;
    vi.stubGlobal('crypto', { getRandomValues: real.getRandomValues.bind(real) });
    try {
      for (const kdf of ['scrypt', 'pbkdf2'] as const) {
        const exported = exportEncryptedSecretKey(secretKey, 'pass', { kdf });
        await expect(exported).rejects.toThrow(refused('NO_WEBCRYPTO', /crypto\.subtle/));
      }
      const imported = importEncryptedSecretKey(file(CHEAP, aes(scryptKey())), 'pass');
      await expect(imported).rejects.toThrow(refused('NO_WEBCRYPTO', /crypto\.subtle/));
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test.each([
    ['missing', undefined],
    ['a stub', (bytes: Uint8Array) => bytes.fill(0)],
  ])('randomness: %s', async (_, getRandomValues) => {
    vi.stubGlobal('crypto', { subtle: globalThis.crypto.subtle, getRandomValues });
    try {
      const exported = exportEncryptedSecretKey(secretKey, 'pass');
      await expect(exported).rejects.toThrow(expect.objectContaining({ code: 'NO_RANDOMNESS' }));
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
