/** What every task store must do: one suite, run over each of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewTask } from '../../src/middleware/stores/taskStore.ts';
import { canGo, isRunning } from '../../src/middleware/task.ts';
import { isFinal, TASK_STATES, type TaskState } from '../../src/wire/taskStates.ts';
import { operatorContract } from './operatorContract.ts';
import { queueContract } from './queueContract.ts';
import { HOUR_MS, type OpenStore, StoreWorld } from './storeWorld.ts';

export function storeContract(name: string, open: OpenStore): void {
  describe(`${name}: the contract of a task store`, () => {
    const world = new StoreWorld(open);
    beforeEach(() => world.renew());
    afterEach(() => world.close());
    clientContract(world);
    queueContract(world);
    operatorContract(world);
  });
}

function clientContract(w: StoreWorld): void {
  it('walks a task through its whole life', async () => {
    const created = await w.add();
    expect(created).toMatchObject({ state: 'created', count: 0, attempt: 0, input: null });
    expect(created.submittedAt).toBe(created.createdAt);
    expect(created.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);

    const input = w.blob(50);
    expect(await w.store.upload(created.id, input)).toMatchObject({ ok: true, replaced: null });
    const notified = await w.store.notify(created.id, 1);
    expect(notified).toMatchObject({ ok: true, first: true, task: { state: 'waiting', input } });
    const waiting = await w.known(created.id);
    expect(waiting.submittedAt > waiting.createdAt).toBe(true);

    const claimed = (await w.claim())!;
    expect(claimed).toMatchObject({ id: created.id, state: 'verifying', attempt: 1, threads: 3 });
    const progress = { phase: 'verify', done: 1, total: 5 } as const;
    expect(await w.store.extend(created.id, 1, { leaseMs: 1000, count: 5, progress })).toBe(true);
    expect(await w.known(created.id)).toMatchObject({ state: 'verifying', count: 5, progress });
    await w.store.extend(created.id, 1, { leaseMs: 1000, state: 'aggregating' });
    expect(await w.known(created.id)).toMatchObject({ state: 'aggregating', count: 5, progress });

    expect(await w.store.finish(created.id, 1, w.result(created.id, 1))).toBe(true);
    const completed = await w.known(created.id);
    expect(completed).toMatchObject({ state: 'completed', result: w.result(created.id, 1) });
    expect(completed).toMatchObject({ input: null, error: null, createdAt: created.createdAt });
    expect(completed.finishedAt! > waiting.submittedAt).toBe(true);
  });

  it('takes only the steps of the state machine, from every state', async () => {
    let tried = 0;
    for (const state of TASK_STATES) {
      const { id, attempt } = await w.addIn(state);
      expect((await w.known(id)).state).toBe(state);
      const held = isRunning(state);

      const upload = await w.store.upload(id, w.blob());
      expect(upload.ok, `upload from ${state}`).toBe(canGo(state, 'uploaded'));
      if (state === 'created') continue;
      const finished = await w.store.finish(id, attempt, w.result(id, attempt));
      expect(finished, `finish from ${state}`).toBe(state === 'aggregating');
      const lease = { leaseMs: 1000 };
      const running = held && !finished;
      expect(await w.store.extend(id, attempt, lease), `extend in ${state}`).toBe(running);
      expect(await w.store.release(id, attempt), `release from ${state}`).toBe(running);
      const error = { code: 'INTERNAL', message: 'm' } as const;
      expect(await w.store.fail(id, attempt, error)).toBe(false);
      const final = isFinal((await w.known(id)).state);
      const removed = await w.store.remove(id, 1);
      expect(removed.ok, `remove in ${state}`).toBe(final);
      const cancelled = await w.store.cancel(id, 1);
      expect(cancelled.ok, `cancel in ${state}`).toBe(!final);
      tried++;
    }
    expect(tried).toBe(TASK_STATES.length - 1);
  });

  it('gives ids that are safe integers and only grow', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 50; i++) {
      // A clock that stands still, jumps ahead and goes back.
      if (i === 20) w.clockMs += 5000;
      if (i === 30) w.clockMs -= 9000;
      ids.push((await w.add()).id);
    }
    expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    await w.store.remove(ids.at(-1)!, 1);
    expect((await w.add()).id).toBeGreaterThan(ids.at(-1)!);
  });

  it('shows a task to its client alone', async () => {
    const { id } = await w.add({ clientId: 7 });
    expect(await w.store.get(id, 7)).toMatchObject({ id });
    expect(await w.store.get(id, 8)).toBe(null);
    expect(await w.store.get(id + 1)).toBe(null);
    await w.store.upload(id, w.blob());
    expect(await w.store.notify(id, 8)).toEqual({ ok: false, reason: 'missing' });
    expect(await w.store.renew(id, 8, 1)).toBe(null);
    expect(await w.store.cancel(id, 8)).toEqual({ ok: false, reason: 'missing' });
    await w.store.cancel(id, 7);
    expect(await w.store.remove(id, 8)).toEqual({ ok: false, reason: 'missing' });
    expect((await w.store.list({ clientId: 8, limit: 10 })).tasks).toEqual([]);
    expect(await w.store.remove(id, 7)).toMatchObject({ ok: true });
    expect(await w.store.get(id)).toBe(null);
  });

  it('pages by id in both orders, and by state', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) {
      ids.push((await w.add()).id);
      await w.add({ clientId: 2 });
    }
    const walk = async (order: 'asc' | 'desc', state?: TaskState): Promise<number[]> => {
      const seen: number[] = [];
      let page = await w.store.list({ clientId: 1, limit: 3, order, ...(state && { state }) });
      for (;;) {
        seen.push(...page.tasks.map((task) => task.id));
        expect(page.tasks.length).toBeLessThanOrEqual(3);
        if (page.tasks.length < 3) return seen;
        const query = { clientId: 1, limit: 3, order, after: seen.at(-1)! };
        page = await w.store.list({ ...query, ...(state && { state }) });
      }
    };
    expect(await walk('asc')).toEqual(ids);
    expect(await walk('desc')).toEqual(ids.toReversed());
    const odd = ids.filter((_, i) => i % 2 === 1);
    for (const id of odd) await w.store.upload(id, w.blob());
    expect(await walk('asc', 'uploaded')).toEqual(odd);
    expect(await walk('desc', 'uploaded')).toEqual(odd.toReversed());
    expect(await walk('asc', 'completed')).toEqual([]);
    // An id that is not there (any more) is as good as any other to go on from.
    const after = await w.store.list({ clientId: 1, limit: 9, after: ids[2]! + 1 });
    expect(after.tasks.map((task) => task.id)).toEqual(ids.slice(3));
    const exact = await w.store.list({ clientId: 1, limit: 7 });
    expect(exact).toMatchObject({ tasks: { length: 7 } });
  });

  it('lists without what can be long', async () => {
    const { id } = await w.add({ state: 'waiting', input: w.blob() });
    const { attempt } = (await w.claim())!;
    const invalid = Array.from({ length: 1722 }, (_, index) => ({ index, reason: 'norm' }));
    await w.store.fail(id, attempt, { code: 'INVALID_SIGNATURES', message: 'bad', invalid });
    expect((await w.store.get(id))!.error!.invalid).toEqual(invalid);
    const [listed] = (await w.store.list({ clientId: 1, limit: 1 })).tasks;
    expect(listed).toMatchObject({ id, state: 'failed', finishedAt: expect.any(String) });
    expect(listed).not.toHaveProperty('error');
    expect(JSON.stringify(listed).length).toBeLessThan(500);
  });

  it('replaces a file until the notification, and not after it', async () => {
    const { id } = await w.add();
    const [first, second] = [w.blob(), w.blob()];
    expect(await w.store.notify(id, 1)).toEqual({ ok: false, reason: 'notUploaded' });
    await w.store.upload(id, first);
    expect(await w.store.upload(id, second)).toMatchObject({ ok: true, replaced: first.key });
    expect(await w.store.notify(id, 1)).toMatchObject({ ok: true, first: true });
    expect(await w.store.upload(id, w.blob())).toEqual({ ok: false, reason: 'state' });
    expect(await w.store.upload(id + 1, w.blob())).toEqual({ ok: false, reason: 'missing' });
    expect((await w.known(id)).input).toEqual(second);
    expect(await w.store.referenced([first.key, second.key])).toEqual(new Set([second.key]));
  });

  it('takes any repeat of a notification, whatever became of the task', async () => {
    const { id } = await w.add();
    await w.store.upload(id, w.blob());
    await w.store.notify(id, 1);
    const { submittedAt } = await w.known(id);
    expect(await w.store.notify(id, 1)).toMatchObject({ ok: true, first: false });
    const { attempt } = (await w.claim())!;
    expect(await w.store.notify(id, 1)).toMatchObject({ ok: true, task: { state: 'verifying' } });
    await w.store.fail(id, attempt, { code: 'BAD_TASK_FILE', message: 'm' });
    expect(await w.store.notify(id, 1)).toMatchObject({ ok: true, task: { state: 'failed' } });
    expect((await w.known(id)).submittedAt).toBe(submittedAt);

    const early = await w.add();
    await w.store.cancel(early.id, 1);
    expect(await w.store.notify(early.id, 1)).toEqual({ ok: false, reason: 'ended' });
  });

  it('takes a file with the notification, for uploads that it did not see', async () => {
    const { id } = await w.add();
    const input = { ...w.blob(), tag: '"v1"' };
    expect(await w.store.notify(id, 1, input)).toMatchObject({ ok: true, task: { input } });
    expect((await w.claim())?.input).toEqual(input);
    const next = await w.add();
    const limits = { storedBytes: 15 };
    const refused = await w.store.notify(next.id, 1, w.blob(6), limits);
    expect(refused).toEqual({ ok: false, reason: 'storedBytes' });
    expect(await w.known(next.id)).toMatchObject({ state: 'created', input: null });
    expect(await w.store.notify(next.id, 1, w.blob(5), limits)).toMatchObject({ ok: true });
  });

  it('lets urls end, tasks expire, and their end be moved before that', async () => {
    const { id } = await w.add();
    const kept = await w.add();
    const file = w.blob();
    await w.store.upload(id, file);
    expect(await w.store.renew(kept.id, 1, 2 * HOUR_MS)).toMatchObject({
      expiresAtMs: w.clockMs + 2 * HOUR_MS,
    });
    w.clockMs += HOUR_MS;
    expect(await w.store.upload(id, w.blob())).toEqual({ ok: false, reason: 'state' });
    expect(await w.store.notify(id, 1)).toEqual({ ok: false, reason: 'ended' });
    const swept = await w.store.sweep({ answerMs: HOUR_MS });
    expect(swept).toEqual({ expired: [id], removed: 0, blobs: [file.key], more: false });
    expect(await w.known(id)).toMatchObject({ state: 'expired', input: null });
    expect(await w.store.renew(id, 1, HOUR_MS)).toBe(null);
    expect((await w.known(kept.id)).state).toBe('created');
    const direct = await w.addWaiting({ ttlMs: 0 });
    await w.store.sweep({ answerMs: HOUR_MS });
    expect((await w.known(direct.id)).state).toBe('waiting');
  });

  it('removes finished tasks when their time is over, and hands their files back', async () => {
    const { id, attempt } = await w.addIn('completed');
    const waiting = await w.addWaiting();
    w.clockMs += 5000;
    const young = await w.add();
    await w.store.cancel(young.id, 1);
    expect((await w.store.sweep({ answerMs: HOUR_MS })).removed).toBe(0);
    const swept = await w.store.sweep({ answerMs: HOUR_MS, retentionMs: 5000 });
    expect(swept).toMatchObject({ removed: 1, blobs: [w.result(id, attempt).blob.key] });
    expect(await w.store.get(id)).toBe(null);
    expect(await w.store.get(young.id)).not.toBe(null);
    expect(await w.store.get(waiting.id)).not.toBe(null);
  });

  it('counts what a client has, and keeps it to its limits', async () => {
    const limits = { openTasks: 3, storedBytes: 100 };
    const put = (more: Partial<NewTask>) =>
      w.store.put(
        { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS, ...more },
        { limits },
      );
    const first = await put({});
    if (!first.ok) throw new Error();
    expect(await put({ state: 'waiting', input: w.blob(60) })).toMatchObject({ ok: true });
    expect(await put({ state: 'waiting', input: w.blob(41) })).toEqual({
      ok: false,
      reason: 'storedBytes',
    });
    const { id } = first.task;
    expect(await w.store.upload(id, w.blob(41), limits)).toEqual({
      ok: false,
      reason: 'storedBytes',
    });
    expect(await w.store.upload(id, w.blob(40), limits)).toMatchObject({ ok: true });
    // The file that is replaced does not count.
    expect(await w.store.upload(id, w.blob(39), limits)).toMatchObject({ ok: true });
    expect(await put({})).toMatchObject({ ok: true });
    expect(await put({})).toEqual({ ok: false, reason: 'openTasks' });
    expect(await put({ clientId: 2 })).toMatchObject({ ok: true });
    expect(await w.store.usage(1)).toEqual({ openTasks: 3, storedBytes: 99 });
    await w.store.cancel(id, 1);
    expect(await w.store.usage(1)).toEqual({ openTasks: 2, storedBytes: 60 });
    const { id: claimed } = (await w.claim())!;
    await w.store.extend(claimed, 1, { leaseMs: 1000, state: 'aggregating' });
    await w.store.finish(claimed, 1, w.result(claimed, 1));
    expect(await w.other.usage(1)).toEqual({ openTasks: 1, storedBytes: 7 });
    expect((await w.store.depth()).states).toMatchObject({
      created: 2,
      waiting: 0,
      aggregating: 0,
    });
    await w.store.remove(claimed, 1);
    expect(await w.other.usage(1)).toEqual({ openTasks: 1, storedBytes: 0 });
  });

  it('keeps what is known of the request that made a task', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { id } = await w.add({ requestId: 'r-1', traceparent });
    expect(await w.known(id)).toMatchObject({ requestId: 'r-1', traceparent });
    expect(await w.known((await w.add()).id)).toMatchObject({ requestId: null, traceparent: null });
  });

  it('keeps the task of a request under its key', async () => {
    const begin = (fingerprint = 'f', view = w.store) =>
      view.beginAnswer(1, 'k', fingerprint, 60_000);
    const held = await begin();
    if (held.kind !== 'held') throw new Error(held.kind);
    expect(await begin('f', w.other)).toEqual({ kind: 'running', retryMs: 60_000 });
    expect(await begin('g')).toEqual({ kind: 'mismatch' });
    expect(await w.store.beginAnswer(2, 'k', 'g', 60_000)).toMatchObject({ kind: 'held' });

    const task = { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS } as const;
    const { hold } = held;
    const put = await w.store.put(task, { hold });
    if (!put.ok) throw new Error(put.reason);
    expect(await begin('f', w.other)).toEqual({ kind: 'replay', task: put.task });
    expect(await begin('g')).toEqual({ kind: 'mismatch' });
    expect(await w.store.put(task, { hold })).toEqual({ ok: false, reason: 'superseded' });
    expect(await w.store.extendAnswer(hold, 1000)).toBe(false);
    expect((await w.store.list({ clientId: 1, limit: 9 })).tasks.length).toBe(1);
    await w.store.cancel(put.task.id, 1);
    expect(await begin()).toMatchObject({ kind: 'replay', task: { state: 'cancelled' } });
    await w.store.remove(put.task.id, 1);
    expect(await begin()).toEqual({ kind: 'replay', task: null });
    w.clockMs += 2000;
    await w.store.sweep({ answerMs: 1000 });
    expect(await begin()).toMatchObject({ kind: 'held' });
  });

  it('lets a key of a request that failed, or whose process died, be taken again', async () => {
    const begin = () => w.store.beginAnswer(1, 'k', 'f', 1000);
    const first = await begin();
    if (first.kind !== 'held') throw new Error(first.kind);
    await w.store.abandonAnswer(first.hold);
    const second = await begin();
    if (second.kind !== 'held') throw new Error(second.kind);
    await w.store.abandonAnswer(first.hold);
    expect(await begin()).toEqual({ kind: 'running', retryMs: 1000 });
    w.clockMs += 900;
    expect(await w.other.extendAnswer(second.hold, 1000)).toBe(true);
    w.clockMs += 900;
    expect(await begin()).toEqual({ kind: 'running', retryMs: 100 });
    w.clockMs += 100;
    expect((await begin()).kind).toBe('held');
    expect(await w.store.extendAnswer(second.hold, 1000)).toBe(false);
    const task = { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS } as const;
    const late = await w.store.put(task, { hold: second.hold });
    expect(late).toEqual({ ok: false, reason: 'superseded' });
  });

  it('gives each named client a number of its own', async () => {
    await w.store.putApiKey({ sha256: '1'.repeat(64), name: 'key' });
    const [a, b, again] = await Promise.all([
      w.store.clientNamed('alice'),
      w.other.clientNamed('bob'),
      w.other.clientNamed('alice'),
    ]);
    expect(again).toBe(a);
    expect(new Set([1, a, b]).size).toBe(3);
    expect(await w.store.clientNamed('Alice')).not.toBe(a);
    const key = await w.store.putApiKey({ sha256: '2'.repeat(64), name: 'key' });
    expect([1, a, b]).not.toContain(key!.clientId);
  });

  it('answers a ping', async () => {
    await w.store.ping();
  });

  it('makes one secret for each name', async () => {
    const [a, b, c] = await Promise.all([
      w.store.secret('a'),
      w.other.secret('a'),
      w.store.secret('b'),
    ]);
    expect(a.length).toBe(32);
    expect(b).toEqual(a);
    expect(c).not.toEqual(a);
  });

  it('keeps API keys by their hash', async () => {
    const hash = (digit: string) => digit.repeat(64);
    const first = await w.store.putApiKey({ sha256: hash('1'), name: 'first' });
    expect(first).toMatchObject({ clientId: 1, name: 'first' });
    expect(await w.store.putApiKey({ sha256: hash('1'), name: 'again' })).toBe(null);
    expect(await w.store.putApiKey({ sha256: hash('2'), name: 'b', clientId: 9 })).toMatchObject({
      clientId: 9,
    });
    expect(await w.store.putApiKey({ sha256: hash('3'), name: 'c' })).toMatchObject({
      clientId: 10,
    });
    expect(await w.other.findApiKey(hash('1'))).toEqual(first);
    expect(await w.store.findApiKey(hash('4'))).toBe(null);
    expect((await w.store.listApiKeys()).map((key) => key.name)).toEqual(['first', 'b', 'c']);
    expect(await w.store.removeApiKey(hash('1'))).toBe(true);
    expect(await w.store.removeApiKey(hash('1'))).toBe(false);
    expect(await w.other.findApiKey(hash('1'))).toBe(null);
    // A client whose last key is gone leaves its number to nobody.
    await w.store.removeApiKey(hash('3'));
    expect(await w.other.putApiKey({ sha256: hash('5'), name: 'e' })).toMatchObject({
      clientId: 11,
    });
    expect(await w.store.putApiKey({ sha256: hash('6'), name: 'f', clientId: 2 })).toMatchObject({
      clientId: 2,
    });
    expect(await w.store.putApiKey({ sha256: hash('7'), name: 'g' })).toMatchObject({
      clientId: 12,
    });
  });
}
