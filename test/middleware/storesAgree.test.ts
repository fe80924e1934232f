/**
 * Random histories, played to the store in memory and to the one on disk: every outcome is the
 * same. The SQLite file is opened twice and the verbs go to either connection, so what one has
 * written the other must know.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/middleware/stores/memory.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqliteTable.ts';
import type { TableStoreOptions } from '../../src/middleware/stores/tableStore.ts';
import type { AnswerHold, TaskStore } from '../../src/middleware/stores/taskStore.ts';
import { TASK_STATES } from '../../src/wire/taskStates.ts';
import { NIGHTLY } from '../support/run.ts';

const RUNS = NIGHTLY ? 1000 : 40;
const MAX_STEPS = 60;
const START_MS = Date.UTC(2026, 10, 21);

/** What a step may use: one store's own history. */
interface World {
  readonly store: TaskStore;
  readonly ids: number[];
  readonly holds: AnswerHold[];
  /** The passing of time, and how far ahead of it the clock on the wall is set. */
  readonly time: { nowMs: number; aheadMs: number };
  blobs: number;
}

type Step = (world: World) => Promise<unknown>;

const pick = (world: World, n: number) => world.ids[n % Math.max(1, world.ids.length)] ?? 1;
const blob = (world: World, bytes: number) => ({ key: `inputs/${world.blobs++}`, bytes });

const small = fc.nat(1000);
const client = fc.integer({ min: 1, max: 2 });
const attempt = fc.integer({ min: 1, max: 3 });
const bytes = fc.integer({ min: 0, max: 50 });
const limits = { openTasks: 9, storedBytes: 200 };

