/** SHA-3 on Falcon's module, against Node's. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  SHA3_256,
  SHA3_384,
  SHA3_512,
  SHAKE128_256,
  sponge,
} from '../../../src/falcon/profiles/sha3.ts';
import { testRandom } from '../../support/random.ts';

test.each([
  ['sha3-256', SHA3_256],
  ['sha3-384', SHA3_384],
  ['sha3-512', SHA3_512],
  ['shake128', SHAKE128_256],
] as const)('%s, around every border of its blocks', (name, hash) => {
  const { rate, length } = hash;
  const lengths = [0, 1, 71, 72, 135, 136, 137, rate - 2, rate - 1, rate, rate + 1];
  for (const size of [...lengths, 2 * rate - 1, 2 * rate, 3 * rate - 1, 20_000]) {
    const message = testRandom(`${name} ${size}`).bytes(size);
    const options = name === 'shake128' ? { outputLength: length } : {};
    const digest = createHash(name, options).update(message).digest();
    expect(Buffer.from(sponge(hash, message)).equals(digest), `${size} bytes`).toBe(true);
  }
});
