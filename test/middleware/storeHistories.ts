/**
 * Random histories, played to the store in memory and to another one: every outcome is the same.
 * The other store is opened twice and the verbs go to either, so what one has written the other
 * must know.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { partKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { Task, TaskKind } from '../../src/middleware/stores/port/task.ts';
import type {
  AnswerHold,
  Attempt,
  NewTask,
  PutOptions,
  TaskNews,
} from '../../src/middleware/stores/port/taskStore.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { TASK_STATES } from '../../src/wire/taskStates.ts';
import { NIGHTLY } from '../support/run.ts';
import type { OpenedStore } from './fullStore.ts';

const RUNS = NIGHTLY ? 1000 : 20;
const MAX_STEPS = 60;
const START_MS = Date.UTC(2026, 10, 21);

/** What a step may use: one store's own history. */
export interface World {
  readonly store: CompleteStore['tasks'];
  readonly ids: number[];
  /** Those of the ids that are of tasks with parts. */
  readonly lists: number[];
  readonly claimed: Attempt[];
  readonly holds: AnswerHold[];
  readonly time: { nowMs: number };
  blobs: number;
}

/** Opens a new store with this clock. */
export type OpenWithClock = (nowMs: () => number) => Promise<OpenedStore>;

type Step = (world: World) => Promise<unknown>;

const pickOf = <T>(list: readonly T[], n: number) => list[n % Math.max(1, list.length)];
const pick = ({ ids }: World, n: number) => pickOf(ids, n) ?? 1;
/** A task with parts, but now and then any. */
const pickList = (w: World, n: number) => (n % 8 ? pickOf(w.lists, n) : undefined) ?? pick(w, n);
const blob = (world: World, bytes: number) => ({ key: `inputs/${world.blobs++}`, bytes });
/** Stores number tasks in their own ways: ids are compared by the order in which they came. */
const rank = ({ ids }: World, id: number) => ids.indexOf(id);
const rankedKey = (world: World, key: string) =>
  key.replace(
    /^(results\/\d+\/|parts\/)(\d+)/,
    (_, start, id) => `${start}${rank(world, Number(id))}`,
  );

const small = fc.nat(1000);
const client = fc.constantFrom(1, 1, 1, 2);
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
  if (outcome.ok && task.parts) w.lists.push(outcome.task.id);
  return outcome;
};
const putPart = async (w: World, parent: number, clientId: number, hold?: AnswerHold) => {
  const part = { parent, clientId, threads: 1, ttlMs: 10_000 };
  const outcome = await w.store.putPart(part, hold && { hold });
  if (outcome.ok) w.ids.push(outcome.task.id);
  return outcome;
};
const claim = async (w: World) => {
  const { task, ...rest } = await w.store.claim({ leaseMs: 6000, threads: 2 });
  if (task) w.claimed.push({ id: task.id, attempt: task.attempt });
  return { task, ...rest };
};
/** An attempt that was claimed lately, but now and then any. */
const attemptOf = (w: World, n: number, attempt: number): Attempt =>
  (n % 4 ? w.claimed.at(-attempt) : undefined) ?? { id: pick(w, n), attempt };
const madeOf = (key: string, bytes: number) => {
  const tag = bytes % 2 ? { tag: 'v1' } : {};
  return { blob: { key, bytes, ...tag }, format: 'bundle', aggregateBytes: bytes };
};
/** The key of the result of a part: each attempt has another file here. */
const keyOfPart = ({ id, parent, attempt }: Pick<Task, 'id' | 'parent' | 'attempt'>, w: World) =>
  partKey(parent!, `${rank(w, id)}-${attempt}`);
const holdOf = (w: World, n: number) => pickOf(w.holds, n);
const taskOf = (clientId: number) => ({ clientId, threads: 1, ttlMs: 10_000 });
const lost = { code: 'THREAD_LOST', message: 'm' } as const;

