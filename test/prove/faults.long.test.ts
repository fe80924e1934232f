/** Faults planted in the sources: the prover names the kernel and what is wrong with it. */
import { beforeAll, expect, test } from 'vitest';
import { readContracts } from '../../scripts/prove/contracts.ts';
import type { Module } from '../../scripts/prove/decode.ts';
import { build } from '../../scripts/prove/modules.ts';
import { refusal } from '../../scripts/prove/mutants.ts';
import { jobsOf, needsSolver } from '../../scripts/prove/prove.ts';
import { hasZ3 } from '../../scripts/prove/smt.ts';

const FAULTS = [
  {
    kernel: 'decodePublicKey',
    file: 'assembly/falcon/codec.ts',
    right: 'i16x8.ge_s(largest, q)',
    wrong: 'i16x8.gt_s(largest, q)',
    says: /the status is not that of a value out of range/,
  },
  {
    kernel: 'intt',
    file: 'assembly/shared/ntt.ts',
    right: 'const low = reduce(v128.load(p), q);',
    wrong: 'const low = v128.load(p);',
    says: /output \d+ isn't the form modulo 12289/,
  },
  {
    kernel: 'canonicalPoly',
    file: 'assembly/shared/ntt.ts',
    right: 'v128.store(a, i16x8.add(c, v128.and(i16x8.shr_s(c, 15), q)));',
    wrong: 'v128.store(a, select<v128>(i16x8.add(c, q), c, i16x8.extract_lane_s(c, 0) < 0));',
    says: /a select of vectors depends on an input/,
  },
];

let module: Module;
const changed = new Set<string>();

beforeAll(async () => {
  module = await build('falcon.verify', (path, text) => {
    let result = text;
    for (const { right, wrong, kernel } of FAULTS.filter(({ file }) => file === path)) {
      if (text.split(right).length === 2) changed.add(kernel);
      result = result.replace(right, wrong);
    }
    return result;
  });
});

/** What the prover says of each instance of a kernel's contract. */
const verdicts = (name: string): (string | undefined)[] =>
  jobsOf('falcon.verify', module, readContracts())
    .filter((job) => job.contract.name === name && (hasZ3() || !needsSolver(job)))
    .map((job) => refusal(job, module));

test.each(FAULTS)('the fault in $kernel is found', ({ kernel, says }) => {
  expect(changed).toContain(kernel);
  const found = verdicts(kernel).filter((verdict) => verdict !== undefined);
  if (kernel === 'decodePublicKey' && !hasZ3()) return;
  expect(found).not.toEqual([]);
  for (const verdict of found) expect(verdict).toMatch(says);
});

test('the other kernels are proved', () => {
  expect(verdicts('ntt')).toEqual([undefined, undefined]);
  expect(verdicts('centrePoly')).toEqual([undefined, undefined]);
});
