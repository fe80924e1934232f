/** No input makes a reader do anything but return a key or throw `BAD_KEY` and its kin. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  exportPublicKey,
  exportSecretKey,
  importPublicKey,
  importSecretKey,
} from '../../../src/falcon/keys/index.ts';
import { isCodedError } from '../../../src/shared/errors.ts';
import { SETS, testKeys } from '../../support/ours.ts';
import { NIGHTLY } from '../../support/run.ts';

const numRuns = NIGHTLY ? 100_000 : 300;
const CODES = new Set(['BAD_KEY', 'KEY_MISMATCH', 'PASSPHRASE_NEEDED']);

const keys = SETS.map(({ degree }) => testKeys(degree));
const seeds = keys.flatMap(({ publicKey, secretKey }) => [
  ...(['raw', 'bare', 'spki', 'pem', 'jwk', 'json'] as const).map((form) =>
    exportPublicKey(publicKey, { form }),
  ),
  ...(['raw', 'extended', 'pkcs8', 'pem', 'jwk', 'json'] as const).map((form) =>
    exportSecretKey(secretKey, { form }),
  ),
  exportSecretKey(secretKey, { form: 'pkcs8', layout: 'bouncyCastle' }),
]);
const encoder = new TextEncoder();
const asBytes = seeds.map((seed) => {
  if (seed instanceof Uint8Array) return seed;
  return encoder.encode(typeof seed === 'string' ? seed : JSON.stringify(seed));
});
const outcome = (run: () => unknown): string => {
  try {
    run();
    return 'key';
  } catch (error) {
    if (isCodedError(error) && CODES.has(error.code)) return 'refused';
    throw error;
  }
};
/** Bytes near the beginning hold the structure; half of all changes go there. */
const position = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 6000 }));
const change = fc.record({
  seed: fc.nat({ max: asBytes.length - 1 }),
  at: position,
  remove: fc.nat({ max: 3 }),
  insert: fc.uint8Array({ maxLength: 3 }),
});

test('changed files', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(change, ({ seed, at, remove, insert }) => {
      const file = Buffer.from(asBytes[seed]!);
      const changed = Buffer.concat([file.subarray(0, at), insert, file.subarray(at + remove)]);
      for (const read of [importPublicKey, importSecretKey]) {
        const what = outcome(() => read(changed));
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
    }),
    { numRuns, endOnFailure: true },
  );
  expect(seen.get('refused')).toBeGreaterThan(numRuns / 2);
});

test('random bytes and random text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      const prefixes = [
        '',
        '-----BEGIN PRIVATE KEY-----\n',
        '{"kty":"AKP",',
        '\ufeff-----BEGIN A-----\n',
      ];
      const inputs = [bytes, Uint8Array.of(0x30, bytes.length, ...bytes)];
      for (const input of [...inputs, ...prefixes.map((prefix) => prefix + text)]) {
        expect(outcome(() => importPublicKey(input))).toBe('refused');
        expect(outcome(() => importSecretKey(input))).toBe('refused');
      }
    }),
    { numRuns, endOnFailure: true },
  );
});

test('random objects', () => {
  fc.assert(
    fc.property(
      fc.object({ key: fc.constantFrom('kty', 'alg', 'pub', 'priv', 'secret_key', 'public_key') }),
      (object) => {
        expect(outcome(() => importPublicKey(object))).toBe('refused');
        expect(outcome(() => importSecretKey({ ...object, kty: 'AKP', alg: 'falcon512' }))).toBe(
          'refused',
        );
      },
    ),
    { numRuns, endOnFailure: true },
  );
});
