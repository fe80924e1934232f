/** The ends of tasks, and what other transactions change meanwhile. */
import { expect } from 'vitest';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { connectTo, overPostgres, type PostgresServer } from '../support/postgres.ts';
import { it } from './support.ts';

type Store = ReturnType<typeof createStore>;

const CLAIM = { leaseMs: 600_000, threads: 1 };
const RESULT = { format: 'bundle', aggregateBytes: 3 } as const;

/** A task of client 1 with a file of 10 bytes, in its last running state. */
async function aggregating(store: Store, file: string) {
  const input = { key: `inputs/${file}.json`, bytes: 10 };
  await store.tasks.put({ clientId: 1, state: 'waiting', input, threads: 1, ttlMs: 600_000 });
  const { task } = await store.tasks.claim(CLAIM);
  if (task === null) throw new Error('nothing waits');
  const { id, attempt } = task;
  await store.tasks.extend(id, attempt, { leaseMs: CLAIM.leaseMs, state: 'aggregating' });
  const finish = () => {
    const blob = { key: `results/${attempt}/${id}.json`, bytes: 7 };
    return store.tasks.finish(id, attempt, { blob, ...RESULT });
  };
  return { id, attempt, finish };
}

/** Holds the row of a task in a transaction with another change, until somebody waits for it. */
async function besideChange(
  { url, query }: PostgresServer,
  change: string,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const holder = await connectTo(url);
  await holder.query(`BEGIN; ${change}`);
  const answer = work();
  const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  while ((await query(waits)).length === 0) await new Promise((go) => setTimeout(go, 10));
  await holder.query('COMMIT');
  return answer;
}

overPostgres('all', (server) => {
  it('ends a task once, whatever changes it meanwhile', async ({ defer }) => {
    const schema = await server().newSchema();
    const store = createStore({ url: server().url, schema });
    defer(() => store.close());
    const beat = await aggregating(store, 'beat');
    const heartbeat = `UPDATE ${schema}.tasks SET due_ms = due_ms + 1 WHERE id = ${beat.id}`;
    expect(await besideChange(server(), heartbeat, beat.finish)).toBe(true);
    expect(await store.tasks.usage(1)).toEqual({ openTasks: 0, storedBytes: 7 });
    expect(await beat.finish()).toBe(false);

    const lost = await aggregating(store, 'lost');
    const claimed = `UPDATE ${schema}.tasks SET attempt = attempt + 1 WHERE id = ${lost.id}`;
    expect(await besideChange(server(), claimed, lost.finish)).toBe(false);
    expect(await store.tasks.usage(1)).toEqual({ openTasks: 1, storedBytes: 17 });
    expect((await store.tasks.get(lost.id))!.state).toBe('aggregating');
  });
});
