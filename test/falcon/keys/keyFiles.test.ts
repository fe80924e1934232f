/** Key files of `falconry keygen`, and values that are given by mistake in place of bytes. */
import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyAggregate } from '../../../src/aggregate/index.ts';
import {
  exportPublicKey,
  exportSecretKey,
  fromBareSignature,
  importEncryptedSecretKey,
  importPublicKey,
  importSecretKey,
  joinAttached,
  splitAttached,
  toBareSignature,
} from '../../../src/falcon/keys/index.ts';
import { SETS, testKeys } from '../../support/ours.ts';

const refused = (code: string, form: string | undefined, what: RegExp) =>
  expect.objectContaining({ code, form, message: expect.stringMatching(what) });
const bad = (form: string | undefined, what: RegExp) => refused('BAD_KEY', form, what);

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const other = testKeys(degree, 1);
  const { name } = falcon;

  describe('files of falconry keygen', () => {
    const file = exportSecretKey(secretKey, { form: 'json' });
    const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

    test('have the names of the command line, and hex with 0x', () => {
      expect(file).toEqual({
        parameter_set: name,
        public_key: hex(publicKey),
        secret_key: hex(secretKey),
      });
      const { secret_key: _, ...open } = file;
      expect(exportPublicKey(publicKey, { form: 'json' })).toEqual(open);
    });

    test('may lack members, have more, and digits in capitals', () => {
      const { parameter_set: _, ...keys } = file;
      const alone = { secret_key: `0x${file.secret_key.slice(2).toUpperCase()}` };
      for (const given of [keys, alone, { ...file, version: 1, created_at: 'now' }]) {
        const found = { form: 'json', parameterSet: name, key: secretKey, publicKey };
        expect(importSecretKey(given)).toEqual(found);
      }
      expect(importPublicKey({ public_key: hex(publicKey) }).key).toEqual(publicKey);
    });

    test('are told from a JWK by its kty, in objects of any kind, by their own members', () => {
      const jwk = exportSecretKey(secretKey, { form: 'jwk' });
      class Kept {}
      for (const given of [jwk, { ...jwk, public_key: '0x' }, Object.assign(new Kept(), jwk)]) {
        expect(importSecretKey(given as never)).toMatchObject({ form: 'jwk', key: secretKey });
      }
      expect(importSecretKey(Object.assign(new Kept(), file) as never).form).toBe('json');
      const { secret_key: _, ...open } = file;
      const inherited: object = Object.assign(Object.create(file), open);
      expect(() => importSecretKey(inherited as never)).toThrow(bad('json', /is missing/));
    });

    const wanted = degree === 512 ? 'falcon1024' : 'falcon512';
    test.each<[string, object, RegExp]>([
      ['another set', { ...file, parameter_set: wanted }, /_key" has \d+ digits instead of/],
      [
        'an unknown set',
        { ...file, parameter_set: 'falcon256' },
        /"parameter_set" is not falcon512 or/,
      ],
      ['a set that is none', { ...file, parameter_set: null }, /"parameter_set" is not/],
      ['no secret key', exportPublicKey(publicKey, { form: 'json' }), /"secret_key" is missing/],
      ['a length of no set', { secret_key: '0x00' }, /the keys have no known length/],
      ['keys of two sets', { ...file, parameter_set: undefined, public_key: '0x' }, /no known len/],
      ['no 0x', { ...file, secret_key: file.secret_key.replace('0x', '00') }, /start with 0x/],
      ['an x alone', { ...file, secret_key: file.secret_key.replace('0', '1') }, /start with 0x/],
      ['a capital X', { ...file, secret_key: file.secret_key.replace('x', 'X') }, /start with 0x/],
      ['a digit too few', { ...file, secret_key: file.secret_key.slice(1) }, /start with 0x/],
      ['a sign', { ...file, secret_key: `${file.secret_key.slice(0, -1)}g` }, /not hexadecimal/],
      ['a number', { ...file, secret_key: 5 }, /"secret_key" is not a string/],
      ['null', { ...file, public_key: null }, /"public_key" is not a string/],
    ])('%s: refused', (_, input, what) => {
      expect(() => importSecretKey(input)).toThrow(bad('json', what));
      expect(() => importSecretKey(JSON.stringify(input))).toThrow(bad('json', what));
    });

    test('a public key that is another one, or missing', () => {
      const swapped = { ...file, public_key: hex(other.publicKey) };
      expect(() => importSecretKey(swapped)).toThrow(
        refused('KEY_MISMATCH', 'json', /belongs to another secret key/),
      );
      expect(() => importPublicKey({ secret_key: file.secret_key })).toThrow(
        bad('json', /"public_key" is missing/),
      );
    });
  });

  const wrong: readonly [string, unknown, string][] = [
    ['an ArrayBuffer', secretKey.slice().buffer, 'ArrayBuffer (wrap it: new Uint8Array(it))'],
    ['a promise', Promise.resolve(secretKey), 'Promise (await it)'],
    ['numbers', [...secretKey], 'array (convert it: Uint8Array.from(it))'],
    ['a KeyObject', createSecretKey(secretKey), 'KeyObject (export it)'],
    [
      'bytes in JSON',
      JSON.parse(JSON.stringify(secretKey)),
      'object (bytes that went through JSON',
    ],
    [
      'a Buffer in JSON',
      JSON.parse(JSON.stringify(Buffer.from(secretKey))),
      'object (bytes that went through JSON: encode them)',
    ],
    ['words', new Uint16Array(secretKey), 'Uint16Array'],
    ['a DataView', new DataView(secretKey.slice().buffer), 'DataView'],
    ['a Map', new Map(), 'Map'],
    ['a date', new Date(), 'Date'],
    ['an inherited JWK', Object.create({ kty: 'AKP' }), 'object'],
    ['a function', () => secretKey, 'function'],
    ['nothing', undefined, 'undefined'],
  ];
  test.each(wrong)('%s: a TypeError that names it, in every call', async (_, value, what) => {
    const given = value as never;
    const text = `expected Uint8Array, got ${what}`;
    for (const call of [
      () => importSecretKey(given),
      () => importPublicKey(given),
      () => exportSecretKey(given),
      () => exportPublicKey(given),
      () => toBareSignature(given),
      () => fromBareSignature(given, name),
      () => splitAttached(given),
      () => joinAttached(given, given),
      () => falcon.verify(given, publicKey, publicKey),
      () => falcon.verify(publicKey, publicKey, given),
      () => falcon.sign(given, secretKey),
      () => falcon.sign(publicKey, given),
      () => falcon.getPublicKey(given),
      () => falcon.attached.open(given, publicKey),
      () => verifyAggregate(given, [{ publicKey, message: publicKey }]),
    ]) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow(text);
    }
    const imported = importEncryptedSecretKey(given, 'pass');
    await expect(imported).rejects.toThrow(TypeError);
    await expect(imported).rejects.toThrow(text);
  });
});