/** Steps with their weights: those that bring a history on come more often than those that look. */
const step: fc.Arbitrary<readonly [name: string, run: Step]> = fc.oneof(
  named('put', 5, fc.tuple(client, small, bytes), (w, [clientId, n, size]) => {
    const direct = n % 3 === 0;
    const input = direct ? { input: blob(w, size) } : {};
    const state = direct ? 'waiting' : 'created';
    const parts = n % 3 === 1 ? { parts: true } : {};
    return put(w, { ...taskOf(clientId), state, ...input, ...parts }, { limits });
  }),
  named('putPart', 2, fc.tuple(small, client), (w, [n, c]) => putPart(w, pickList(w, n), c)),
  named('addPart', 4, fc.tuple(small, client, bytes), async (w, [n, c, size]) => {
    const part = await putPart(w, pickList(w, n), c);
    if (!part.ok) return part;
    return [part, await w.store.upload(part.task.id, blob(w, size), limits)];
  }),
  named('long list', 4, fc.tuple(client, fc.nat(3), fc.boolean()), async (w, [c, parts, ends]) => {
    const made = await put(w, { ...taskOf(c), state: 'created', parts: true }, { limits });
    if (!made.ok) return made;
    const { id } = made.task;
    const seen: unknown[] = [made];
    for (let i = 0; i < parts; i++) {
      const part = await putPart(w, id, c);
      if (part.ok) seen.push(await w.store.upload(part.task.id, blob(w, 3 + i), limits));
    }
    if (ends) seen.push(await w.store.notify(id, c));
    return seen;
  }),
  named('fill', 3, fc.tuple(small, bytes), async (w, [n, size]) => {
    const uploads: unknown[] = [];
    for (const state of ['created', 'failed'] as const) {
      for (const { id } of await w.store.parts(pickList(w, n), { state, limit: 3 })) {
        uploads.push(await w.store.upload(id, blob(w, size), limits));
      }
    }
    return uploads;
  }),
  named('close', 3, fc.tuple(small, client), (w, [n, c]) => w.store.notify(pickList(w, n), c)),
  named('upload', 3, fc.tuple(small, bytes), (w, [n, size]) =>
    w.store.upload(pick(w, n), blob(w, size), limits),
  ),
  named('notify', 3, fc.tuple(small, client), (w, [n, c]) => w.store.notify(pick(w, n), c)),
  named('claim', 9, fc.constant(null), (w) => claim(w)),
  named('work', 9, fc.tuple(small, bytes), async (w, [n, size]) => {
    const { task } = await claim(w);
    if (!task) return null;
    const { id, attempt, parent } = task;
    const key = parent === null ? resultKey(id, attempt) : keyOfPart(task, w);
    const begun = { leaseMs: 6000, count: n, state: 'aggregating' } as const;
    const counted = await w.store.extend(id, attempt, begun);
    return [task, counted, await w.store.finish(id, attempt, madeOf(key, size))];
  }),
  named('remake', 3, fc.tuple(small, attempt, fc.array(fc.nat(3))), (w, [n, a, parts]) => {
    const { id, attempt } = attemptOf(w, n, a);
    return w.store.remake(id, attempt, [...new Set(parts)]);
  }),
  named('extend', 9, fc.tuple(small, attempt, fc.boolean()), (w, [n, a, on]) => {
    const progress = { phase: 'verify', done: a, total: n } as const;
    const news = on ? ({ state: 'aggregating', progress } as const) : {};
    const { id, attempt } = attemptOf(w, n, a);
    return w.store.extend(id, attempt, { leaseMs: 6000, count: n, ...news });
  }),
  named('finish', 7, fc.tuple(small, attempt, bytes), (w, [n, a, size]) => {
    return w.store.finish(pick(w, n), a, madeOf(resultKey(pick(w, n), a), size));
  }),
  named('fail', 4, fc.tuple(small, attempt, fc.boolean()), (w, [n, a, again]) => {
    const invalid = [{ index: n, reason: 'r' }];
    const error = { code: 'TIMED_OUT', message: 'm', invalid } as const;
    const { id, attempt } = attemptOf(w, n, a);
    return w.store.fail(id, attempt, error, again ? { delayMs: 2000 } : undefined);
  }),
  named('setAside', 1, fc.tuple(small, attempt), (w, [n, a]) => {
    const { id, attempt } = attemptOf(w, n, a);
    return w.store.setAside(id, attempt, lost);
  }),
  named('putBack', 1, small, (w, n) => w.store.putBack(pick(w, n))),
  named('extendAll', 1, fc.tuple(small, small, attempt), async (w, [n, m, a]) => {
    const attempts = [n, m].map((i) => ({ id: pick(w, i), attempt: a }));
    return Array.from(await w.store.extendAll(attempts, 6000), (id) => rank(w, id)).sort();
  }),
  named('release', 1, fc.tuple(small, attempt), (w, [n, a]) => {
    const { id, attempt } = attemptOf(w, n, a);
    return w.store.release(id, attempt);
  }),
  named('cancel', 1, fc.tuple(small, client), (w, [n, c]) => w.store.cancel(pick(w, n), c)),
  named('remove', 1, fc.tuple(small, client), (w, [n, c]) => w.store.remove(pick(w, n), c)),
  named('renew', 1, fc.tuple(small, client), (w, [n, c]) => w.store.renew(pick(w, n), c, 800)),
  named('renewPart', 1, fc.tuple(small, client, fc.nat(3)), (w, [n, c, part]) =>
    w.store.renew(pickList(w, n), c, 9000, part),
  ),
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
    if (n % 3 === 0) return putPart(w, pickList(w, n), hold.clientId, hold);
    return put(w, { ...taskOf(hold.clientId), state: 'created' }, { limits, hold });
  }),
  named('time', 4, fc.nat(8000), async (w, ms) => {
    w.time.nowMs += ms;
  }),
  named('sweep', 2, fc.boolean(), async (w, old) => {
    const rules = { answerMs: 20_000, ...(old && { retentionMs: 6000 }) };
    // A store that belongs to one host does not tell the time.
    const { nowMs: _, ...swept } = await w.store.sweep(rules);
    const expired = swept.expired.map((id) => rank(w, id));
    const parts = (swept.parts ?? []).map((id) => rank(w, id)).sort();
    return { ...swept, expired, parts, blobs: swept.blobs.map((key) => rankedKey(w, key)).sort() };
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
  const tasks = await Promise.all(ids.map((id) => store.get(id)));
  const results = tasks.flatMap((task, i) =>
    [1, 2, 3].map((attempt) =>
      task?.parent == null ? resultKey(ids[i]!, attempt) : keyOfPart({ ...task, attempt }, world),
    ),
  );
  const keys = [...inputs, ...results];
  return {
    tasks,
    parts: await Promise.all(world.lists.map((id) => store.parts(id))),
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
    if (name === 'parent') return value && rank(world, value);
    if (typeof value === 'string') return name.endsWith('At') ? 'time' : rankedKey(world, value);
    return value;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** Kinds with their states, and whether parts were made again. */
type Seen = Set<string>;

/** A file of a part makes it wait, and only its task expires. */
const NEVER: readonly string[] = ['part uploaded', 'part expired'];
const ALL = (['aggregate', 'merge', 'part'] satisfies TaskKind[])
  .flatMap((kind) => TASK_STATES.map((state) => `${kind} ${state}`))
  .filter((each) => !NEVER.includes(each));

/** Plays one history to both stores. */
async function play(steps: readonly (readonly [string, Step])[], open: OpenWithClock, seen: Seen) {
  /** The start of a world, and its clock. */
  const begin = () => {
    const time = { nowMs: START_MS };
    const start = { time, blobs: 0, ids: [], lists: [], claimed: [], holds: [] };
    return { nowMs: () => time.nowMs, start };
  };
  const [ours, theirs] = [begin(), begin()];
  const memory: World = { ...ours.start, store: memoryStore(ours).tasks };
  const told: TaskNews[] = [];
  memory.store.watch((news) => told.push(news));
  let disk: World = { ...theirs.start, store: memory.store };
  const opened = await open(theirs.nowMs);
  try {
    for (const [i, [name, run]] of steps.entries()) {
      disk = { ...disk, store: (i % 2 ? opened.other : opened.store).tasks };
      const [here, there] = [await run(memory), await run(disk)];
      expect(comparable(there, disk), name).toEqual(comparable(here, memory));
      if (name === 'remake' && here === true) seen.add('remade');
      for (const { id, state, isPart } of told.splice(0)) {
        const kind = isPart ? 'part' : memory.lists.includes(id) ? 'merge' : 'aggregate';
        seen.add(`${kind} ${state}`);
      }
      if (i % 8 !== 7 && i !== steps.length - 1) continue;
      const all = await everything(memory);
      expect(comparable(await everything(disk), disk), `after ${name}`).toEqual(
        comparable(all, memory),
      );
      for (const task of all.tasks) if (task) seen.add(`${task.kind} ${task.state}`);
    }
  } finally {
    await opened.close();
  }
}

/** Plays many histories, each to a new store. */
export async function expectAgreement(open: OpenWithClock) {
  const seen: Seen = new Set();
  const histories = fc.array(step, { minLength: 30, maxLength: MAX_STEPS, size: 'max' });
  await fc.assert(
    fc.asyncProperty(histories, (steps) => play(steps, open, seen)),
    // The same histories each time, so that what they reach is certain; others when there is time.
    { numRuns: RUNS, ...(!NIGHTLY && { seed: 20_261_160 }) },
  );
  // Histories that never get anywhere would prove nothing.
  expect([...seen].sort()).toEqual([...ALL, 'remade'].sort());
}
