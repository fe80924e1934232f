/** The store on PostgreSQL from end to end, on one server. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { BEGIN, readAddress } from '../../src/middleware/stores/postgres/address.ts';
import { checkServer, withLine } from '../../src/middleware/stores/postgres/database.ts';
import { examine } from '../../src/middleware/stores/postgres/examine.ts';
import { migrate, postgresStore } from '../../src/middleware/stores/postgres/index.ts';
import { LAST_OLD_STEP, STEPS } from '../../src/middleware/stores/postgres/schema.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { overPostgres, type PostgresServer, startNewestPostgres } from '../support/postgres.ts';
import { accepted } from './support.ts';

const TO = LAST_OLD_STEP + STEPS.length;
const STEP_LIST = STEPS.map(({ about }, i) => ({ step: LAST_OLD_STEP + i + 1, about }));

overPostgres('newest', (server) => {
  outdated(server);
  suspectClock(server);
  briefYear(server);
  examined(server);
  it('is made by migrate, and never by a store', async () => {
    const { url } = server();
    const schema = await server().newSchema({ empty: true });
    const store = postgresStore({ url, schema, connections: 2 });
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_OLDER' });
    const all = { from: 0, to: TO, steps: STEP_LIST };
    expect(await migrate(url, { schema, check: true })).toEqual(all);
    expect(await migrate(url, { schema, dryRun: true })).toEqual(all);
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_OLDER' });
    expect(await server().query('SELECT to_regnamespace($1) AS found', [schema])).toEqual([
      { found: null },
    ]);
    const made = await Promise.all([migrate(url, { schema }), migrate(url, { schema })]);
    expect(made.map(({ steps }) => steps.length).sort()).toEqual([0, STEPS.length]);
    await store.open();
    expect(await migrate(url, { schema })).toEqual({ from: TO, to: TO, steps: [] });
    await store.close();
    await expect(migrate(`${url}&pooled=1`, { schema })).rejects.toThrow(/not of a pooler/);
  });

  it('takes a task through its life, by the clock of the server', async () => {
    const schema = await server().newSchema();
    const store = postgresStore({ url: server().url, schema, connections: 2 });
    await store.open();
    const limits = { openTasks: 1 };
    const before = Date.now();
    const task = { clientId: 3, state: 'created', threads: 1, ttlMs: 60_000 } as const;
    const { id, createdAt, expiresAtMs } = await accepted(store.tasks.put(task, { limits }));
    expect(Math.abs(Date.parse(createdAt) - before)).toBeLessThan(30_000);
    expect(expiresAtMs).toBeGreaterThan(before + 30_000);
    expect(await store.tasks.put(task, { limits })).toEqual({ ok: false, reason: 'openTasks' });
    await store.tasks.upload(id, { key: 'inputs/a.json', bytes: 5 });
    await store.tasks.notify(id, 3);
    expect(await store.tasks.claim({ leaseMs: 60_000, threads: 2 })).toMatchObject({
      task: { id },
    });
    const none = await store.tasks.claim({ leaseMs: 60_000, threads: 2 });
    if (none.task) throw new Error('claimed twice');
    expect(none.nextMs).toBeLessThanOrEqual(1000);
    await store.tasks.extend(id, 1, { leaseMs: 60_000, state: 'aggregating', count: 7 });
    const blob = { key: `results/1/${id}.json`, bytes: 9 };
    expect(await store.tasks.finish(id, 1, { blob, format: 'bundle', aggregateBytes: 4 })).toBe(
      true,
    );
    expect(await store.tasks.get(id, 3)).toMatchObject({
      state: 'completed',
      count: 7,
      input: null,
    });
    expect(await store.tasks.usage(3)).toEqual({ openTasks: 0, storedBytes: 9 });
    await store.close();
  });
});

function examined(server: () => PostgresServer): void {
  it('is examined for what no connection can set', async () => {
    const weak = {
      fsync: 'off',
      full_page_writes: 'off',
      autovacuum: 'off',
      max_connections: '12',
    };
    const other = (await startNewestPostgres(weak))!;
    onTestFinished(() => other.stop());
    await other.query(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`);
    const told = JSON.stringify(await examine(other.url.replace('/postgres?', '/latin?')));
    for (const part of ['LATIN1', 'fsync', 'full_page_writes', 'autovacuum', 'allows 9 conn']) {
      expect(told).toContain(part);
    }

    const { url, query } = server();
    const schema = await server().newSchema();
    expect(await examine(url, schema)).toEqual([]);
    await query(`CREATE ROLE limited LOGIN CONNECTION LIMIT 5`);
    await query(`ALTER ROLE limited SET transaction_timeout = '1min'`);
    await query(`GRANT USAGE ON SCHEMA ${schema} TO limited`);
    await query(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO limited`);
    await query(`REVOKE DELETE ON ${schema}.answers FROM limited`);
    await query(`ALTER TABLE ${schema}.quotas SET UNLOGGED`);
    await query(`ALTER TABLE ${schema}.tasks ENABLE ROW LEVEL SECURITY`);
    const limited = url.replace('postgres@', 'limited@');
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    const found = await examine(limited, schema);
    clock.mockRestore();
    expect(found.map(({ fatal, message }) => [fatal, message])).toEqual([
      [false, expect.stringMatching(/allows 5 connections, but a process uses up to 11$/)],
      [false, expect.stringMatching(/clock of the server is -3[56]\d\d s ahead of this one/)],
      [false, 'unlogged, so a crash empties them: quotas'],
      [true, 'row security applies to the role: tasks'],
      [true, 'the role has too few privileges: answers, queue_turn, task_numbers'],
    ]);

    const address = readAddress('url', limited);
    await withLine(address.config, undefined, async (line) => {
      const limit = `SELECT current_setting('transaction_timeout') AS ms`;
      expect((await line.query(limit)).rows).toEqual([{ ms: '1min' }]);
      for (const pooled of [true, false]) {
        if (pooled) await line.query(BEGIN);
        else await checkServer(line, address);
        expect((await line.query(limit)).rows).toEqual([{ ms: '0' }]);
        if (pooled) await line.query('ROLLBACK');
      }
    });
  });
}

const DAY_MS = 24 * 3_600_000;

/** A store whose server has a clock that can be set. */
async function settable({ url, newSchema }: PostgresServer) {
  const clock = { ms: Date.UTC(2026, 10, 21) };
  const schema = await newSchema();
  const options = { url, schema, connections: 2 };
  const store = createStore(options, { nowMs: () => clock.ms, lookEveryMs: 0 });
  return { ...store, schema, clock };
}