/** Steps with their weights: those that bring a history on come more often than those that look. */
const step: fc.Arbitrary<readonly [name: string, run: Step]> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(client, fc.boolean(), bytes).map(
      ([clientId, direct, size]) =>
        [
          'put',
          async (w: World) => {
            const state = direct ? 'waiting' : 'created';
            const input = direct ? { input: blob(w, size) } : {};
            const task = {
              clientId,
              state,
              threads: 1,
              ttlMs: 500,
              ...input,
            } as const;
            const outcome = await w.store.put(task, { limits });
            if (outcome.ok) w.ids.push(outcome.task.id);
            return outcome;
          },
        ] as const,
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(small, bytes)
      .map(
        ([n, size]) =>
          ['upload', (w: World) => w.store.upload(pick(w, n), blob(w, size), limits)] as const,
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(small, client)
      .map(([n, c]) => ['notify', (w: World) => w.store.notify(pick(w, n), c)] as const),
  },
  {
    weight: 9,
    arbitrary: fc.constant([
      'claim',
      (w: World) => w.store.claim({ leaseMs: 300, threads: 2 }),
    ] as const),
  },
  {
    weight: 9,
    arbitrary: fc.tuple(small, attempt, fc.boolean()).map(
      ([n, a, on]) =>
        [
          'extend',
          (w: World) =>
            w.store.extend(pick(w, n), a, {
              leaseMs: 300,
              count: n,
              ...(on && {
                state: 'aggregating' as const,
                progress: { phase: 'verify' as const, done: a, total: n },
              }),
            }),
        ] as const,
    ),
  },
  {
    weight: 7,
    arbitrary: fc.tuple(small, attempt, bytes).map(
      ([n, a, size]) =>
        [
          'finish',
          (w: World) =>
            w.store.finish(pick(w, n), a, {
              blob: { ...blob(w, size), ...(size % 2 && { tag: 'v1' }) },
              format: 'bundle',
              aggregateBytes: size,
            }),
        ] as const,
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(small, attempt, fc.boolean())
      .map(
        ([n, a, again]) =>
          [
            'fail',
            (w: World) =>
              w.store.fail(
                pick(w, n),
                a,
                { code: 'TIMED_OUT', message: 'm', invalid: [{ index: n, reason: 'r' }] },
                again ? { delayMs: 100 } : undefined,
              ),
          ] as const,
      ),
  },
  fc.tuple(small, attempt).map(([n, a]) => {
    const error = { code: 'THREAD_LOST', message: 'm' } as const;
    return ['setAside', (w: World) => w.store.setAside(pick(w, n), a, error)] as const;
  }),
  small.map((n) => ['putBack', (w: World) => w.store.putBack(pick(w, n))] as const),
  fc.tuple(small, small, attempt).map(([n, m, a]) => {
    const attempts = (w: World) => [n, m].map((i) => ({ id: pick(w, i), attempt: a }));
    const run = async (w: World) => [...(await w.store.extendAll(attempts(w), 300))];
    return ['extendAll', run] as const;
  }),
  fc
    .tuple(small, attempt)
    .map(([n, a]) => ['release', (w: World) => w.store.release(pick(w, n), a)] as const),
  fc
    .tuple(small, client)
    .map(([n, c]) => ['cancel', (w: World) => w.store.cancel(pick(w, n), c)] as const),
  fc
    .tuple(small, client)
    .map(([n, c]) => ['remove', (w: World) => w.store.remove(pick(w, n), c)] as const),
  fc
    .tuple(small, client)
    .map(([n, c]) => ['renew', (w: World) => w.store.renew(pick(w, n), c, 800)] as const),
  fc.tuple(client, fc.constantFrom('a', 'b'), fc.constantFrom('f', 'g')).map(
    ([c, key, print]) =>
      [
        'beginAnswer',
        async (w: World) => {
          const begun = await w.store.beginAnswer(c, key, print, 200);
          if (begun.kind === 'held') w.holds.push(begun.hold);
          return begun;
        },
      ] as const,
  ),
  small.map((n) => {
    const run = async (w: World) => {
      const hold = w.holds[n % Math.max(1, w.holds.length)];
      return hold ? w.store.extendAnswer(hold, 200) : null;
    };
    return ['extendAnswer', run] as const;
  }),
  fc.tuple(small, fc.boolean()).map(
    ([n, give]) =>
      [
        'answer',
        async (w: World) => {
          const hold = w.holds[n % Math.max(1, w.holds.length)];
          if (!hold) return null;
          if (give) return w.store.abandonAnswer(hold);
          const task = {
            clientId: hold.clientId,
            state: 'created',
            threads: 1,
            ttlMs: 500,
          } as const;
          const outcome = await w.store.put(task, { limits, hold });
          if (outcome.ok) w.ids.push(outcome.task.id);
          return outcome;
        },
      ] as const,
  ),
  {
    weight: 4,
    arbitrary: fc.nat(400).map(
      (ms) =>
        [
          'time',
          async (w: World) => {
            w.time.nowMs += ms;
          },
        ] as const,
    ),
  },
  fc.integer({ min: -100_000, max: 100_000 }).map(
    (seconds) =>
      [
        'clock',
        async (w: World) => {
          w.time.aheadMs = 1000 * seconds;
        },
      ] as const,
  ),
  {
    weight: 2,
    arbitrary: fc.boolean().map(
      (old) =>
        [
          'sweep',
          async (w: World) => {
            const swept = await w.store.sweep({ answerMs: 1000, ...(old && { retentionMs: 300 }) });
            return { ...swept, blobs: swept.blobs.toSorted() };
          },
        ] as const,
    ),
  },
  fc
    .tuple(
      client,
      fc.integer({ min: 1, max: 4 }),
      small,
      fc.boolean(),
      fc.option(fc.constantFrom(...TASK_STATES)),
    )
    .map(
      ([clientId, limit, n, desc, state]) =>
        [
          'list',
          (w: World) =>
            w.store.list({
              clientId,
              limit,
              ...(n % 2 && { after: pick(w, n) }),
              order: desc ? 'desc' : 'asc',
              ...(state && { state }),
            }),
        ] as const,
    ),
);

/** Everything that the stores can be asked, after each step. */
async function everything({ store, ids, blobs }: World) {
  const keys = Array.from({ length: blobs }, (_, i) => `inputs/${i}`);
  return {
    tasks: await Promise.all(ids.map((id) => store.get(id))),
    usage: [await store.usage(1), await store.usage(2)],
    depth: { ...(await store.depth()), oldestWaitingMs: undefined },
    referenced: [...(await store.referenced(keys))],
  };
}

/** Without what must differ: wall-clock times and random tokens. */
function comparable(outcome: unknown): unknown {
  const text = JSON.stringify(outcome, (name, value) => {
    if (name === 'token') return 'token';
    if (name === 'updatedAt') return undefined;
    return name.endsWith('At') && value !== null ? 'time' : value;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

it('the stores in memory and on disk agree on every history', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-agree-'));
  const seen = new Map<string, number>();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: MAX_STEPS }), async (steps) => {
      const path = join(folder, `${run++}.sqlite`);
      /** A new world, with the stores that are opened for its clocks. */
      const begin = (open: (clocks: TableStoreOptions) => TaskStore[]) => {
        const time = { nowMs: START_MS, aheadMs: 0 };
        const nowMs = () => time.nowMs;
        const wallMs = () => time.nowMs + time.aheadMs;
        const stores = open({ nowMs, wallMs });
        const world: World = { time, blobs: 0, ids: [], holds: [], store: stores[0]! };
        return { world, stores };
      };
      const { world: memory } = begin((clocks) => [memoryStore(clocks)]);
      const { world: disk, stores: disks } = begin((clocks) =>
        [0, 1].map(() => sqliteTableStore({ path, ...clocks })),
      );
      try {
        for (const [i, [name, play]] of steps.entries()) {
          const onDisk = { ...disk, store: disks[i % 2]! };
          const [here, there] = [await play(memory), await play(onDisk)];
          disk.blobs = onDisk.blobs;
          expect(comparable(there), name).toEqual(comparable(here));
          if (i % 8 !== 7 && i !== steps.length - 1) continue;
          expect(comparable(await everything(disk)), `after ${name}`).toEqual(
            comparable(await everything(memory)),
          );
          for (const task of (await everything(memory)).tasks) {
            if (task) seen.set(task.state, (seen.get(task.state) ?? 0) + 1);
          }
        }
      } finally {
        for (const store of disks) await store.close();
      }
    }),
    // The same histories each time, so that what they reach is certain; others when there is time.
    { numRuns: RUNS, ...(!NIGHTLY && { seed: 20_261_121 }) },
  );
  await rm(folder, { recursive: true });
  // Histories that never get anywhere would prove nothing.
  expect([...seen.keys()].sort()).toEqual([...TASK_STATES].sort());
});
