/** NIST's known answers: the complete response files, rebuilt and compared by their SHA-256. */
import { describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { attach, buildKatFile, KAT_ENTRIES, type KatLayout } from '../support/katFile.ts';
import { BUILDS, katSigner } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';
import { SHORT_RUN } from '../support/run.ts';

// The plain sets: the response files of the round-3 submission package. The padded ones: the tests
// of liboqs.
const ANSWERS: readonly (readonly [degree: Degree, form: 'compressed' | 'padded', hash: string])[] =
  [
    [512, 'compressed', 'dd75c946fdedef4ec46a2bee7e10c65c9126f1a839b9ced6921fd45f7354b5cd'],
    [1024, 'compressed', '036a0bf5260573cec44977284dfef756cd1143db9961b981bd1fb55828acb20d'],
    [512, 'padded', '362ecc0537ca1fe25143fb7ccb04de8ee7703469d13ebcf311ab124a5c374a65'],
    [1024, 'padded', '907a4931ddc2ce8360478a45f1bffededd6a04015b00233ecd851a62ecba06c1'],
  ];

describe.each(BUILDS)('module $module', ({ module, sets }) => {
  // in the short run each file by one build, and each set by both
  const tried = ANSWERS.filter(
    ([degree, form]) =>
      !SHORT_RUN || (module === 'plain') === ((degree === 512) === (form === 'compressed')),
  );
  test.for(tried)('%i, %s: the response file has the published hash', (answer, context) => {
    const [degree, form, sha256] = answer;
    const { falcon } = sets.find((set) => set.degree === degree)!;
    const layout: KatLayout =
      form === 'padded' ? { kind: 'liboqs' } : { kind: 'submission', header: `# Falcon-${degree}` };
    const file = buildKatFile(katSigner(falcon, form), layout);
    expect(file.entries).toHaveLength(KAT_ENTRIES);
    expect(file.sha256).toBe(sha256);

    for (const { publicKey, secretKey, message, signature } of file.entries) {
      expect(falcon.verify(signature, message, publicKey)).toBe(true);
      expect(falcon.getPublicKey(secretKey)).toEqual(publicKey);
      if (form === 'compressed') {
        expect(falcon.attached.open(attach(signature, message), publicKey)).toEqual(message);
      }
    }
    const topic = 'response files of 100 entries, SHA-256';
    fact(context, topic, `Falcon-${degree} ${form} (${module} SIMD): ${sha256}`);
  });
});
