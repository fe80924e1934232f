/** A trial: batches submitted under trouble, followed to their ends, and judged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeItems } from '../../test/middleware/triples.ts';
import type { TestRandom } from '../../test/support/random.ts';
import { Clients, type Job } from './clients.ts';
import { judge } from './judge.ts';
import { makeTrouble, type Tally } from './troubles.ts';
import type { World } from './world.ts';

export interface Plan {
  readonly tasks: number;
  readonly kills: number;
  readonly seed: number;
  /** For all of it, once the world is open. */
  readonly minutes: number;
}

export interface TrialOptions extends Plan {
  readonly random: TestRandom;
  /** Makes what is put to the test. */
  open(random: TestRandom): Promise<World>;
  log(line: string): void;
}

const MAX_COUNT = 1722;
const KEYS = 20;
const PROGRESS_MS = 10_000;
const RECHECK_EVERY_MS = 200;
/** Share of the time for troubles; the rest is for what is unfinished then. */
const TROUBLED = 0.75;
/** Batches that are being submitted at once. */
const SENDERS = 16;

/** @returns whether nothing is wrong; the last line that it logs is the verdict */
export async function runTrial({ open, log, ...plan }: TrialOptions): Promise<boolean> {
  const jobs = makeJobs(plan.tasks, plan.random);
  const world = await open(plan.random);
  const startMs = performance.now();
  const endMs = startMs + 60_000 * plan.minutes;
  const close = async () => {
    await Promise.all(world.members.map((member) => member.close('SIGKILL')));
    await world.close();
  };
  // What is mounted and started here is not left behind.
  const onSignal = () => void close().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  log(`${world.title}: ${plan.tasks} tasks, ${plan.kills} kills, seed ${plan.seed}`);
  const tally: Tally = { kills: 0, killsAtStart: 0, troubles: new Map() };
  const clients = new Clients({ bases: world.bases, apiKey: world.apiKey, endMs });
  const others = () => [...tally.troubles].map(([name, times]) => `${times} ${name}`);
  const met = () => Object.entries(world.met).map(([what, times]) => `${times} ${what}, `);
  const report = () => {
    const seconds = ((performance.now() - startMs) / 1000).toFixed(0).padStart(4);
    const done = jobs.filter(({ verified }) => verified).length;
    const accepted = jobs.filter(({ id }) => id !== null).length;
    const so = [`${tally.kills} of ${plan.kills} kills`, ...others()].join(', ');
    log(`${seconds} s: ${accepted} accepted, ${done} done; ${so}`);
  };
  const timer = setInterval(report, PROGRESS_MS);
  try {
    await underTrouble({ plan, world, clients, jobs, tally, startMs, endMs });
    report();
    const deaths = world.members.flatMap((member) => member.deaths);
    const refusals = world.members.reduce((sum, member) => sum + member.refusals.length, 0);
    const completions = await world.completions();
    const listed = await clients.list().catch(() => []);
    const { kills } = tally;
    const { good, faults, line } = judge({
      ...{ jobs, completions, listed, deaths, kills },
      wantedKills: plan.kills,
    });
    for (const fault of faults) log(fault);
    log([`${kills} kill -9 (${tally.killsAtStart} while starting)`, ...others()].join(', '));
    log(
      `${met().join('')}${await world.takenOver()} tasks taken over, ` +
        `${clients.unheard} requests not answered, ${clients.putOff} put off, ` +
        `${clients.withheld} of ${clients.fetched + clients.withheld} results withheld when ` +
        `fetched again, ${refusals} starts refused; seed ${plan.seed}`,
    );
    log(line);
    return good;
  } finally {
    clearInterval(timer);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await close();
  }
}

interface Running {
  readonly plan: Plan & { readonly random: TestRandom };
  readonly world: World;
  readonly clients: Clients;
  readonly jobs: readonly Job[];
  readonly tally: Tally;
  readonly startMs: number;
  readonly endMs: number;
}

/** Mostly small batches, now and then a large one; runs of signatures made beforehand. */
function makeJobs(tasks: number, random: TestRandom): Job[] {
  const all = makeItems(MAX_COUNT, KEYS);
  return Array.from({ length: tasks }, () => {
    const count = random.below(20) === 0 ? random.between(201, MAX_COUNT) : random.between(1, 200);
    const from = random.below(MAX_COUNT - count + 1);
    const items = all.slice(from, from + count);
    // Parts and their merge take seconds each.
    const way = random.pick(['direct', 'steps', 'direct', 'steps', 'steps', 'parts'] as const);
    const unsent = { id: null, gone: false, verified: false, fault: null, seen: 'not sent' };
    return { way, items, ...unsent };
  });
}

/** Resolves when every job has come to its end, or the time is over. */
async function underTrouble(running: Running): Promise<void> {
  const { plan, world, clients, jobs, tally, startMs, endMs } = running;
  const waiting = [...jobs];
  const runs: Promise<void>[] = [];
  let sending = 0;
  let peace = false;
  /** Starts jobs, so that there is work at every kill, and not all of it at the first. */
  const release = () => {
    const due = peace ? jobs.length : Math.ceil((jobs.length * (tally.kills + 2)) / plan.kills);
    while (waiting.length > 0 && jobs.length - waiting.length < due && sending < SENDERS) {
      sending++;
      const sent = () => {
        sending--;
        release();
      };
      runs.push(clients.run(waiting.shift()!, sent));
    }
  };
  release();
  let over = false;
  const rechecks = recheckUntil(running, () => over);
  const troubledMs = startMs + TROUBLED * (endMs - startMs);
  const { kills, random } = plan;
  const times = { startMs, endMs: troubledMs };
  await makeTrouble(world, { kills, random, ...times, tally, onKill: release });
  // If the time for kills was over before all jobs were due.
  peace = true;
  release();
  // Each may start another.
  for (let ended = 0; ended < runs.length; ) {
    ended = runs.length;
    await Promise.all(runs);
  }
  over = true;
  await rechecks;
}

/** What has been completed stays so, and its result whole, under all troubles. */
async function recheckUntil({ clients, jobs }: Running, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(RECHECK_EVERY_MS);
    const done = jobs.filter(({ verified }) => verified);
    if (done.length > 0) await clients.recheck(done[Math.floor(Math.random() * done.length)]!);
  }
}
