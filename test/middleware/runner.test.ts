import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/errors.ts';
import { memoryStore } from '../../src/middleware/stores/memory.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite.ts';
import type { NewTask, TaskStore } from '../../src/middleware/stores/taskStore.ts';
import type { Task, TaskResult } from '../../src/middleware/task.ts';
import {
  createRunner,
  type Runner,
  type RunnerEvent,
  type RunnerOptions,
  type TaskContext,
  type TaskHandler,
} from '../../src/middleware/tasks/runner.ts';
import type { TaskState } from '../../src/wire/taskStates.ts';

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
    store = memoryStore();
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
    const outcome = await store.put({ ...waiting, input, ...more });
    if (!outcome.ok) throw new Error(outcome.reason);
    return outcome.task;
  };
  /** Resolves with the task as soon as the store tells that it fits. */
  const until = (id: number, fits: (task: Task) => boolean, where = store): Promise<Task> =>
    new Promise((resolve) => {
      const look = async () => {
        const task = await where.get(id);
        if (!task || !fits(task)) return;
        end();
        resolve(task);
      };
      const end = where.watch((news) => news.id === id && look());
      look();
    });
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
        await new Promise((resolve) => setImmediate(resolve));
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
    let goOn = () => {};
    start(async (task, context) => {
      await context.counted(9);
      context.report({ phase: 'verify', done: 4, total: 9 });
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return finishAtOnce(task, context);
    });
    const { id } = await add();
    const seen = await until(id, (task) => task.progress !== null);
    expect(seen).toMatchObject({ state: 'verifying', count: 9, progress: { done: 4, total: 9 } });
    goOn();
    expect(await inState(id, 'completed')).toMatchObject({ count: 9 });
  });

  it('tries again after a retriable fault, and says in the end why it gave up', async () => {
    let attempts = 0;
    start(
      async (task, context) => {
        attempts++;
        if (task.attempt < 3) throw new CodedError('THREAD_LOST');
        return finishAtOnce(task, context);
      },
      { maxFailures: 4 },
    );
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 3, failures: 2 });
    expect(attempts).toBe(3);
    await runners[0]!.stop();
    const retries = ['claimed', 'retried', 'claimed', 'retried', 'claimed', 'completed'];
    expect(types(id)).toEqual(retries);

    start(() => Promise.reject(new CodedError('THREAD_LOST')), { maxFailures: 2 });
    const hopeless = await add();
    expect(await inState(hopeless.id, 'failed')).toMatchObject({
      failures: 2,
      error: { code: 'THREAD_LOST' },
    });
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
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const runner = start(
      async (task, context) => {
        await gate;
        return finishAtOnce(task, context);
      },
      { concurrency: 1 },
    );
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
    let troubles = 3;
    const shaky: TaskStore = {
      ...store,
      async finish(...args) {
        if (troubles-- > 0) throw new CodedError('STORE_UNAVAILABLE');
        return store.finish(...args);
      },
    };
    start(finishAtOnce, { store: shaky, leaseMs: 60_000 });
    const { id } = await add();
    expect(await inState(id, 'completed')).toMatchObject({ attempt: 1 });
    expect(troubles).toBe(-1);
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
    let away = 3;
    const shaky: TaskStore = {
      ...store,
      async claim(options) {
        if (away-- > 0) throw new CodedError('STORE_UNAVAILABLE');
        return store.claim(options);
      },
    };
    start(finishAtOnce, { store: shaky, pollMs: 5 });
    const { id } = await add();
    await inState(id, 'completed');
    expect(events.filter((event) => event.type === 'trouble').length).toBe(3);
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
  let folder: string;
  let ours: TaskStore;
  let theirs: TaskStore;
  let runner: Runner | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'falconry-runner-'));
    ours = sqliteStore({ path: join(folder, 'tasks.sqlite') });
    theirs = sqliteStore({ path: join(folder, 'tasks.sqlite') });
  });
  afterEach(async () => {
    await runner?.stop({ graceMs: 0 });
    await ours.close();
    await theirs.close();
    await rm(folder, { recursive: true });
  });

  const put = async () => {
    const waiting = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;
    const outcome = await theirs.put(waiting);
    if (!outcome.ok) throw new Error(outcome.reason);
    return outcome.task.id;
  };

  it('find by polling what others submit, and stop soon what others cancel', async () => {
    const { promise: aborted, resolve: abort } = promised<void>();
    const { promise: claimed, resolve: claim } = promised<void>();
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
    runner = createRunner({ store: ours, handler, threads: 1, pollMs: 20, leaseMs: NEVER_MS });
    runner.start();
    const id = await put();
    await claimed;
    expect(await theirs.cancel(id, 1)).toMatchObject({ ok: true });
    await aborted;
  });
});

function promised<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
