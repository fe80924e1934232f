/** Attempts in isolation: real processes, ended by real signals. */
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { type BlobStore, newInputKey } from '../../src/middleware/blobs/port/blobStore.ts';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import { type Aggregator, createAggregator } from '../../src/middleware/tasks/aggregateTask.ts';
import type { TaskContext } from '../../src/middleware/tasks/runner.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { watchWorkers } from '../shared/threads/workers.ts';
import { isolatedWorkers, listsProcesses } from '../support/isolatedWorkers.ts';
import { it } from './support.ts';
import { makeItems } from './triples.ts';

let blobs: BlobStore;
let aggregator: Aggregator;
let workers: ReturnType<typeof watchWorkers>;
const { execPath } = process;
const items = makeItems(40, 4);
/** Takes long enough to be ended in the middle. */
const large = Array.from({ length: 1722 }, (_, i) => items[i % items.length]!);

it.beforeEach(({ folder }) => {
  blobs = directoryBlobs({ path: folder });
  workers = watchWorkers();
  const limits = { maxSignatures: 1722, maxDigestBytes: 4096, maxFileBytes: 1 << 23 };
  aggregator = createAggregator({ blobs, threads: 1, format: 'auto', ...limits });
});
afterEach(async () => {
  process.execPath = execPath;
  await aggregator.close();
  expect(isolatedWorkers()).toEqual([]);
});

const controller = () => new AbortController();

/** An attempt at a task with these items; `onCounted` is called once the worker has read them. */
async function attempt(
  isolated: boolean,
  signal: AbortSignal,
  onCounted: () => Promise<unknown> = async () => {},
  batch = items,
) {
  const bytes = new TextEncoder().encode(formatTaskFile(batch));
  const input = await blobs.put(newInputKey(), bytes, { maxBytes: 1 << 23 });
  const context: TaskContext = {
    signal,
    isolated,
    report: () => {},
    parts: async () => [],
    hashed: async () => {},
    counted: async () => void (await onCounted()),
    aggregating: async () => {},
  };
  return aggregator.handler.run({ id: 7, attempt: 1, input, parent: null } as Task, context);
}

async function expectResult({ blob }: Awaited<ReturnType<typeof attempt>>) {
  const result = parseResultFile((await blobs.read(blob, 1 << 25))!);
  expect(verifyResultFile(result, items)).toBe(true);
}

it.runIf(listsProcesses)('happens in a process of its own, which ends with it', async () => {
  const seen: number[][] = [];
  const made = await attempt(true, controller().signal, async () => {
    seen.push(isolatedWorkers());
  });
  await expectResult(made);
  expect(seen).toEqual([[expect.any(Number)]]);
  expect(isolatedWorkers()).toEqual([]);
  expect(workers).toHaveLength(0);
  await expectResult(await attempt(false, controller().signal));
  expect(workers).toHaveLength(1);
});

it.runIf(listsProcesses)('is lost if its process is killed, and says by what', async () => {
  for (const signal of ['SIGKILL', 'SIGSEGV'] as const) {
    const kill = async () => process.kill(isolatedWorkers()[0]!, signal);
    const lost = attempt(true, controller().signal, kill, large);
    const error = await lost.catch((reason) => reason);
    expect(error).toMatchObject({ code: 'THREAD_LOST', retriable: true });
    expect(error.cause.message).toContain(signal);
  }
});

it.runIf(listsProcesses)('is not ended by the signals that end a whole group', async () => {
  const made = attempt(true, controller().signal, async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.kill(isolatedWorkers()[0]!, signal);
    }
  });
  await expectResult(await made);
});

it('stops when it is told to', async () => {
  const stop = controller();
  const reason = new Error('no longer wanted');
  const stopped = attempt(true, stop.signal, async () => stop.abort(reason));
  await expect(stopped).rejects.toBe(reason);
  const early = controller();
  const never = attempt(true, early.signal);
  early.abort(reason);
  await expect(never).rejects.toBe(reason);
});

it('takes a thread of its own where there are no processes', async ({ folder }) => {
  process.execPath = join(folder, 'compiled-program');
  await expectResult(await attempt(true, controller().signal));
  expect(workers).toHaveLength(1);
  const end = () => workers[1]!.terminate();
  const lost = attempt(true, controller().signal, end, large);
  await expect(lost).rejects.toMatchObject({ code: 'THREAD_LOST' });
  await expectResult(await attempt(false, controller().signal));
  expect(workers).toHaveLength(3);
});

it('blames no task for a worker that cannot be started', async ({ folder }) => {
  process.execPath = join(folder, 'compiled-program');
  const nowhere = watchWorkers(() => new URL('file:///nowhere/taskWorker.js'));
  for (const isolated of [true, false]) {
    const refused = attempt(isolated, controller().signal);
    await expect(refused).rejects.toMatchObject({ code: 'OVERLOADED', retriable: true });
  }
  expect(nowhere).toHaveLength(2);
});
