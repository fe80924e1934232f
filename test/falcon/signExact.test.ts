/**
 * Signatures equal to those of another implementation, many of them, folded into one hash.
 *
 * The expected hashes were computed with PQClean's AVX2 code (the round-3 reference, `sign_dyn`),
 * compiled natively: for every key k a seed of 48 bytes, SHAKE256("falconry <n> <k>"), and for its
 * signature j SHAKE256("falconry <n> <k> <j>"), 120 bytes: salt (40), sampler seed (48), message
 * (32). The hash is SHA-256 over all compressed signatures, in order.
 */
import { createHash } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { falconOf } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';

const EXPECTED: Record<string, [degree: Degree, keys: number, perKey: number, hash: string][]> = {
  // the first keys of the long run, hashed here while all of those agreed
  short: [
    [512, 6, 500, '9e0be30be21aa15698bbca7f97daa487021aba5c1620a837d28ce350ef15d5b8'],
    [1024, 2, 400, '688952831162d65152647ec78f26143cb145b9f287cdf012cd094321f568b5cf'],
  ],
  long: [
    [512, 40, 500, '7945ee18143fae3bed8bd0dace173ca12a164fc66f9710cc8d1c8c1f25212fbb'],
    [1024, 10, 400, '47406de51e2f47637057503071009f181c1ddd1ea6d954f1497349f5345dfbab'],
  ],
  nightly: [
    [512, 400, 500, '78d1b552e63a0fa8593250b9d0cb98b37df8b5bd0d19ad7dd9d2df5487dc1245'],
    [1024, 100, 400, '9d8b73dcb0cfb5bf77700005d63fa57f8568bb47de77efe75a80cde27e4725c7'],
  ],
};

const derive = (label: string, length: number) =>
  new Uint8Array(createHash('shake256', { outputLength: length }).update(label).digest());

test.for(EXPECTED[inject('run')]!)(
  'Falcon-%i: %i keys, %i signatures each',
  { timeout: 600_000 },
  ([degree, keys, perKey, expected], context) => {
    const falcon = falconOf(degree);
    const hash = createHash('sha256');
    let count = 0;
    for (let k = 0; k < keys; k++) {
      const { secretKey } = falcon.keygen(derive(`falconry ${degree} ${k}`, 48));
      using expanded = falcon.expandSecretKey(secretKey);
      for (let j = 0; j < perKey; j++, count++) {
        const bytes = derive(`falconry ${degree} ${k} ${j}`, 120);
        const testSeed = { salt: bytes.subarray(0, 40), samplerSeed: bytes.subarray(40, 88) };
        hash.update(falcon.sign(bytes.subarray(88), expanded, { testSeed }));
      }
    }
    expect(hash.digest('hex')).toBe(expected);
    fact(context, 'round-3 reference', `Falcon-${degree}: ${count} signatures equal to its own`);
  },
);
