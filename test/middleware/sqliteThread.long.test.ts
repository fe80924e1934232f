/** The store on a thread of its own keeps every promise of the port, and outlives its thread. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import type { TaskNews } from '../../src/middleware/stores/port/taskStore.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { storeContract } from '../../src/middleware/testing/index.ts';
import { BLOCK, moduleOf, ruined, watchWorkers } from '../shared/threads/workers.ts';
import { lockFile, whileLocked } from './lockedStore.ts';
import { openThreads } from './openSqlite.ts';
import { it } from './support.ts';

storeContract({ describe, it }, 'SQLite on a thread', openThreads);

const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 60_000 } as const;

let folder: string;
let path: string;
/** A store on the file, closed with the test. */
let open: (options?: Partial<Parameters<typeof sqliteStore>[0]>) => ReturnType<typeof sqliteStore>;
it.beforeEach(({ folder: given, defer }) => {
  folder = given;
  path = join(folder, 'tasks.sqlite');
  open = (options) => {
    const store = sqliteStore({ path, ...options });
    defer(() => store.close());
    return store;
  };
});

describe('a file that another process has locked', () => {
  it('stops writes only, and those not for ever', async () => {
    const file = join(folder, 'service.sqlite');
    let store: ReturnType<typeof sqliteStore> | undefined;
    const run = await whileLocked(
      1500,
      (warn) => {
        store = sqliteStore({ path: file, patienceMs: 700, onTrouble: warn });
        return { store };
      },
      file,
    );
    await store!.close();
    expect(run.refusedMs).toBeGreaterThan(600);
    expect(run.othersMs[run.othersMs.length >> 1]).toBeLessThan(250);
    expect(run.warnings).toContain('The store cannot be reached');
  });

  it('is written as soon as it is free, and in order', async () => {
    const store = open({ patienceMs: 60_000 });
    await store.open();
    const free = await lockFile(path);
    let done = 0;
    const puts = Array.from({ length: 20 }, async () => {
      const outcome = await store.tasks.put(task);
      done++;
      return outcome.ok ? outcome.task.id : 0;
    });
    expect((await store.tasks.depth()).states.waiting).toBe(0);
    expect(done).toBe(0);
    await free();
    const ids = await Promise.all(puts);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect((await store.tasks.depth()).states.waiting).toBe(20);
  });

  it('is warned of once a second at most', async () => {
    const warnings: unknown[] = [];
    const store = open({
      patienceMs: 30,
      onTrouble: (message, fields) => warnings.push([message, fields]),
    });
    await store.open();
    const free = await lockFile(path);
    const startMs = performance.now();
    for (let i = 0; i < 10; i++) {
      await expect(store.tasks.put(task)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }
    const seconds = (performance.now() - startMs) / 1000;
    expect(warnings[0]).toEqual([
      'The store cannot be reached',
      { verb: 'put', code: 'STORE_UNAVAILABLE', cause: expect.stringContaining('locked') },
    ]);
    expect(warnings.length).toBeLessThanOrEqual(1 + seconds);
    await free();
  });
});

describe('a thread that dies', () => {
  it('leaves unknown what it had, and all else as it was', async () => {
    const workers = watchWorkers();
    const news: TaskNews[] = [];
    const store = open();
    store.tasks.watch((told) => news.push(told));
    const first = await store.tasks.put(task);
    const lost = Array.from({ length: 5 }, () => store.tasks.put(task));
    const ended = Promise.allSettled(lost);
    await Promise.resolve();
    await workers[0]!.terminate();
    for (const outcome of await ended) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true });
      }
    }
    const again = await store.tasks.put(task);
    if (!first.ok || !again.ok) throw new Error('refused');
    expect(workers.length).toBe(2);
    expect(await store.tasks.get(first.task.id)).toEqual(first.task);
    expect(again.task.id).toBeGreaterThan(first.task.id);
    expect(news.map(({ id }) => id)).toEqual(
      expect.arrayContaining([first.task.id, again.task.id]),
    );
  });

  it('with each of its first messages, is followed by another', async () => {
    let left = 3;
    watchWorkers((url) => (left-- > 0 ? ruined(url, 2, 'process.exit(1);') : url));
    const store = open();
    for (let i = 0; i < 3; i++) {
      await expect(store.tasks.put(task)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }
    expect(await store.tasks.put(task)).toMatchObject({ ok: true });
  });

  it.each([
    ['is not there', new URL('file:///nowhere/sqliteWorker.js')],
    ['throws at load', moduleOf(`throw new Error('broken');`)],
    ['is another one', new URL('../../src/falcon/verifyWorker.ts', import.meta.url)],
  ])('since its module %s, is said to be missing', async (_, module) => {
    watchWorkers(() => module);
    const store = open();
    await expect(store.open()).rejects.toMatchObject({
      code: 'NO_WORKER',
      message: expect.stringContaining('bundle'),
    });
  });

  it('or hangs, keeps no caller waiting for ever', async () => {
    const workers = watchWorkers((url) => ruined(url, 2, BLOCK));
    const store = open({ patienceMs: 100 });
    await expect(store.tasks.put(task)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(store.tasks.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await workers[0]!.terminate();
  });
});

describe('a thread that is busy', () => {
  it('delays no short reads, and they see all that it has done', async () => {
    const workers = watchWorkers((url) => ruined(url, 3, BLOCK));
    const store = open({ patienceMs: 100 });
    const made = await store.tasks.put(task);
    if (!made.ok) throw new Error('refused');
    const stuck = expect(store.tasks.put(task)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    const { id } = made.task;
    expect(await store.tasks.get(id, 1)).toEqual(made.task);
    expect((await store.tasks.list({ clientId: 1, limit: 10 })).tasks).toMatchObject([{ id }]);
    expect((await store.tasks.usage(1)).openTasks).toBe(1);
    expect(await store.apiKeys.findApiKey('none')).toBe(null);
    expect(await store.quotas.quota(1)).toBe(null);
    await stuck;
    await workers[0]!.terminate();
  });
});

describe('the file', () => {
  it('shows at once what another process has committed, also in what was read before', async () => {
    const store = open();
    const other = sqliteTableStore({ path });
    const sha256 = 'ab'.repeat(32);
    const seen = async () => [
      (await store.tasks.list({ clientId: 1, limit: 10 })).tasks.length,
      (await store.apiKeys.findApiKey(sha256))?.name ?? null,
      (await store.quotas.quota(1))?.openTasks ?? null,
    ];
    for (const _ of [1, 2]) expect(await seen()).toEqual([0, null, null]);
    await other.tasks.put(task);
    for (const _ of [1, 2]) expect(await seen()).toEqual([1, null, null]);
    await other.apiKeys.putApiKey({ sha256, name: 'key', clientId: 1 });
    for (const _ of [1, 2]) expect(await seen()).toEqual([1, 'key', null]);
    await other.quotas.setQuota(1, { openTasks: 7 });
    for (const _ of [1, 2]) expect(await seen()).toEqual([1, 'key', 7]);
    await other.close();
  });

  it('has everything that was asked for before the store was closed', async () => {
    const store = open();
    const puts = Array.from({ length: 200 }, () => store.tasks.put(task));
    await Promise.all([store.close(), store.close()]);
    expect((await Promise.all(puts)).every(({ ok }) => ok)).toBe(true);
    await expect(store.tasks.get(1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const again = sqliteTableStore({ path });
    expect((await again.tasks.depth()).states.waiting).toBe(200);
    await again.close();
  });

  it('of a newer version is refused, and left alone', async () => {
    writeFileSync(path, '', { mode: 0o600 });
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 1000');
    db.close();
    const store = open();
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_NEWER' });
  });

  it.skipIf(process.platform === 'win32').each([
    ['the file', 0o640, 0o700, 'chmod go= '],
    ['the file', 0o602, 0o700, 'chmod go= '],
    ['the directory', 0o600, 0o770, 'chmod go-w '],
    ['the directory', 0o600, 0o703, 'chmod go-w '],
  ])('is refused if others can reach %s (%o in %o)', async (_, fileMode, folderMode, command) => {
    const made = sqliteStore({ path });
    await made.open();
    await made.close();
    await chmod(path, fileMode);
    await chmod(folder, folderMode);
    const store = open();
    const place = command.includes('-w') ? folder : path;
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_SHARED',
      message: expect.stringMatching(new RegExp(`: ${command}${place}$`)),
    });
    const allowed = open({ allowShared: true });
    expect(await allowed.tasks.put(task)).toMatchObject({ ok: true });
    await chmod(folder, 0o700);
  });
});

describe('an Idempotency-Key', () => {
  it('is free at once if the process that held it was killed', async () => {
    const fixture = new URL('./fixtures/keyHolder.ts', import.meta.url);
    const child = fork(fixture, [path], { execArgv: [] });
    expect(await once(child, 'message')).toEqual(['held', undefined]);
    const store = open();
    const begin = () => store.tasks.beginAnswer(1, 'key', 'print', 600_000);
    expect(await begin()).toMatchObject({ kind: 'running' });
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    expect(await begin()).toMatchObject({ kind: 'held' });
    expect(await begin()).toMatchObject({ kind: 'running' });
  });

  it.runIf(process.platform === 'linux')(
    'is not taken for held by a later process of the same number',
    async () => {
      const store = open();
      const begin = () => store.tasks.beginAnswer(1, 'key', 'print', 600_000);
      await begin();
      const db = new DatabaseSync(path);
      const { holder } = db.prepare('SELECT holder FROM answers').get() as { holder: string };
      const set = (name: string) => db.prepare('UPDATE answers SET holder = ?').run(name);
      // Ours, but of a process that started earlier; another boot; another container; no name.
      const parts = holder.split(' ');
      expect(parts.length).toBe(5);
      for (const [name, kind] of [
        [holder, 'running'],
        [[...parts.slice(0, 4), '1'].join(' '), 'held'],
        [parts.with(1, 'another-boot').join(' '), 'held'],
        [parts.with(2, 'pid:[1]').with(3, '999999999').join(' '), 'running'],
        ['plan9 7', 'running'],
      ] as const) {
        set(name);
        expect(await begin(), name).toMatchObject({ kind });
      }
      db.close();
    },
  );
});
