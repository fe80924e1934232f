/** What signing by the FN-DSA draft depends on, as test/trace has it for the other calls. */
import { expect, test } from 'vitest';
import { fnDsaDraft512 } from '../../src/profiles/fnDsaDraft.ts';
import { testRandom } from '../support/random.ts';
import { type Allowed, EXPANSION, PADDING, RELEASED } from '../trace/places.ts';
import { expectList } from '../trace/suite.ts';
import { differing, type Trace, tracer } from '../trace/tracer.ts';

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
