/** The ends of tasks: what they ask of the tables of webhooks, and what happens beside them. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { OPERATOR } from '../../src/middleware/stores/port/webhookStore.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { overPostgres, type PostgresServer, recorded } from '../support/postgres.ts';

type Store = ReturnType<typeof createStore>;

const CLAIM = { leaseMs: 600_000, threads: 1 };
const RESULT = { format: 'bundle', aggregateBytes: 3 } as const;
const HOOK = { url: 'https://hook.example/', secret: 's' };

/** A task of client 1 with a file of 10 bytes, in its last running state. */
async function aggregating(store: Store, file: string) {
  const input = { key: `inputs/${file}.json`, bytes: 10 };
  await store.put({ clientId: 1, state: 'waiting', input, threads: 1, ttlMs: 600_000 });
  const { task } = await store.claim(CLAIM);
  if (task === null) throw new Error('nothing waits');
  const { id, attempt } = task;
  await store.extend(id, attempt, { leaseMs: CLAIM.leaseMs, state: 'aggregating' });
  const finish = () => {
    const blob = { key: `results/${attempt}/${id}.json`, bytes: 7 };
    return store.finish(id, attempt, { blob, ...RESULT });
  };
  return { id, attempt, finish };
}

async function withStores(
  server: PostgresServer,
  work: (store: Store, other: Store, schema: string) => Promise<void>,
): Promise<void> {
  const schema = await server.newSchema();
  const [store, other] = [1, 2].map(() => createStore({ url: server.url, schema }));
  try {
    await work(store!, other!, schema);
  } finally {
    await store!.close();
    await other!.close();
  }
}

/** Holds the row of a task in a transaction with another change, until somebody waits for it. */
async function besideChange(
  { url, query }: PostgresServer,
  change: string,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query(`BEGIN; ${change}`);
  const answer = work();
  const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  while ((await query(waits)).length === 0) await new Promise((go) => setTimeout(go, 10));
  await holder.query('COMMIT');
  await holder.end();
  return answer;
}

overPostgres('all', (server) => {
  switching(server);
  adding(server);
  it('ends a task once, whatever changes it meanwhile', () =>
    withStores(server(), async (store, _other, schema) => {
      const beat = await aggregating(store, 'beat');
      const heartbeat = `UPDATE ${schema}.tasks SET due_ms = due_ms + 1 WHERE id = ${beat.id}`;
      expect(await besideChange(server(), heartbeat, beat.finish)).toBe(true);
      expect(await store.usage(1)).toEqual({ openTasks: 0, storedBytes: 7 });
      expect(await beat.finish()).toBe(false);

      const lost = await aggregating(store, 'lost');
      const claimed = `UPDATE ${schema}.tasks SET attempt = attempt + 1 WHERE id = ${lost.id}`;
      expect(await besideChange(server(), claimed, lost.finish)).toBe(false);
      expect(await store.usage(1)).toEqual({ openTasks: 1, storedBytes: 17 });
      expect((await store.get(lost.id))!.state).toBe('aggregating');
    }));
});

function switching(server: () => PostgresServer): void {
  it('asks for deliveries only where there is a webhook', () =>
    withStores(server(), async (store, other, schema) => {
      const told = async () => {
        const sql = `SELECT count(*)::integer AS rows FROM ${schema}.deliveries`;
        return (await server().query<{ rows: number }>(sql))[0]!.rows;
      };
      let file = 0;
      /** Whether the statements that ended a task queued for webhooks. */
      const ended = async (fails: boolean) => {
        const task = await aggregating(store, `${++file}`);
        const error = { code: 'INTERNAL', message: 'm' } as const;
        const texts = await recorded(async () => {
          const end = fails ? store.fail(task.id, task.attempt, error) : task.finish();
          expect(await end).toBe(true);
        });
        const ends = [...texts.keys()].filter((text) => /finished_at/.test(text));
        return ends.map((text) => /INSERT INTO .*deliveries/.test(text));
      };
      expect([await ended(false), await ended(true), await told()]).toEqual([[false], [false], 0]);

      // Another process adds one: the first end after that finds it.
      await other.putWebhook({ owner: OPERATOR, ...HOOK });
      expect([await ended(false), await told()]).toEqual([[false, true], 1]);
      expect([await ended(true), await told()]).toEqual([[true], 2]);

      await other.removeWebhook(OPERATOR);
      expect([await ended(false), await ended(false)]).toEqual([[true], [false]]);
      // One that is disabled hears of nothing.
      await other.putWebhook({ owner: 1, ...HOOK });
      await server().query(`UPDATE ${schema}.webhooks SET disabled_at = now()`);
      expect([await ended(false), await told()]).toEqual([[false], 0]);
    }));
}

function adding(server: () => PostgresServer): void {
  it('tells a webhook of every end that begins after it was added', () =>
    withStores(server(), async (store, other) => {
      const tasks: Awaited<ReturnType<typeof aggregating>>[] = [];
      for (let i = 0; i < 60; i++) tasks.push(await aggregating(store, `${i}`));
      let there = false;
      const after: number[] = [];
      const added = new Promise((go) => setTimeout(go, 5))
        .then(() => other.putWebhook({ owner: 1, ...HOOK }))
        .then(() => {
          there = true;
        });
      const ends = async () => {
        for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
          if (tasks.length === 10) await added;
          if (there) after.push(task.id);
          expect(await task.finish()).toBe(true);
        }
      };
      await Promise.all([1, 2, 3, 4].map(ends));
      expect(after.length).toBeGreaterThan(9);
      const told: number[] = [];
      for (;;) {
        const delivery = await other.claimDelivery(600_000);
        if (delivery === null) break;
        told.push(delivery.taskId);
      }
      expect(told).toEqual(expect.arrayContaining(after));
    }));
}
