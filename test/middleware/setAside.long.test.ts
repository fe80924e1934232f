/**
 * An accepted task is never lost, whatever dies under it: its server 16 times in a row, the process
 * that it was isolated in, its thread, or the whole process by its own file.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { newInputKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { createApiKey } from '../../src/middleware/identity/apiKeys.ts';
import { falconService } from '../../src/middleware/index.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { deferred } from '../../src/shared/wait.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem } from '../../src/wire/triple.ts';
import { falconryHere } from '../cli/cli.ts';
import { fact } from '../support/facts.ts';
import { alive, isolatedWorkers, killWorker, listsProcesses } from '../support/isolatedWorkers.ts';
import { Child } from './crashChild.ts';
import type { RunnerNews } from './fixtures/poisonedRunner.ts';
import { accepted, it, recordedLog } from './support.ts';
import { makeItems } from './triples.ts';

/** More than any limit of deaths and losses: 2, 3 and 5. */
const KILLS = 16;
const MIXED_ROUNDS = 6;
const MIB = 1024 * 1024;
/** So short that a killed server is soon taken for dead. */
const HASTY = { leaseMs: 300 };
const LOST = { code: 'THREAD_LOST', message: 'its worker died' } as const;
const CALM = { leaseMs: 10_000 };

let folder: string;
let store: ReturnType<typeof sqliteStore>;

it.beforeEach(({ folder: given, defer }) => {
  folder = given;
  store = sqliteStore({ path: join(folder, STORE_FILE) });
  defer(() => store.close());
});

const some = makeItems(100, 5);
const batchOf = (count: number) => Array.from({ length: count }, (_, i) => some[i % some.length]!);

const random = (below: number) => Math.floor(Math.random() * below);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the task fits; asks, since another process changes it. */
async function until(id: number, fits: (task: Task) => boolean): Promise<Task> {
  for (;;) {
    const task = (await store.tasks.get(id))!;
    if (fits(task)) return task;
    await pause(20);
  }
}

