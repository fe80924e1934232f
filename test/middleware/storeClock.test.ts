/**
 * Clocks that are set while tasks wait, run, fail and arrive: by a day, forward or back. Only the
 * passing of time counts, in one process, in two, and after a restart. A clock that is further
 * ahead is not believed at first.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { NewTask, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { threadedStore } from './openSqlite.ts';
import { accepted, it } from './support.ts';

type Store = TaskStore;

const START_MS = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CLAIM = { leaseMs: 1000, threads: 1 };

/** A process: its time passes with that of the others, but its wall clock is its own. */
class Machine {
  static passedMs = 0;
  /** How far its wall clock is off. */
  offMs = 0;
  readonly #bootMs = 1e6 * Math.random();

  readonly nowMs = () => this.#bootMs + Machine.passedMs;
  readonly wallMs = () => START_MS + Machine.passedMs + this.offMs;
}

const pass = (ms: number) => {
  Machine.passedMs += ms;
};

let path: string;
let opened: CompleteStore[];
it.beforeEach(({ folder }) => {
  path = join(folder, 'tasks.sqlite');
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
});

const OPEN: Readonly<Record<string, (machine: Machine) => CompleteStore>> = {
  memory: ({ nowMs, wallMs }) => memoryStore({ nowMs, wallMs }),
  SQLite: ({ nowMs, wallMs }) => sqliteTableStore({ path, nowMs, wallMs }),
  'SQLite on a thread': ({ nowMs, wallMs }) => threadedStore(path, { nowMs, wallMs }),
};

async function openAll(machine: Machine, how = OPEN.SQLite!): Promise<CompleteStore> {
  const store = how(machine);
  opened.push(store);
  await store.open();
  return store;
}

const open = async (...how: Parameters<typeof openAll>): Promise<Store> =>
  (await openAll(...how)).tasks;

function add(store: Store, more: Partial<NewTask> = {}) {
  const task = { clientId: 1, state: 'waiting', threads: 1, ttlMs: HOUR_MS, ...more } as const;
  return accepted(store.put(task));
}

const claim = async (store: Store) => (await store.claim(CLAIM)).task;

describe.each(Object.entries(OPEN))('%s', (_, how) => {
  describe.each([
    ['back', -DAY_MS],
    ['forward', DAY_MS],
  ])('a clock that is set %s by a day', (_direction, jumpMs) => {
    let machine: Machine;
    let store: Store;
    beforeEach(async () => {
      machine = new Machine();
      store = await open(machine, how);
    });
    const jump = () => {
      machine.offMs = jumpMs;
    };

    it('leaves a task claimable that waits', async () => {
      const { id } = await add(store);
      jump();
      expect(await claim(store)).toMatchObject({ id });
    });

    it('changes nothing in the delay of a retry', async () => {
      const { id } = await add(store);
      await claim(store);
      await store.fail(id, 1, { code: 'TIMED_OUT', message: 'm' }, { delayMs: 5000 });
      jump();
      expect(await store.claim(CLAIM)).toEqual({ task: null, nextMs: 5000 });
      pass(4999);
      expect(await claim(store)).toBe(null);
      pass(1);
      expect(await claim(store)).toMatchObject({ id, attempt: 2 });
    });

    it('neither ends a lease nor makes it longer', async () => {
      const { id } = await add(store);
      await claim(store);
      jump();
      pass(999);
      expect(await claim(store)).toBe(null);
      expect(await store.extend(id, 1, { leaseMs: 1000 })).toBe(true);
      pass(999);
      expect(await claim(store)).toBe(null);
      pass(1);
      expect(await claim(store)).toMatchObject({ id, attempt: 2, losses: 1 });
    });

    it('leaves the time for an upload as it was, and tells its end by the new clock', async () => {
      const { id, expiresAtMs } = await add(store, { state: 'created' });
      expect(expiresAtMs).toBe(machine.wallMs() + HOUR_MS);
      jump();
      pass(HOUR_MS - 1);
      await store.sweep({ answerMs: DAY_MS });
      const told = await store.get(id);
      expect(told).toMatchObject({ state: 'created' });
      expect(Math.abs(told!.expiresAtMs - machine.wallMs())).toBeLessThanOrEqual(1000);
      expect(await store.upload(id, { key: 'inputs/a', bytes: 1 })).toMatchObject({ ok: true });
      pass(1);
      expect(await store.notify(id, 1)).toEqual({ ok: false, reason: 'ended' });
      expect((await store.sweep({ answerMs: DAY_MS })).expired).toEqual([id]);
    });

    it('keeps the holder of an Idempotency-Key, and frees the key in time', async () => {
      const begin = () => store.beginAnswer(1, 'k', 'f', 1000);
      expect(await begin()).toMatchObject({ kind: 'held' });
      jump();
      expect(await begin()).toEqual({ kind: 'running', retryMs: 1000 });
      pass(1000);
      expect(await begin()).toMatchObject({ kind: 'held' });
    });

    it('neither removes what is finished too early, nor keeps it', async () => {
      const { id } = await add(store);
      await store.cancel(id, 1);
      jump();
      pass(4999);
      const sweep = async () => store.sweep({ answerMs: DAY_MS, retentionMs: 5000 });
      expect((await sweep()).removed).toBe(0);
      pass(1);
      expect((await sweep()).removed).toBe(1);
    });

    it('makes ids that only grow', async () => {
      const { id } = await add(store);
      jump();
      expect((await add(store)).id).toBeGreaterThan(id);
    });
  });
});

