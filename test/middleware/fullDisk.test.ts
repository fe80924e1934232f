/**
 * No room: on a small file system, and by a limit of SQLite. What is refused has not happened, what
 * was there stays, and once there is room everything goes on.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import type { RunnerEvent } from '../../src/middleware/events.ts';
import { problemResponse } from '../../src/middleware/http/problems.ts';
import { createGroupCommit } from '../../src/middleware/stores/sqlite/groupCommit.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { createRunner } from '../../src/middleware/tasks/runner.ts';
import { CodedError, ERROR_CODES, type ErrorCode } from '../../src/shared/errors.ts';
import { deferred } from '../../src/shared/wait.ts';
import { isFinal } from '../../src/wire/taskStates.ts';
import { accepted, expectProblem, it, recordedLog, taskThat, until } from './support.ts';
import { makeTriples } from './triples.ts';

const MIB = 1024 * 1024;
const task = { clientId: 1, state: 'created', threads: 1, ttlMs: 60_000 } as const;

/** A file system of some MiB, where this process may mount one. */
const small = mkdtempSync(join(tmpdir(), 'falconry-full-'));
const mounted =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', small]).status === 0;
if (!mounted) process.stderr.write('SKIPPED: no small file system can be mounted here (root)\n');
afterAll(() => {
  if (mounted) spawnSync('umount', [small]);
  rmSync(small, { recursive: true, force: true });
});

const freeBytes = () => statfsSync(small).bavail * statfsSync(small).bsize;

/** Leaves so many bytes free. @returns a function that makes room again */
function fillUp(leftBytes: number): () => void {
  const filler = join(small, 'filler');
  writeFileSync(filler, new Uint8Array(Math.max(0, freeBytes() - leftBytes)));
  return () => rmSync(filler);
}

describe.skipIf(!mounted)('a small file system', () => {
  it('refuses a task that it has no room for, and keeps the others', async () => {
    const path = join(small, 'store', 'tasks.sqlite');
    const store = sqliteStore({ path });
    const ids: number[] = [];
    ids.push((await accepted(store.tasks.put(task))).id);
    const makeRoom = fillUp(200_000);
    let refused: unknown;
    while (refused === undefined) {
      const traceparent = 'x'.repeat(2000);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () => store.tasks.put({ ...task, traceparent })),
      );
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') refused = outcome.reason;
        else if (outcome.value.ok) ids.push(outcome.value.task.id);
      }
      expect(ids.length).toBeLessThan(10_000);
    }
    expect(refused).toMatchObject({ code: 'STORAGE_FULL', status: 507, retriable: true });
    const listed = async () =>
      (await store.tasks.list({ clientId: 1, limit: 10_000 })).tasks.map(({ id }) => id);
    expect(await listed()).toEqual(ids);
    makeRoom();
    ids.push((await accepted(store.tasks.put(task))).id);
    expect(await listed()).toEqual(ids);
    await store.close();
    rmSync(join(small, 'store'), { recursive: true });
  });

  it('refuses a file that it has no room for, and leaves nothing of it', async () => {
    const path = join(small, 'files');
    const blobs = directoryBlobs({ path });
    const key = (name: string) => `inputs/${name.padEnd(36, '0')}.json`;
    const limits = { maxBytes: 64 * MIB };
    await blobs.put(key('a'), new Uint8Array(1000), limits);
    const makeRoom = fillUp(MIB);
    async function* pieces() {
      for (let i = 0; i < 40; i++) yield new Uint8Array(64 * 1024);
    }
    const before = freeBytes();
    for (const body of [new Uint8Array(2 * MIB), pieces()]) {
      await expect(blobs.put(key('b'), body, limits)).rejects.toMatchObject({
        code: 'STORAGE_FULL',
      });
    }
    expect(freeBytes()).toBe(before);
    expect(readdirSync(join(path, 'tmp'))).toEqual([]);
    expect(await blobs.stat(key('b'))).toBe(null);
    expect(await blobs.stat(key('a'))).toMatchObject({ bytes: 1000 });
    makeRoom();
    expect(await blobs.put(key('b'), pieces(), limits)).toMatchObject({ bytes: 40 * 64 * 1024 });
    rmSync(path, { recursive: true });
  });

  it('is told to clients with 507, and fails no task', { timeout: 60_000 }, async ({
    defer,
    start,
  }) => {
    const path = join(small, 'service');
    mkdirSync(path, { mode: 0o700 });
    defer(() => rmSync(path, { recursive: true }));
    const { entries, logger } = recordedLog();
    const blobs = directoryBlobs({ path, minFreeBytes: 0 });
    const http = await start({ blobs, threads: 1, logger });
    let makeRoom = fillUp(20_000);
    const data = makeTriples(20);
    const refused = await http.ask('POST', '/v1/svc/aggsign', { data });
    expectProblem(refused, 507, 'STORAGE_FULL');
    makeRoom();
    expect((await http.ask('GET', '/v1/svc/tasks')).json.tasks).toEqual([]);

    // There is room for the file, but none for the result.
    const page = 4096;
    makeRoom = fillUp(page * (2 + Math.ceil(JSON.stringify(data).length / page)));
    const accepted = await http.ask('POST', '/v1/svc/aggsign', { data });
    expect(accepted.status, accepted.text).toBe(202);
    const trouble = () => entries.find(({ message }) => message === 'task will be tried again');
    await until(trouble);
    expect(trouble()).toMatchObject({ code: 'STORAGE_FULL' });
    const { status } = await http.record(accepted.json.process_id);
    expect(['completed', 'failed']).not.toContain(status);
    makeRoom();
    expect(await http.ended(accepted.json.process_id)).toMatchObject({ status: 'completed' });
  });
});