describe.runIf(listsProcesses)('a task', () => {
  /** Direct requests at a running service. */
  async function submit(address: string, batches: readonly TaskItem[][]) {
    const { key } = await createApiKey(store.apiKeys, { name: 'test' });
    const headers = { authorization: key, 'content-type': 'application/json' };
    const ask = async (path: string, init: RequestInit = {}, at = address) =>
      (await fetch(at + path, { headers, ...init })).json();
    const ids: number[] = [];
    for (const batch of batches) {
      const body = `{"data":${formatTaskFile(batch)}}`;
      ids.push((await ask('/v1/svc/aggsign', { method: 'POST', body })).process_id);
    }
    return { ids, ask };
  }

  /** Fetches the result of a completed task from its service, and verifies it. */
  async function expectResult(
    ask: Awaited<ReturnType<typeof submit>>['ask'],
    address: string,
    id: number,
    batch: TaskItem[],
  ) {
    const record = await ask(`/v1/svc/tasks/${id}`, {}, address);
    expect(record.status).toBe('completed');
    const result = parseResultFile(await (await fetch(record.result_path)).text());
    expect(verifyResultFile(result, batch)).toBe(true);
  }

  it(`of 1722 whose server is killed ${KILLS} times in a row is completed`, {
    timeout: 600_000,
  }, async ({ task }) => {
    const batch = batchOf(1722);
    let child = new Child(folder, HASTY);
    await child.loaded;
    /** Resolves as soon as the child has claimed the task, or failed it. */
    const claimedBy = (which: Child) => {
      const { promise, resolve } = deferred<void>();
      which.onNews = (news) =>
        'state' in news && ['verifying', 'failed'].includes(news.state) && resolve();
      return promise;
    };
    await child.open();
    let claimed = claimedBy(child);
    const { ids, ask } = await submit(child.address, [batch]);
    const [id] = ids as [number];
    const workers: number[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      const next = new Child(folder, kill < KILLS ? HASTY : CALM);
      await claimed;
      expect((await store.tasks.get(id))!.state).not.toBe('failed');
      // The last ones are killed in the middle of an isolated attempt.
      const isolated = () => isolatedWorkers(child.pid);
      while (kill > KILLS - 5 && isolated().length === 0) await pause(2);
      workers.push(...isolated());
      await child.kill();
      child = next;
      await child.loaded;
      if (kill < KILLS) {
        claimed = claimedBy(child);
        child.begin();
      } else await child.open();
    }
    const done = await until(id, ({ state }) => state === 'completed' || state === 'failed');
    expect(done).toMatchObject({ state: 'completed', failures: 0, quarantined: false });
    expect(done.losses).toBeGreaterThanOrEqual(KILLS);
    await expectResult(ask, child.address, id, batch);
    await child.kill();
    // A worker ends with its server.
    expect(workers.length).toBeGreaterThanOrEqual(5);
    while (alive(workers).length > 0) await pause(20);
    fact({ task }, 'killed in a row', `${done.losses} losses, then completed`);
  });

  it('is completed, whether its server is killed or its worker, in any order', {
    timeout: 600_000,
  }, async ({ task }) => {
    const batches = [1722, 3, 900, 1, 40, 1722].map(batchOf);
    let child = new Child(folder, { workers: false });
    await child.loaded;
    await child.open();
    const { ids, ask } = await submit(child.address, batches);
    // Every task has lost three servers already, so that all of its attempts are isolated.
    for (let claims = 0; claims < 3 * ids.length; ) {
      if ((await store.tasks.claim({ leaseMs: 500, threads: 1 })).task !== null) claims++;
      else await pause(5);
    }
    let workersKilled = 0;
    for (let round = 0; round < MIXED_ROUNDS; round++) {
      // The first server that has workers surely loses one, however slow the machine is.
      const first = round === 1;
      const patience = AbortSignal.timeout(first ? 120_000 : 200 + random(1500));
      for (let left = first ? 1 : random(3); left > 0; left--) {
        if ((await killWorker(child.pid, patience)) !== null) workersKilled++;
      }
      const next = new Child(folder, round < MIXED_ROUNDS - 1 ? HASTY : CALM);
      await pause(random(200));
      await child.kill();
      child = next;
      await child.loaded;
      await child.open();
    }
    let asides = 0;
    for (const [i, id] of ids.entries()) {
      const settledTask = ({ state, quarantined }: Task) =>
        quarantined || state === 'completed' || state === 'failed';
      while ((await until(id, settledTask)).quarantined) {
        asides++;
        expect(await falconryHere(['retry', String(id), '--data', folder])).toMatchObject({
          code: 0,
          out: `${id} waits again\n`,
        });
      }
      await expectResult(ask, child.address, id, batches[i]!);
    }
    await child.kill();
    expect(workersKilled).toBeGreaterThan(0);
    const line = `${MIXED_ROUNDS} servers, ${workersKilled} workers killed, ${asides} set aside`;
    fact({ task }, 'killed in any order', line);
  });

  it('that ends its workers is set aside, put back by command, and completed', {
    timeout: 300_000,
  }, async () => {
    const { entries, logger } = recordedLog();
    const options = { dataDirectory: folder, threads: 1, signing: false, logger };
    const front = falconService({ ...options, workers: false });
    await front.start();
    const { key } = await front.apiKeys.create({ name: 'test' });
    const headers = { authorization: key, 'content-type': 'application/json' };
    const batch = batchOf(1722);
    const body = `{"data":${formatTaskFile(batch)}}`;
    const accepted = await front.app.request('/v1/svc/aggsign', { method: 'POST', headers, body });
    const { process_id: id } = (await accepted.json()) as { process_id: number };
    await front.stop();
    for (let losses = 0; losses < 3; losses++) {
      while ((await store.tasks.claim({ leaseMs: 1, threads: 1 })).task === null) await pause(1);
    }

    const service = falconService(options);
    await service.start();
    const record = async () =>
      (await (await service.app.request(`/v1/svc/tasks/${id}`, { headers })).json()) as object;
    // Each worker is killed in the middle of its work.
    for (let kill = 1; kill <= 5; kill++) {
      const { attempt } = await until(id, ({ state }) => state === 'aggregating');
      process.kill(isolatedWorkers()[0]!, 'SIGKILL');
      await until(id, (task) => task.attempt > attempt || task.state !== 'aggregating');
    }
    const aside = (await store.tasks.get(id))!;
    expect(aside).toMatchObject({
      state: 'waiting',
      quarantined: true,
      error: { code: 'THREAD_LOST' },
    });
    expect(aside.input).not.toBe(null);
    expect(await record()).toMatchObject({
      process_id: id,
      status: 'wait for falcon signature verify',
      quarantined: true,
    });
    expect(entries.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ taskId: id, code: 'THREAD_LOST', retry: `falconry retry ${id}` }),
    ]);

    const queue = await falconryHere(['queue', '--aside', '--json', '--data', folder]);
    expect(JSON.parse(queue.out)).toMatchObject([{ process_id: String(id), quarantined: true }]);
    expect((await falconryHere(['retry', String(id), '--data', folder])).code).toBe(0);
    const { result } = await until(id, ({ state }) => state === 'completed');
    expect(await record()).not.toHaveProperty('quarantined');
    const blobs = directoryBlobs({ path: join(folder, 'files') });
    const file = parseResultFile((await blobs.read(result!.blob, 64 * MIB))!);
    expect(verifyResultFile(file, batch)).toBe(true);
    await service.stop();
  });
});