describe('two processes on one file', () => {
  it.each([
    ['behind', -DAY_MS],
    ['ahead', DAY_MS],
  ])('agree, although the clock of one is a day %s', async (_, offMs) => {
    const [right, wrong] = [new Machine(), new Machine()];
    wrong.offMs = offMs;
    const first = await open(right);
    await add(first);
    const second = await open(wrong);
    const { id } = await add(second, { clientId: 2 });
    expect(await claim(first)).not.toBe(null);
    expect(await claim(first)).toMatchObject({ id });
    // The leases of one are those of the other.
    pass(900);
    expect(await claim(second)).toBe(null);
    expect(await first.extend(id, 1, CLAIM)).toBe(true);
    pass(200);
    expect(await claim(second)).toMatchObject({ attempt: 2, losses: 1 });
    expect(await claim(second)).toBe(null);
    pass(800);
    expect(await claim(second)).toMatchObject({ id, attempt: 2 });
  });

  it('tell the same end of an upload', async () => {
    const [right, wrong] = [new Machine(), new Machine()];
    wrong.offMs = -DAY_MS;
    const first = await open(right);
    const { id, expiresAtMs } = await add(first, { state: 'created' });
    const second = await open(wrong);
    const { expiresAtMs: told } = (await second.get(id))!;
    expect(Math.abs(told + DAY_MS - expiresAtMs)).toBeLessThanOrEqual(1000);
  });
});

describe('a file', () => {
  it('keeps the time: after a restart with a clock set back nothing waits longer', async () => {
    const machine = new Machine();
    const before = await open(machine);
    const { id } = await add(before);
    await claim(before);
    const other = await add(before, { state: 'created' });
    await before.close();
    machine.offMs = -DAY_MS;
    const after = await open(machine);
    pass(2000);
    expect(await claim(after)).toMatchObject({ id, attempt: 2 });
    pass(HOUR_MS);
    expect((await after.sweep({ answerMs: DAY_MS })).expired).toEqual([other.id]);
  });

  it('is not written more often than once a second for the clock alone', async () => {
    const machine = new Machine();
    const store = await open(machine);
    const db = new DatabaseSync(path, { readOnly: true });
    const kept = () =>
      db.prepare("SELECT number FROM last_numbers WHERE name = 'clock'").get()!.number;
    await add(store);
    const first = kept();
    pass(900);
    await add(store);
    expect(kept()).toBe(first);
    pass(200);
    await add(store);
    expect(kept()).toBe(Number(first) + 1100);
    db.close();
  });
});

