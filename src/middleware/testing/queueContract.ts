/** What every task store must do for workers: claims, leases, outcomes. See `storeContract.ts`. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { TASK_STATES } from '../../wire/taskStates.ts';
import { type DeclareTest, HOUR_MS, matches } from './storeWorld.ts';

/** Declares the tests. */
export function queueContract(test: DeclareTest): void {
  test('hands every waiting task to exactly one of many claimers', async (w) => {
    const late = await w.add();
    await w.store.upload(late.id, w.blob());
    const ids = [];
    for (let i = 0; i < 11; i++) ids.push((await w.addWaiting({ clientId: i })).id);
    await w.store.notify(late.id, 1);
    const claims = Array.from({ length: 30 }, (_, i) => w.claim(i % 2 ? w.store : w.other));
    const got = (await Promise.all(claims)).filter((task) => task !== null);
    // The answers of several connections come in any order.
    const all = got.map((task) => task.id).sort((a, b) => a - b);
    deepStrictEqual(all, [late.id, ...ids]);
    ok(late.id < ids[0]!);
    strictEqual(await w.claim(), null);
  });

  test('lets clients take turns, however many tasks one of them has', async (w) => {
    const many: number[] = [];
    for (let i = 0; i < 1000; i++) many.push((await w.addWaiting({ clientId: 1 })).id);
    const claimed = async () => (await w.claim())!;
    for (let i = 0; i < 10; i++) strictEqual((await claimed()).id, many[i]);
    const few = [];
    for (let i = 0; i < 5; i++) few.push((await w.addWaiting({ clientId: 2 })).id);
    const third = await w.add({ clientId: 3 });
    await w.store.upload(third.id, w.blob());
    await w.store.notify(third.id, 3);
    const order: number[] = [];
    for (let i = 0; i < 12; i++) order.push((await claimed()).clientId);
    // Two more clients came: each is served at once, then all in turn.
    ok(order.indexOf(2) < 3);
    ok(order.indexOf(3) < 3);
    strictEqual(order.filter((clientId) => clientId === 2).length, 5);
    const gaps = order.flatMap((clientId, at) => (clientId === 2 ? [at] : []));
    for (let i = 1; i < gaps.length; i++) ok(gaps[i]! - gaps[i - 1]! <= 3);
    // One that submits again as soon as it is served has no advantage of it.
    const eager: number[] = [];
    for (let i = 0; i < 20; i++) {
      await w.addWaiting({ clientId: 4 });
      eager.push((await claimed()).clientId);
    }
    ok(eager.filter((clientId) => clientId === 4).length <= 11);
    ok(eager.filter((clientId) => clientId === 1).length >= 9);
  });

  test('keeps the place of a task that comes back', async (w) => {
    const first = await w.addClaimed();
    const second = await w.addWaiting();
    await w.store.release(first.id, 1);
    matches(await w.claim(), { id: first.id, attempt: 2 });
    matches(await w.claim(), { id: second.id });
  });

  test('puts a task back when its lease ends, and refuses its late worker', async (w) => {
    const { id } = await w.addClaimed();
    w.clockMs += 900;
    strictEqual(await w.store.extend(id, 1, { leaseMs: 1000 }), true);
    w.clockMs += 900;
    strictEqual(await w.claim(w.other), null);
    strictEqual(await w.nextClaimMs(), 100);
    w.clockMs += 100;
    const again = (await w.claim(w.other))!;
    matches(again, { id, attempt: 2, losses: 1, failures: 0, progress: null });
    const stale = w.result(id, 1);
    strictEqual(await w.store.extend(id, 1, { leaseMs: 1000, state: 'aggregating' }), false);
    strictEqual(await w.store.finish(id, 1, stale), false);
    strictEqual(await w.store.fail(id, 1, { code: 'INTERNAL', message: 'm' }), false);
    strictEqual(await w.store.release(id, 1), false);
    matches(await w.known(id), { state: 'verifying', attempt: 2 });
    await w.other.extend(id, 2, { leaseMs: 1000, state: 'aggregating' });
    strictEqual(await w.other.finish(id, 2, w.result(id, 2)), true);
    strictEqual(await w.other.finish(id, 2, w.result(id, 2)), false);
    deepStrictEqual((await w.known(id)).result, w.result(id, 2));
  });

  test('takes the SHA-256 of a file that had none, and keeps it', async (w) => {
    const { sha256, ...blob } = w.blob();
    const { id } = await w.addClaimed({ input: { ...blob, tag: '"v1"' } });
    deepStrictEqual((await w.known(id)).input, { ...blob, tag: '"v1"' });
    const input = { ...blob, tag: '"v1"', sha256 };
    strictEqual(await w.store.extend(id, 1, { leaseMs: 1000, input }), true);
    await w.store.release(id, 1);
    deepStrictEqual((await w.claim(w.other))?.input, input);
  });

  test('never gives up a task for lost leases', async (w) => {
    const { id, input } = await w.addWaiting();
    for (let attempt = 1; attempt <= 40; attempt++) {
      matches(await w.claim(), { id, attempt, losses: attempt - 1, input });
      w.clockMs += 1000;
    }
    matches(await w.claim(), { id, losses: 40 });
  });

  test('sets a task aside with its input, until it is put back', async (w) => {
    const { id, input } = await w.addClaimed();
    const error = { code: 'THREAD_LOST', message: 'm' } as const;
    strictEqual(await w.store.setAside(id, 2, error), false);
    strictEqual(await w.store.setAside(id, 1, error), true);
    strictEqual(await w.store.setAside(id, 1, error), false);
    matches(await w.known(id), { state: 'waiting', quarantined: true, error, input });
    w.clockMs += HOUR_MS;
    strictEqual(await w.nextClaimMs(), null);
    const later = await w.addWaiting();
    matches(await w.claim(), { id: later.id });
    matches(await w.other.depth(), { quarantined: 1, states: { waiting: 0 } });
    strictEqual((await w.other.depth()).oldestWaitingMs, null);
    strictEqual((await w.store.usage(1)).openTasks, 2);

    strictEqual(await w.store.putBack(later.id), false);
    strictEqual(await w.other.putBack(id), true);
    strictEqual(await w.other.putBack(id), false);
    matches(await w.claim(), { id, attempt: 2, quarantined: false, error: null });
    await w.store.setAside(id, 2, error);
    matches(await w.store.cancel(id, 1), { ok: true, blobs: [input!.key] });
    strictEqual(await w.store.putBack(id), false);
    matches(await w.known(id), { state: 'cancelled', quarantined: false });
    matches(await w.store.depth(), { quarantined: 0 });
  });

  test('extends the leases of many tasks at once, and says which are still held', async (w) => {
    const [a, b, c] = [await w.addClaimed(), await w.addClaimed(), await w.addClaimed()] as const;
    await w.store.cancel(b.id, 1);
    w.clockMs += 900;
    const attempts = [a, b, { ...c, attempt: 2 }, { id: c.id + 1, attempt: 1 }];
    deepStrictEqual(await w.other.extendAll(attempts, 1000), new Set([a.id]));
    w.clockMs += 100;
    matches(await w.claim(), { id: c.id, losses: 1 });
    strictEqual(await w.claim(), null);
    deepStrictEqual(await w.store.extendAll([], 1000), new Set());
  });

  test('tells how many tasks are unfinished, and since when the oldest waits', async (w) => {
    const none = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
    deepStrictEqual(await w.store.depth(), { states: none, quarantined: 0, oldestWaitingMs: null });
    // What expires takes others along, and what waits would be claimed: first and last.
    const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
    for (const state of ['expired', ...order, 'waiting'] as const) await w.addIn(state);
    await w.addWaiting({ clientId: 2 });
    const depth = await w.other.depth();
    const states = { created: 1, uploaded: 1, waiting: 2, verifying: 1, aggregating: 1 };
    matches(depth, { states, quarantined: 0 });
    ok(depth.oldestWaitingMs! >= 0);
  });

  test('waits before a retry, and fails with everything that is wrong', async (w) => {
    const { id } = await w.addClaimed();
    const error = { code: 'TIMED_OUT', message: 'm' } as const;
    strictEqual(await w.store.fail(id, 1, error, { delayMs: 500 }), true);
    matches(await w.known(id), { state: 'waiting', failures: 1, error: null });
    strictEqual(await w.claim(), null);
    strictEqual(await w.nextClaimMs(), 500);
    w.clockMs += 500;
    matches(await w.claim(), { id, attempt: 2, losses: 0 });
    const invalid = [{ index: 4, reason: 'signatureMismatch' }];
    const final = { code: 'INVALID_SIGNATURES', message: 'bad', invalid } as const;
    strictEqual(await w.store.fail(id, 2, final), true);
    matches(await w.known(id), { state: 'failed', error: final, input: null });
    strictEqual(await w.nextClaimMs(), null);
  });

  test('counts no failure that was not the fault of the task', async (w) => {
    const { id, input } = await w.addClaimed();
    const error = { code: 'STORAGE_FULL', message: 'm' } as const;
    strictEqual(await w.store.fail(id, 1, error, { delayMs: 500, blameless: true }), true);
    matches(await w.known(id), { state: 'waiting', failures: 0, input });
    strictEqual(await w.nextClaimMs(), 500);
    w.clockMs += 500;
    matches(await w.claim(), { id, attempt: 2, failures: 0, losses: 0 });
  });

  test('gives a released task out again at once', async (w) => {
    const { id } = await w.addClaimed();
    strictEqual(await w.store.release(id, 1), true);
    matches(await w.claim(), { id, attempt: 2, losses: 0, failures: 0 });
  });

  test('cancels a running task under its worker', async (w) => {
    const { id, input } = await w.addClaimed();
    matches(await w.other.cancel(id, 1), { ok: true, blobs: [input!.key] });
    strictEqual(await w.store.extend(id, 1, { leaseMs: 1000 }), false);
    strictEqual(await w.store.finish(id, 1, w.result(id, 1)), false);
    w.clockMs += 5000;
    strictEqual(await w.claim(), null);
    deepStrictEqual(await w.other.cancel(id, 1), { ok: false, reason: 'final' });
    matches(await w.known(id), { state: 'cancelled', input: null });
  });

  test('tells watchers what it changed, once it is written', async (w) => {
    const told: string[] = [];
    const end = w.store.watch((task) => told.push(`${task.id} ${task.state}`));
    const { id } = await w.addClaimed();
    await w.store.release(id, 1);
    deepStrictEqual(told, [`${id} waiting`, `${id} verifying`, `${id} waiting`]);
    end();
    await w.store.cancel(id, 1);
    strictEqual(told.length, 3);
  });
}