function suspectClock(server: () => PostgresServer): void {
  it('removes nothing while the clock of the server is suspect', async () => {
    const { tasks, close, schema, clock } = await settable(server());
    const rules = { answerMs: DAY_MS, retentionMs: DAY_MS };
    const sweep = () => tasks.sweep(rules);
    const put = (state: 'created' | 'waiting') =>
      accepted(tasks.put({ clientId: 1, state, threads: 1, ttlMs: 1000 }));
    expect((await sweep()).suspect).toBe(undefined);
    const done = await put('waiting');
    await tasks.cancel(done.id, 1);
    await put('created');
    await tasks.beginAnswer(1, 'k', 'f', 1000);
    const held = await put('waiting');

    clock.ms += 365 * DAY_MS;
    const nothing = { expired: [], removed: 0, forgotten: 0, blobs: [] };
    const aheadMs = 365 * DAY_MS;
    expect(await sweep()).toMatchObject({ ...nothing, suspect: { aheadMs, leftMs: DAY_MS } });
    expect((await tasks.claim({ leaseMs: 1000, threads: 1 })).task?.id).toBe(held.id);
    clock.ms += 30_000;
    const leftMs = DAY_MS - 30_000;
    expect((await sweep()).suspect).toEqual({ aheadMs: aheadMs + 30_000, leftMs });
    // A pause is no running time, and ids follow the time that was kept.
    clock.ms += 3_600_000;
    expect((await sweep()).suspect!.leftMs).toBe(leftMs - 60_000);
    expect((await put('waiting')).id - held.id).toBeLessThan(4096 * 2 * DAY_MS);

    clock.ms -= 365 * DAY_MS + 3_600_000;
    expect(await sweep()).toMatchObject({ removed: 0, forgotten: 0 });
    expect(await tasks.get(done.id)).not.toBe(null);
    expect(await tasks.suspectClock()).toBe(null);
    // The lease of the wrong clock does not last for a year.
    const again = (await tasks.claim({ leaseMs: 1000, threads: 1 })).task;
    expect(again).toMatchObject({ id: held.id, attempt: 2 });

    clock.ms += 3 * DAY_MS;
    await sweep();
    await server().query(`UPDATE ${schema}.clock SET ran_ms = ${DAY_MS - 1000}`);
    clock.ms += 2000;
    expect((await sweep()).suspect!.leftMs).toBe(0);
    expect(await sweep()).toMatchObject({ removed: 2, forgotten: 1, nowMs: clock.ms });

    clock.ms += 3 * DAY_MS;
    expect(await tasks.acceptClock()).toMatchObject({ leftMs: DAY_MS });
    expect((await sweep()).suspect).toBe(undefined);
    await close();
  });
}