/** The smaller file ends its thread; with the larger one, V8 ends the whole process. */
it.each([4, 8])(
  'a file of %i MiB that exhausts the heap of its worker is set aside',
  {
    timeout: 300_000,
  },
  async (sizeMib) => {
    const poisoned = sqliteStore({ path: join(folder, 'tasks.sqlite') });
    const blobs = directoryBlobs({ path: join(folder, 'files') });
    const put = async (text: string) => {
      const bytes = new TextEncoder().encode(text);
      const input = await blobs.put(newInputKey(), bytes, { maxBytes: 64 * MIB });
      const waiting = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0, input } as const;
      return accepted(poisoned.tasks.put(waiting));
    };
    const bad = await put(`[${'{},'.repeat((sizeMib * MIB) / 3 - 10)}{}]`);
    // One loss and one failure short of an isolated attempt: each death takes seconds.
    const early = async () => (await poisoned.tasks.claim({ leaseMs: 1, threads: 1 })).task;
    for (let losses = 0; losses < 2; await pause(2)) if (await early()) losses++;
    const { attempt } = (await early())!;
    await poisoned.tasks.fail(bad.id, attempt, LOST, { delayMs: 0 });
    const good = await put(formatTaskFile(makeItems(3)));
    let deaths = 0;
    for (let isAside = false; !isAside; ) {
      const entry = new URL('./fixtures/poisonedRunner.ts', import.meta.url);
      const args = [folder, String(sizeMib * MIB)];
      // V8 reports its death on standard error.
      const runner = fork(entry, args, {
        execArgv: [],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const ended = once(runner, 'exit');
      const told = new Promise<boolean>((resolve) => {
        runner.on('message', ({ type, taskId }: RunnerNews) => {
          if (type === 'setAside' && taskId === bad.id) resolve(true);
          if (type === 'failed') resolve(true);
        });
        ended.then(() => resolve(false));
      });
      isAside = await told;
      if (!isAside) deaths++;
      else {
        while ((await poisoned.tasks.get(good.id))!.state !== 'completed') await pause(20);
        runner.kill('SIGKILL');
        await ended;
      }
    }
    // Once it is isolated, it can end nothing but its own worker.
    expect(deaths).toBeLessThanOrEqual(1);
    const aside = (await poisoned.tasks.get(bad.id))!;
    const error = { code: 'THREAD_LOST' };
    expect(aside).toMatchObject({ state: 'waiting', quarantined: true, input: bad.input, error });
    expect(existsSync(join(folder, 'files', bad.input!.key))).toBe(true);
    expect(await poisoned.tasks.get(good.id)).toMatchObject({ failures: 0 });
    await poisoned.close();
  },
);
