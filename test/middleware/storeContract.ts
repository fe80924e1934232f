/**
 * What every task store must do: one suite, run over each of them. A store is opened with a clock
 * that the test sets, so nothing here waits.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  ApiKeyStore,
  ClaimOptions,
  NewTask,
  TaskStore,
} from '../../src/middleware/stores/taskStore.ts';
import { canGo, isRunning, type Task, type TaskResult } from '../../src/middleware/task.ts';
import { isFinal, TASK_STATES, type TaskState } from '../../src/wire/taskStates.ts';

export interface OpenedStore {
  readonly store: TaskStore & ApiKeyStore;
  /**
   * A second view of the same data, as another process would have it; the store itself where there
   * is none.
   */
  readonly other: TaskStore & ApiKeyStore;
  close(): Promise<void>;
}

const START_MS = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;
const CLAIM: ClaimOptions = { leaseMs: 1000, threads: 3 };

export function storeContract(
  name: string,
  open: (nowMs: () => number) => Promise<OpenedStore>,
): void {
  describe(`${name}: the contract of a task store`, () => {
    let clockMs = START_MS;
    let opened: OpenedStore;
    let store: TaskStore & ApiKeyStore;
    let other: TaskStore & ApiKeyStore;

    beforeEach(async () => {
      clockMs = START_MS;
      opened = await open(() => clockMs);
      ({ store, other } = opened);
    });
    afterEach(() => opened.close());

    let blobNumber = 0;
    const blob = (bytes = 10) => ({ key: `inputs/${++blobNumber}.json`, bytes });
    const result = (id: number, attempt: number): TaskResult => ({
      blob: { key: `results/${attempt}/${id}.json`, bytes: 7 },
      format: 'bundle',
      aggregateBytes: 3,
    });

    const add = async (more: Partial<NewTask> = {}): Promise<Task> => {
      const created = { clientId: 1, state: 'created', threads: 2 } as const;
      const outcome = await store.put({ ...created, ttlMs: HOUR_MS, ...more });
      if (!outcome.ok) throw new Error(outcome.reason);
      return outcome.task;
    };
    const addWaiting = (more: Partial<NewTask> = {}) =>
      add({ state: 'waiting', input: blob(), ...more });
    const addClaimed = async (more: Partial<NewTask> = {}): Promise<Task> => {
      const { id } = await addWaiting(more);
      const claimed = await claim();
      expect(claimed?.id).toBe(id);
      return claimed!;
    };
    /** The task that the next claim gets, or null. */
    const claim = async (from = store): Promise<Task | null> => (await from.claim(CLAIM)).task;
    const nextClaimMs = async () => {
      const claimed = await store.claim(CLAIM);
      if (claimed.task) throw new Error('a task is waiting');
      return claimed.nextMs;
    };
    const known = async (id: number): Promise<Task> => (await other.get(id))!;

    /** Brings a new task of client 1 into the state. */
    const addIn = async (state: TaskState): Promise<Task> => {
      if (state === 'waiting') return addWaiting();
      if (state === 'created' || state === 'uploaded' || state === 'expired') {
        const { id } = await add({ ttlMs: 10 });
        if (state === 'uploaded') await store.upload(id, blob());
        if (state === 'expired') {
          clockMs += 10;
          await store.sweep({ answerMs: HOUR_MS });
        }
        return known(id);
      }
      const { id, attempt } = await addClaimed();
      if (state === 'aggregating' || state === 'completed') {
        await store.extend(id, attempt, { leaseMs: 1000, state: 'aggregating' });
      }
      if (state === 'completed') await store.finish(id, attempt, result(id, attempt));
      if (state === 'failed') await store.fail(id, attempt, { code: 'INTERNAL', message: 'm' });
      if (state === 'cancelled') await store.cancel(id, 1);
      return known(id);
    };

    it('walks a task through its whole life', async () => {
      const created = await add();
      expect(created).toMatchObject({ state: 'created', count: 0, attempt: 0, input: null });
      expect(created.submittedAt).toBe(created.createdAt);
      expect(created.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);

      const input = blob(50);
      expect(await store.upload(created.id, input)).toMatchObject({ ok: true, replaced: null });
      const notified = await store.notify(created.id, 1);
      expect(notified).toMatchObject({ ok: true, first: true, task: { state: 'waiting', input } });
      const waiting = await known(created.id);
      expect(waiting.submittedAt > waiting.createdAt).toBe(true);

      const claimed = (await claim())!;
      expect(claimed).toMatchObject({ id: created.id, state: 'verifying', attempt: 1, threads: 3 });
      const progress = { phase: 'verify', done: 1, total: 5 } as const;
      expect(await store.extend(created.id, 1, { leaseMs: 1000, count: 5, progress })).toBe(true);
      expect(await known(created.id)).toMatchObject({ state: 'verifying', count: 5, progress });
      await store.extend(created.id, 1, { leaseMs: 1000, state: 'aggregating' });
      expect(await known(created.id)).toMatchObject({ state: 'aggregating', count: 5, progress });

      expect(await store.finish(created.id, 1, result(created.id, 1))).toBe(true);
      const completed = await known(created.id);
      expect(completed).toMatchObject({ state: 'completed', result: result(created.id, 1) });
      expect(completed).toMatchObject({ input: null, error: null, createdAt: created.createdAt });
      expect(completed.finishedAt! > waiting.submittedAt).toBe(true);
    });

    it('takes only the steps of the state machine, from every state', async () => {
      let tried = 0;
      for (const state of TASK_STATES) {
        const { id, attempt } = await addIn(state);
        expect((await known(id)).state).toBe(state);
        const held = isRunning(state);

        const upload = await store.upload(id, blob());
        expect(upload.ok, `upload from ${state}`).toBe(canGo(state, 'uploaded'));
        if (state === 'created') continue;
        const finished = await store.finish(id, attempt, result(id, attempt));
        expect(finished, `finish from ${state}`).toBe(state === 'aggregating');
        const lease = { leaseMs: 1000 };
        const running = held && !finished;
        expect(await store.extend(id, attempt, lease), `extend in ${state}`).toBe(running);
        expect(await store.release(id, attempt), `release from ${state}`).toBe(running);
        const error = { code: 'INTERNAL', message: 'm' } as const;
        expect(await store.fail(id, attempt, error)).toBe(false);
        const final = isFinal((await known(id)).state);
        const removed = await store.remove(id, 1);
        expect(removed.ok, `remove in ${state}`).toBe(final);
        const cancelled = await store.cancel(id, 1);
        expect(cancelled.ok, `cancel in ${state}`).toBe(!final);
        tried++;
      }
      expect(tried).toBe(TASK_STATES.length - 1);
    });

    it('gives ids that are safe integers and only grow', async () => {
      const ids: number[] = [];
      for (let i = 0; i < 50; i++) {
        // A clock that stands still, jumps ahead and goes back.
        if (i === 20) clockMs += 5000;
        if (i === 30) clockMs -= 9000;
        ids.push((await add()).id);
      }
      expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      await store.remove(ids.at(-1)!, 1);
      expect((await add()).id).toBeGreaterThan(ids.at(-1)!);
    });

    it('shows a task to its client alone', async () => {
      const { id } = await add({ clientId: 7 });
      expect(await store.get(id, 7)).toMatchObject({ id });
      expect(await store.get(id, 8)).toBe(null);
      expect(await store.get(id + 1)).toBe(null);
      await store.upload(id, blob());
      expect(await store.notify(id, 8)).toEqual({ ok: false, reason: 'missing' });
      expect(await store.renew(id, 8, 1)).toBe(null);
      expect(await store.cancel(id, 8)).toEqual({ ok: false, reason: 'missing' });
      await store.cancel(id, 7);
      expect(await store.remove(id, 8)).toEqual({ ok: false, reason: 'missing' });
      expect((await store.list({ clientId: 8, limit: 10 })).tasks).toEqual([]);
      expect(await store.remove(id, 7)).toMatchObject({ ok: true });
      expect(await store.get(id)).toBe(null);
    });

    it('pages by id in both orders, and by state', async () => {
      const ids: number[] = [];
      for (let i = 0; i < 7; i++) {
        ids.push((await add()).id);
        await add({ clientId: 2 });
      }
      const walk = async (order: 'asc' | 'desc', state?: TaskState): Promise<number[]> => {
        const seen: number[] = [];
        let page = await store.list({ clientId: 1, limit: 3, order, ...(state && { state }) });
        for (;;) {
          seen.push(...page.tasks.map((task) => task.id));
          expect(page.tasks.length).toBeLessThanOrEqual(3);
          if (page.tasks.length < 3) return seen;
          const query = { clientId: 1, limit: 3, order, after: seen.at(-1)! };
          page = await store.list({ ...query, ...(state && { state }) });
        }
      };
      expect(await walk('asc')).toEqual(ids);
      expect(await walk('desc')).toEqual(ids.toReversed());
      const odd = ids.filter((_, i) => i % 2 === 1);
      for (const id of odd) await store.upload(id, blob());
      expect(await walk('asc', 'uploaded')).toEqual(odd);
      expect(await walk('desc', 'uploaded')).toEqual(odd.toReversed());
      expect(await walk('asc', 'completed')).toEqual([]);
      // An id that is not there (any more) is as good as any other to go on from.
      const after = await store.list({ clientId: 1, limit: 9, after: ids[2]! + 1 });
      expect(after.tasks.map((task) => task.id)).toEqual(ids.slice(3));
      const exact = await store.list({ clientId: 1, limit: 7 });
      expect(exact).toMatchObject({ tasks: { length: 7 } });
    });

    it('lists without what can be long', async () => {
      const { id } = await add({ state: 'waiting', input: blob() });
      const { attempt } = (await claim())!;
      const invalid = Array.from({ length: 1722 }, (_, index) => ({ index, reason: 'norm' }));
      await store.fail(id, attempt, { code: 'INVALID_SIGNATURES', message: 'bad', invalid });
      expect((await store.get(id))!.error!.invalid).toEqual(invalid);
      const [listed] = (await store.list({ clientId: 1, limit: 1 })).tasks;
      expect(listed).toMatchObject({ id, state: 'failed', finishedAt: expect.any(String) });
      expect(listed).not.toHaveProperty('error');
      expect(JSON.stringify(listed).length).toBeLessThan(500);
    });

    it('replaces a file until the notification, and not after it', async () => {
      const { id } = await add();
      const [first, second] = [blob(), blob()];
      expect(await store.notify(id, 1)).toEqual({ ok: false, reason: 'notUploaded' });
      await store.upload(id, first);
      expect(await store.upload(id, second)).toMatchObject({ ok: true, replaced: first.key });
      expect(await store.notify(id, 1)).toMatchObject({ ok: true, first: true });
      expect(await store.upload(id, blob())).toEqual({ ok: false, reason: 'state' });
      expect(await store.upload(id + 1, blob())).toEqual({ ok: false, reason: 'missing' });
      expect((await known(id)).input).toEqual(second);
      expect(await store.referenced([first.key, second.key])).toEqual(new Set([second.key]));
    });

    it('takes any repeat of a notification, whatever became of the task', async () => {
      const { id } = await add();
      await store.upload(id, blob());
      await store.notify(id, 1);
      const { submittedAt } = await known(id);
      expect(await store.notify(id, 1)).toMatchObject({ ok: true, first: false });
      const { attempt } = (await claim())!;
      expect(await store.notify(id, 1)).toMatchObject({ ok: true, task: { state: 'verifying' } });
      await store.fail(id, attempt, { code: 'BAD_TASK_FILE', message: 'm' });
      expect(await store.notify(id, 1)).toMatchObject({ ok: true, task: { state: 'failed' } });
      expect((await known(id)).submittedAt).toBe(submittedAt);

      const early = await add();
      await store.cancel(early.id, 1);
      expect(await store.notify(early.id, 1)).toEqual({ ok: false, reason: 'ended' });
    });

    it('takes a file with the notification, for uploads that it did not see', async () => {
      const { id } = await add();
      const input = { ...blob(), tag: '"v1"' };
      expect(await store.notify(id, 1, input)).toMatchObject({ ok: true, task: { input } });
      expect((await claim())?.input).toEqual(input);
      const next = await add();
      const limits = { storedBytes: 15 };
      const refused = await store.notify(next.id, 1, blob(6), limits);
      expect(refused).toEqual({ ok: false, reason: 'storedBytes' });
      expect(await known(next.id)).toMatchObject({ state: 'created', input: null });
      expect(await store.notify(next.id, 1, blob(5), limits)).toMatchObject({ ok: true });
    });

    it('lets urls end, tasks expire, and their end be moved before that', async () => {
      const { id } = await add();
      const kept = await add();
      const file = blob();
      await store.upload(id, file);
      expect(await store.renew(kept.id, 1, 2 * HOUR_MS)).toMatchObject({
        expiresAtMs: clockMs + 2 * HOUR_MS,
      });
      clockMs += HOUR_MS;
      expect(await store.upload(id, blob())).toEqual({ ok: false, reason: 'state' });
      expect(await store.notify(id, 1)).toEqual({ ok: false, reason: 'ended' });
      const swept = await store.sweep({ answerMs: HOUR_MS });
      expect(swept).toEqual({ expired: [id], removed: 0, blobs: [file.key], more: false });
      expect(await known(id)).toMatchObject({ state: 'expired', input: null });
      expect(await store.renew(id, 1, HOUR_MS)).toBe(null);
      expect((await known(kept.id)).state).toBe('created');
      const direct = await addWaiting({ ttlMs: 0 });
      await store.sweep({ answerMs: HOUR_MS });
      expect((await known(direct.id)).state).toBe('waiting');
    });

    it('removes finished tasks when their time is over, and hands their files back', async () => {
      const { id, attempt } = await addIn('completed');
      const waiting = await addWaiting();
      clockMs += 5000;
      const young = await add();
      await store.cancel(young.id, 1);
      expect((await store.sweep({ answerMs: HOUR_MS })).removed).toBe(0);
      const swept = await store.sweep({ answerMs: HOUR_MS, retentionMs: 5000 });
      expect(swept).toMatchObject({ removed: 1, blobs: [result(id, attempt).blob.key] });
      expect(await store.get(id)).toBe(null);
      expect(await store.get(young.id)).not.toBe(null);
      expect(await store.get(waiting.id)).not.toBe(null);
    });

    it('counts what a client has, and keeps it to its limits', async () => {
      const limits = { openTasks: 3, storedBytes: 100 };
      const put = (more: Partial<NewTask>) =>
        store.put(
          { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS, ...more },
          { limits },
        );
      const first = await put({});
      if (!first.ok) throw new Error();
      expect(await put({ state: 'waiting', input: blob(60) })).toMatchObject({ ok: true });
      expect(await put({ state: 'waiting', input: blob(41) })).toEqual({
        ok: false,
        reason: 'storedBytes',
      });
      const { id } = first.task;
      expect(await store.upload(id, blob(41), limits)).toEqual({
        ok: false,
        reason: 'storedBytes',
      });
      expect(await store.upload(id, blob(40), limits)).toMatchObject({ ok: true });
      // The file that is replaced does not count.
      expect(await store.upload(id, blob(39), limits)).toMatchObject({ ok: true });
      expect(await put({})).toMatchObject({ ok: true });
      expect(await put({})).toEqual({ ok: false, reason: 'openTasks' });
      expect(await put({ clientId: 2 })).toMatchObject({ ok: true });
      expect(await store.usage(1)).toEqual({ openTasks: 3, storedBytes: 99 });
      await store.cancel(id, 1);
      expect(await store.usage(1)).toEqual({ openTasks: 2, storedBytes: 60 });
      const { id: claimed } = (await claim())!;
      await store.extend(claimed, 1, { leaseMs: 1000, state: 'aggregating' });
      await store.finish(claimed, 1, result(claimed, 1));
      expect(await other.usage(1)).toEqual({ openTasks: 1, storedBytes: 7 });
      expect((await store.depth()).states).toMatchObject({
        created: 2,
        waiting: 0,
        aggregating: 0,
      });
      await store.remove(claimed, 1);
      expect(await other.usage(1)).toEqual({ openTasks: 1, storedBytes: 0 });
    });

    it('hands every waiting task to exactly one of many claimers', async () => {
      const late = await add();
      await store.upload(late.id, blob());
      const ids = [];
      for (let i = 0; i < 11; i++) ids.push((await addWaiting({ clientId: i })).id);
      await store.notify(late.id, 1);
      const claims = Array.from({ length: 30 }, (_, i) => claim(i % 2 ? store : other));
      const got = (await Promise.all(claims)).filter((task) => task !== null);
      // The answers of several connections come in any order.
      expect(got.map((task) => task.id).sort()).toEqual([late.id, ...ids]);
      expect(late.id).toBeLessThan(ids[0]!);
      expect(await claim()).toBe(null);
    });

    it('lets clients take turns, so that the thousand tasks of one do not hold up another', async () => {
      const many: number[] = [];
      for (let i = 0; i < 1000; i++) many.push((await addWaiting({ clientId: 1 })).id);
      const claimed = async () => (await claim())!;
      for (let i = 0; i < 10; i++) expect((await claimed()).id).toBe(many[i]);
      const few = [];
      for (let i = 0; i < 5; i++) few.push((await addWaiting({ clientId: 2 })).id);
      const third = await add({ clientId: 3 });
      await store.upload(third.id, blob());
      await store.notify(third.id, 3);
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
        await addWaiting({ clientId: 4 });
        eager.push((await claimed()).clientId);
      }
      expect(eager.filter((clientId) => clientId === 4).length).toBeLessThanOrEqual(11);
      expect(eager.filter((clientId) => clientId === 1).length).toBeGreaterThanOrEqual(9);
    });

    it('keeps the place of a task that comes back', async () => {
      const first = await addClaimed();
      const second = await addWaiting();
      await store.release(first.id, 1);
      expect(await claim()).toMatchObject({ id: first.id, attempt: 2 });
      expect(await claim()).toMatchObject({ id: second.id });
    });

    it('puts a task back when its lease ends, and refuses its late worker', async () => {
      const { id } = await addClaimed();
      clockMs += 900;
      expect(await store.extend(id, 1, { leaseMs: 1000 })).toBe(true);
      clockMs += 900;
      expect(await claim(other)).toBe(null);
      expect(await nextClaimMs()).toBe(100);
      clockMs += 100;
      const again = (await claim(other))!;
      expect(again).toMatchObject({ id, attempt: 2, losses: 1, failures: 0, progress: null });
      const stale = result(id, 1);
      expect(await store.extend(id, 1, { leaseMs: 1000, state: 'aggregating' })).toBe(false);
      expect(await store.finish(id, 1, stale)).toBe(false);
      expect(await store.fail(id, 1, { code: 'INTERNAL', message: 'm' })).toBe(false);
      expect(await store.release(id, 1)).toBe(false);
      expect(await known(id)).toMatchObject({ state: 'verifying', attempt: 2 });
      await other.extend(id, 2, { leaseMs: 1000, state: 'aggregating' });
      expect(await other.finish(id, 2, result(id, 2))).toBe(true);
      expect(await other.finish(id, 2, result(id, 2))).toBe(false);
      expect((await known(id)).result).toEqual(result(id, 2));
    });

    it('never gives up a task for lost leases', async () => {
      const { id, input } = await addWaiting();
      for (let attempt = 1; attempt <= 40; attempt++) {
        expect(await claim()).toMatchObject({ id, attempt, losses: attempt - 1, input });
        clockMs += 1000;
      }
      expect(await claim()).toMatchObject({ id, losses: 40 });
    });

    it('sets a task aside with its input, until it is put back', async () => {
      const { id, input } = await addClaimed();
      const error = { code: 'THREAD_LOST', message: 'm' } as const;
      expect(await store.setAside(id, 2, error)).toBe(false);
      expect(await store.setAside(id, 1, error)).toBe(true);
      expect(await store.setAside(id, 1, error)).toBe(false);
      expect(await known(id)).toMatchObject({ state: 'waiting', quarantined: true, error, input });
      clockMs += HOUR_MS;
      expect(await nextClaimMs()).toBe(null);
      const later = await addWaiting();
      expect(await claim()).toMatchObject({ id: later.id });
      expect(await other.depth()).toMatchObject({ quarantined: 1, states: { waiting: 0 } });
      expect((await other.depth()).oldestWaitingMs).toBe(null);
      expect((await store.usage(1)).openTasks).toBe(2);

      expect(await store.putBack(later.id)).toBe(false);
      expect(await other.putBack(id)).toBe(true);
      expect(await other.putBack(id)).toBe(false);
      expect(await claim()).toMatchObject({ id, attempt: 2, quarantined: false, error: null });
      await store.setAside(id, 2, error);
      expect(await store.cancel(id, 1)).toMatchObject({ ok: true, blobs: [input!.key] });
      expect(await store.putBack(id)).toBe(false);
      expect(await known(id)).toMatchObject({ state: 'cancelled', quarantined: false });
      expect(await store.depth()).toMatchObject({ quarantined: 0 });
    });

    it('extends the leases of many tasks at once, and says which are still held', async () => {
      const [a, b, c] = [await addClaimed(), await addClaimed(), await addClaimed()] as const;
      await store.cancel(b.id, 1);
      clockMs += 900;
      const attempts = [a, b, { ...c, attempt: 2 }, { id: c.id + 1, attempt: 1 }];
      expect(await other.extendAll(attempts, 1000)).toEqual(new Set([a.id]));
      clockMs += 100;
      expect(await claim()).toMatchObject({ id: c.id, losses: 1 });
      expect(await claim()).toBe(null);
      expect(await store.extendAll([], 1000)).toEqual(new Set());
    });

    it('tells how many tasks are unfinished, and since when the oldest waits', async () => {
      const none = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
      expect(await store.depth()).toEqual({ states: none, quarantined: 0, oldestWaitingMs: null });
      for (const state of TASK_STATES) await addIn(state);
      await addWaiting({ clientId: 2 });
      const depth = await other.depth();
      // The tasks that were claimed took turns with the one that was left waiting.
      const sum = Object.values(depth.states).reduce((all, tasks) => all + tasks, 0);
      expect(sum).toBe(6);
      expect(depth.states).toMatchObject({ created: 1, uploaded: 1 });
      expect(depth.oldestWaitingMs).toBeGreaterThanOrEqual(0);
    });

    it('keeps what is known of the request that made a task', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const { id } = await add({ requestId: 'r-1', traceparent });
      expect(await known(id)).toMatchObject({ requestId: 'r-1', traceparent });
      expect(await known((await add()).id)).toMatchObject({ requestId: null, traceparent: null });
    });

    it('waits before a retry, and fails with everything that is wrong', async () => {
      const { id } = await addClaimed();
      const error = { code: 'TIMED_OUT', message: 'm' } as const;
      expect(await store.fail(id, 1, error, { delayMs: 500 })).toBe(true);
      expect(await known(id)).toMatchObject({ state: 'waiting', failures: 1, error: null });
      expect(await claim()).toBe(null);
      expect(await nextClaimMs()).toBe(500);
      clockMs += 500;
      expect(await claim()).toMatchObject({ id, attempt: 2, losses: 0 });
      const invalid = [{ index: 4, reason: 'signatureMismatch' }];
      const final = { code: 'INVALID_SIGNATURES', message: 'bad', invalid } as const;
      expect(await store.fail(id, 2, final)).toBe(true);
      expect(await known(id)).toMatchObject({ state: 'failed', error: final, input: null });
      expect(await nextClaimMs()).toBe(null);
    });

    it('gives a released task out again at once', async () => {
      const { id } = await addClaimed();
      expect(await store.release(id, 1)).toBe(true);
      expect(await claim()).toMatchObject({ id, attempt: 2, losses: 0, failures: 0 });
    });

    it('cancels a running task under its worker', async () => {
      const { id, input } = await addClaimed();
      expect(await other.cancel(id, 1)).toMatchObject({ ok: true, blobs: [input!.key] });
      expect(await store.extend(id, 1, { leaseMs: 1000 })).toBe(false);
      expect(await store.finish(id, 1, result(id, 1))).toBe(false);
      clockMs += 5000;
      expect(await claim()).toBe(null);
      expect(await other.cancel(id, 1)).toEqual({ ok: false, reason: 'final' });
      expect(await known(id)).toMatchObject({ state: 'cancelled', input: null });
    });

    it('tells watchers what it changed, once it is written', async () => {
      const told: string[] = [];
      const end = store.watch((task) => told.push(`${task.id} ${task.state}`));
      const { id } = await addClaimed();
      await store.release(id, 1);
      expect(told).toEqual([`${id} waiting`, `${id} verifying`, `${id} waiting`]);
      end();
      await store.cancel(id, 1);
      expect(told.length).toBe(3);
    });

    it('keeps the task of a request under its key', async () => {
      const begin = (fingerprint = 'f', view = store) =>
        view.beginAnswer(1, 'k', fingerprint, 60_000);
      const held = await begin();
      if (held.kind !== 'held') throw new Error(held.kind);
      expect(await begin('f', other)).toEqual({ kind: 'running', retryMs: 60_000 });
      expect(await begin('g')).toEqual({ kind: 'mismatch' });
      expect(await store.beginAnswer(2, 'k', 'g', 60_000)).toMatchObject({ kind: 'held' });

      const task = { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS } as const;
      const { hold } = held;
      const put = await store.put(task, { hold });
      if (!put.ok) throw new Error(put.reason);
      expect(await begin('f', other)).toEqual({ kind: 'replay', task: put.task });
      expect(await begin('g')).toEqual({ kind: 'mismatch' });
      expect(await store.put(task, { hold })).toEqual({ ok: false, reason: 'superseded' });
      expect(await store.extendAnswer(hold, 1000)).toBe(false);
      expect((await store.list({ clientId: 1, limit: 9 })).tasks.length).toBe(1);
      await store.cancel(put.task.id, 1);
      expect(await begin()).toMatchObject({ kind: 'replay', task: { state: 'cancelled' } });
      await store.remove(put.task.id, 1);
      expect(await begin()).toEqual({ kind: 'replay', task: null });
      clockMs += 2000;
      await store.sweep({ answerMs: 1000 });
      expect(await begin()).toMatchObject({ kind: 'held' });
    });

    it('lets a key of a request that failed, or whose process died, be taken again', async () => {
      const begin = () => store.beginAnswer(1, 'k', 'f', 1000);
      const first = await begin();
      if (first.kind !== 'held') throw new Error(first.kind);
      await store.abandonAnswer(first.hold);
      const second = await begin();
      if (second.kind !== 'held') throw new Error(second.kind);
      await store.abandonAnswer(first.hold);
      expect(await begin()).toEqual({ kind: 'running', retryMs: 1000 });
      clockMs += 900;
      expect(await other.extendAnswer(second.hold, 1000)).toBe(true);
      clockMs += 900;
      expect(await begin()).toEqual({ kind: 'running', retryMs: 100 });
      clockMs += 100;
      expect((await begin()).kind).toBe('held');
      expect(await store.extendAnswer(second.hold, 1000)).toBe(false);
      const task = { clientId: 1, state: 'created', threads: 1, ttlMs: HOUR_MS } as const;
      const late = await store.put(task, { hold: second.hold });
      expect(late).toEqual({ ok: false, reason: 'superseded' });
    });

    it('gives each named client a number of its own', async () => {
      await store.putApiKey({ sha256: '1'.repeat(64), name: 'key' });
      const [a, b, again] = await Promise.all([
        store.clientNamed('alice'),
        other.clientNamed('bob'),
        other.clientNamed('alice'),
      ]);
      expect(again).toBe(a);
      expect(new Set([1, a, b]).size).toBe(3);
      expect(await store.clientNamed('Alice')).not.toBe(a);
      const key = await store.putApiKey({ sha256: '2'.repeat(64), name: 'key' });
      expect([1, a, b]).not.toContain(key!.clientId);
    });

    it('answers a ping', async () => {
      await store.ping();
    });

    it('makes one secret for each name', async () => {
      const [a, b, c] = await Promise.all([
        store.secret('a'),
        other.secret('a'),
        store.secret('b'),
      ]);
      expect(a.length).toBe(32);
      expect(b).toEqual(a);
      expect(c).not.toEqual(a);
    });

    it('keeps API keys by their hash', async () => {
      const hash = (digit: string) => digit.repeat(64);
      const first = await store.putApiKey({ sha256: hash('1'), name: 'first' });
      expect(first).toMatchObject({ clientId: 1, name: 'first' });
      expect(await store.putApiKey({ sha256: hash('1'), name: 'again' })).toBe(null);
      expect(await store.putApiKey({ sha256: hash('2'), name: 'b', clientId: 9 })).toMatchObject({
        clientId: 9,
      });
      expect(await store.putApiKey({ sha256: hash('3'), name: 'c' })).toMatchObject({
        clientId: 10,
      });
      expect(await other.findApiKey(hash('1'))).toEqual(first);
      expect(await store.findApiKey(hash('4'))).toBe(null);
      expect((await store.listApiKeys()).map((key) => key.name)).toEqual(['first', 'b', 'c']);
      expect(await store.removeApiKey(hash('1'))).toBe(true);
      expect(await store.removeApiKey(hash('1'))).toBe(false);
      expect(await other.findApiKey(hash('1'))).toBe(null);
      // A client whose last key is gone leaves its number to nobody.
      await store.removeApiKey(hash('3'));
      expect(await other.putApiKey({ sha256: hash('5'), name: 'e' })).toMatchObject({
        clientId: 11,
      });
      expect(await store.putApiKey({ sha256: hash('6'), name: 'f', clientId: 2 })).toMatchObject({
        clientId: 2,
      });
      expect(await store.putApiKey({ sha256: hash('7'), name: 'g' })).toMatchObject({
        clientId: 12,
      });
    });
  });
}