describe('a limit of SQLite', () => {
  it('refuses the whole group, of which nothing is kept', async ({ folder }) => {
    const db = new DatabaseSync(join(folder, 'db'), { timeout: 0 });
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x BLOB); PRAGMA max_page_count = 20');
    const { write } = createGroupCommit(db, 1000);
    const insert = (bytes: number) => () =>
      db.prepare('INSERT INTO t VALUES (?)').run(new Uint8Array(bytes)).changes;
    const count = () => db.prepare('SELECT count(*) AS n FROM t').get()!.n;
    await write(insert(10));
    const outcomes = await Promise.allSettled([write(insert(10)), write(insert(MIB))]);
    expect(outcomes[1]).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_FULL' } });
    const kept = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(count()).toBe(1 + kept);
    expect(db.isTransaction).toBe(false);
    await expect(write(insert(MIB))).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    await write(insert(10));
    expect(count()).toBe(2 + kept);
    db.close();
  });
});

describe('a worker without room for its result', () => {
  it('tries again for as long as it takes, and counts no failure', async () => {
    const store = memoryStore();
    const events: RunnerEvent[] = [];
    let refusals = 8;
    const runner = createRunner({
      store: store.tasks,
      threads: 1,
      concurrency: 1,
      maxFailures: 2,
      retryMs: 1,
      onEvent: (event) => events.push(event),
      handler: {
        async run({ id, attempt }, context) {
          await context.aggregating({ phase: 'aggregate', done: 0, total: 1 });
          if (refusals-- > 0) throw new CodedError('STORAGE_FULL');
          const blob = { key: `results/${attempt}/${id}.json`, bytes: 1 };
          return { blob, format: 'bundle', aggregateBytes: 1 };
        },
        discard: async () => {},
      },
    });
    const { id } = await accepted(store.tasks.put({ ...task, state: 'waiting' }));
    runner.start();
    const done = await taskThat(store.tasks, id, ({ state }) => isFinal(state));
    expect(done).toMatchObject({ state: 'completed', failures: 0, attempt: 9 });
    expect(events.filter(({ type }) => type === 'retried').length).toBe(8);
    await runner.stop();
  });

  it('leaves the task in the queue, blameless, when it is stopped', async () => {
    const store = memoryStore();
    const { promise: full, resolve: started } = deferred<void>();
    const runner = createRunner({
      store: store.tasks,
      threads: 1,
      retryMs: 600_000,
      onEvent: ({ type }) => type === 'retried' && started(),
      handler: {
        async run() {
          throw new CodedError('STORAGE_FULL');
        },
        discard: async () => {},
      },
    });
    const { id } = await accepted(store.tasks.put({ ...task, state: 'waiting' }));
    runner.start();
    await full;
    await runner.stop({ graceMs: 0 });
    expect(await store.tasks.get(id)).toMatchObject({ state: 'waiting', failures: 0, losses: 0 });
  });
});

it('every code that can pass says in its answer when to try again', () => {
  // A client at its quota is told only what is known of it.
  const codes = Object.entries(ERROR_CODES).filter(
    ([code, { status, retriable }]) =>
      retriable && [429, 503, 507].includes(status) && code !== 'STORAGE_QUOTA',
  );
  expect(codes.length).toBeGreaterThan(12);
  for (const [code] of codes) {
    const { headers } = problemResponse(new CodedError(code as ErrorCode));
    expect(headers.get('retry-after'), code).toMatch(/^[1-9]\d*$/);
  }
});
