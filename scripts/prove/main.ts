/**
 * Proves kernels of the shipped modules for all inputs within their contracts, on their bytes:
 * docs/assurance.md says what that means. `npm run prove -- --help` lists the options.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { readContracts } from './contracts.ts';
import type { Module } from './decode.ts';
import { Lock } from './lock.ts';
import { moduleNames, openModule } from './modules.ts';
import { hasMutants, REFUSED, report, type Tried } from './mutants.ts';
import { type Job, jobsOf, nameOf, type Outcome } from './prove.ts';
import { decideReals } from './reals.ts';
import { coverageLine, coverageOf, row } from './report.ts';
import { decideRules } from './ruleClaims.ts';
import { validate } from './validate.ts';
import type { Order } from './worker.ts';

const HELP = `npm run prove -- [options]

  (none)           proves what has changed since the lock was written; prints the table
  --fresh          ignores the lock: proves everything
  --module NAME    only this module; may be repeated
  --only NAME      only this kernel; may be repeated
  --mutants [N]    instead: changes each kernel up to N times (6), and expects its proof to fail
  --validate       instead: compares the executor with the engine, and terms with their bounds, in
                   proofs and for each operation alone
  --rules          instead: decides the prover's rules by z3
  --reals          instead: proves the arithmetic on reals of falcon.integer by z3
  --help

Exit code 0: everything that was asked for is proved. 1: something is not. What needs z3 is skipped
by name if z3 isn't installed; the exit code is then 0.
`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Has workers prove jobs, or try their mutants, two at a time. */
async function runAll<T>(
  jobs: readonly Job[],
  done: (job: Job, answer: T) => void,
  mutants?: number,
): Promise<void> {
  const waiting = [...jobs];
  const lane = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 4096 },
    });
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const answer = new Promise<T>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      const order: Order = { module: job.module, job: nameOf(job), mutants };
      worker.postMessage(order);
      done(job, await answer);
      worker.removeAllListeners('error');
    }
    await worker.terminate();
  };
  const count = Math.min(2, availableParallelism(), jobs.length);
  await Promise.all(Array.from({ length: count }, lane));
}

interface Selection {
  readonly jobs: Job[];
  readonly modules: Map<string, Module>;
}

/** @throws Error if a name selects nothing */
async function select(names: readonly string[], only: readonly string[]): Promise<Selection> {
  const contracts = readContracts();
  const modules = new Map<string, Module>();
  for (const name of moduleNames()) {
    if (names.length === 0 || names.includes(name)) modules.set(name, await openModule(name));
  }
  const jobs = [...modules]
    .flatMap(([name, module]) => jobsOf(name, module, contracts))
    .filter(({ contract }) => only.length === 0 || only.includes(contract.name));
  if (jobs.length === 0) throw new Error('no kernel has that name');
  return { jobs, modules };
}

/** The longest first: the last ones shouldn't run alone. */
const longestFirst = (jobs: readonly Job[]): Job[] =>
  jobs.toSorted(
    (a, b) => Number(b.contract.name === 'combine') - Number(a.contract.name === 'combine'),
  );

async function mutate({ jobs }: Selection, share: number): Promise<boolean> {
  const start = performance.now();
  const all: Tried[] = [];
  await runAll<Tried[]>(
    longestFirst(jobs.filter(hasMutants)),
    (job, tried) => {
      all.push(...tried);
      const open = tried.filter(({ verdict }) => verdict !== REFUSED);
      say(`${nameOf(job)}: ${tried.length - open.length} of ${tried.length} mutants refused`);
      for (const { what, verdict } of open) say(`  ${what}: ${verdict}`);
    },
    share,
  );
  say('');
  const isRight = report(all, say);
  say(`${((performance.now() - start) / 1000).toFixed(1)} s`);
  return isRight;
}

async function proveAll({ jobs, modules }: Selection, isFresh: boolean, isWhole: boolean) {
  const start = performance.now();
  const lock = new Lock(isFresh);
  const outcomes = new Map<Job, Outcome>();
  const open: Job[] = [];
  for (const job of jobs) {
    const known = lock.find(job, modules.get(job.module)!);
    if (known === undefined) open.push(job);
    else {
      outcomes.set(job, known);
      say(row(job, known, true));
    }
  }
  await runAll<Outcome>(longestFirst(open), (job, outcome) => {
    outcomes.set(job, outcome);
    say(row(job, outcome, false));
    if (outcome.failure === '') lock.add(job, modules.get(job.module)!, outcome);
    else lock.remove(job);
    if (isWhole) lock.write(jobs);
  });
  say('');
  for (const [name, module] of modules) {
    const own = [...outcomes].filter(([job]) => job.module === name).map(([, outcome]) => outcome);
    say(coverageLine(name, coverageOf(module, own)));
  }
  if (isWhole) lock.write(jobs);
  const all = [...outcomes.values()];
  const proved = all.filter(({ failure }) => failure === '').length;
  const skipped = all.filter(({ isSkipped }) => isSkipped).length;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const skips = skipped === 0 ? '' : `, ${skipped} skipped because z3 is not installed`;
  say(`\n${proved} of ${jobs.length} statements proved${skips}, ${seconds} s`);
  return proved + skipped === jobs.length;
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      module: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: [] },
      mutants: { type: 'boolean', default: false },
      validate: { type: 'boolean', default: false },
      rules: { type: 'boolean', default: false },
      reals: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (values.help) {
    say(HELP);
    return true;
  }
  if (values.rules) return decideRules(say);
  if (values.reals) return decideReals(say);
  const selection = await select(values.module, values.only);
  if (values.mutants) return mutate(selection, Number(positionals[0] ?? 6));
  const isWhole = values.module.length + values.only.length === 0;
  if (values.validate) return validate(selection, isWhole, say);
  return proveAll(selection, values.fresh, isWhole);
}

process.exitCode = (await main()) ? 0 : 1;