describe('a clock that is far ahead', () => {
  const YEAR_MS = 365 * DAY_MS;
  const RULES = { answerMs: DAY_MS, retentionMs: 2 * DAY_MS };
  const NOTHING = { expired: [], removed: 0, forgotten: 0, blobs: [], more: false };
  let machine: Machine;
  let store: CompleteStore;
  beforeEach(async () => {
    machine = new Machine();
    store = await openAll(machine);
  });
  /** Stops the store for so long by the clock, which may be wrong or right. */
  const restart = async (offMs: number) => {
    await store.close();
    machine.offMs += offMs;
    store = await openAll(machine);
  };
  const sweep = () => store.tasks.sweep(RULES);
  const suspect = (aheadMs: number, leftMs = DAY_MS) => ({
    ...NOTHING,
    suspect: { aheadMs, leftMs },
  });
  /** A finished task, one that waits for its file, and an Idempotency-Key. */
  const fill = async () => {
    const { id: done } = await add(store.tasks, { input: { key: 'inputs/a', bytes: 1 } });
    await store.tasks.cancel(done, 1);
    const { id: created } = await add(store.tasks, { state: 'created' });
    await store.tasks.beginAnswer(1, 'k', 'f', 1000);
    pass(2000);
    await sweep();
    return { done, created };
  };

  it('removes nothing at a start, and its time is not kept', async () => {
    const { done, created } = await fill();
    await restart(YEAR_MS);
    expect(await sweep()).toEqual(suspect(YEAR_MS));
    const { id } = await add(store.tasks);
    expect(await claim(store.tasks)).toMatchObject({ id });
    pass(5000);
    expect(await sweep()).toEqual(suspect(YEAR_MS, DAY_MS - 5000));
    await restart(-YEAR_MS);
    expect(await sweep()).toEqual(NOTHING);
    expect(await store.tasks.get(done)).toMatchObject({ state: 'cancelled' });
    expect(await store.tasks.beginAnswer(1, 'k', 'other', 1)).toEqual({ kind: 'mismatch' });
    // The lease ended in time, and ids have not run away.
    expect(await claim(store.tasks)).toMatchObject({ id, attempt: 2 });
    const { expiresAtMs, id: next } = await add(store.tasks, { state: 'created' });
    expect(expiresAtMs).toBe(machine.wallMs() + HOUR_MS);
    expect(next - done).toBeLessThan(4096 * HOUR_MS);
    pass(HOUR_MS);
    expect((await sweep()).expired).toEqual([created, next]);
    pass(2 * DAY_MS);
    expect(await sweep()).toMatchObject({ removed: 3, forgotten: 1 });
  });

  it('changes nothing years back', async () => {
    const { done } = await fill();
    await restart(-YEAR_MS);
    expect(await sweep()).toEqual(NOTHING);
    pass(2 * DAY_MS);
    expect(await sweep()).toMatchObject({ removed: 1 });
    expect(await store.tasks.get(done)).toBe(null);
  });

  it('is believed after a day of running, through restarts: three days off', async () => {
    const { done, created } = await fill();
    await restart(3 * DAY_MS);
    expect(await sweep()).toEqual(suspect(3 * DAY_MS));
    const { id: fresh } = await add(store.tasks);
    pass(23 * HOUR_MS);
    await sweep();
    await restart(0);
    const { id: held } = (await claim(store.tasks))!;
    expect(held).toBe(fresh);
    pass(HOUR_MS - 1000);
    expect(await sweep()).toEqual(suspect(3 * DAY_MS, 1000));
    const { id: recent } = await add(store.tasks);
    await store.tasks.cancel(recent, 1);
    const late = await add(store.tasks, { state: 'created' });
    expect(await store.tasks.extend(held, 1, { leaseMs: HOUR_MS })).toBe(true);
    pass(1000);
    expect(await sweep()).toEqual(suspect(3 * DAY_MS, 0));
    expect(await sweep()).toMatchObject({ expired: [created], removed: 1, forgotten: 1 });
    // What has happened since then is as old as it is.
    expect(await store.tasks.get(done)).toBe(null);
    expect(await store.tasks.get(recent)).toMatchObject({ state: 'cancelled' });
    expect(await claim(store.tasks)).toBe(null);
    expect((await store.tasks.get(late.id))!.expiresAtMs).toBe(late.expiresAtMs);
    pass(2 * DAY_MS);
    expect(await sweep()).toMatchObject({ expired: [late.id], removed: 2 });
  });

  it('is suspect for another day after another jump', async () => {
    await fill();
    await restart(3 * DAY_MS);
    await sweep();
    pass(DAY_MS - 1000);
    await sweep();
    await restart(YEAR_MS);
    expect(await sweep()).toEqual(suspect(YEAR_MS + 3 * DAY_MS));
    await restart(-YEAR_MS);
    expect(await sweep()).toEqual(suspect(3 * DAY_MS));
  });

  it('is believed at once if an operator says so, in every process', async () => {
    const { created } = await fill();
    await restart(3 * DAY_MS);
    await sweep();
    const command = await openAll(machine);
    expect(await command.tasks.suspectClock()).toEqual({ aheadMs: 3 * DAY_MS, leftMs: DAY_MS });
    expect(await command.tasks.acceptClock()).toMatchObject({ aheadMs: 3 * DAY_MS });
    expect(await command.tasks.acceptClock()).toBe(null);
    expect(await sweep()).toMatchObject({ expired: [], removed: 1, forgotten: 1 });
    pass(HOUR_MS);
    expect(await sweep()).toMatchObject({ expired: [created] });
    await restart(0);
    expect(await store.tasks.suspectClock()).toBe(null);
  });

  it('is no concern of a process whose clock is right', async () => {
    const wrong = new Machine();
    wrong.offMs = YEAR_MS;
    await fill();
    const other = await openAll(wrong);
    pass(DAY_MS);
    expect((await other.tasks.sweep(RULES)).suspect).toEqual({ aheadMs: YEAR_MS, leftMs: DAY_MS });
    expect((await sweep()).suspect).toBe(undefined);
    pass(DAY_MS);
    expect((await other.tasks.sweep(RULES)).suspect).toEqual({ aheadMs: YEAR_MS, leftMs: DAY_MS });
  });

  it.for(Object.entries(OPEN))('counts as well while a process runs: %s', async ([, how]) => {
    const running = await openAll(machine, how);
    const key = { sha256: 'a'.repeat(64), name: 'a' };
    await running.apiKeys.putApiKey({ ...key, ttlMs: 30 * DAY_MS });
    const isExpired = async () => (await running.apiKeys.findApiKey(key.sha256))!.expired;
    const { id } = await add(running.tasks);
    await running.tasks.cancel(id, 1);
    pass(3 * DAY_MS);
    machine.offMs = YEAR_MS;
    expect(await running.tasks.sweep(RULES)).toEqual(suspect(YEAR_MS));
    expect(await isExpired()).toBe(true);
    const ended = await running.apiKeys.findApiKey(key.sha256);
    expect(Date.parse(ended!.expiresAt!)).toBe(START_MS + Machine.passedMs + 27 * DAY_MS);
    machine.offMs = 0;
    expect(await isExpired()).toBe(false);
    expect(await running.tasks.sweep(RULES)).toMatchObject({ removed: 1 });
  });
});
