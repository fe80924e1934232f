import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import {
  LAST_OLD_VERSION,
  SCHEMA_VERSION,
} from '../../src/middleware/stores/sqlite/sqliteSchema.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { storeContract } from '../../src/middleware/testing/index.ts';
import { openSqlite } from './openSqlite.ts';
import { accepted, it as base } from './support.ts';

storeContract({ describe, it: base }, 'SQLite', openSqlite);
storeContract({ describe, it: base }, 'memory', async (nowMs) => {
  const store = memoryStore({ nowMs });
  return { store, other: store, close: () => store.close() };
});

/** A private file, as the store makes it. */
function newFile(path: string): DatabaseSync {
  writeFileSync(path, '', { mode: 0o600 });
  return new DatabaseSync(path);
}

const it = base.extend<{ path: string }>({
  path: async ({ folder }, use) => use(join(folder, 'tasks.sqlite')),
});

describe('the SQLite file', () => {
  const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 0 } as const;

  it('is in WAL mode, and readable by its owner only', async ({ path }) => {
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

  it('keeps everything when it is opened again', async ({ path }) => {
    const first = sqliteTableStore({ path });
    const input = { key: 'inputs/a.json', bytes: 5 };
    const put = await accepted(first.tasks.put({ ...task, input }));
    const secret = await first.tasks.secret('urls');
    await first.close();
    const second = sqliteTableStore({ path });
    const { id, state, createdAt } = put;
    expect(await second.tasks.get(id)).toEqual(put);
    expect(await second.tasks.list({ clientId: 1, limit: 5 })).toMatchObject({
      tasks: [{ id, state, createdAt, resultKey: null }],
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

  it.for([
    ['outdated', 1, 'STORE_OUTDATED'],
    ['outdated', LAST_OLD_VERSION, 'STORE_OUTDATED'],
    ['newer', SCHEMA_VERSION + 1, 'STORE_NEWER'],
  ] as const)(
    'refuses a file that is %s (version %i), and changes nothing',
    ([, version, code], { folder, path }) => {
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
    },
  );

  it('says that the store is busy rather than wait for ever', async ({ path }) => {
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

  it('gives a task at most 4096 parts', async ({ path }) => {
    const store = sqliteTableStore({ path });
    const { id } = await accepted(
      store.tasks.put({ ...task, state: 'created', parts: true, ttlMs: 9e6 }),
    );
    const db = new DatabaseSync(path);
    db.exec('UPDATE tasks SET parts = 4095');
    db.close();
    const put = () => store.tasks.putPart({ parent: id, clientId: 1, threads: 1, ttlMs: 0 });
    expect(await put()).toMatchObject({ ok: true, task: { part: 4095 } });
    expect(await put()).toEqual({ ok: false, reason: 'tooMany' });
    await store.close();
  });

  it('answers every question of the port from an index', async ({ path }) => {
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
    await store.tasks.parts(1);
    await store.close();
    DatabaseSync.prototype.prepare = prepare;

    const questions = Array.from(seen).filter((sql) => sql.includes('FROM tasks'));
    expect(questions.length).toBe(17);
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
});
