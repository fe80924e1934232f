/**
 * Random histories, played to the store in memory and to another one: every outcome is the same.
 * The other store is opened twice and the verbs go to either, so what one has written the other
 * must know.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import type {
  AnswerHold,
  NewTask,
  PutOptions,
  TaskStore,
} from '../../src/middleware/stores/port/taskStore.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { TASK_STATES } from '../../src/wire/taskStates.ts';
import { NIGHTLY } from '../support/run.ts';
import type { OpenedStore } from './fullStore.ts';

const RUNS = NIGHTLY ? 1000 : 40;
const MAX_STEPS = 60;
const START_MS = Date.UTC(2026, 10, 21);

/** What a step may use: one store's own history. */
export interface World {
  readonly store: TaskStore;
  readonly ids: number[];
  readonly holds: AnswerHold[];
  /** The passing of time, and how far ahead of it the clock on the wall is set. */
  readonly time: { nowMs: number; aheadMs: number };
  blobs: number;
}

/** Opens a new store with these clocks. */
export type OpenWithClocks = (nowMs: () => number, wallMs: () => number) => Promise<OpenedStore>;

type Step = (world: World) => Promise<unknown>;

const pick = (world: World, n: number) => world.ids[n % Math.max(1, world.ids.length)] ?? 1;
const blob = (world: World, bytes: number) => ({ key: `inputs/${world.blobs++}`, bytes });
/** Stores number tasks in their own ways: ids are compared by the order in which they came. */
const rank = ({ ids }: World, id: number) => ids.indexOf(id);
const rankedKey = (world: World, key: string) =>
  key.replace(/^(results\/\d+\/)(\d+)/, (_, start, id) => `${start}${rank(world, Number(id))}`);

const small = fc.nat(1000);
const client = fc.integer({ min: 1, max: 2 });
const attempt = fc.integer({ min: 1, max: 3 });
const bytes = fc.integer({ min: 0, max: 50 });
const limits = { openTasks: 9, storedBytes: 200 };

/** A step: how often it comes, what it is given, and what it does. */
const named = <Given>(
  name: string,
  weight: number,
  given: fc.Arbitrary<Given>,
  run: (world: World, given: Given) => Promise<unknown>,
) => ({
  weight,
  arbitrary: given.map((each) => [name, (world: World) => run(world, each)] as const),
});

const put = async (w: World, task: NewTask, options: PutOptions) => {
  const outcome = await w.store.put(task, options);
  if (outcome.ok) w.ids.push(outcome.task.id);
  return outcome;
};
const holdOf = (w: World, n: number) => w.holds[n % Math.max(1, w.holds.length)];
const taskOf = (clientId: number) => ({ clientId, threads: 1, ttlMs: 10_000 });
const lost = { code: 'THREAD_LOST', message: 'm' } as const;

/** Steps with their weights: those that bring a history on come more often than those that look. */
const step: fc.Arbitrary<readonly [name: string, run: Step]> = fc.oneof(
  named('put', 5, fc.tuple(client, fc.boolean(), bytes), (w, [clientId, direct, size]) => {
    const input = direct ? { input: blob(w, size) } : {};
    const state = direct ? 'waiting' : 'created';
    return put(w, { ...taskOf(clientId), state, ...input }, { limits });
  }),
  named('upload', 3, fc.tuple(small, bytes), (w, [n, size]) =>
    w.store.upload(pick(w, n), blob(w, size), limits),
  ),
  named('notify', 3, fc.tuple(small, client), (w, [n, c]) => w.store.notify(pick(w, n), c)),
  named('claim', 9, fc.constant(null), (w) => w.store.claim({ leaseMs: 6000, threads: 2 })),
  named('extend', 9, fc.tuple(small, attempt, fc.boolean()), (w, [n, a, on]) => {
    const progress = { phase: 'verify', done: a, total: n } as const;
    const news = on ? ({ state: 'aggregating', progress } as const) : {};
    return w.store.extend(pick(w, n), a, { leaseMs: 6000, count: n, ...news });
  }),
  named('finish', 7, fc.tuple(small, attempt, bytes), (w, [n, a, size]) => {
    const tag = size % 2 ? { tag: 'v1' } : {};
    const made = { key: resultKey(pick(w, n), a), bytes: size, ...tag };
    return w.store.finish(pick(w, n), a, { blob: made, format: 'bundle', aggregateBytes: size });
  }),
  named('fail', 4, fc.tuple(small, attempt, fc.boolean()), (w, [n, a, again]) => {
    const invalid = [{ index: n, reason: 'r' }];
    const error = { code: 'TIMED_OUT', message: 'm', invalid } as const;
    return w.store.fail(pick(w, n), a, error, again ? { delayMs: 2000 } : undefined);
  }),
  named('setAside', 1, fc.tuple(small, attempt), (w, [n, a]) =>
    w.store.setAside(pick(w, n), a, lost),
  ),
  named('putBack', 1, small, (w, n) => w.store.putBack(pick(w, n))),
  named('extendAll', 1, fc.tuple(small, small, attempt), async (w, [n, m, a]) => {
    const attempts = [n, m].map((i) => ({ id: pick(w, i), attempt: a }));
    return Array.from(await w.store.extendAll(attempts, 6000), (id) => rank(w, id)).sort();
  }),
  named('release', 1, fc.tuple(small, attempt), (w, [n, a]) => w.store.release(pick(w, n), a)),
  named('cancel', 1, fc.tuple(small, client), (w, [n, c]) => w.store.cancel(pick(w, n), c)),
  named('remove', 1, fc.tuple(small, client), (w, [n, c]) => w.store.remove(pick(w, n), c)),
  named('renew', 1, fc.tuple(small, client), (w, [n, c]) => w.store.renew(pick(w, n), c, 800)),
  named(
    'beginAnswer',
    1,
    fc.tuple(client, fc.constantFrom('a', 'b'), fc.constantFrom('f', 'g')),
    async (w, [c, key, print]) => {
      const begun = await w.store.beginAnswer(c, key, print, 4000);
      if (begun.kind === 'held') w.holds.push(begun.hold);
      return begun;
    },
  ),
  named('extendAnswer', 1, small, async (w, n) => {
    const hold = holdOf(w, n);
    return hold ? w.store.extendAnswer(hold, 4000) : null;
  }),
  named('answer', 1, fc.tuple(small, fc.boolean()), async (w, [n, give]) => {
    const hold = holdOf(w, n);
    if (!hold) return null;
    if (give) return w.store.abandonAnswer(hold);
    return put(w, { ...taskOf(hold.clientId), state: 'created' }, { limits, hold });
  }),
  named('time', 4, fc.nat(8000), async (w, ms) => {
    w.time.nowMs += ms;
  }),
  named('clock', 1, fc.integer({ min: -100_000, max: 100_000 }), async (w, seconds) => {
    w.time.aheadMs = 1000 * seconds;
  }),
  named('sweep', 2, fc.boolean(), async (w, old) => {
    const rules = { answerMs: 20_000, ...(old && { retentionMs: 6000 }) };
    // A store that belongs to one host does not tell the time.
    const { nowMs: _, ...swept } = await w.store.sweep(rules);
    const expired = swept.expired.map((id) => rank(w, id));
    return { ...swept, expired, blobs: swept.blobs.map((key) => rankedKey(w, key)).sort() };
  }),
  named(
    'list',
    1,
    fc.tuple(
      client,
      fc.integer({ min: 1, max: 4 }),
      small,
      fc.boolean(),
      fc.option(fc.constantFrom(...TASK_STATES)),
    ),
    (w, [clientId, limit, n, desc, state]) => {
      const after = n % 2 ? { after: pick(w, n) } : {};
      const order = desc ? 'desc' : 'asc';
      return w.store.list({ clientId, limit, order, ...after, ...(state && { state }) });
    },
  ),
);

