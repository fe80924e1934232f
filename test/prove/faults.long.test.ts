/** Faults planted in the sources: the prover names the kernel and what is wrong with it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { readContracts } from '../../scripts/prove/contracts.ts';
import type { Module } from '../../scripts/prove/decode.ts';
import { functionNamed } from '../../scripts/prove/kernel.ts';
import { build, readModule } from '../../scripts/prove/modules.ts';
import { refusal } from '../../scripts/prove/mutants.ts';
import { type Job, jobsOf, nameOf, needsSolver } from '../../scripts/prove/prove.ts';
import { hasZ3 } from '../../scripts/prove/smt.ts';
import { address, withStart } from './planted.ts';

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

describe('faults that one block does not show', () => {
  const contracts = readContracts();
  let labrador: Module;
  const changed = new Set<string>();
  const RESETS = [
    {
      kernel: 'pairProducts',
      name: 'let to = sums;',
      loop: '  for (let block = 0; block < blocks',
    },
    { kernel: 'combine', name: 'let group = coefficients;', loop: '  let offset: usize = 0;' },
  ];
  const job = (name: string): Job =>
    jobsOf('labrador', labrador, contracts).find(
      ({ contract, range }) => contract.name === name && range !== undefined,
    )!;

  beforeAll(async () => {
    labrador = await build('labrador', (path, text) => {
      if (path !== 'assembly/labrador/polyVec.ts') return text;
      return RESETS.reduce((all, { kernel, name, loop }) => {
        const from = all.indexOf(`function ${kernel}(`);
        const [start, at] = [all.indexOf(loop, from), all.indexOf(name, from)];
        if (start < 0 || at < start) return all;
        changed.add(kernel);
        const inside = `${all.slice(start, at)}${all.slice(at + name.length)}`;
        return `${all.slice(0, start)}  ${name}\n${inside}`;
      }, text);
    });
  });

  test.each(RESETS)('in $kernel, $name is run once, before the loop', ({ kernel }) => {
    expect(changed).toContain(kernel);
    const own = job(kernel);
    expect(refusal({ ...own, range: undefined, instance: strides(own) }, labrador)).toBeUndefined();
    expect(refusal(own, labrador)).toMatch(
      /depends on an input|is not in the turn's block of sums/,
    );
  });

  /** One block, and a distance of rows. */
  const strides = ({ instance }: Job) => ({ ...instance, stride: 24576 });

  test('sums that more turns may exceed are found', () => {
    const own = job('products');
    const { input } = own.contract;
    const bounds = input.bounds.map((one) =>
      one.name === 'sums' ? { ...one, low: '0 - 6939 * 29753', high: '6939 * 29753' } : one,
    );
    const contract = { ...own.contract, input: { ...input, bounds } };
    expect(refusal({ ...own, contract }, labrador)).toBe(
      "turns share sums, and don't only add to it within its bounds",
    );
  });
});

test('an address that the check of a compressed signature takes from a secret is found', () => {
  const falcon = readModule('falcon')!;
  const job = jobsOf('falcon', falcon, readContracts()).find(
    (one) => nameOf(one) === 'falcon signExpanded logn=9 format=0 messageLen=64 profile=0',
  )!;
  const says = /^an address depends on an input: decompress/;
  expect(refusal(job, withStart(falcon, 'decompress', ...address))).toMatch(says);
});
