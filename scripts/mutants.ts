/**
 * The mutation run: changes every check of the verifier, the parsers and their kernels, one at a
 * time, and says which changes no test notices. `scripts/mutants/enumerate.ts` lists the changes,
 * `scripts/mutants/map.ts` the files and their tests, `scripts/mutants/equivalent.json` at most 12
 * mutants that change nothing, each with its reason.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { enumerate, type Mutant } from './mutants/enumerate.ts';
import { type Covered, coveredFiles, read } from './mutants/map.ts';
import { difference, Progress, survivor, table } from './mutants/report.ts';
import { Limits, type Outcome, openLanes, spread } from './mutants/trial.ts';

const HELP = `npm run mutants -- [options]

  (none)         all mutants, in about 45 minutes on two cores
  --part         some of every file, always the same ones, in at most 8 minutes
  --share 0.01   that share of every file, but at least one mutant
  --only TEXT    only mutants whose id begins with TEXT, a file for instance; may be repeated
  --list         prints the mutants, does not run them
  --lanes 2      how many are run at a time
  --verbose      says of each mutant what noticed it, and when
  --help

Exit code 0: every mutant was noticed, or is in scripts/mutants/equivalent.json. 1: some survived.
2: the run was impossible.
`;

/** The share of the mutants in a part. */
const PART = 0.1;
const MOST_EQUIVALENTS = 12;

interface Equivalent {
  readonly id: string;
  readonly reason: string;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A mutant, and the rule of its file. */
type Job = readonly [Mutant, Covered];

/** The first ones in an order that depends on nothing but the ids. */
function chosen(jobs: readonly Job[], share: number): Job[] {
  const rank = ([{ id }]: Job): string => createHash('sha256').update(id).digest('hex');
  const ranked = jobs.map((job) => [rank(job), job] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return ranked.slice(0, Math.ceil(share * jobs.length)).map(([, job]) => job);
}

/** @throws Error if there are too many, one has no reason, or is no mutant */
function readEquivalents(mutants: readonly Mutant[]): Set<string> {
  const list = JSON.parse(read('scripts/mutants/equivalent.json')) as Equivalent[];
  if (list.length > MOST_EQUIVALENTS) {
    throw new Error(
      `${list.length} mutants are called equivalent, at most ${MOST_EQUIVALENTS} may`,
    );
  }
  const ids = new Set(mutants.map(({ id }) => id));
  for (const { id, reason } of list) {
    if (!ids.has(id)) throw new Error(`equivalent.json: there is no mutant ${id}`);
    if (!reason) throw new Error(`equivalent.json: no reason for ${id}`);
  }
  return new Set(list.map(({ id }) => id));
}

/** Runs them. @returns what became of each */
async function runAll(
  jobs: readonly Job[],
  laneCount: number,
  isVerbose: boolean,
): Promise<Outcome[]> {
  const { lanes, end } = openLanes(laneCount);
  const outcomes: Outcome[] = [];
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.once(signal, () => {
      end();
      process.exit(code);
    });
  }
  try {
    const hasKernels = jobs.some(([{ file }]) => file.startsWith('assembly/'));
    const hashes = hasKernels ? await lanes[0]!.buildAll() : new Map();
    for (const lane of lanes) lane.restore();
    const limits = new Limits();
    const progress = new Progress(jobs.length);
    await spread(lanes, jobs, async (lane, [mutant, { tests }]) => {
      const start = performance.now();
      const outcome = await lane.try(mutant, tests, hashes, limits);
      outcomes.push(outcome);
      progress.clear();
      if (isVerbose) {
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        say(`${seconds} s  ${outcome.state}  ${mutant.id}  ${outcome.by ?? ''}`);
      }
      if (outcome.state === 'survived') say(survivor(read(mutant.file), mutant));
      progress.count(outcome);
    });
    progress.clear();
    return outcomes;
  } finally {
    end();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      part: { type: 'boolean', default: false },
      share: { type: 'string', default: '1' },
      only: { type: 'string', multiple: true, default: [''] },
      list: { type: 'boolean', default: false },
      lanes: { type: 'string', default: '2' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(HELP);
    return 0;
  }
  const share = values.part ? PART : Number(values.share);
  const lanes = Number(values.lanes);
  if (!(share > 0 && share <= 1)) throw new Error('--share expected a number up to 1');
  if (!(Number.isInteger(lanes) && lanes > 0)) throw new Error('--lanes expected 1, 2, ...');

  const files = coveredFiles().map((covered) => {
    const { file, scope } = covered;
    return enumerate(file, read(file), scope).map((mutant): Job => [mutant, covered]);
  });
  const explained = readEquivalents(files.flat().map(([mutant]) => mutant));
  const isWanted = ([{ id }]: Job): boolean => values.only.some((start) => id.startsWith(start));
  const jobs = files.flatMap((list) => chosen(list.filter(isWanted), share));
  if (jobs.length === 0) throw new Error(`no mutant begins with ${values.only.join(', ')}`);
  if (values.list) {
    for (const [mutant] of jobs) {
      say(`${mutant.id}\n${difference(read(mutant.file), mutant)}`);
    }
    say(`${jobs.length} mutants`);
    return 0;
  }
  const start = performance.now();
  const outcomes = await runAll(
    jobs.filter(([{ id }]) => !explained.has(id)),
    lanes,
    values.verbose,
  );
  for (const [mutant] of jobs.filter(([{ id }]) => explained.has(id))) {
    outcomes.push({ mutant, state: 'same' });
  }
  const survived = outcomes.filter(({ state }) => state === 'survived').length;
  say(`\n${table(outcomes)}`);
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  say(`\n${jobs.length} mutants in ${minutes} minutes: ${survived} unexplained survivors`);
  return survived === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`mutants: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