/** Everything that the stores can be asked, after each step. */
async function everything(world: World) {
  const { store, ids, blobs } = world;
  const inputs = Array.from({ length: blobs }, (_, i) => `inputs/${i}`);
  const keys = [...inputs, ...ids.flatMap((id) => [1, 2, 3].map((a) => resultKey(id, a)))];
  return {
    tasks: await Promise.all(ids.map((id) => store.get(id))),
    usage: [await store.usage(1), await store.usage(2)],
    depth: { ...(await store.depth()), oldestWaitingMs: undefined },
    referenced: Array.from(await store.referenced(keys), (key) => rankedKey(world, key)).sort(),
  };
}

/** Without what must differ: ids, wall-clock times and random tokens. */
function comparable(outcome: unknown, world: World): unknown {
  const text = JSON.stringify(outcome, (name, value) => {
    if (name === 'token') return 'token';
    if (name === 'updatedAt') return undefined;
    if (name === 'id') return rank(world, value);
    if (typeof value === 'string') return name.endsWith('At') ? 'time' : rankedKey(world, value);
    return value;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

type Seen = Map<string, number>;

/** Plays one history to both stores. */
async function play(steps: readonly (readonly [string, Step])[], open: OpenWithClocks, seen: Seen) {
  /** The start of a world, and its clocks. */
  const begin = () => {
    const time = { nowMs: START_MS, aheadMs: 0 };
    const clocks = { nowMs: () => time.nowMs, wallMs: () => time.nowMs + time.aheadMs };
    return { clocks, start: { time, blobs: 0, ids: [], holds: [] } };
  };
  const [ours, theirs] = [begin(), begin()];
  const memory: World = { ...ours.start, store: memoryStore(ours.clocks).tasks };
  let disk: World = { ...theirs.start, store: memory.store };
  const opened = await open(theirs.clocks.nowMs, theirs.clocks.wallMs);
  try {
    for (const [i, [name, run]] of steps.entries()) {
      disk = { ...disk, store: (i % 2 ? opened.other : opened.store).tasks };
      const [here, there] = [await run(memory), await run(disk)];
      expect(comparable(there, disk), name).toEqual(comparable(here, memory));
      if (i % 8 !== 7 && i !== steps.length - 1) continue;
      const all = await everything(memory);
      expect(comparable(await everything(disk), disk), `after ${name}`).toEqual(
        comparable(all, memory),
      );
      for (const task of all.tasks) {
        if (task) seen.set(task.state, (seen.get(task.state) ?? 0) + 1);
      }
    }
  } finally {
    await opened.close();
  }
}

/**
 * Plays many histories, each to a new store.
 *
 * @param oneClock whether the store knows one clock only: then nobody sets the one on the wall
 */
export async function expectAgreement(open: OpenWithClocks, { oneClock = false } = {}) {
  const seen: Seen = new Map();
  const known = step.filter(([name]) => !(oneClock && name === 'clock'));
  const histories = fc.array(known, { minLength: 20, maxLength: MAX_STEPS });
  await fc.assert(
    fc.asyncProperty(histories, (steps) => play(steps, open, seen)),
    // The same histories each time, so that what they reach is certain; others when there is time.
    { numRuns: RUNS, ...(!NIGHTLY && { seed: 20_261_121 }) },
  );
  // Histories that never get anywhere would prove nothing.
  expect([...seen.keys()].sort()).toEqual([...TASK_STATES].sort());
}
