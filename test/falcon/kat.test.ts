/**
 * NIST's known answers: the complete response files, rebuilt from the generator and compared by
 * their SHA-256.
 */
import { describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { attach, buildKatFile, KAT_ENTRIES, type KatLayout } from '../support/katFile.ts';
import { BUILDS, katSigner } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';

interface Answer {
  name: string;
  degree: Degree;
  format: 'compressed' | 'padded';
  layout: KatLayout;
  sha256: string;
}

// The plain sets: the response files of the round-3 submission package. The padded ones: the tests
// of liboqs.
const ANSWERS: readonly Answer[] = [
  {
    name: 'Falcon-512',
    degree: 512,
    format: 'compressed',
    layout: { kind: 'submission', header: '# Falcon-512' },
    sha256: 'dd75c946fdedef4ec46a2bee7e10c65c9126f1a839b9ced6921fd45f7354b5cd',
  },
  {
    name: 'Falcon-1024',
    degree: 1024,
    format: 'compressed',
    layout: { kind: 'submission', header: '# Falcon-1024' },
    sha256: '036a0bf5260573cec44977284dfef756cd1143db9961b981bd1fb55828acb20d',
  },
  {
    name: 'Falcon-padded-512',
    degree: 512,
    format: 'padded',
    layout: { kind: 'liboqs' },
    sha256: '362ecc0537ca1fe25143fb7ccb04de8ee7703469d13ebcf311ab124a5c374a65',
  },
  {
    name: 'Falcon-padded-1024',
    degree: 1024,
    format: 'padded',
    layout: { kind: 'liboqs' },
    sha256: '907a4931ddc2ce8360478a45f1bffededd6a04015b00233ecd851a62ecba06c1',
  },
];

describe.each(BUILDS)('module $module', ({ module, sets }) => {
  test.for(ANSWERS)('$name: the response file has the published hash', (answer, context) => {
    const { falcon } = sets.find(({ degree }) => degree === answer.degree)!;
    const file = buildKatFile(katSigner(falcon, answer.format), answer.layout);
    expect(file.entries).toHaveLength(KAT_ENTRIES);
    expect(file.sha256).toBe(answer.sha256);

    for (const { publicKey, secretKey, message, signature } of file.entries) {
      expect(falcon.verify(signature, message, publicKey)).toBe(true);
      expect(falcon.getPublicKey(secretKey)).toEqual(publicKey);
      if (answer.format === 'compressed') {
        expect(falcon.attached.open(attach(signature, message), publicKey)).toEqual(message);
      }
    }
    fact(
      context,
      'response files of 100 entries, SHA-256',
      `${answer.name} (${module} SIMD): ${file.sha256}`,
    );
  });
});
