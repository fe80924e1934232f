/** How much a store does in a second: see ../store.ts. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Task } from '../../src/middleware/stores/port/task.ts';
import type { Bar } from './bars.ts';
import { CLAIM, CLAIMERS, claimer, clientOf, rate, type World } from './storeWorld.ts';

/**
 * Commits of one changed row each, of a table with nothing else: what this machine can do at best,
 * so that rates of different machines can be compared.
 */
export async function measurePlainCommits(world: World, seconds: number): Promise<number> {
  const { server } = world;
  await server.query(
    `CREATE TABLE plain AS SELECT i AS id, 0 AS n FROM generate_series(1, 1000) i`,
  );
  await server.query('ALTER TABLE plain ADD PRIMARY KEY (id)');
  const pool = new pg.Pool({ connectionString: server.url, max: CLAIMERS });
  const text = 'UPDATE plain SET n = n + 1 WHERE id = $1';
  try {
    const all = Array.from({ length: CLAIMERS }, () => pool.query('SELECT 1'));
    await Promise.all(all);
    return await rate(CLAIMERS, seconds, (turn) =>
      pool.query({ name: 'plain', text, values: [1 + (turn % 1000)] }),
    );
  } finally {
    await pool.end();
    await server.query('DROP TABLE plain');
  }
}

/** New tasks, while another process's store hears the hints of them. */
export async function measurePuts(world: World, seconds: number): Promise<Bar[]> {
  const store = await world.open(CLAIMERS);
  const other = await world.open(1);
  let heard = 0;
  other.tasks.watch(({ own, id }) => {
    if (!own && id > 0) heard++;
  });
  await hearing(world);
  let puts = 0;
  const value = await rate(CLAIMERS, seconds, async (turn) => {
    const input = { key: `inputs/${crypto.randomUUID()}.json`, bytes: 5_600_000 };
    const task = { clientId: clientOf(turn), state: 'waiting', input, threads: 1 } as const;
    const outcome = await store.tasks.put({ ...task, ttlMs: 3_600_000 });
    if (!outcome.ok) throw new Error(outcome.reason);
    puts++;
  });
  await store.close();
  // Hints may be lost, but a bar that counts puts without them would be another one. On a busy
  // machine they come late.
  const enough = () => heard >= 0.9 * puts;
  for (let waits = 0; !enough() && waits < 600; waits++) await pause(100);
  await other.close();
  if (!enough()) throw new Error(`${heard} hints of ${puts} puts were heard`);
  return [{ name: 'puts with hints', unit: '/s', value, atLeast: 3500 }];
}

/** Waits until a store listens. */
async function hearing({ server }: World): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`;
  while ((await server.query(text)).length === 0) await pause(10);
}

/** What there is to claim: more than a second's claims can be. */
const A_SECOND = 6000;

export async function measureClaims(world: World, seconds: number): Promise<Bar[]> {
  await world.fill(Math.ceil(A_SECOND * seconds));
  const store = await world.open(CLAIMERS);
  const value = await rate(CLAIMERS, seconds, claimer(world, store, A_SECOND));
  await store.close();
  await world.empty();
  return [{ name: claimName(world, 'claims'), unit: '/s', value, atLeast: 3000 }];
}

export async function measureCycles(world: World, seconds: number): Promise<Bar[]> {
  await world.fill(Math.ceil(A_SECOND * seconds * 0.5));
  const store = await world.open(CLAIMERS);
  const claim = claimer(world, store, A_SECOND);
  const cycle = async () => {
    const { id, attempt }: Task = await claim();
    const { leaseMs } = CLAIM;
    const on = await store.tasks.extend(id, attempt, {
      leaseMs,
      state: 'aggregating',
      count: 1722,
    });
    const blob = { key: `results/${attempt}/${id}.json`, bytes: 264_000 };
    const result = { blob, format: 'proof', aggregateBytes: 131_817 };
    if (!on || !(await store.tasks.finish(id, attempt, result)))
      throw new Error('a lease was lost');
  };
  const value = await rate(CLAIMERS, seconds, cycle);
  await store.close();
  await world.empty();
  const name = claimName(world, 'cycles of claim, aggregating, finish');
  return [{ name, unit: '/s', value, atLeast: 1400 }];
}

/**
 * Claims beside a transaction that is open all the time, so that nothing claimed since its begin
 * leaves the queue's index. The last third counts: there is most to step over.
 */
export async function measureOldTransaction(world: World, seconds: number): Promise<Bar[]> {
  await world.fill(Math.ceil(0.7 * A_SECOND * seconds));
  const client = new pg.Client({ connectionString: world.server.url });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query(`SELECT 1 FROM ${world.schema}.tasks LIMIT 1`);
  const store = await world.open(CLAIMERS);
  const claim = claimer(world, store, A_SECOND);
  const lateMs = (1000 * seconds * 2) / 3;
  let late = 0;
  let lastMs = 0;
  await rate(CLAIMERS, seconds, claim, (atMs) => {
    lastMs = atMs;
    if (atMs >= lateMs) late++;
  });
  await client.query('COMMIT');
  await client.end();
  await store.close();
  await world.empty();
  const value = (1000 * late) / (lastMs - lateMs);
  const name = `claims, a transaction open for ${seconds} s`;
  return [{ name, unit: '/s', value, atLeast: 1500 }];
}

const claimName = ({ finished }: World, what: string) =>
  `${what} at ${CLAIMERS}, beside ${finished} finished`;
