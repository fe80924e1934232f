/** Keys from seeds: the reference's, noble's, and the same every time. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { KeygenModule, numberedSeed } from '../support/keygenModel.ts';
import { BUILDS } from '../support/ours.ts';
import { type Degree, nobleObject } from '../support/peers.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY, SHORT_RUN } from '../support/run.ts';

let m: KeygenModule;
beforeAll(async () => {
  m = await KeygenModule.compile();
});

/**
 * SHA-256 over entries 0 .. count - 1, entry i being the first 16 bytes of SHAKE256(publicKey ||
 * secretKey) of `numberedSeed(i)`. The hashes come from PQClean's portable C, which computes
 * doubles with integers, compiled natively and given the same seeds.
 */
const ACCUMULATED: readonly (readonly [degree: Degree, count: number, sha256: string])[] = SHORT_RUN
  ? // the first of the 250
    [[1024, 50, 'f84926e9e76f7cfd3c912d00c039e1b87b416bfcfb4603aa66710f9bb3af7cbb']]
  : [
      [512, 1000, '391cb7a54c32b02af982b2075656bc445553d9e051390257d4cfe12f0abd1318'],
      [1024, 250, '36d569daf7c00e0f90701cef1aa854962700f91822068f08d911b17a8e7752e0'],
    ];

test.for(ACCUMULATED)(
  '%i: %i keys have the hash of those of PQClean’s C',
  ([degree, count, sha256], context) => {
    const all = createHash('sha256');
    for (let i = 0; i < count; i++) {
      const { publicKey, secretKey } = m.keygen(degree, numberedSeed(i));
      const one = createHash('shake256', { outputLength: 16 });
      all.update(one.update(publicKey).update(secretKey).digest());
    }
    expect(all.digest('hex')).toBe(sha256);
    fact(context, 'keys identical to PQClean’s C', `Falcon-${degree}: ${count} seeds`);
  },
);

/** noble's keys, made once for both modules. */
const nobleKeys = new Map<string, { publicKey: Uint8Array; secretKey: Uint8Array }>();
function nobleKey(degree: Degree, seed: Uint8Array) {
  const name = `${degree} ${Buffer.from(seed).toString('hex')}`;
  const keys = nobleKeys.get(name) ?? nobleObject(degree).keygen(seed);
  nobleKeys.set(name, keys);
  return keys;
}

describe.each(BUILDS)('module $module', ({ module, sets }) => {
  // noble takes a second for a key of Falcon-1024.
  test.for(SHORT_RUN ? sets.slice(0, 1) : sets)(
    '$degree: the same keys as noble, and as before',
    { timeout: 600_000 },
    ({ degree, falcon }, context) => {
      const count = NIGHTLY ? 300 : degree === 512 ? 4 : 1;
      const random = testRandom(`keygen ${degree}`);
      for (let i = 0; i < count; i++) {
        const seed = random.bytes(48);
        const ours = falcon.keygen(seed);
        const theirs = nobleKey(degree, seed);
        expect(ours.publicKey).toEqual(theirs.publicKey);
        expect(ours.secretKey).toEqual(theirs.secretKey);
        expect(falcon.getPublicKey(ours.secretKey)).toEqual(ours.publicKey);
        expect(falcon.keygen(seed)).toEqual(ours);
      }
      fact(context, 'keys identical to noble’s', `Falcon-${degree} (${module}): ${count} seeds`);
    },
  );

  const taken = sets.filter(
    ({ degree }) => !SHORT_RUN || (module === 'plain') === (degree === 512),
  );
  test.each(taken)('$degree: a change of any seed byte changes the key', ({ degree, falcon }) => {
    const seed = testRandom(`seed bytes ${degree}`).bytes(48);
    const keys = new Set([Buffer.from(falcon.keygen(seed).publicKey).toString('hex')]);
    for (let i = 0; i < 48; i++) {
      const other = seed.slice();
      other[i]! ^= 1 << (i & 7);
      keys.add(Buffer.from(falcon.keygen(other).publicKey).toString('hex'));
    }
    expect(keys.size).toBe(49);
  });
});
