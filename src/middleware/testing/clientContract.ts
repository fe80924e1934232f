/** What every task store must do for clients and their requests. */
import {
  deepStrictEqual,
  match,
  notDeepStrictEqual,
  notStrictEqual,
  ok,
  strictEqual,
} from 'node:assert/strict';
import { isFinal, TASK_STATES, type TaskState } from '../../wire/taskStates.ts';
import { canGo, isRunning } from '../stores/port/task.ts';
import type { NewTask } from '../stores/port/taskStore.ts';
import { type DeclareTest, HOUR_MS, matches } from './storeWorld.ts';

const CREATED = { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS } as const;

/** Declares the tests. */
export function clientContract(test: DeclareTest): void {
  test('walks a task through its whole life', async (w) => {
    const created = await w.add();
    matches(created, { state: 'created', count: 0, attempt: 0, input: null });
    strictEqual(created.submittedAt, created.createdAt);
    match(created.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);

    const input = w.blob(50);
    matches(await w.store.upload(created.id, input), { ok: true, replaced: null });
    const notified = await w.store.notify(created.id, 1);
    matches(notified, { ok: true, first: true, task: { state: 'waiting', input } });
    const waiting = await w.known(created.id);
    strictEqual(waiting.submittedAt > waiting.createdAt, true);

    const claimed = (await w.claim())!;
    matches(claimed, { id: created.id, state: 'verifying', attempt: 1, threads: 3 });
    const progress = { phase: 'verify', done: 1, total: 5 } as const;
    strictEqual(await w.store.extend(created.id, 1, { leaseMs: 1000, count: 5, progress }), true);
    matches(await w.known(created.id), { state: 'verifying', count: 5, progress });
    await w.store.extend(created.id, 1, { leaseMs: 1000, state: 'aggregating' });
    matches(await w.known(created.id), { state: 'aggregating', count: 5, progress, input });

    strictEqual(await w.store.finish(created.id, 1, w.result(created.id, 1)), true);
    const completed = await w.known(created.id);
    matches(completed, { state: 'completed', result: w.result(created.id, 1) });
    const [listed] = (await w.store.list({ clientId: created.clientId, limit: 1 })).tasks;
    matches(listed!, { id: created.id, resultKey: w.result(created.id, 1).blob.key });
    matches(completed, { input: null, error: null, createdAt: created.createdAt });
    strictEqual(completed.finishedAt! > waiting.submittedAt, true);
  });

  test('takes only the steps of the state machine, from every state', async (w) => {
    let tried = 0;
    for (const state of TASK_STATES) {
      const { id, attempt } = await w.addIn(state);
      strictEqual((await w.known(id)).state, state);
      const held = isRunning(state);

      const upload = await w.store.upload(id, w.blob());
      strictEqual(upload.ok, canGo(state, 'uploaded'), `upload from ${state}`);
      if (state === 'created') continue;
      const finished = await w.store.finish(id, attempt, w.result(id, attempt));
      strictEqual(finished, state === 'aggregating', `finish from ${state}`);
      const lease = { leaseMs: 1000 };
      const running = held && !finished;
      strictEqual(await w.store.extend(id, attempt, lease), running, `extend in ${state}`);
      strictEqual(await w.store.release(id, attempt), running, `release from ${state}`);
      const error = { code: 'INTERNAL', message: 'm' } as const;
      strictEqual(await w.store.fail(id, attempt, error), false);
      const final = isFinal((await w.known(id)).state);
      const removed = await w.store.remove(id, 1);
      strictEqual(removed.ok, final, `remove in ${state}`);
      const cancelled = await w.store.cancel(id, 1);
      strictEqual(cancelled.ok, !final, `cancel in ${state}`);
      tried++;
    }
    strictEqual(tried, TASK_STATES.length - 1);
  });

  test('gives ids that are safe integers and only grow', async (w) => {
    const ids: number[] = [];
    for (let i = 0; i < 50; i++) {
      // A clock that stands still, jumps ahead and goes back.
      if (i === 20) w.clockMs += 5000;
      if (i === 30) w.clockMs -= 9000;
      ids.push((await w.add()).id);
    }
    ok(ids.every((id) => Number.isSafeInteger(id) && id > 0));
    const grown = [...new Set(ids)].sort((a, b) => a - b);
    deepStrictEqual(ids, grown);
    await w.store.remove(ids.at(-1)!, 1);
    ok((await w.add()).id > ids.at(-1)!);
  });

  test('shows a task to its client alone', async (w) => {
    const { id } = await w.add({ clientId: 7 });
    matches(await w.store.get(id, 7), { id });
    strictEqual(await w.store.get(id, 8), null);
    strictEqual(await w.store.get(id + 1), null);
    await w.store.upload(id, w.blob());
    deepStrictEqual(await w.store.notify(id, 8), { ok: false, reason: 'missing' });
    strictEqual(await w.store.renew(id, 8, 1), null);
    deepStrictEqual(await w.store.cancel(id, 8), { ok: false, reason: 'missing' });
    await w.store.cancel(id, 7);
    deepStrictEqual(await w.store.remove(id, 8), { ok: false, reason: 'missing' });
    deepStrictEqual((await w.store.list({ clientId: 8, limit: 10 })).tasks, []);
    matches(await w.store.remove(id, 7), { ok: true });
    strictEqual(await w.store.get(id), null);
  });

  test('pages by id in both orders, and by state', async (w) => {
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) {
      ids.push((await w.add()).id);
      await w.add({ clientId: 2 });
    }
    const walk = async (order: 'asc' | 'desc', state?: TaskState): Promise<number[]> => {
      const query = { clientId: 1, limit: 3, order, ...(state && { state }) };
      const seen: number[] = [];
      for (;;) {
        const after = seen.at(-1);
        const page = await w.store.list({ ...query, ...(after !== undefined && { after }) });
        seen.push(...page.tasks.map((task) => task.id));
        ok(page.tasks.length <= 3);
        if (page.tasks.length < 3) return seen;
      }
    };
    deepStrictEqual(await walk('asc'), ids);
    deepStrictEqual(await walk('desc'), ids.toReversed());
    const odd = ids.filter((_, i) => i % 2 === 1);
    for (const id of odd) await w.store.upload(id, w.blob());
    deepStrictEqual(await walk('asc', 'uploaded'), odd);
    deepStrictEqual(await walk('desc', 'uploaded'), odd.toReversed());
    deepStrictEqual(await walk('asc', 'completed'), []);
    // An id without a task is as good as any other to continue from.
    const after = await w.store.list({ clientId: 1, limit: 9, after: ids[2]! + 1 });
    const rest = after.tasks.map((task) => task.id);
    deepStrictEqual(rest, ids.slice(3));
    const exact = await w.store.list({ clientId: 1, limit: 7 });
    strictEqual(exact.tasks.length, 7);
  });

  test('lists without what can be long', async (w) => {
    const { id } = await w.add({ state: 'waiting', input: w.blob() });
    const { attempt } = (await w.claim())!;
    const invalid = Array.from({ length: 1722 }, (_, index) => ({ index, reason: 'norm' }));
    await w.store.fail(id, attempt, { code: 'INVALID_SIGNATURES', message: 'bad', invalid });
    deepStrictEqual((await w.store.get(id))!.error!.invalid, invalid);
    const [listed] = (await w.store.list({ clientId: 1, limit: 1 })).tasks;
    ok(listed);
    matches(listed, { id, state: 'failed' });
    strictEqual(typeof listed.finishedAt, 'string');
    ok(!('error' in listed));
    ok(JSON.stringify(listed).length < 500);
  });

  test('replaces a file until the notification, and not after it', async (w) => {
    const { id } = await w.add();
    const [first, second] = [w.blob(), w.blob()];
    deepStrictEqual(await w.store.notify(id, 1), { ok: false, reason: 'notUploaded' });
    await w.store.upload(id, first);
    matches(await w.store.upload(id, second), { ok: true, replaced: first.key });
    matches(await w.store.notify(id, 1), { ok: true, first: true });
    deepStrictEqual(await w.store.upload(id, w.blob()), { ok: false, reason: 'state' });
    deepStrictEqual(await w.store.upload(id + 1, w.blob()), { ok: false, reason: 'missing' });
    deepStrictEqual((await w.known(id)).input, second);
    deepStrictEqual(await w.store.referenced([first.key, second.key]), new Set([second.key]));
  });

  test('takes any repeat of a notification, whatever became of the task', async (w) => {
    const { id } = await w.add();
    await w.store.upload(id, w.blob());
    await w.store.notify(id, 1);
    const { submittedAt } = await w.known(id);
    matches(await w.store.notify(id, 1), { ok: true, first: false });
    const { attempt } = (await w.claim())!;
    matches(await w.store.notify(id, 1), { ok: true, task: { state: 'verifying' } });
    await w.store.fail(id, attempt, { code: 'BAD_TASK_FILE', message: 'm' });
    matches(await w.store.notify(id, 1), { ok: true, task: { state: 'failed' } });
    strictEqual((await w.known(id)).submittedAt, submittedAt);

    const early = await w.add();
    await w.store.cancel(early.id, 1);
    deepStrictEqual(await w.store.notify(early.id, 1), { ok: false, reason: 'ended' });
  });

  test('takes a file with the notification, for uploads that it did not see', async (w) => {
    const { id } = await w.add();
    const input = { ...w.blob(), tag: '"v1"' };
    matches(await w.store.notify(id, 1, input), { ok: true, task: { input } });
    deepStrictEqual((await w.claim())?.input, input);
    const next = await w.add();
    const limits = { storedBytes: 15 };
    const refused = await w.store.notify(next.id, 1, w.blob(6), limits);
    deepStrictEqual(refused, { ok: false, reason: 'storedBytes' });
    matches(await w.known(next.id), { state: 'created', input: null });
    matches(await w.store.notify(next.id, 1, w.blob(5), limits), { ok: true });
  });

  test('lets urls end, tasks expire, and their end be moved before that', async (w) => {
    const { id } = await w.add();
    const kept = await w.add();
    const file = w.blob();
    await w.store.upload(id, file);
    const renewed = await w.store.renew(kept.id, 1, 2 * HOUR_MS);
    matches(renewed, { expiresAtMs: w.clockMs + 2 * HOUR_MS });
    w.clockMs += HOUR_MS;
    deepStrictEqual(await w.store.upload(id, w.blob()), { ok: false, reason: 'state' });
    deepStrictEqual(await w.store.notify(id, 1), { ok: false, reason: 'ended' });
    const swept = await w.store.sweep({ answerMs: HOUR_MS });
    matches(swept, { expired: [id], removed: 0, blobs: [file.key], more: false });
    matches(await w.known(id), { state: 'expired', input: null });
    strictEqual(await w.store.renew(id, 1, HOUR_MS), null);
    strictEqual((await w.known(kept.id)).state, 'created');
    const direct = await w.addWaiting({ ttlMs: 0 });
    await w.store.sweep({ answerMs: HOUR_MS });
    strictEqual((await w.known(direct.id)).state, 'waiting');
  });

  test('removes finished tasks when their time is over, and hands their files back', async (w) => {
    const { id, attempt } = await w.addIn('completed');
    const waiting = await w.addWaiting();
    w.clockMs += 5000;
    const young = await w.add();
    await w.store.cancel(young.id, 1);
    strictEqual((await w.store.sweep({ answerMs: HOUR_MS })).removed, 0);
    const swept = await w.store.sweep({ answerMs: HOUR_MS, retentionMs: 5000 });
    matches(swept, { removed: 1, blobs: [w.result(id, attempt).blob.key] });
    strictEqual(await w.store.get(id), null);
    notStrictEqual(await w.store.get(young.id), null);
    notStrictEqual(await w.store.get(waiting.id), null);
  });

  test('counts what a client has, and keeps it to its limits', async (w) => {
    const limits = { openTasks: 3, storedBytes: 100 };
    const full = { ok: false, reason: 'storedBytes' };
    const put = (more: Partial<NewTask>) => w.store.put({ ...CREATED, ...more }, { limits });
    const first = await put({});
    if (!first.ok) throw new Error();
    matches(await put({ state: 'waiting', input: w.blob(60) }), { ok: true });
    deepStrictEqual(await put({ state: 'waiting', input: w.blob(41) }), full);
    const { id } = first.task;
    deepStrictEqual(await w.store.upload(id, w.blob(41), limits), full);
    matches(await w.store.upload(id, w.blob(40), limits), { ok: true });
    // The file that is replaced does not count.
    matches(await w.store.upload(id, w.blob(39), limits), { ok: true });
    matches(await put({}), { ok: true });
    deepStrictEqual(await put({}), { ok: false, reason: 'openTasks' });
    matches(await put({ clientId: 2 }), { ok: true });
    deepStrictEqual(await w.store.usage(1), { openTasks: 3, storedBytes: 99 });
    await w.store.cancel(id, 1);
    deepStrictEqual(await w.store.usage(1), { openTasks: 2, storedBytes: 60 });
    const { id: claimed } = (await w.claim())!;
    await w.store.extend(claimed, 1, { leaseMs: 1000, state: 'aggregating' });
    await w.store.finish(claimed, 1, w.result(claimed, 1));
    deepStrictEqual(await w.other.usage(1), { openTasks: 1, storedBytes: 7 });
    matches((await w.store.depth()).states, { created: 2, waiting: 0, aggregating: 0 });
    await w.store.remove(claimed, 1);
    deepStrictEqual(await w.other.usage(1), { openTasks: 1, storedBytes: 0 });
  });

  test('keeps what is known of the request that made a task', async (w) => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { id } = await w.add({ requestId: 'r-1', traceparent });
    matches(await w.known(id), { requestId: 'r-1', traceparent });
    matches(await w.known((await w.add()).id), { requestId: null, traceparent: null });
  });

  test('keeps the task of a request under its key', async (w) => {
    const begin = (fingerprint = 'f', view = w.store) =>
      view.beginAnswer(1, 'k', fingerprint, 60_000);
    const held = await begin();
    if (held.kind !== 'held') throw new Error(held.kind);
    deepStrictEqual(await begin('f', w.other), { kind: 'running', retryMs: 60_000 });
    deepStrictEqual(await begin('g'), { kind: 'mismatch' });
    matches(await w.store.beginAnswer(2, 'k', 'g', 60_000), { kind: 'held' });

    const { hold } = held;
    const put = await w.store.put(CREATED, { hold });
    if (!put.ok) throw new Error(put.reason);
    deepStrictEqual(await begin('f', w.other), { kind: 'replay', task: put.task });
    deepStrictEqual(await begin('g'), { kind: 'mismatch' });
    deepStrictEqual(await w.store.put(CREATED, { hold }), { ok: false, reason: 'superseded' });
    strictEqual(await w.store.extendAnswer(hold, 1000), false);
    strictEqual((await w.store.list({ clientId: 1, limit: 9 })).tasks.length, 1);
    await w.store.cancel(put.task.id, 1);
    matches(await begin(), { kind: 'replay', task: { state: 'cancelled' } });
    await w.store.remove(put.task.id, 1);
    deepStrictEqual(await begin(), { kind: 'replay', task: null });
    w.clockMs += 2000;
    await w.store.sweep({ answerMs: 1000 });
    matches(await begin(), { kind: 'held' });
  });

  test('lets a key of a request that failed, or whose process died, be taken again', async (w) => {
    const begin = () => w.store.beginAnswer(1, 'k', 'f', 1000);
    const first = await begin();
    if (first.kind !== 'held') throw new Error(first.kind);
    await w.store.abandonAnswer(first.hold);
    const second = await begin();
    if (second.kind !== 'held') throw new Error(second.kind);
    await w.store.abandonAnswer(first.hold);
    deepStrictEqual(await begin(), { kind: 'running', retryMs: 1000 });
    w.clockMs += 900;
    strictEqual(await w.other.extendAnswer(second.hold, 1000), true);
    w.clockMs += 900;
    deepStrictEqual(await begin(), { kind: 'running', retryMs: 100 });
    w.clockMs += 100;
    strictEqual((await begin()).kind, 'held');
    strictEqual(await w.store.extendAnswer(second.hold, 1000), false);
    const late = await w.store.put(CREATED, { hold: second.hold });
    deepStrictEqual(late, { ok: false, reason: 'superseded' });
  });

  test('answers a ping', async (w) => {
    await w.store.ping();
  });

  test('makes one secret for each name', async (w) => {
    const { store, other } = w;
    const secrets = [store.secret('a'), other.secret('a'), store.secret('b')] as const;
    const [a, b, c] = await Promise.all(secrets);
    strictEqual(a.length, 32);
    deepStrictEqual(b, a);
    notDeepStrictEqual(c, a);
  });
}