function briefYear(server: () => PostgresServer): void {
  it('keeps nothing of a wrong clock between two looks at it', async () => {
    const { tasks, close, clock } = await settable(server());
    const sweep = async () => (await tasks.sweep({ answerMs: 3_600_000 })).suspect;
    const claimed = async () => (await tasks.claim({ leaseMs: 1000, threads: 1 })).task;
    const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 1000 } as const;
    const { id } = await accepted(tasks.put(task));
    expect(await sweep()).toBe(undefined);
    const yearMs = 365 * DAY_MS;
    clock.ms += yearMs;
    expect(await claimed()).toMatchObject({ id, attempt: 1 });
    expect((await tasks.beginAnswer(1, 'k', 'f', 1000)).kind).toBe('held');
    clock.ms -= yearMs;
    expect(await sweep()).toBe(undefined);
    clock.ms += 1000;
    expect(await claimed()).toMatchObject({ id, attempt: 2 });
    expect((await tasks.beginAnswer(1, 'k', 'f', 1000)).kind).toBe('held');
    await close();
  });
}

function outdated(server: () => PostgresServer): void {
  it.each([1, LAST_OLD_STEP])('refuses tables of step %i, and changes nothing', async (step) => {
    const { url, query } = server();
    const schema = await server().newSchema({ empty: true });
    await query(`CREATE SCHEMA ${schema}`);
    await query(`CREATE TABLE ${schema}.tasks (id bigint)`);
    await query(`CREATE TABLE ${schema}.migrations
      (step integer PRIMARY KEY, oldest_reader integer NOT NULL, at timestamptz DEFAULT now())`);
    await query(`INSERT INTO ${schema}.migrations (step, oldest_reader)
      SELECT step, 1 FROM generate_series(1, ${step}) step`);
    const contents = async () => [
      await query(`SELECT oid, relname, relfilenode FROM pg_class
        WHERE relnamespace = '${schema}'::regnamespace ORDER BY oid`),
      await query(`SELECT xmin::text, * FROM ${schema}.migrations ORDER BY step`),
    ];
    const before = await contents();
    const store = postgresStore({ url, schema, connections: 1 });
    for (const attempt of [
      () => store.open(),
      () => store.tasks.ping(),
      () => migrate(url, { schema }),
      () => migrate(url, { schema, check: true }),
      () => migrate(url, { schema, dryRun: true }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'STORE_OUTDATED' });
    }
    await store.close();
    expect(await contents()).toEqual(before);
  });
}
