/** What the service's own stores must do for erasures and sweeps. See `ownContract.ts`. */
import { expect } from 'vitest';
import { ERASE_ROWS } from '../../src/middleware/stores/operatorStore.ts';
import { type DeclareTest, HOUR_MS } from '../../src/testing/storeWorld.ts';
import { TASK_STATES } from '../../src/wire/taskStates.ts';
import type { FullStore } from './fullStore.ts';

/** Declares the tests. */
export function careContract(test: DeclareTest<FullStore>): void {
  test('counts what is kept of a client, and nothing of others', async (w) => {
    const none = { tasks: 0, unfinished: 0, files: 0, bytes: 0, apiKeys: 0, answers: 0 };
    expect(await w.store.holdings(1)).toEqual({ ...none, named: false });
    await w.add({ clientId: 2, state: 'waiting', input: w.blob(99) });
    await w.store.putApiKey({ sha256: '22', name: 'k', clientId: 2 });
    await w.store.beginAnswer(2, 'key', 'print', 1000);
    await w.store.cancel((await w.add({ clientId: 2 })).id, 2);
    for (const state of ['completed', 'created', 'uploaded', 'waiting'] as const) {
      if (state === 'completed') {
        // The other client's task is first in the queue.
        await w.claim();
      }
      await w.addIn(state);
    }
    await w.store.putApiKey({ sha256: '11', name: 'k', clientId: 1 });
    await w.store.beginAnswer(1, 'key', 'print', 1000);
    const held = { tasks: 4, unfinished: 3, files: 3, bytes: 27, apiKeys: 1, answers: 1 };
    expect(await w.other.holdings(1)).toEqual({ ...held, named: false });
    const named = await w.store.clientNamed('somebody');
    expect(await w.other.holdings(named)).toEqual({ ...none, named: true });
  });

  test('erases a client: keys, tasks of every state, answers, name; and nothing of others', async (w) => {
    const name = 'somebody';
    await w.store.putApiKey({ sha256: '11', name: 'k', clientId: 1 });
    await w.store.putApiKey({ sha256: '22', name: 'k', clientId: 2 });
    const kept = await w.addWaiting({ clientId: 2 });
    await w.claim();
    await w.store.beginAnswer(2, 'key', 'print', 1000);
    const named = await w.store.clientNamed(name);
    const ids: number[] = [];
    const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
    for (const state of ['expired', ...order, 'waiting'] as const) {
      ids.push((await w.addIn(state)).id);
    }
    await w.store.beginAnswer(1, 'key', 'print', 1000);
    const blobs = (await Promise.all(ids.map((id) => w.known(id)))).flatMap((task) =>
      [task.input, task.result?.blob].flatMap((blob) => blob?.key ?? []),
    );
    expect(blobs.length).toBe(5);
    expect(await w.store.forget(1)).toBe(false);
    expect(await w.store.removeEnded(1, [kept.id])).toBe(0);

    const running = await w.known(ids[TASK_STATES.indexOf('verifying')]!);
    expect(await w.store.disown(1)).toEqual({ apiKeys: 1, cancelled: 5, more: false });
    expect(await w.other.findApiKey('11')).toBe(null);
    expect(await w.store.extend(running.id, running.attempt, { leaseMs: 1000 })).toBe(false);
    expect(await w.claim()).toBe(null);
    expect(await w.store.disown(1)).toEqual({ apiKeys: 0, cancelled: 0, more: false });
    expect(await w.store.usage(1)).toEqual({ openTasks: 0, storedBytes: 47 });

    // Every file is still named by a row, so that an erasure can be begun again.
    const ended = await w.other.ended(1, 100);
    expect(ended.map(({ id }) => id)).toEqual([...ids].sort((a, b) => a - b));
    expect(ended.flatMap((task) => task.blobs).sort()).toEqual([...blobs].sort());
    expect(await w.store.ended(1, 2)).toEqual(ended.slice(0, 2));
    expect(await w.store.removeEnded(2, ids)).toBe(0);
    expect(await w.store.removeEnded(1, ids.slice(0, 3))).toBe(3);
    expect(await w.store.forget(1)).toBe(false);
    expect(await w.store.removeEnded(1, ids)).toBe(ids.length - 3);
    expect(await w.store.usage(1)).toEqual({ openTasks: 0, storedBytes: 0 });
    expect(await w.store.forget(1)).toBe(true);
    expect(await w.store.forget(1)).toBe(true);
    const none = { tasks: 0, unfinished: 0, files: 0, bytes: 0, apiKeys: 0, answers: 0 };
    expect(await w.other.holdings(1)).toEqual({ ...none, named: false });
    expect(await w.store.beginAnswer(1, 'key', 'other', 1000)).toMatchObject({ kind: 'held' });

    expect(await w.store.forget(named)).toBe(true);
    const again = await w.store.clientNamed(name);
    expect(again).toBeGreaterThan(named);
    expect((await w.known(kept.id)).state).toBe('verifying');
    expect(await w.other.holdings(2)).toMatchObject({ tasks: 1, apiKeys: 1, answers: 1 });
    expect(await w.store.usage(2)).toEqual({ openTasks: 1, storedBytes: 10 });
  });

  test('disowns and removes a part at a time', async (w) => {
    for (let i = 0; i < ERASE_ROWS + 3; i++) await w.add();
    expect(await w.store.disown(1)).toEqual({ apiKeys: 0, cancelled: ERASE_ROWS, more: true });
    expect(await w.store.forget(1)).toBe(false);
    expect(await w.store.disown(1)).toEqual({ apiKeys: 0, cancelled: 3, more: false });
    const first = await w.store.ended(1, ERASE_ROWS);
    expect(first.length).toBe(ERASE_ROWS);
    const removed = first.map(({ id }) => id);
    expect(await w.store.removeEnded(1, removed)).toBe(ERASE_ROWS);
    expect((await w.store.ended(1, ERASE_ROWS)).length).toBe(3);
  });

  test('tells what a sweep would do, and the sweep does it', async (w) => {
    expect(await w.store.ageing(HOUR_MS)).toEqual([]);
    const first = await w.addIn('completed');
    w.clockMs += 1000;
    const last = await w.addIn('failed');
    const other = await w.add({ clientId: 2, ttlMs: 20 });
    await w.store.upload(other.id, w.blob(33));
    w.clockMs += HOUR_MS;
    const young = await w.addIn('completed');
    const clients = await w.other.ageing(HOUR_MS);
    expect(clients).toEqual([
      {
        clientId: 1,
        expiring: 0,
        removing: 2,
        bytes: 7,
        oldestEnd: first.finishedAt,
        newestEnd: last.finishedAt,
      },
      { clientId: 2, expiring: 1, removing: 0, bytes: 33, oldestEnd: null, newestEnd: null },
    ]);
    expect(await w.store.ageing(null)).toEqual(clients.slice(1));
    expect((await w.store.ageing(0))[0]).toMatchObject({
      removing: 3,
      newestEnd: young.finishedAt,
    });
    const swept = await w.store.sweep({ answerMs: HOUR_MS, retentionMs: HOUR_MS });
    expect(swept).toMatchObject({ expired: [other.id], removed: 2 });
    expect(await w.store.ageing(HOUR_MS)).toEqual([]);
  });
}
