/** The steps of the schema, taken beside running stores, and the plans of its queries. */
import { expect, it } from 'vitest';
import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import { migrateBy } from '../../src/middleware/stores/postgres/migrate.ts';
import { LAST_OLD_STEP, STEPS, type Step } from '../../src/middleware/stores/postgres/schema.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { connectTo, overPostgres, type PostgresServer, recorded } from '../support/postgres.ts';
import { accepted } from './support.ts';

/** The last step of this version. */
const TO = LAST_OLD_STEP + STEPS.length;

const LATER: readonly Step[] = [
  {
    about: 'a column',
    oldestReader: TO,
    statements: (s) => [
      `ALTER TABLE ${s}.tasks ADD COLUMN colour text`,
      `ALTER TABLE ${s}.clients ADD COLUMN colour text`,
    ],
  },
  {
    about: 'an index',
    oldestReader: TO,
    statements: (s) => [`CREATE INDEX tasks_colour ON ${s}.tasks (colour)`],
  },
];
const NEXT: Step = {
  about: 'something that this release cannot read',
  oldestReader: TO + 3,
  statements: (s) => [`ALTER TABLE ${s}.tasks RENAME COLUMN count TO number`],
};

const WAITING = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 60_000 } as const;
const CLAIM = { leaseMs: 60_000, threads: 1 };

async function useParts(store: CompleteStore['tasks']): Promise<void> {
  const list = await accepted(store.put({ ...WAITING, state: 'created', parts: true }));
  const part = { parent: list.id, clientId: 1, threads: 1, ttlMs: 60_000 };
  for (let i = 0; i < 2; i++) {
    const added = await store.putPart(part);
    if (!added.ok) throw new Error(added.reason);
    await store.renew(list.id, 1, 60_000, i);
    await store.upload(added.task.id, { key: `inputs/${i}.json`, bytes: 1 });
  }
  await store.notify(list.id, 1);
  await store.parts(list.id, { state: 'waiting', limit: 1 });
  await store.finish(list.id, 1, { blob: { key: 'k', bytes: 1 }, format: 'f', aggregateBytes: 1 });
  await store.fail(list.id, 1, { code: 'TIMED_OUT', message: 'm' });
  await store.remake(list.id, 1, [0]);
  await store.cancel(list.id, 1);
}

/** Uses every statement that reads or writes tasks; some of them often, so that they are kept. */
async function useAll({ tasks: store }: CompleteStore): Promise<void> {
  const add = async (state: 'created' | 'waiting') =>
    (await accepted(store.put({ ...WAITING, state }))).id;
  const claim = async () => {
    const { task } = await store.claim(CLAIM);
    if (task === null) throw new Error('nothing waits');
    return task;
  };
  const error = { code: 'TIMED_OUT', message: 'm' } as const;
  for (let i = 0; i < 7; i++) await store.get(await add('waiting'));
  for (const order of ['asc', 'desc'] as const) {
    await store.list({ clientId: 1, limit: 3, order });
    await store.list({ clientId: 1, limit: 3, order, after: 5 });
    await store.list({ clientId: 1, limit: 3, order, after: 5, state: 'failed' });
    await store.list({ clientId: 1, limit: 3, order, state: 'failed' });
  }
  const made = await add('created');
  await store.renew(made, 1, 1000);
  await store.upload(made, { key: 'inputs/a.json', bytes: 1 });
  await store.notify(made, 1);
  await store.notify(made, 1);
  await useParts(store);
  const claimed = [];
  for (let i = 0; i < 5; i++) claimed.push(await claim());
  const [a, b, c, d, e] = claimed as [Task, Task, Task, Task, Task];
  await store.extendAll([a, b], 1000);
  await store.extend(a.id, a.attempt, { leaseMs: 1000, state: 'aggregating' });
  const blob = { key: `results/1/${a.id}.json`, bytes: 1 };
  await store.finish(a.id, a.attempt, { blob, format: 'bundle', aggregateBytes: 1 });
  await store.fail(b.id, b.attempt, error);
  await store.fail(c.id, c.attempt, error, { delayMs: 0 });
  await store.release(d.id, d.attempt);
  await store.setAside(e.id, e.attempt, error);
  await store.putBack(e.id);
  await store.cancel(e.id, 1);
  await store.remove(e.id, 1);
  const begun = await store.beginAnswer(1, `k${a.id}`, 'f', 1000);
  if (begun.kind !== 'held') throw new Error(begun.kind);
  await store.extendAnswer(begun.hold, 1000);
  await store.put(WAITING, { hold: begun.hold, limits: { openTasks: 1e6, storedBytes: 1e9 } });
  await store.abandonAnswer(begun.hold);
  await store.beginAnswer(1, `k${a.id}`, 'f', 1000);
  await store.referenced(['inputs/a.json', blob.key]);
  for (const quarantined of [undefined, true, false]) {
    await store.unfinished({ limit: 10, ...(quarantined !== undefined && { quarantined }) });
  }
  await store.depth();
  await store.usage(1);
  await store.sweep({ answerMs: 1e9, retentionMs: 1e9 });
}

