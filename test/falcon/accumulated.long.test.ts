/**
 * A thousand runs of key generation and signing, as one hash that another implementation computed.
 */
import { expect, test } from 'vitest';
import { accumulate } from '../support/accumulate.ts';
import { fact } from '../support/facts.ts';
import { falconOf, katSigner } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';

// Made with @noble/post-quantum 0.7.1: `node test/support/accumulate.ts 512 1000` and `… 1024 300`.
const EXPECTED: readonly (readonly [degree: Degree, runs: number, sha256: string])[] = [
  [512, 1000, 'ba6fe28065ba7db570aaf0863926bec3917a2a06ab0cc3942f30c992e1aa35c9'],
  [1024, 300, '0deb5080e55d2893537fbb65286250e3f7c403b2586f1948c1b1b1c136d2300b'],
];

test.for(EXPECTED)('Falcon-%i, %i runs', ([degree, runs, sha256], context) => {
  const falcon = falconOf(degree);
  let verified = 0;
  const signer = katSigner(falcon, 'compressed');
  const hash = accumulate(signer, degree, runs, (publicKey, message, signature) => {
    if (falcon.verify(signature, message, publicKey)) verified++;
  });
  expect(verified).toBe(runs);
  expect(hash).toBe(sha256);
  const what = `Falcon-${degree}: ${runs} accumulated keys and signatures`;
  fact(context, 'differential, counts', `${what} bit-equal to @noble/post-quantum`);
});
