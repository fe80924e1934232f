/**
 * 100,000 deterministic signatures, bit-equal to the reference in C.
 *
 * The reference: algorand/falcon at commit ce15e75, compiled by gcc -O3 with FALCON_FPEMU=1
 * (floating point emulated by integers), called as its deterministic.c does, at either degree. Key
 * b is that of the seed "bulk-key-%04d", and signs the first i bytes of
 * SHAKE256("bulk-msg-%04d-%04d") (b, i) for i from 0 to 999. `bulk.json` has the SHA-256 of each
 * key's 1000 compressed signatures, one a line in lower-case hex.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asciiOf, digits, hashOfLines, shakeOf } from '../support/algorand.ts';
import { fact } from '../support/facts.ts';
import { BUILDS } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';

const PER_KEY = 1000;

const file = new URL('../vectors/algorand/bulk.json', import.meta.url);
const ANSWERS: Record<Degree, string[]> = JSON.parse(readFileSync(file, 'utf8'));

const CASES = BUILDS.flatMap(({ module, sets }) => sets.map((set) => ({ module, ...set })));

test.for(CASES)('det$degree, $module module', { timeout: 3_600_000 }, (one, context) => {
  const { degree, falcon, module } = one;
  const hashes = ANSWERS[degree].map((_, key) => {
    const { secretKey } = falcon.keygen(asciiOf(`bulk-key-${digits(key)}`), {
      allowShortSeed: true,
    });
    using expanded = falcon.expandSecretKey(secretKey);
    return hashOfLines(
      Array.from({ length: PER_KEY }, (_, i) =>
        falcon.det.sign(shakeOf(`bulk-msg-${digits(key)}-${digits(i)}`, i), expanded),
      ),
    );
  });
  expect(hashes).toEqual(ANSWERS[degree]);
  fact(
    context,
    'deterministic Falcon',
    `det${degree}, ${module} module: ${PER_KEY * hashes.length} signatures bit-equal to the C code`,
  );
});
