/** The kills, and beside them the other troubles, one at a time and evenly among the kills. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestRandom } from '../../test/support/random.ts';
import type { Trouble, World } from './world.ts';

/** Of so many kills one comes while the process starts. */
const AT_START = 5;
const START_MS = 800;
/** Duration of a start on a quiet machine, and how much more slowly a busy one is treated. */
const USUAL_START_MS = 1500;
const MAX_PACE = 5;

export interface Tally {
  kills: number;
  killsAtStart: number;
  /** By name, how often. */
  readonly troubles: Map<string, number>;
}

export interface TroubleOptions {
  readonly kills: number;
  readonly random: TestRandom;
  /** When it begins, and ends in any case, as performance.now() tells time. */
  readonly startMs: number;
  readonly endMs: number;
  readonly tally: Tally;
  onKill(): void;
}

/** Resolves when all kills and troubles are over, and every process is up again. */
export async function makeTrouble(world: World, options: TroubleOptions): Promise<void> {
  const { endMs, kills, tally } = options;
  for (const member of world.members) member.start();
  const beside = besides(world, options);
  const total = beside.length;
  let other = Promise.resolve();
  let busy = false;
  let broken: unknown = null;
  while (tally.kills < kills && performance.now() < endMs && broken === null) {
    await killOne(world, options);
    const due = ((total - beside.length + 0.5) / total) * kills;
    if (busy || beside.length === 0 || tally.kills < due) continue;
    busy = true;
    const { name, run } = beside.shift()!;
    const ended = () => {
      busy = false;
      tally.troubles.set(name, (tally.troubles.get(name) ?? 0) + 1);
    };
    other = run().then(ended, (error: unknown) => {
      broken = new Error(`${name}: the trouble itself failed`, { cause: error });
    });
  }
  await other;
  if (broken !== null) throw broken;
  for (const { name, run } of beside) {
    if (performance.now() > endMs) break;
    await run();
    tally.troubles.set(name, (tally.troubles.get(name) ?? 0) + 1);
  }
}

/** Every trouble as often as it comes, in any order. */
function besides(world: World, { kills, random }: TroubleOptions): Trouble[] {
  const all = world.troubles.flatMap((trouble) => {
    const times = Math.round((trouble.times * kills) / world.usualKills);
    return Array<Trouble>(Math.max(1, times)).fill(trouble);
  });
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

/**
 * How the next kill is timed: later where starts take longer, or no work would be done, but not so
 * late that the kills take more than half of the time.
 */
function timing(world: World, { kills, startMs, endMs, tally }: TroubleOptions) {
  const slowest = Math.max(...world.members.map((member) => member.startMs));
  const leftMs = (startMs + endMs) / 2 - performance.now();
  const left = leftMs / ((kills - tally.kills) * world.gapMs);
  const pace = Math.max(1, Math.min(MAX_PACE, slowest / USUAL_START_MS, left));
  return { pace, hurry: left < 2 };
}

async function killOne(world: World, options: TroubleOptions): Promise<void> {
  const { random, tally, onKill } = options;
  const atStart = random.below(AT_START) === 0;
  const { pace, hurry } = timing(world, options);
  await sleep(pace * random.below(atStart ? START_MS : world.gapMs));
  // One that is stopped is to stay so for longer than its lease.
  const alive = world.members.filter((member) => member.alive);
  const ready = alive.filter(({ state }) => state === 'ready');
  const atWork = hurry ? ready : ready.filter((member) => member.atWork);
  const candidates = atStart ? alive : atWork;
  if (candidates.length === 0) return;
  const member = random.pick(candidates);
  const starting = member.state === 'starting';
  if (!(await member.kill())) return;
  tally.kills++;
  if (starting) tally.killsAtStart++;
  member.start();
  onKill();
}
