/** How long a store's users wait, and what heartbeats cost: see ../store.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ListQuery } from '../../src/middleware/stores/port/taskStore.ts';
import { type Bar, quantile } from './bars.ts';
import { median } from './interleave.ts';
import { CLAIM, clientOf, MANY, rate, type Store, type World } from './storeWorld.ts';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const POLL_MS = 1000;

/** From the call of `put` to a worker of another store that has the task; it waits for hints. */
export async function measureLatency(world: World, count: number): Promise<Bar[]> {
  const [client, worker] = [await world.open(10), await world.open(3)];
  const calledMs = new Map<number, number>();
  const claimedMs = new Map<number, number>();
  const stop = work(worker, (id) => void claimedMs.set(id, performance.now()));
  // The first ones make connections and listen.
  const warmUp = 50;
  for (let i = 0; i < count + warmUp; i++) {
    await sleep(5 + 10 * Math.random());
    const startMs = performance.now();
    const task = { clientId: clientOf(i), state: 'waiting', threads: 1, ttlMs: 60_000 } as const;
    const outcome = await client.tasks.put(task);
    if (!outcome.ok) throw new Error(outcome.reason);
    if (i >= warmUp) calledMs.set(outcome.task.id, startMs);
  }
  while (claimedMs.size < count + warmUp) await sleep(10);
  await stop();
  await Promise.all([client.close(), worker.close()]);
  await world.empty();
  const times = [...calledMs].map(([id, startMs]) => claimedMs.get(id)! - startMs);
  return [
    { name: 'put to worker, p50', unit: 'ms', value: quantile(times, 0.5), atMost: 10 },
    { name: 'put to worker, p99', unit: 'ms', value: quantile(times, 0.99), atMost: 50 },
  ];
}

/** Claims as the service's runner does: at every hint, else when the store says, or in a second. */
function work(store: Store, got: (id: number) => void): () => Promise<void> {
  let running = true;
  let wake = () => {};
  let hinted = false;
  const alarm = () => {
    hinted = true;
    wake();
  };
  store.tasks.watch(({ own, state }) => {
    if (!own && state === 'waiting') alarm();
  });
  const loop = async () => {
    while (running) {
      hinted = false;
      const claimed = await store.tasks.claim(CLAIM);
      if (claimed.task !== null) {
        got(claimed.task.id);
        continue;
      }
      if (hinted) continue;
      const waitMs = Math.max(10, Math.min(POLL_MS, claimed.nextMs ?? POLL_MS));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const ended = loop();
  return async () => {
    running = false;
    alarm();
    await ended;
  };
}

/** From the kill of a process that extends its lease to a worker that has its task: the worst. */
export async function measureTakeover(
  world: World,
  workers: number,
  leaseMs: number,
): Promise<Bar[]> {
  await world.fill(workers);
  const script = fileURLToPath(new URL('lostWorker.ts', import.meta.url));
  const args = [script, world.server.url, world.schema, String(leaseMs)];
  const lost = await Promise.all(
    Array.from({ length: workers }, async () => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const said = once(child.stdout, 'data');
      const early = once(child, 'exit').then(() => Promise.reject(new Error('it ended')));
      early.catch(() => {});
      return { child, id: Number(String(await Promise.race([said, early]))) };
    }),
  );
  const claimedMs = new Map<number, number>();
  const store = await world.open(3);
  const stop = work(store, (id) => void claimedMs.set(id, performance.now()));
  // Its lease is extended for more than one lease before: nothing may be taken from the living.
  await sleep(1.5 * leaseMs);
  if (claimedMs.size > 0) throw new Error('a task was taken from a living worker');
  const killedMs = new Map<number, number>();
  for (const { child, id } of lost) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    killedMs.set(id, performance.now());
    await ended;
    await sleep(Math.random() * 300);
  }
  while (claimedMs.size < workers) await sleep(10);
  await stop();
  await store.close();
  await world.empty();
  const value = Math.max(...[...killedMs].map(([id, atMs]) => claimedMs.get(id)! - atMs));
  const name = `takeover of a lease of ${leaseMs} ms, worst of ${workers}`;
  return [{ name, unit: 'ms', value, atMost: leaseMs + 1500 }];
}

/** Pages of 100 of one client's tasks; the slowest kind of page counts. */
export async function measurePages(world: World, rounds: number): Promise<Bar[]> {
  const { clientId, firstId, failedEvery } = MANY;
  const limit = 100;
  const store = await world.open(1);
  const before = (left: number) => firstId + world.finished - 1 - left;
  const kinds: Record<string, Omit<ListQuery, 'clientId' | 'limit'>> = {
    first: {},
    middle: { after: before(world.finished >> 1) },
    last: { after: before(limit) },
    newest: { order: 'desc' },
    'middle, newest first': { order: 'desc', after: before(world.finished >> 1) },
    'first of completed': { state: 'completed' },
    'middle of completed': { state: 'completed', after: before(world.finished >> 1) },
    'first of failed': { state: 'failed' },
    'last of failed': { state: 'failed', after: before(limit * failedEvery) },
    'of a state that none has': { state: 'expired' },
  };
  const times = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, query] of Object.entries(kinds)) {
      const startMs = performance.now();
      const { tasks } = await store.tasks.list({ clientId, limit, ...query });
      times.get(name)!.push(performance.now() - startMs);
      const none = query.state === 'expired';
      if (none !== (tasks.length === 0)) throw new Error(`${tasks.length} tasks: ${name}`);
    }
  }
  await store.close();
  const medians = [...times].map(([name, list]) => ({ name, ms: median(list) }));
  const { name, ms } = medians.toSorted((a, b) => b.ms - a.ms)[0]!;
  const about = `slowest page of ${world.finished}: ${name}`;
  return [{ name: about, unit: 'ms', value: ms, atMost: 5 }];
}

/** The part of heartbeats that change a row in its page (HOT) and touch no index. */
export async function measureHeartbeats(
  world: World,
  running: number,
  seconds: number,
): Promise<Bar[]> {
  await world.fill(running);
  const claims = await world.open(10);
  const held: { id: number; attempt: number }[] = [];
  const claimed = async () => {
    for (;;) {
      const { task } = await claims.tasks.claim(CLAIM);
      if (task === null) return;
      held.push(task);
    }
  };
  await Promise.all(Array.from({ length: 10 }, claimed));
  // A connection that is closed has told what it counted.
  await claims.close();
  const before = await updates(world);
  const store = await world.open(10);
  let beats = 0;
  await rate(10, seconds, async (turn) => {
    const { id, attempt } = held[turn % held.length]!;
    if (!(await store.tasks.extend(id, attempt, CLAIM))) throw new Error('a lease was lost');
    beats++;
  });
  const extended = await store.tasks.extendAll(held, CLAIM.leaseMs);
  if (extended.size !== held.length) throw new Error('leases were lost');
  beats += held.length;
  await store.close();
  let after = await updates(world);
  for (; after.all - before.all < beats; after = await updates(world)) await sleep(100);
  await world.empty();
  const value = (100 * (after.hot - before.hot)) / (after.all - before.all);
  return [{ name: `HOT part of ${beats} heartbeats`, unit: '%', value, atLeast: 90 }];
}

async function updates({ server, schema }: World): Promise<{ all: number; hot: number }> {
  const text = `SELECT n_tup_upd::float8 AS all, n_tup_hot_upd::float8 AS hot
    FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'tasks'`;
  const [row] = await server.query<{ all: number; hot: number }>(text, [schema]);
  return row!;
}