async function fill(server: PostgresServer, schema: string, tasks: number): Promise<void> {
  await server.query(`INSERT INTO ${schema}.clients
      (id, open_tasks, stored_bytes, last_task, last_turn)
    SELECT g, 0, 0, 0, 0 FROM generate_series(1, 2000) g`);
  await server.query(`INSERT INTO ${schema}.tasks (id, client_id, state, count, threads, submitted,
      turn, due_ms, expires_ms, finished_ms, created_at, submitted_at, updated_at, result_key)
    SELECT g, g % 100, s, 1, 1, true, g / 100, CASE WHEN s = 'waiting' THEN 0 END, 0,
      CASE WHEN s = 'completed' THEN g END, now(), now(), now(), 'results/1/' || g || '.json'
    FROM generate_series(1, ${tasks}) g,
      LATERAL (SELECT CASE WHEN g % 10 = 0 THEN 'waiting' ELSE 'completed' END AS s) state`);
  await server.query(`INSERT INTO ${schema}.answers
      (client_id, key, fingerprint, token, held_until_ms, created_ms)
    SELECT g % 100, 'k' || g, 'f', 't', 0, 0 FROM generate_series(1, ${tasks}) g`);
  await server.query(`VACUUM ANALYZE ${schema}.tasks, ${schema}.clients, ${schema}.answers`);
}

overPostgres('all', (server) => {
  it('goes on while later steps are taken, and is refused when it must be', async () => {
    const { url } = server();
    const schema = await server().newSchema();
    const running = createStore({ url, schema, connections: 1 });
    await running.open();
    await useAll(running);
    const later = [...STEPS, ...LATER];
    expect((await migrateBy(later, url, { schema })).steps.map(({ step }) => step)).toEqual([
      TO + 1,
      TO + 2,
    ]);
    // Statements that this connection has prepared before, and a store that starts now.
    await useAll(running);
    const started = createStore({ url, schema });
    await started.open();
    await useAll(started);
    expect(await migrateBy(STEPS, url, { schema })).toMatchObject({ from: TO + 2 });

    await migrateBy([...later, NEXT], url, { schema });
    await expect(started.open()).rejects.toMatchObject({ code: 'STORE_NEWER' });
    await expect(migrateBy(STEPS, url, { schema })).rejects.toMatchObject({ code: 'STORE_NEWER' });
    await running.close();
    await started.close();
  });

  it('takes a step as a whole or not at all', async () => {
    const { url } = server();
    const schema = await server().newSchema();
    const [column, index] = LATER as [Step, Step];
    const broken: Step = {
      ...column,
      statements: (s) => [...column.statements(s), `SELECT 1 / 0 FROM ${s}.migrations`],
    };
    const all = (step: Step) => [...STEPS, step, index];
    const fault = migrateBy(all(broken), url, { schema });
    await expect(fault).rejects.toMatchObject({ code: 'INTERNAL' });
    const checked = await migrateBy(all(column), url, { schema, check: true });
    expect(checked.from).toBe(TO);
    expect((await migrateBy(all(column), url, { schema })).steps.length).toBe(2);
  });

  it('does not hold up the service behind a table that is in use', async () => {
    const { url } = server();
    const schema = await server().newSchema();
    const reader = await connectTo(url);
    await reader.query(`BEGIN; SELECT count(*) FROM ${schema}.tasks`);
    const startMs = performance.now();
    const fault = migrateBy([...STEPS, ...LATER], url, { schema });
    await expect(fault).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(performance.now() - startMs).toBeGreaterThan(4000);
    await reader.query('COMMIT');
    expect((await migrateBy([...STEPS, ...LATER], url, { schema })).steps.length).toBe(2);
  });

  it('answers every question of the port from an index', async () => {
    const schema = await server().newSchema();
    await fill(server(), schema, 30_000);
    const store = createStore({ url: server().url, schema }, { lookEveryMs: 0 });
    const seen = await recorded(() => useAll(store));
    await store.close();
    const questions = [...seen].filter(([text]) => /\.(tasks|clients|answers)\b/.test(text));
    expect(questions.length).toBeGreaterThan(36);
    const planner = await connectTo(server().url);
    for (const [text, values] of questions) {
      // To join 500 rows with so few, reading all of them would be right, too.
      const bulk = /LIMIT 500/.test(text);
      await planner.query(`SET enable_seqscan = ${bulk ? 'off' : 'on'}`);
      const { rows } = await planner.query(`EXPLAIN ${text}`, values);
      const lines = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(lines, text).not.toMatch(/Seq Scan on (tasks|clients|answers)\b/);
      const claims = /SKIP LOCKED/.test(text) && /setval/.test(text);
      // In the order of the queue: nothing is sorted, so the first row is enough.
      if (claims) expect(lines, text).toMatch(/Index Scan using tasks_queue/);
      if (claims) expect(lines, text).not.toMatch(/Sort/);
      if (claims && /turn >=/.test(text)) expect(lines, text).toMatch(/Index Cond: \(turn >=/);
      if (!/LIMIT \$2/.test(text)) continue;
      expect(lines, text).toMatch(/Index Only Scan (Backward )?using tasks_of_(client|state)/);
    }
  });
});
