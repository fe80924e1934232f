/** What only a store on a server can meet: lost connections, restarts, deadlocks, other hosts. */
import pg from 'pg';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { TaskNews } from '../../src/middleware/stores/port/taskStore.ts';
import { createStore, type PostgresInternals } from '../../src/middleware/stores/postgres/store.ts';
import { connectTo, Line, overPostgres } from '../support/postgres.ts';
import { accepted, until } from './support.ts';

type Store = CompleteStore;
const WAITING = { clientId: 1, state: 'waiting', threads: 1, ttlMs: 60_000 } as const;
const CLAIM = { leaseMs: 60_000, threads: 1 };

overPostgres('all', (server) => {
  let schema: string;
  const open = (internals: PostgresInternals = {}, url = server().url) => {
    const store = createStore({ url, schema, connections: 4 }, internals);
    onTestFinished(() => store.close());
    return store;
  };
  const put = (store: Store, more: { clientId?: number } = {}) =>
    accepted(store.tasks.put({ ...WAITING, ...more }));
  beforeEach(async () => {
    schema = await server().newSchema();
    onTestFinished(async () => {
      await server().query(`DROP SCHEMA ${schema} CASCADE`);
    });
  });

  it.each([
    ['in one statement', ''],
    ['behind a pooler', '&pooled=1'],
  ])('says that the outcome of a commit is unknown if the line is lost: %s', async (_, how) => {
    const line = new Line(server().folder);
    const store = open({}, (await line.start()) + how);
    const direct = open();
    // A client's first task takes more than one statement.
    const { id: first } = await put(direct);
    const begun = await store.tasks.beginAnswer(1, 'k', 'f', 60_000);
    if (begun.kind !== 'held') throw new Error(begun.kind);
    line.choose = (piece) => (piece === 'commit' ? 'cut' : 'pass');
    const lost = store.tasks.put(WAITING, { hold: begun.hold });
    await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true });
    line.choose = () => 'pass';
    expect(line.cuts).toBe(1);
    // It happened, once; asking again settles it.
    const { tasks } = await direct.tasks.list({ clientId: 1, limit: 9 });
    const ids = tasks.map(({ id }) => id).filter((id) => id !== first);
    expect(ids.length).toBe(1);
    const [id] = ids;
    const again = await store.tasks.beginAnswer(1, 'k', 'f', 60_000);
    expect(again).toMatchObject({ kind: 'replay', task: { id } });
    await store.close();
    await line.stop();
  });

  it('gives up a silent connection while there is time for another one', async () => {
    const line = new Line(server().folder);
    const store = open({}, await line.start());
    const { id } = await put(store);
    await put(store);
    const lease = { leaseMs: 900, threads: 1 };
    expect((await store.tasks.claim(lease)).task?.id).toBe(id);
    const attempts = [{ id, attempt: 1 }];
    const verbs: (() => Promise<unknown>)[] = [
      () => store.tasks.extendAll(attempts, lease.leaseMs),
      () => store.tasks.extend(id, 1, { leaseMs: lease.leaseMs }),
      () => store.tasks.claim(lease),
    ];
    for (const verb of verbs) {
      await Promise.all([store.tasks.get(id), store.tasks.get(id)]);
      line.silence();
      const begunMs = performance.now();
      await expect(verb()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      // Much less than the 15 s of other statements.
      expect(performance.now() - begunMs).toBeLessThan(10_000);
      // Each silent connection is given up after one try.
      await until(() => store.tasks.extendAll(attempts, lease.leaseMs).catch(() => null));
    }
    await store.close();
    await line.stop();
  });

  it('does not wait for a server that has stopped answering', async () => {
    const line = new Line(server().folder);
    const store = open({}, await line.start());
    await store.tasks.ping();
    line.mode = 'stopped';
    await expect(store.tasks.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await line.stop();
  });

  it('closes within two seconds, whatever its connections wait for', async () => {
    const line = new Line(server().folder);
    const url = await line.start();
    const [idle, busy] = [open({}, url), open({}, url)];
    for (const store of [idle, busy]) {
      store.tasks.watch(() => {});
      await Promise.all(Array.from({ length: 6 }, () => store.tasks.ping()));
    }
    line.mode = 'stopped';
    // More than there are connections.
    const asked = Array.from({ length: 6 }, () => busy.tasks.get(1));
    const refused = asked.map((each) =>
      expect(each).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' }),
    );
    const startMs = performance.now();
    await Promise.all([idle.close(), busy.close(), ...refused]);
    expect(performance.now() - startMs).toBeLessThan(4000);
    await line.stop();
  });

  it('follows a fail-over: no connection stays with a server that can only be read', async () => {
    const primary = server();
    const standby = await primary.copy();
    onTestFinished(() => standby.stop());
    const line = new Line(primary.folder);
    const store = open({}, await line.start());
    onTestFinished(() => line.stop());
    const heard: TaskNews[] = [];
    store.tasks.watch((news) => heard.push(news));
    const puts = (clientId: number) =>
      Promise.all(Array.from({ length: 8 }, () => put(store, { clientId })));
    await puts(1);
    await until(async () => (await standby.query(`SELECT FROM ${schema}.tasks`)).length === 8);
    const readOnly = async (value: string) => {
      await primary.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await primary.query('SELECT pg_reload_conf()');
    };
    // The old primary refuses writes, and the address still leads there.
    await readOnly('on');
    const unavailable = { code: 'STORE_UNAVAILABLE' };
    await until(() =>
      store.tasks.ping().then(
        () => false,
        () => true,
      ),
    );
    await expect(put(store)).rejects.toMatchObject(unavailable);
    await expect(store.tasks.ping()).rejects.toMatchObject(unavailable);
    await readOnly('off');
    await until(() =>
      store.tasks.ping().then(
        () => true,
        () => false,
      ),
    );
    await puts(2);
    await until(async () => (await standby.query(`SELECT FROM ${schema}.tasks`)).length === 16);

    // The connections are those of a primary; the address leads to the next one.
    await standby.query('SELECT pg_promote()');
    line.target = standby.folder;
    await readOnly('on');
    await until(
      async () =>
        (await primary.query('SHOW transaction_read_only'))[0]!.transaction_read_only === 'on',
    );
    await puts(3);
    const channel = `SELECT FROM pg_stat_activity WHERE query = 'LISTEN "${schema}"'`;
    await until(async () => (await standby.query(channel)).length === 1);
    const other = open({}, standby.url);
    const { id } = await put(other);
    await until(() => heard.some((news) => news.id === id && !news.own));
    expect((await primary.query(`SELECT FROM ${schema}.tasks`)).length).toBe(16);

    // A standby is refused from the first connection on.
    await primary.demote();
    const misled = open({}, primary.url);
    const tries = [() => misled.open(), () => misled.tasks.ping(), () => misled.tasks.get(id)];
    for (const attempt of tries) await expect(attempt()).rejects.toMatchObject(unavailable);
    await primary.query('SELECT pg_promote()');
    await readOnly('off');
  });

  it.each(['26000', '42P05'])('blames a pooler for names that are lost: %s', async (code) => {
    const store = open();
    await store.open();
    const { query } = pg.Client.prototype;
    const lost = Object.assign(new Error('prepared statement'), { code, severity: 'ERROR' });
    pg.Client.prototype.query = function (this: pg.Client, ...args: [{ name?: string }]) {
      if (args[0].name !== undefined) return Promise.reject(lost);
      return (query as (...args: unknown[]) => unknown).apply(this, args);
    } as typeof query;
    onTestFinished(() => {
      pg.Client.prototype.query = query;
    });
    const cause = { message: expect.stringContaining('a pooler: add ?pooled=1 (') };
    const misled = { code: 'STORE_UNAVAILABLE', cause: expect.objectContaining(cause) };
    await expect(store.tasks.get(1)).rejects.toMatchObject(misled);
    pg.Client.prototype.query = query;
    // Some connections may still have the right names, but it is not ready.
    await expect(store.tasks.ping()).rejects.toMatchObject(misled);
  });

  it('answers 503 when others are in the way of every try', async () => {
    const store = open();
    const { id } = await put(store);
    const trouble = `CREATE FUNCTION ${schema}.trouble() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'others' USING ERRCODE = TG_ARGV[0]; END $$`;
    await server().query(trouble);
    for (const code of ['40001', '40P01', '23505', '25P04', '55006', '58P01']) {
      await server().query(`CREATE OR REPLACE TRIGGER trouble BEFORE UPDATE ON ${schema}.tasks
        FOR EACH ROW EXECUTE FUNCTION ${schema}.trouble('${code}')`);
      const fault = { code: 'STORE_UNAVAILABLE', status: 503 };
      await expect(store.tasks.cancel(id, 1), code).rejects.toMatchObject(fault);
    }
  });

  it('loses and doubles nothing when the server crashes under its workers', async () => {
    const stores = [open(), open()];
    const finished = new Map<number, number>();
    let accepted = 0;
    let faults = 0;
    let working = true;
    /** Of outcomes that are unknown, the store is asked later. */
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
        faults++;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const submit = async (store: Store, clientId: number) => {
      while (working) {
        await attempt(async () => {
          await put(store, { clientId });
          accepted++;
        });
      }
    };
    const work = async (store: Store) => {
      while (working) {
        await attempt(async () => {
          const { task } = await store.tasks.claim({ leaseMs: 1000, threads: 1 });
          if (task === null) return;
          const { id, attempt: number } = task;
          await store.tasks.extend(id, number, { leaseMs: 1000, state: 'aggregating' });
          const blob = { key: `results/${number}/${id}.json`, bytes: 1 };
          const done = { blob, format: 'bundle', aggregateBytes: 1 };
          if (await store.tasks.finish(id, number, done))
            finished.set(id, (finished.get(id) ?? 0) + 1);
        });
      }
    };
    const workers = stores.flatMap((store, i) => [submit(store, i), work(store), work(store)]);
    for (let crashes = 0; crashes < 3; crashes++) {
      const goal = accepted + 20;
      await until(() => accepted >= goal);
      await server().crash();
    }
    const goal = accepted + 20;
    await until(() => accepted >= goal);
    working = false;
    await Promise.all(workers);
    expect(faults).toBeGreaterThan(0);
    working = true;
    const rest = work(stores[0]!);
    const left = `SELECT count(*)::int AS n FROM ${schema}.tasks WHERE state <> 'completed'`;
    await until(async () => (await server().query<{ n: number }>(left))[0]!.n === 0);
    working = false;
    await rest;
    const rows = await server().query(`SELECT id FROM ${schema}.tasks`);
    expect(rows.length).toBeGreaterThanOrEqual(accepted);
    expect([...finished.values()].every((times) => times === 1)).toBe(true);
    let bytes = 0;
    for (const clientId of [0, 1]) {
      const usage = await stores[0]!.tasks.usage(clientId);
      expect(usage.openTasks).toBe(0);
      bytes += usage.storedBytes;
    }
    expect(bytes).toBe(rows.length);
  });

  it('tries again when the server ends a statement because of a deadlock', async () => {
    const store = open();
    const { id } = await put(store);
    await store.tasks.claim(CLAIM);
    const other = await connectTo(server().url);
    // The other one waits for longer than it takes the server to look for deadlocks.
    await other.query(`SET deadlock_timeout = '60s'`);
    await other.query('BEGIN');
    await other.query(`SELECT id FROM ${schema}.clients WHERE id = 1 FOR UPDATE`);
    const cancelled = store.tasks.cancel(id, 1);
    const blocked = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND query LIKE '%cancelled%'`;
    await until(async () => (await server().query<{ n: number }>(blocked))[0]!.n === 1);
    await other.query(`SELECT id FROM ${schema}.tasks WHERE id = $1 FOR UPDATE`, [id]);
    await other.query('COMMIT');
    expect(await cancelled).toMatchObject({ ok: true, task: { state: 'cancelled' } });
    // The server counts what it ended, some time later.
    const count = 'SELECT sum(deadlocks)::int AS n FROM pg_stat_database';
    await until(async () => (await server().query<{ n: number }>(count))[0]!.n > 0);
    expect(await store.tasks.usage(1)).toEqual({ openTasks: 0, storedBytes: 0 });
  });

  it('tells other processes of changes, and itself only once', async () => {
    const [store, other] = [open(), open()];
    const [here, there]: TaskNews[][] = [[], []];
    store.tasks.watch((news) => here!.push(news));
    other.tasks.watch((news) => there!.push(news));
    const listening = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "${schema}"'`;
    const listeners = () => server().query<{ pid: number }>(listening);
    await until(async () => (await listeners()).length === 2);
    const { id } = await put(store);
    await until(() => there!.length > 0);
    const news = { id, clientId: 1, state: 'waiting', attempt: 0 };
    expect(there).toEqual([{ ...news, own: false }]);
    await other.tasks.claim(CLAIM);
    await until(() => here!.length > 1);
    const claimed = { ...news, state: 'verifying', attempt: 1 };
    expect(here).toEqual([
      { ...news, own: true },
      { ...claimed, own: false },
    ]);
    expect(there![1]).toEqual({ ...claimed, own: true });
    // Many at once go in several messages.
    const ids = await Promise.all(Array.from({ length: 250 }, async () => (await put(store)).id));
    await until(() => ids.every((each) => there!.some((one) => one.id === each)));

    // After a loss nobody knows what was missed.
    there!.length = 0;
    for (const { pid } of await listeners()) {
      await server().query('SELECT pg_terminate_backend($1)', [pid]);
    }
    await until(() => there!.length > 0);
    expect(there![0]).toMatchObject({ state: 'waiting', own: false });
    const later = await put(store);
    await until(() => there!.some((one) => one.id === later.id));
    // Anything else on the channel is a hint as well, and does no harm.
    there!.length = 0;
    await server().query(`SELECT pg_notify('${schema}', 'not ours')`);
    await until(() => there!.length > 0);
  });

  it('goes on behind an old transaction, and serves what waits behind the turn', async () => {
    let nowMs = Date.UTC(2026, 10, 21);
    const store = open({ nowMs: () => nowMs, lookEveryMs: 0 });
    const old = await connectTo(server().url);
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await old.query('SELECT txid_current()');
    const ids: number[] = [];
    for (let i = 0; i < 60; i++) ids.push((await put(store)).id);
    const claim = async () => (await store.tasks.claim(CLAIM)).task?.id;
    expect(await claim()).toBe(ids[0]);
    await store.tasks.fail(ids[0]!, 1, { code: 'TIMED_OUT', message: 'm' }, { delayMs: 500 });
    for (let i = 1; i < 20; i++) expect(await claim()).toBe(ids[i]);
    nowMs += 500;
    expect(await claim()).toBe(ids[0]);
    expect(await claim()).toBe(ids[20]);
    await old.query('COMMIT');
  });

  it('gives ids that are unique and grow, whatever the clocks of its callers say', async () => {
    let nowMs = Date.UTC(2026, 10, 21);
    // Each call another second, back and forth.
    const clock = () => (nowMs += Math.random() < 0.3 ? -2500 : 1500);
    const stores = [open({ nowMs: clock }), open({ nowMs: clock })];
    const ids: number[] = [];
    const lines = Array.from({ length: 8 }, async (_, clientId) => {
      let last = 0;
      for (let i = 0; i < 25; i++) {
        const { id } = await put(stores[i % 2]!, { clientId });
        expect(id).toBeGreaterThan(last);
        ids.push((last = id));
      }
    });
    await Promise.all(lines);
    expect(new Set(ids).size).toBe(200);
  });

  it('keeps any text that a client can make it say', async () => {
    const store = open();
    const { id } = await put(store);
    await store.tasks.claim(CLAIM);
    const message = 'nul \u0000, half \ud800, quote " and \\';
    const error = { code: 'BAD_TASK_FILE', message } as const;
    expect(await store.tasks.fail(id, 1, error)).toBe(true);
    expect((await store.tasks.get(id))!.error).toEqual(error);
  });
});
