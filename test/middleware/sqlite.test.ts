import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  LAST_OLD_VERSION,
  SCHEMA_VERSION,
} from '../../src/middleware/stores/sqlite/sqliteSchema.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { storeContract } from '../../src/middleware/testing/index.ts';
import type { Claimed } from './fixtures/claimer.ts';
import { openSqlite } from './openSqlite.ts';

storeContract({ describe, it }, 'SQLite', openSqlite);

/** A private file, as the store makes it. */
function newFile(path: string): DatabaseSync {
  writeFileSync(path, '', { mode: 0o600 });
  return new DatabaseSync(path);
}

describe('the SQLite file', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'falconry-sqlite-'));
    path = join(folder, 'tasks.sqlite');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;

  it('is synced at every commit, before the promise resolves', async (context) => {
    if (spawnSync('strace', ['-V']).status !== 0) return context.skip('strace is not installed');
    const module = new URL('../../src/middleware/stores/sqlite/sqlite.ts', import.meta.url).href;
    const script = `
      import { writeSync } from 'node:fs';
      import { sqliteStore } from ${JSON.stringify(module)};
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const task = { clientId: 1, state: 'created', threads: 1, ttlMs: 60_000 };
      for (let i = 0; i < 5; i++) {
        writeSync(1, 'begin');
        const { task: made } = await store.tasks.put(task);
        writeSync(1, 'put');
        await store.tasks.upload(made.id, { key: 'inputs/' + i, bytes: 1 });
        writeSync(1, 'uploaded');
        await store.tasks.notify(made.id, 1);
        writeSync(1, 'notified');
      }`;
    const args = ['-f', '-e', 'trace=fsync,fdatasync,write', process.execPath];
    const traced = spawnSync('strace', [...args, '--input-type=module', '-e', script]);
    const calls = String(traced.stderr).matchAll(/(f(?:data)?sync)\(|write\(1, "(\w+)"/g);
    const steps = Array.from(calls, ([, sync, word]) => (sync ? 'sync' : word));
    for (const word of ['put', 'uploaded', 'notified']) {
      const places = steps.flatMap((step, i) => (step === word ? i : []));
      expect(places.length).toBe(5);
      expect(places.map((i) => steps[i - 1])).toEqual(Array(5).fill('sync'));
    }
  });

  it('is in WAL mode, and readable by its owner only', async () => {
    const store = sqliteTableStore({ path });
    await store.tasks.put(task);
    for (const name of [path, `${path}-wal`, `${path}-shm`]) {
      expect((await stat(name)).mode & 0o777, name).toBe(0o600);
    }
    await store.close();
    const db = new DatabaseSync(path);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    db.close();
  });

  it('keeps everything when it is opened again', async () => {
    const first = sqliteTableStore({ path });
    const outcome = await first.tasks.put({ ...task, input: { key: 'inputs/a.json', bytes: 5 } });
    const secret = await first.tasks.secret('urls');
    await first.close();
    const second = sqliteTableStore({ path });
    expect(outcome).toMatchObject({ ok: true });
    if (!outcome.ok) throw new Error(outcome.reason);
    const { id, state, createdAt } = outcome.task;
    expect(await second.tasks.get(id)).toEqual(outcome.task);
    expect(await second.tasks.list({ clientId: 1, limit: 5 })).toMatchObject({
      tasks: [{ id, state, createdAt, result: null }],
    });
    expect(await second.tasks.secret('urls')).toEqual(secret);
    await second.close();
    await second.close();
  });

  /** Every file of a folder, with its bytes. */
  const contents = (of: string) =>
    readdirSync(of, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(of, name), 'hex')]);

  it.each([
    ['outdated', 1, 'STORE_OUTDATED'],
    ['outdated', LAST_OLD_VERSION, 'STORE_OUTDATED'],
    ['newer', SCHEMA_VERSION + 1, 'STORE_NEWER'],
  ])('refuses a file that is %s (version %i), and changes nothing', (_, version, code) => {
    const db = newFile(path);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(`BEGIN; CREATE TABLE tasks (id INTEGER); PRAGMA user_version = ${version}; COMMIT`);
    // As a process leaves them that is killed: the version is in the log only.
    const killed = join(folder, 'killed');
    mkdirSync(killed, { mode: 0o700 });
    for (const name of ['tasks.sqlite', 'tasks.sqlite-wal']) {
      copyFileSync(join(folder, name), join(killed, name));
    }
    db.close();
    rmSync(`${path}-shm`, { force: true });
    for (const each of [folder, killed]) {
      const before = contents(each);
      const open = () => sqliteTableStore({ path: join(each, 'tasks.sqlite') });
      expect(open).toThrow(expect.objectContaining({ code }));
      expect(contents(each)).toEqual(before);
    }
  });

  it('says that the store is busy rather than wait for ever', async () => {
    const store = sqliteTableStore({ path, patienceMs: 20 });
    const db = new DatabaseSync(path);
    db.exec('BEGIN IMMEDIATE');
    await expect(store.tasks.put(task)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retriable: true,
    });
    db.exec('ROLLBACK');
    db.close();
    expect(await store.tasks.put(task)).toMatchObject({ ok: true });
    await store.close();
  });

  it('answers every question of the port from an index', async () => {
    const seen = new Set<string>();
    const { prepare } = DatabaseSync.prototype;
    DatabaseSync.prototype.prepare = function (sql) {
      seen.add(sql);
      return prepare.call(this, sql);
    };
    const store = sqliteTableStore({ path });
    await store.open();
    await store.tasks.put(task);
    for (const order of ['asc', 'desc'] as const) {
      await store.tasks.list({ clientId: 1, limit: 3, order });
      await store.tasks.list({ clientId: 1, limit: 3, order, after: 5 });
      await store.tasks.list({ clientId: 1, limit: 3, order, after: 5, state: 'failed' });
    }
    await store.tasks.claim({ leaseMs: 1, threads: 1 });
    await store.tasks.depth();
    await store.tasks.sweep({ answerMs: 1, retentionMs: 1 });
    await store.tasks.referenced(['a']);
    await store.close();
    DatabaseSync.prototype.prepare = prepare;

    const questions = Array.from(seen).filter((sql) => sql.includes('FROM tasks'));
    expect(questions.length).toBe(14);
    const db = new DatabaseSync(path);
    for (const sql of questions) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      const steps = plan.map((step) => String(step.detail)).join('; ');
      expect(steps, sql).toMatch(/USING (COVERING )?INDEX|USING INTEGER PRIMARY KEY/);
      expect(steps, sql).not.toMatch(/SCAN tasks(?! USING)|TEMP B-TREE/);
      // An index of its own: with that of all that is due, a claim would read the whole queue.
      if (sql.includes("'verifying'")) expect(steps).toContain('tasks_leases');
    }
    db.close();
  });

  it('hands 120 tasks to three processes, each to exactly one', async () => {
    const store = sqliteTableStore({ path });
    const ids: number[] = [];
    for (let i = 0; i < 120; i++) {
      const outcome = await store.tasks.put(task);
      if (outcome.ok) ids.push(outcome.task.id);
    }
    const claimer = new URL('./fixtures/claimer.ts', import.meta.url);
    const children = Array.from({ length: 3 }, () => fork(claimer, [path], { execArgv: [] }));
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.send('go');
    const answers = await Promise.all(
      children.map(async (child) => {
        const [[claimed]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
        return claimed as Claimed;
      }),
    );
    const finished = answers.flatMap((answer) => answer.finished);
    expect(finished.toSorted((a, b) => a - b)).toEqual(ids);
    expect(new Set(answers.flatMap((answer) => answer.put)).size).toBe(90);
    const { states } = await store.tasks.depth();
    expect(states).toEqual({ created: 90, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 });
    await store.close();
  });
});
