import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import type { RunnerEvent } from '../../src/middleware/events.ts';
import type { Task, TaskResult } from '../../src/middleware/stores/port/task.ts';
import type { NewTask, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import {
  createRunner,
  type Runner,
  type RunnerOptions,
  type TaskContext,
  type TaskHandler,
} from '../../src/middleware/tasks/runner.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { deferred } from '../../src/shared/wait.ts';
import type { TaskState } from '../../src/wire/taskStates.ts';
import { accepted, it, taskThat } from './support.ts';

/** A poll that never comes: what happens within a test happens because of a wake. */
const NEVER_MS = 600_000;

const resultOf = (task: Task): TaskResult => ({
  blob: { key: `results/${task.attempt}/${task.id}.json`, bytes: 1 },
  format: 'bundle',
  aggregateBytes: 1,
});

async function finishAtOnce(task: Task, context: TaskContext): Promise<TaskResult> {
  await context.aggregating({ phase: 'aggregate', done: 0, total: 1 });
  return resultOf(task);
}

const finishAfter =
  (gate: Promise<void>): TaskHandler['run'] =>
  async (task, context) => {
    await gate;
    return finishAtOnce(task, context);
  };

/** Works until it is aborted, as a handler whose threads compute would. */
function untilAborted(_task: Task, { signal }: TaskContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

describe('the runner', () => {
  let store: TaskStore;
  let runners: Runner[];
  let events: RunnerEvent[];
  let discarded: string[];
  let inputs: number;

  beforeEach(() => {
    store = memoryStore().tasks;
    [runners, events, discarded, inputs] = [[], [], [], 0];
  });
  afterEach(async () => {
    await Promise.all(runners.map((runner) => runner.stop({ graceMs: 0 })));
    await store.close();
  });

  const start = (run: TaskHandler['run'], options: Partial<RunnerOptions> = {}): Runner => {
    const handler: TaskHandler = {
      run,
      async discard(keys) {
        discarded.push(...keys);
      },
    };
    const onEvent = (event: RunnerEvent) => void events.push(event);
    const base = { store, handler, threads: 2, pollMs: NEVER_MS, retryMs: 1, onEvent };
    const runner = createRunner({ ...base, ...options });
    runners.push(runner);
    runner.start();
    return runner;
  };
  const add = async (more: Partial<NewTask> = {}): Promise<Task> => {
    const input = { key: `inputs/${++inputs}.json`, bytes: 1 };
    const waiting = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;
    return accepted(store.put({ ...waiting, input, ...more }));
  };
  const until = (id: number, fits: (task: Task) => boolean) => taskThat(store, id, fits);
  const inState = (id: number, state: TaskState) => until(id, (task) => task.state === state);
  const types = (id: number) =>
    events.flatMap((event) =>
      'taskId' in event && event.taskId === id && event.type !== 'phase' ? event.type : [],
    );

  it('finishes what waits and what comes, and deletes the inputs', async () => {
    const before = await add();
    const runner = start(finishAtOnce);
    await inState(before.id, 'completed');
    const after = await add();
    const done = await inState(after.id, 'completed');
    expect(done).toMatchObject({ attempt: 1, threads: 2, result: resultOf(done), input: null });
    await runner.stop();
    expect(discarded).toEqual([before.input!.key, after.input!.key]);
    expect(types(after.id)).toEqual(['claimed', 'completed']);
  });

  it('takes no more tasks at a time than it may', async () => {
    let [now, most] = [0, 0];
    start(
      async (task, context) => {
        most = Math.max(most, ++now);
        do await new Promise((resolve) => setImmediate(resolve));
        while (most < 3);
        const result = await finishAtOnce(task, context);
        now--;
        return result;
      },
      { concurrency: 3 },
    );
    const tasks = await Promise.all(Array.from({ length: 20 }, () => add()));
    await Promise.all(tasks.map(({ id }) => inState(id, 'completed')));
    expect(most).toBe(3);
  });

  it('writes progress, and the count at once', async () => {
    const { promise: gate, resolve: goOn } = deferred<void>();
    start(async (task, context) => {
      await context.counted(9);
      context.report({ phase: 'verify', done: 4, total: 9 });
      return finishAfter(gate)(task, context);
    });
    const { id } = await add();
    const seen = await until(id, (task) => task.progress !== null);
    expect(seen).toMatchObject({ state: 'verifying', count: 9, progress: { done: 4, total: 9 } });
    goOn();
    expect(await inState(id, 'completed')).toMatchObject({ count: 9 });
  });

  it.for(['extendAll', 'extend'] as const)(
    'asks again in time if %s gets no answer',
    async (verb) => {
      store = memoryStore({ nowMs: () => 0 }).tasks;
      let asked = 0;
      const stuck = (...args: never[]) =>
        ++asked === 1
          ? new Promise<never>(() => {})
          : (store[verb] as (...args: never[]) => unknown)(...args);
      const { promise: gate, resolve: goOn } = deferred<void>();
      start(
        async (task, context) => {
          if (verb === 'extend') context.report({ phase: 'verify', done: 1, total: 2 });
          return finishAfter(gate)(task, context);
        },
        { store: { ...store, [verb]: stuck }, leaseMs: 300, beatMs: 10 },
      );
      const { id } = await add();
      await vi.waitUntil(() => asked > 1, { timeout: 60_000 });
      goOn();
      expect(await inState(id, 'completed')).toMatchObject({ attempt: 1, losses: 0 });
    },
  );

  it('claims again in time, and gives back what a late answer brings', async () => {
    store = memoryStore({ nowMs: () => 0 }).tasks;
    let asked = 0;
    const { promise: gate, resolve: goOn } = deferred<void>();
    const claim: TaskStore['claim'] = async (options) => {
      const isFirst = ++asked === 1;
      const claimed = await store.claim(options);
      if (isFirst) await gate;
      return claimed;
    };
    const { id } = await add();
    start(finishAtOnce, { store: { ...store, claim }, leaseMs: 300 });
    await vi.waitUntil(() => asked > 1, { timeout: 60_000 });
    expect(await store.get(id)).toMatchObject({ state: 'verifying', attempt: 1 });
    goOn();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 2, losses: 0, failures: 0 });
  });

  /** What the store does, after it has been away so many times. */
  function awayFor<Given extends unknown[], Made>(
    times: number,
    does: (...given: Given) => Promise<Made>,
  ) {
    const called = vi.fn(does);
    for (let i = 0; i < times; i++) {
      called.mockRejectedValueOnce(new CodedError('STORE_UNAVAILABLE'));
    }
    return called;
  }

  /** Ends the worker of tasks of client 1 and notes which attempts were isolated. */
  const deadly = (isolated: boolean[], deaths = Number.POSITIVE_INFINITY): TaskHandler['run'] => {
    return async (task, context) => {
      if (task.clientId !== 1) return finishAtOnce(task, context);
      isolated.push(context.isolated);
      if (isolated.length <= deaths) throw new CodedError('THREAD_LOST');
      return finishAtOnce(task, context);
    };
  };

  it('isolates a task that ended two workers, and all is well if it then succeeds', async () => {
    const isolated: boolean[] = [];
    start(deadly(isolated, 3));
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 4, failures: 3 });
    expect(isolated).toEqual([false, false, true, true]);
    await runners[0]!.stop();
    const retries = Array.from({ length: 3 }, () => ['claimed', 'retried']).flat();
    expect(types(id)).toEqual([...retries, 'claimed', 'completed']);
  });

  it('sets a task aside that ends three workers of its own, and goes on with others', async () => {
    const isolated: boolean[] = [];
    start(deadly(isolated, 5));
    const { id, input } = await add();
    const others = [await add({ clientId: 2 }), await add({ clientId: 3 })];
    const aside = await until(id, (task) => task.quarantined);
    const error = { code: 'THREAD_LOST', message: expect.any(String) };
    expect(aside).toMatchObject({ state: 'waiting', attempt: 5, input, error });
    expect(isolated).toEqual([false, false, true, true, true]);
    for (const other of others) {
      expect(await inState(other.id, 'completed')).toMatchObject({ attempt: 1, failures: 0 });
    }
    expect(events.findLast(({ type }) => type !== 'phase')).toMatchObject({
      type: 'setAside',
      taskId: id,
      error: { code: 'THREAD_LOST' },
    });
    expect(discarded).not.toContain(input!.key);

    expect(await store.putBack(id)).toBe(true);
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 6, failures: 0, error: null });
    await runners[0]!.stop();
    expect(discarded).toContain(input!.key);
  });

  it('cancels a task that was set aside', async () => {
    start(deadly([]));
    const { id } = await add();
    await until(id, (task) => task.quarantined);
    expect(await store.cancel(id, 1)).toMatchObject({ ok: true });
    expect(await store.get(id)).toMatchObject({ state: 'cancelled', quarantined: false });
  });

  it('isolates a task whose process ended three times, and never blames it for that', async () => {
    let clockMs = Date.now();
    store = memoryStore({ nowMs: () => clockMs }).tasks;
    const { id } = await add();
    /** A process that is killed with its task. */
    const die = async () => {
      expect(await store.claim({ leaseMs: 1000, threads: 1 })).toMatchObject({ task: { id } });
      clockMs += 1000;
    };
    const isolated: boolean[] = [];
    const handler: TaskHandler = { run: deadly(isolated, 2), discard: async () => {} };
    const attempt = async (wanted: boolean) => {
      const before = isolated.length;
      const runner = createRunner({ store, handler, threads: 1, retryMs: 0, concurrency: 1 });
      const settled = until(
        id,
        ({ state, failures }) => state === 'completed' || failures > before,
      );
      runner.start();
      await settled;
      await runner.stop();
      expect(isolated[before]).toBe(wanted);
    };
    await die();
    await die();
    await die();
    await attempt(true);
    for (let i = 0; i < 60; i++) await die();
    expect(await store.get(id)).toMatchObject({ failures: isolated.length, quarantined: false });
    while ((await store.get(id))!.state !== 'completed') await attempt(true);
    expect(await store.get(id)).toMatchObject({ failures: 2, losses: 63, state: 'completed' });
  });

  it('waits out what is not the fault of the task, however long it lasts', async () => {
    let left = 40;
    const isolated: boolean[] = [];
    start(
      async (task, context) => {
        isolated.push(context.isolated);
        if (left-- > 0) throw new CodedError(left % 2 ? 'STORE_UNAVAILABLE' : 'STORAGE_FULL');
        return finishAtOnce(task, context);
      },
      // A delay of its own would double with each attempt.
      { retryMs: 0 },
    );
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 41, failures: 0 });
    expect(isolated).not.toContain(true);
  });

  it('waits longer each time, but no longer than two minutes', async () => {
    let clockMs = Date.now();
    store = memoryStore({ nowMs: () => clockMs }).tasks;
    const delays: number[] = [];
    const told = {
      ...store,
      fail: ((id, attempt, error, retry) => {
        delays.push(retry!.delayMs);
        clockMs += retry!.delayMs;
        return store.fail(id, attempt, error, retry && { ...retry, delayMs: 0 });
      }) as TaskStore['fail'],
    };
    const { id } = await add();
    const full: TaskHandler['run'] = async (task, context) => {
      if (task.attempt <= 12) throw new CodedError('STORAGE_FULL');
      return finishAtOnce(task, context);
    };
    start(full, { store: told, retryMs: 1000 });
    await inState(id, 'completed');
    expect(delays.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(delays.at(-1)).toBe(120_000);
  });

  it('does not wait before it repeats what a dead thread left, but once', async () => {
    let deaths = 1;
    const dying: TaskHandler['run'] = async (task, context) => {
      if (deaths-- > 0) throw new CodedError('THREAD_LOST');
      return finishAtOnce(task, context);
    };
    start(dying, { retryMs: 3_600_000 });
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 2, failures: 1 });
    deaths = 9;
    const again = await add();
    const waits = (task: Task) => task.state === 'waiting' && task.failures === 2;
    await until(again.id, waits);
    const { nextMs } = (await store.claim({ leaseMs: 1, threads: 1 })) as { nextMs: number };
    expect(nextMs).toBeGreaterThan(10_000);
  });

  it('does not repeat what cannot help, and shows no cause', async () => {
    const faults: Record<number, Error> = {};
    start(async (task) => {
      throw faults[task.clientId]!;
    });
    const invalid = [{ index: 3, reason: 'signatureMismatch' }];
    faults[1] = new CodedError('INVALID_SIGNATURES', { invalid });
    faults[2] = new TypeError('a secret detail');
    const [known, unknown] = [await add(), await add({ clientId: 2 })];
    expect(await inState(known.id, 'failed')).toMatchObject({
      attempt: 1,
      error: { code: 'INVALID_SIGNATURES', invalid },
    });
    const failed = await inState(unknown.id, 'failed');
    expect(failed.error).toMatchObject({ code: 'INTERNAL' });
    expect(JSON.stringify(failed)).not.toContain('secret detail');
    await runners[0]!.stop();
    expect(discarded.toSorted()).toEqual([known.input!.key, unknown.input!.key]);
  });

  it('aborts a cancelled task at once, and goes on', async () => {
    start((task, context) =>
      task.clientId === 1 ? untilAborted(task, context) : finishAtOnce(task, context),
    );
    const { id } = await add();
    await inState(id, 'verifying');
    await store.cancel(id, 1);
    const next = await add({ clientId: 2 });
    await inState(next.id, 'completed');
    await runners[0]!.stop({ graceMs: 0 });
    expect(types(id)).toEqual(['claimed', 'cancelled']);
    expect(await store.get(id)).toMatchObject({ state: 'cancelled' });
  });

  it('throws the result away when the cancellation came first', async () => {
    start(async (task, context) => {
      const result = await finishAtOnce(task, context);
      await store.cancel(task.id, 1);
      return result;
    });
    const { id } = await add();
    await inState(id, 'cancelled');
    await runners[0]!.stop();
    expect(discarded).toEqual([`results/1/${id}.json`]);
  });

  it('lets tasks end when it stops, and takes no more', async () => {
    const { promise: gate, resolve: goOn } = deferred<void>();
    const runner = start(finishAfter(gate), { concurrency: 1 });
    const [first, second] = [await add(), await add()];
    await inState(first.id, 'verifying');
    const stopped = runner.stop();
    expect(runner.stop()).toBe(stopped);
    goOn();
    await stopped;
    expect(runner.running).toBe(0);
    expect(await store.get(first.id)).toMatchObject({ state: 'completed' });
    expect(await store.get(second.id)).toMatchObject({ state: 'waiting' });
    runner.start();
    runner.wake();
    expect(await store.get(second.id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('gives tasks back when the grace is over, and they cost no failure', async () => {
    const runner = start(untilAborted);
    const { id } = await add();
    await inState(id, 'verifying');
    await runner.stop({ graceMs: 1 });
    expect(types(id)).toEqual(['claimed', 'released']);
    expect(await store.get(id)).toMatchObject({ state: 'waiting', failures: 0, losses: 0 });
    start(finishAtOnce);
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 2 });
  });

  it('does not say that a task was given back if it had lost it', async () => {
    const runner = start(untilAborted, { store: { ...store, release: async () => false } });
    const { id } = await add();
    await inState(id, 'verifying');
    await runner.stop({ graceMs: 1 });
    expect(types(id)).toEqual(['claimed', 'lost']);
  });

  it('can be stopped before it started, and while it starts', async () => {
    const { id } = await add();
    const handler = { run: finishAtOnce, discard: async () => {} };
    const idle = createRunner({ store, handler, threads: 1 });
    await idle.stop();
    idle.start();
    const early = createRunner({ store, handler, threads: 1 });
    early.start();
    await early.stop();
    // Either before its claim or after its end, never in between.
    expect(['waiting', 'completed']).toContain((await store.get(id))!.state);
  });

  it('writes the outcome again when the store did not answer', async () => {
    const finish = awayFor(3, store.finish);
    start(finishAtOnce, { store: { ...store, finish }, leaseMs: 60_000 });
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 1 });
    expect(finish).toHaveBeenCalledTimes(4);
  });

  it('keeps the result when only the confirmation was lost', async () => {
    let lost = 0;
    const deaf: TaskStore = {
      ...store,
      async finish(...args) {
        const finished = await store.finish(...args);
        if (lost++ === 0) throw new CodedError('STORE_UNAVAILABLE');
        return finished;
      },
    };
    start(finishAtOnce, { store: deaf, leaseMs: 60_000 });
    const { id } = await add();
    await inState(id, 'completed');
    await runners[0]!.stop();
    expect(lost).toBe(2);
    expect(discarded).toEqual([]);
  });

  it('carries on when the store is away for a while', async () => {
    const claim = awayFor(3, store.claim);
    start(finishAtOnce, { store: { ...store, claim }, pollMs: 5 });
    const { id } = await add();
    await inState(id, 'completed');
    expect(events.filter((event) => event.type === 'trouble').length).toBe(3);
  });

  it('extends the leases of all its tasks with one write a beat', async () => {
    const beats: number[][] = [];
    const told: TaskStore = {
      ...store,
      extendAll(attempts, leaseMs) {
        beats.push(attempts.map(({ id }) => id));
        return store.extendAll(attempts, leaseMs);
      },
      extend: () => Promise.reject(new Error('no task has news')),
    };
    const tasks = [await add(), await add(), await add()];
    start(untilAborted, { store: told, concurrency: 3, beatMs: 20, leaseMs: 60_000 });
    const ids = tasks.map(({ id }) => id);
    await Promise.all(ids.map((id) => inState(id, 'verifying')));
    const beat = () => beats.at(-1);
    while (beat()?.length !== 3) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(beat()).toEqual(ids);
    await store.cancel(ids[1]!, 1);
    const before = beats.length;
    while (beats.length < before + 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(beat()).toEqual([ids[0], ids[2]]);
    await runners[0]!.stop({ graceMs: 0 });
    const last = beats.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(beats.length).toBe(last);
  });

  it('lets no lease end while its task is in work', async () => {
    let clockMs = Date.now();
    store = memoryStore({ nowMs: () => clockMs }).tasks;
    const { promise: gate, resolve: goOn } = deferred<void>();
    let beats = 0;
    const aging: TaskStore = {
      ...store,
      async extendAll(attempts, leaseMs) {
        const held = await store.extendAll(attempts, leaseMs);
        // Nearly the whole lease goes by until the next beat.
        clockMs += leaseMs - 1;
        if (++beats === 5) goOn();
        return held;
      },
    };
    start(finishAfter(gate), { store: aging, leaseMs: 60_000, beatMs: 10, pollMs: 1 });
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 1, losses: 0 });
  });

  it('gives a task up when it cannot extend its lease, and another runner takes it over', async () => {
    let claims = 0;
    const cutOff: TaskStore = {
      ...store,
      async claim(options) {
        if (claims > 0) return { task: null, nextMs: null };
        const claimed = await store.claim(options);
        if (claimed.task) claims++;
        return claimed;
      },
      extend: () => Promise.reject(new CodedError('STORE_UNAVAILABLE')),
      extendAll: () => Promise.reject(new CodedError('STORE_UNAVAILABLE')),
    };
    start(untilAborted, { store: cutOff, leaseMs: 60 });
    const { id } = await add();
    await inState(id, 'verifying');
    start(finishAtOnce, { pollMs: 10, leaseMs: 60_000 });
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 2, losses: 1 });
    await runners[0]!.stop({ graceMs: 60_000 });
    expect(types(id)).toContain('lost');
    expect(await store.get(id)).toMatchObject({
      result: { blob: { key: `results/2/${id}.json` } },
    });
  });
});

describe('runners of several processes on one SQLite file', () => {
  it('find by polling what others submit, and stop soon what others cancel', async ({
    defer,
    folder,
  }) => {
    const open = () => sqliteStore({ path: join(folder, 'tasks.sqlite') }).tasks;
    const [ours, theirs] = [open(), open()];
    for (const store of [ours, theirs]) defer(() => store.close());
    const { promise: aborted, resolve: abort } = deferred<void>();
    const { promise: claimed, resolve: claim } = deferred<void>();
    const handler: TaskHandler = {
      run(task, context) {
        context.signal.addEventListener('abort', () => abort());
        claim();
        return untilAborted(task, context);
      },
      discard: async () => {},
    };
    // A lease that is not renewed within this test: it is a look at the task that finds the
    // cancellation.
    const options = { threads: 1, pollMs: 20, leaseMs: NEVER_MS };
    const runner = createRunner({ store: ours, handler, ...options });
    defer(() => runner.stop({ graceMs: 0 }));
    runner.start();
    const waiting = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;
    const { id } = await accepted(theirs.put(waiting));
    await claimed;
    expect(await theirs.cancel(id, 1)).toMatchObject({ ok: true });
    await aborted;
  });
});
