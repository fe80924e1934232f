/** What signing by the FN-DSA draft depends on, as in test/trace; what it does after a fault. */
import { describe, expect, test } from 'vitest';
import { fnDsaDraft512 } from '../../../src/falcon/profiles/fnDsaDraft.ts';
import { testRandom } from '../../support/random.ts';
import { type Allowed, EXPANSION, PADDING, RELEASED } from '../../trace/places.ts';
import { expectList } from '../../trace/suite.ts';
import { differing, type Trace, tracer } from '../../trace/tracer.ts';

/** What the sampler refuses is not secret; see samplerZ.ts and draftSampler.ts. */
const REJECTION: Allowed = {
  why: 'how many candidates are refused, and how many bytes are compared: independent of the key',
  places: ['draftSampler/sampleOne: ', 'keccak/shakeSqueeze: ', 'keccakF.gen/keccakF: '],
};
const POINT: Allowed = {
  why: 'the point of salt and representative, both public: the salt is part of the signature',
  places: ['profile/squeezeLittleEndian: '],
};

test('signing depends on the key by divisions, and by what is not secret', async () => {
  const m = await tracer('falcon.relaxed', []);
  const random = testRandom('trace of the draft');
  const traces: Trace[] = Array.from({ length: 8 }, () => {
    const { secretKey } = fnDsaDraft512.keygen(random.bytes(32));
    m.bytes('SK', 1281).set(secretKey.subarray(0, 1281));
    m.bytes('SEED', 40).set(random.bytes(40));
    m.bytes('IN', 64).fill(9);
    const trace = m.trace(() => expect(m.exports.signDraft!(9)).toBe(666));
    m.exports.wipe!();
    return trace;
  });
  expectList(differing(m, traces), [EXPANSION, RELEASED, PADDING, REJECTION, POINT]);
});

describe('a fault: no signature leaves, nothing of one stays', () => {
  const E_INTERNAL = -10;
  /** Lines behind the expansion of the key. */
  const FAULTS = {
    'in the public key: every attempt is refused': 'store<u64>(expandedPrepared(logn), 0x4343);',
    // 1/sigma' of the last leaf
    'in the tree: the sampler accepts nothing': 'store<f64>(expandedPrepared(logn) - 8, NaN);',
  };

  test.each(Object.entries(FAULTS))('%s', async (_, fault) => {
    const m = await tracer('falcon.relaxed', [], (path, source) => {
      if (path !== 'assembly/falcon/draftSign.ts') return source;
      const line = '  if (status != OK) return status;\n';
      expect(source).toContain(line);
      return source.replace(line, `${line}  ${fault}\n`);
    });
    const random = testRandom('faults of the draft');
    const { secretKey } = fnDsaDraft512.keygen(random.bytes(32));
    m.bytes('SK', 1281).set(secretKey.subarray(0, 1281));
    m.bytes('SEED', 40).set(random.bytes(40));
    expect(m.exports.signDraft!(9)).toBe(E_INTERNAL);
    for (const [region, size] of [
      ['SIG', 1577],
      ['S2', 1024],
      ['PRODUCT', 1024],
    ] as const) {
      expect(
        m.bytes(region, size).every((byte) => byte === 0),
        region,
      ).toBe(true);
    }
  });
});
