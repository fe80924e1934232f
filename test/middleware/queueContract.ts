/** What every task store must do for workers: claims, leases, outcomes. See `storeContract.ts`. */
import { expect, it } from 'vitest';
import { TASK_STATES } from '../../src/wire/taskStates.ts';
import { HOUR_MS, type StoreWorld } from './storeWorld.ts';

/** Declares the tests; `w` is the world of the one that runs. */
export function queueContract(w: StoreWorld): void {
  it('hands every waiting task to exactly one of many claimers', async () => {
    const late = await w.add();
    await w.store.upload(late.id, w.blob());
    const ids = [];
    for (let i = 0; i < 11; i++) ids.push((await w.addWaiting({ clientId: i })).id);
    await w.store.notify(late.id, 1);
    const claims = Array.from({ length: 30 }, (_, i) => w.claim(i % 2 ? w.store : w.other));
    const got = (await Promise.all(claims)).filter((task) => task !== null);
    // The answers of several connections come in any order.
    expect(got.map((task) => task.id).sort()).toEqual([late.id, ...ids]);
    expect(late.id).toBeLessThan(ids[0]!);
    expect(await w.claim()).toBe(null);
  });

  it('lets clients take turns, so that the thousand tasks of one do not hold up another', async () => {
    const many: number[] = [];
    for (let i = 0; i < 1000; i++) many.push((await w.addWaiting({ clientId: 1 })).id);
    const claimed = async () => (await w.claim())!;
    for (let i = 0; i < 10; i++) expect((await claimed()).id).toBe(many[i]);
    const few = [];
    for (let i = 0; i < 5; i++) few.push((await w.addWaiting({ clientId: 2 })).id);
    const third = await w.add({ clientId: 3 });
    await w.store.upload(third.id, w.blob());
    await w.store.notify(third.id, 3);
    const order: number[] = [];
    for (let i = 0; i < 12; i++) order.push((await claimed()).clientId);
    // Two more clients came: each is served at once, then all in turn.
    expect(order.indexOf(2)).toBeLessThan(3);
    expect(order.indexOf(3)).toBeLessThan(3);
    expect(order.filter((clientId) => clientId === 2).length).toBe(5);
    const gaps = order.flatMap((clientId, at) => (clientId === 2 ? [at] : []));
    for (let i = 1; i < gaps.length; i++) expect(gaps[i]! - gaps[i - 1]!).toBeLessThanOrEqual(3);
    // One that submits again as soon as it is served has no advantage of it.
    const eager: number[] = [];
    for (let i = 0; i < 20; i++) {
      await w.addWaiting({ clientId: 4 });
      eager.push((await claimed()).clientId);
    }
    expect(eager.filter((clientId) => clientId === 4).length).toBeLessThanOrEqual(11);
    expect(eager.filter((clientId) => clientId === 1).length).toBeGreaterThanOrEqual(9);
  });

  it('keeps the place of a task that comes back', async () => {
    const first = await w.addClaimed();
    const second = await w.addWaiting();
    await w.store.release(first.id, 1);
    expect(await w.claim()).toMatchObject({ id: first.id, attempt: 2 });
    expect(await w.claim()).toMatchObject({ id: second.id });
  });

  it('puts a task back when its lease ends, and refuses its late worker', async () => {
    const { id } = await w.addClaimed();
    w.clockMs += 900;
    expect(await w.store.extend(id, 1, { leaseMs: 1000 })).toBe(true);
    w.clockMs += 900;
    expect(await w.claim(w.other)).toBe(null);
    expect(await w.nextClaimMs()).toBe(100);
    w.clockMs += 100;
    const again = (await w.claim(w.other))!;
    expect(again).toMatchObject({ id, attempt: 2, losses: 1, failures: 0, progress: null });
    const stale = w.result(id, 1);
    expect(await w.store.extend(id, 1, { leaseMs: 1000, state: 'aggregating' })).toBe(false);
    expect(await w.store.finish(id, 1, stale)).toBe(false);
    expect(await w.store.fail(id, 1, { code: 'INTERNAL', message: 'm' })).toBe(false);
    expect(await w.store.release(id, 1)).toBe(false);
    expect(await w.known(id)).toMatchObject({ state: 'verifying', attempt: 2 });
    await w.other.extend(id, 2, { leaseMs: 1000, state: 'aggregating' });
    expect(await w.other.finish(id, 2, w.result(id, 2))).toBe(true);
    expect(await w.other.finish(id, 2, w.result(id, 2))).toBe(false);
    expect((await w.known(id)).result).toEqual(w.result(id, 2));
  });

  it('never gives up a task for lost leases', async () => {
    const { id, input } = await w.addWaiting();
    for (let attempt = 1; attempt <= 40; attempt++) {
      expect(await w.claim()).toMatchObject({ id, attempt, losses: attempt - 1, input });
      w.clockMs += 1000;
    }
    expect(await w.claim()).toMatchObject({ id, losses: 40 });
  });

  it('sets a task aside with its input, until it is put back', async () => {
    const { id, input } = await w.addClaimed();
    const error = { code: 'THREAD_LOST', message: 'm' } as const;
    expect(await w.store.setAside(id, 2, error)).toBe(false);
    expect(await w.store.setAside(id, 1, error)).toBe(true);
    expect(await w.store.setAside(id, 1, error)).toBe(false);
    expect(await w.known(id)).toMatchObject({ state: 'waiting', quarantined: true, error, input });
    w.clockMs += HOUR_MS;
    expect(await w.nextClaimMs()).toBe(null);
    const later = await w.addWaiting();
    expect(await w.claim()).toMatchObject({ id: later.id });
    expect(await w.other.depth()).toMatchObject({ quarantined: 1, states: { waiting: 0 } });
    expect((await w.other.depth()).oldestWaitingMs).toBe(null);
    expect((await w.store.usage(1)).openTasks).toBe(2);

    expect(await w.store.putBack(later.id)).toBe(false);
    expect(await w.other.putBack(id)).toBe(true);
    expect(await w.other.putBack(id)).toBe(false);
    expect(await w.claim()).toMatchObject({ id, attempt: 2, quarantined: false, error: null });
    await w.store.setAside(id, 2, error);
    expect(await w.store.cancel(id, 1)).toMatchObject({ ok: true, blobs: [input!.key] });
    expect(await w.store.putBack(id)).toBe(false);
    expect(await w.known(id)).toMatchObject({ state: 'cancelled', quarantined: false });
    expect(await w.store.depth()).toMatchObject({ quarantined: 0 });
  });

  it('extends the leases of many tasks at once, and says which are still held', async () => {
    const [a, b, c] = [await w.addClaimed(), await w.addClaimed(), await w.addClaimed()] as const;
    await w.store.cancel(b.id, 1);
    w.clockMs += 900;
    const attempts = [a, b, { ...c, attempt: 2 }, { id: c.id + 1, attempt: 1 }];
    expect(await w.other.extendAll(attempts, 1000)).toEqual(new Set([a.id]));
    w.clockMs += 100;
    expect(await w.claim()).toMatchObject({ id: c.id, losses: 1 });
    expect(await w.claim()).toBe(null);
    expect(await w.store.extendAll([], 1000)).toEqual(new Set());
  });

  it('tells how many tasks are unfinished, and since when the oldest waits', async () => {
    const none = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
    expect(await w.store.depth()).toEqual({ states: none, quarantined: 0, oldestWaitingMs: null });
    // What expires takes others along, and what waits would be claimed: first and last.
    const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
    for (const state of ['expired', ...order, 'waiting'] as const) await w.addIn(state);
    await w.addWaiting({ clientId: 2 });
    const depth = await w.other.depth();
    const states = { created: 1, uploaded: 1, waiting: 2, verifying: 1, aggregating: 1 };
    expect(depth).toMatchObject({ states, quarantined: 0 });
    expect(depth.oldestWaitingMs).toBeGreaterThanOrEqual(0);
  });

  it('waits before a retry, and fails with everything that is wrong', async () => {
    const { id } = await w.addClaimed();
    const error = { code: 'TIMED_OUT', message: 'm' } as const;
    expect(await w.store.fail(id, 1, error, { delayMs: 500 })).toBe(true);
    expect(await w.known(id)).toMatchObject({ state: 'waiting', failures: 1, error: null });
    expect(await w.claim()).toBe(null);
    expect(await w.nextClaimMs()).toBe(500);
    w.clockMs += 500;
    expect(await w.claim()).toMatchObject({ id, attempt: 2, losses: 0 });
    const invalid = [{ index: 4, reason: 'signatureMismatch' }];
    const final = { code: 'INVALID_SIGNATURES', message: 'bad', invalid } as const;
    expect(await w.store.fail(id, 2, final)).toBe(true);
    expect(await w.known(id)).toMatchObject({ state: 'failed', error: final, input: null });
    expect(await w.nextClaimMs()).toBe(null);
  });

  it('counts no failure that was not the fault of the task', async () => {
    const { id, input } = await w.addClaimed();
    const error = { code: 'STORAGE_FULL', message: 'm' } as const;
    expect(await w.store.fail(id, 1, error, { delayMs: 500, blameless: true })).toBe(true);
    expect(await w.known(id)).toMatchObject({ state: 'waiting', failures: 0, input });
    expect(await w.nextClaimMs()).toBe(500);
    w.clockMs += 500;
    expect(await w.claim()).toMatchObject({ id, attempt: 2, failures: 0, losses: 0 });
  });

  it('gives a released task out again at once', async () => {
    const { id } = await w.addClaimed();
    expect(await w.store.release(id, 1)).toBe(true);
    expect(await w.claim()).toMatchObject({ id, attempt: 2, losses: 0, failures: 0 });
  });

  it('cancels a running task under its worker', async () => {
    const { id, input } = await w.addClaimed();
    expect(await w.other.cancel(id, 1)).toMatchObject({ ok: true, blobs: [input!.key] });
    expect(await w.store.extend(id, 1, { leaseMs: 1000 })).toBe(false);
    expect(await w.store.finish(id, 1, w.result(id, 1))).toBe(false);
    w.clockMs += 5000;
    expect(await w.claim()).toBe(null);
    expect(await w.other.cancel(id, 1)).toEqual({ ok: false, reason: 'final' });
    expect(await w.known(id)).toMatchObject({ state: 'cancelled', input: null });
  });

  it('tells watchers what it changed, once it is written', async () => {
    const told: string[] = [];
    const end = w.store.watch((task) => told.push(`${task.id} ${task.state}`));
    const { id } = await w.addClaimed();
    await w.store.release(id, 1);
    expect(told).toEqual([`${id} waiting`, `${id} verifying`, `${id} waiting`]);
    end();
    await w.store.cancel(id, 1);
    expect(told.length).toBe(3);
  });
}
