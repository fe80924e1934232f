/**
 * Many runs of key generation and signing, folded into one hash: as wide as a directory of vectors,
 * as short as a line.
 *
 * The hashes that the test expects were made by another implementation: `node
 * test/support/accumulate.ts 512 1000` computes them with @noble/post-quantum (some minutes).
 */
import { createHash } from 'node:crypto';
import type { KatSigner } from './katFile.ts';
import { type Degree, nobleObject, nobleSign } from './peers.ts';
import { testRandom } from './random.ts';

/** @returns SHA-256 of the keys and signatures of `runs` runs, hex */
export function accumulate(
  signer: KatSigner,
  degree: Degree,
  runs: number,
  each?: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => void,
): string {
  const random = testRandom(`accumulated ${degree}`);
  const hash = createHash('sha256');
  for (let run = 0; run < runs; run++) {
    const { publicKey, secretKey } = signer.keygen(random.bytes(48));
    const message = random.bytes(random.below(300));
    const salt = random.bytes(40);
    const signature = signer.sign(message, secretKey, salt, random.bytes(48));
    hash.update(publicKey).update(secretKey).update(signature);
    each?.(publicKey, message, signature);
  }
  return hash.digest('hex');
}

if (import.meta.main) {
  const degree = Number(process.argv[2]) as Degree;
  const runs = Number(process.argv[3]);
  const noble: KatSigner = {
    keygen: (seed) => nobleObject(degree).keygen(seed),
    sign: (message, secretKey, salt, samplerSeed) =>
      nobleSign(degree, message, secretKey, salt, samplerSeed),
  };
  console.log(`${degree} ${runs} ${accumulate(noble, degree, runs)}`);
}
