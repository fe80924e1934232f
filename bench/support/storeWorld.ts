/** A PostgreSQL of our own, with a million finished tasks, for the parts of ../store.ts. */

import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { type PostgresServer, startNewestPostgres } from '../../test/support/postgres.ts';

export type Store = CompleteStore;

export interface World {
  readonly server: PostgresServer;
  readonly schema: string;
  readonly finished: number;
  /** A store that has made its connections. */
  open(connections: number): Promise<Store>;
  /** Adds so many tasks that wait, of a thousand clients. */
  fill(count: number): Promise<void>;
  /** Removes what is unfinished. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** The client of the finished tasks, whose ids are one after the other. */
export const MANY = { clientId: 1, firstId: 4096, failedEvery: 1000 } as const;
export const CLAIMERS = 32;
/** Longer than any part takes. */
export const CLAIM = { leaseMs: 3_600_000, threads: 1 } as const;

/** Room for the tables, as in examples/deploy/compose.yaml, and PostgreSQL's own size of a log. */
const SETTINGS = { shared_buffers: '512MB', max_wal_size: '1GB' };
const CLIENTS = 1000;
const FIRST_CLIENT = 1001;

/** The clients in turn. */
export const clientOf = (i: number): number => FIRST_CLIENT + (i % CLIENTS);

/** @throws Error if there is no PostgreSQL */
export async function makeWorld(finished: number): Promise<World> {
  const server = await startNewestPostgres(SETTINGS);
  if (server === null) throw new Error('no PostgreSQL: it exists for Linux on x64 only');
  const schema = await server.newSchema();
  const stores: Store[] = [];
  await server.query(finishedTasks(schema), [finished]);
  await server.query(`VACUUM ANALYZE ${schema}.tasks`);
  await server.query('CHECKPOINT');
  return {
    server,
    schema,
    finished,
    async open(connections) {
      const store = createStore({ url: server.url, schema, connections });
      stores.push(store);
      await Promise.all(Array.from({ length: connections }, () => store.tasks.usage(1)));
      return store;
    },
    async fill(count) {
      await server.query(waitingTasks(schema), [count]);
      await server.query(`ANALYZE ${schema}.tasks`);
    },
    async empty() {
      const open = `state IN ('created', 'uploaded', 'waiting', 'verifying', 'aggregating')`;
      await server.query(`DELETE FROM ${schema}.tasks WHERE ${open}`);
      await server.query(`UPDATE ${schema}.clients SET open_tasks = 0, stored_bytes = 0`);
      await server.query(`VACUUM ANALYZE ${schema}.tasks`);
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await server.stop();
    },
  };
}

/** A worker's claim from a queue that is filled again should it run out. */
export function claimer(world: World, store: Store, refill: number): () => Promise<Task> {
  let filling: Promise<void> | null = null;
  return async () => {
    for (;;) {
      const { task } = await store.tasks.claim(CLAIM);
      if (task !== null) return task;
      filling ??= world.fill(refill).finally(() => {
        filling = null;
      });
      await filling;
    }
  };
}

/** Runs as many loops at once for so long. @returns how often one of them came round in a second */
export async function rate(
  loops: number,
  seconds: number,
  step: (turn: number) => Promise<unknown>,
  tell: (atMs: number) => void = () => {},
): Promise<number> {
  let turn = 0;
  const startMs = performance.now();
  const endMs = startMs + 1000 * seconds;
  let done = 0;
  const loop = async () => {
    while (performance.now() < endMs) {
      await step(turn++);
      done++;
      tell(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return (1000 * done) / (performance.now() - startMs);
}

function finishedTasks(s: string): string {
  const failed = `i % ${MANY.failedEvery} = 7`;
  return `
    INSERT INTO ${s}.tasks (id, client_id, state, attempt, count, threads, submitted, turn,
      expires_ms, finished_ms, created_at, submitted_at, updated_at, finished_at,
      result_key, result_bytes, result_format, aggregate_bytes, error)
    SELECT ${MANY.firstId} + i, ${MANY.clientId},
      CASE WHEN ${failed} THEN 'failed' ELSE 'completed' END, 1, 1722, 1, true, 0,
      ${s}.now_ms() + 3600000, ${s}.now_ms() - 60000, now(), now(), now(), now(),
      CASE WHEN NOT ${failed} THEN 'results/1/' || (${MANY.firstId} + i) || '.json' END,
      CASE WHEN NOT ${failed} THEN 264000 END,
      CASE WHEN NOT ${failed} THEN 'proof' END,
      CASE WHEN NOT ${failed} THEN 131817 END,
      CASE WHEN ${failed} THEN '{"code":"INVALID_SIGNATURES","message":"-","invalid":[]}'::json END
    FROM generate_series(0, $1::integer - 1) i`;
}

/** As `put` leaves them: one after the other, each client's with a turn of its own. */
function waitingTasks(s: string): string {
  return `
    WITH base AS (SELECT greatest(max(q.last_value), coalesce(max(c.last_turn), 0)) + 1 AS turn
      FROM ${s}.queue_turn q LEFT JOIN ${s}.clients c ON true),
    made AS (
      INSERT INTO ${s}.tasks (id, client_id, state, count, threads, submitted, turn, due_ms,
        expires_ms, created_at, submitted_at, updated_at, input_key, input_bytes)
      SELECT ${s}.new_task_id(), ${FIRST_CLIENT} + i % ${CLIENTS}, 'waiting', 1722, 1, true,
        base.turn + i / ${CLIENTS}, ${s}.now_ms(), ${s}.now_ms() + 86400000, clock_timestamp(),
        clock_timestamp(), clock_timestamp(), 'inputs/' || gen_random_uuid() || '.json', 5600000
      FROM base, generate_series(0, $1::integer - 1) i
      RETURNING id, client_id, turn)
    INSERT INTO ${s}.clients AS c (id, open_tasks, stored_bytes, last_task, last_turn)
      SELECT client_id, count(*), count(*) * 5600000, max(id), max(turn)
      FROM made GROUP BY client_id
    ON CONFLICT (id) DO UPDATE SET open_tasks = c.open_tasks + excluded.open_tasks,
      stored_bytes = c.stored_bytes + excluded.stored_bytes, last_task = excluded.last_task,
      last_turn = excluded.last_turn`;
}
