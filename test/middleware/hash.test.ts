/**
 * The hashes of @noble/hashes are those of OpenSSL, so stores and urls of any host fit together.
 */
import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmacSha256, sha256 } from '../../src/shared/hash.ts';

const part = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 300 }));
const parts = fc.array(part, { maxLength: 4 });
const wellFormed = (list: readonly (string | Uint8Array)[]) =>
  list.every((each) => typeof each !== 'string' || !/\p{Surrogate}/u.test(each));

test('SHA-256', () => {
  fc.assert(
    fc.property(parts.filter(wellFormed), (list) => {
      const theirs = createHash('sha256');
      for (const each of list) theirs.update(each);
      expect(sha256(...list).toString('hex')).toBe(theirs.digest('hex'));
    }),
  );
});

test('HMAC-SHA-256, also when a secret is used again', () => {
  const secrets = fc.uint8Array({ minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(secrets, parts.filter(wellFormed), parts.filter(wellFormed), (secret, ...lists) => {
      for (const list of [...lists, ...lists]) {
        const theirs = createHmac('sha256', secret);
        for (const each of list) theirs.update(each);
        expect(hmacSha256(secret, ...list).toString('hex')).toBe(theirs.digest('hex'));
      }
    }),
  );
});
