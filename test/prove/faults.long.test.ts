/** Faults planted in the sources: the prover names the kernel and what is wrong with it. */
import { beforeAll, expect, test } from 'vitest';
import { readContracts } from '../../scripts/prove/contracts.ts';
import type { Module } from '../../scripts/prove/decode.ts';
import { functionNamed } from '../../scripts/prove/kernel.ts';
import { build, readModule } from '../../scripts/prove/modules.ts';
import { refusal } from '../../scripts/prove/mutants.ts';
import { jobsOf, needsSolver } from '../../scripts/prove/prove.ts';
import { hasZ3 } from '../../scripts/prove/smt.ts';

const FAULTS = [
  {
    kernel: 'decodePublicKey',
    file: 'assembly/falcon/codec.ts',
    right: 'i16x8.ge_s(largest, q)',
    wrong: 'i16x8.gt_s(largest, q)',
    says: /values 0 to 7 aren't decoded and centred/,
  },
  {
    kernel: 'intt',
    file: 'assembly/shared/ntt.ts',
    right: 'const low = reduce(v128.load(p), q);',
    wrong: 'const low = v128.load(p);',
    says: /^a\[0\] in \[-32768, 32767\], not \[-12288, 12288\]$/,
  },
  {
    kernel: 'keepWords',
    file: 'assembly/falcon/hashToPointCt.ts',
    right: 'v128.bitselect(v128.load(WORDS + at + ahead), v128.load(WORDS + at), comes);',
    wrong: `select<v128>(
      v128.load(WORDS + at + ahead), v128.load(WORDS + at), v128.any_true(comes),
    );`,
    says: /^a select of vectors depends on an input/,
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

test('another kernel is proved', () => {
  expect(verdicts('ntt')).toEqual([undefined, undefined]);
});

test('a status of invertPoly that is not whether a value is zero is found', () => {
  const falcon = readModule('falcon')!;
  const job = jobsOf('falcon', falcon, readContracts()).find(
    ({ contract }) => contract.name === 'invertPoly',
  )!;
  expect(refusal(job, falcon)).toBeUndefined();
  const { code } = falcon.bodies[functionNamed(falcon, 'invertPoly')]!;
  const at = code.findIndex(({ op }) => op === 'i16x8.eq');
  code[at] = { ...code[at]!, op: 'i16x8.ge_s' };
  expect(refusal(job, falcon)).toMatch(/^the status depends on more/);
});
