/**
 * Clocks that are set while tasks wait, run, fail and arrive: by a day, forward or back. Only the
 * passing of time counts, in one process, in two, and after a restart.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect } from 'vitest';
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
let opened: Store[];
it.beforeEach(({ folder }) => {
  path = join(folder, 'tasks.sqlite');
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
});

const OPEN: Readonly<Record<string, (machine: Machine) => Store>> = {
  memory: ({ nowMs, wallMs }) => memoryStore({ nowMs, wallMs }).tasks,
  SQLite: ({ nowMs, wallMs }) => sqliteTableStore({ path, nowMs, wallMs }).tasks,
  'SQLite on a thread': ({ nowMs, wallMs }) => threadedStore(path, { nowMs, wallMs }).tasks,
};

async function open(machine: Machine, how = OPEN.SQLite!): Promise<Store> {
  const store = how(machine);
  opened.push(store);
  await store.open();
  return store;
}

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
