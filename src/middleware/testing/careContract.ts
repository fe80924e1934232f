/** What every store must do for erasures, and to tell what a sweep would do. */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { TASK_STATES } from '../../wire/taskStates.ts';
import type { CareStore, QuotaStore } from '../stores/port/operatorStore.ts';
import type { ApiKeyStore, TaskStore } from '../stores/port/taskStore.ts';
import { matches } from './matches.ts';
import { type DeclareTest, HOUR_MS, type StoreWorld } from './storeWorld.ts';

/** What else the store keeps of a client is erased with it. */
type CaringStore = TaskStore & CareStore & Partial<ApiKeyStore & QuotaStore>;
type CareTest = DeclareTest<CaringStore>;

const NOTHING = { tasks: 0, unfinished: 0, files: 0, bytes: 0, apiKeys: 0, answers: 0 };

/** @returns the number of keys that the client has now: 0 where the store keeps none */
async function addKey({ store }: StoreWorld<CaringStore>, clientId: number): Promise<number> {
  const sha256 = String(clientId).repeat(64);
  const made = await store.putApiKey?.({ sha256, name: 'key', clientId });
  return made === undefined ? 0 : 1;
}

const addAnswer = ({ store }: StoreWorld<CaringStore>, clientId: number) =>
  store.beginAnswer(clientId, 'key', 'print', 1000);

/** Declares the tests. */
export function careContract(test: CareTest): void {
  holdingContract(test);
  disowningContract(test);
  removalContract(test);
  forgettingContract(test);
  ageingContract(test);
}

function holdingContract(test: CareTest): void {
  test('counts what is kept of a client, and nothing of others', async (w) => {
    deepStrictEqual(await w.store.holdings(1), { ...NOTHING, named: false });
    await w.add({ clientId: 2, state: 'waiting', input: w.blob(99) });
    await addKey(w, 2);
    await addAnswer(w, 2);
    await w.store.cancel((await w.add({ clientId: 2 })).id, 2);
    // The other client's task is first in the queue.
    await w.claim();
    for (const state of ['completed', 'created', 'uploaded', 'waiting'] as const) {
      await w.addIn(state);
    }
    const apiKeys = await addKey(w, 1);
    await addAnswer(w, 1);
    const held = { tasks: 4, unfinished: 3, files: 3, bytes: 27, apiKeys, answers: 1 };
    deepStrictEqual(await w.other.holdings(1), { ...held, named: false });
    const named = await w.store.clientNamed('somebody');
    deepStrictEqual(await w.other.holdings(named), { ...NOTHING, named: true });
  });
}

/** A task of client 1 in every state. @returns their ids, by state */
async function addAll(w: StoreWorld<CaringStore>): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  // What expires takes others along, and what waits would be claimed: first and last.
  const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
  for (const state of ['expired', ...order, 'waiting'] as const) {
    ids.set(state, (await w.addIn(state)).id);
  }
  return ids;
}

function disowningContract(test: CareTest): void {
  test('disowns a client: its keys go, and cancelled tasks still name their files', async (w) => {
    const apiKeys = await addKey(w, 1);
    await addKey(w, 2);
    const kept = await w.addWaiting({ clientId: 2 });
    await w.claim();
    const ids = await addAll(w);
    const files = (await Promise.all([...ids.values()].map((id) => w.known(id)))).flatMap((task) =>
      [task.input, task.result?.blob].flatMap((blob) => blob?.key ?? []),
    );
    strictEqual(files.length, 5);
    const running = await w.known(ids.get('verifying')!);
    deepStrictEqual(await w.store.disown(1), { apiKeys, cancelled: 5, more: false });
    strictEqual((await w.other.findApiKey?.('1'.repeat(64))) ?? null, null);
    strictEqual(await w.store.extend(running.id, running.attempt, { leaseMs: 1000 }), false);
    strictEqual(await w.claim(), null);
    deepStrictEqual(await w.store.disown(1), { apiKeys: 0, cancelled: 0, more: false });
    deepStrictEqual(await w.store.usage(1), { openTasks: 0, storedBytes: 47 });
    // Every file is still named by a row, so that an erasure can be begun again.
    const ended = await w.other.ended(1, 100);
    const inOrder = [...ids.values()].sort((a, b) => a - b);
    deepStrictEqual(
      ended.map(({ id }) => id),
      inOrder,
    );
    deepStrictEqual(ended.flatMap((task) => task.blobs).sort(), files.sort());
    deepStrictEqual(await w.store.ended(1, 2), ended.slice(0, 2));
    strictEqual((await w.known(kept.id)).state, 'verifying');
    matches(await w.other.holdings(2), { tasks: 1, apiKeys });
  });
}

function removalContract(test: CareTest): void {
  test('removes ended tasks of the client, and forgets it once there are none', async (w) => {
    await w.addWaiting({ clientId: 2 });
    await w.claim();
    await addAnswer(w, 2);
    const ids = [...(await addAll(w)).values()];
    await addAnswer(w, 1);
    strictEqual(await w.store.forget(1), false);
    strictEqual(await w.store.removeEnded(1, ids), 4);
    strictEqual(await w.store.forget(1), false);
    await w.store.disown(1);
    strictEqual(await w.store.removeEnded(2, ids), 0);
    strictEqual(await w.store.removeEnded(1, ids.slice(0, 3)), 2);
    strictEqual(await w.store.forget(1), false);
    strictEqual(await w.store.removeEnded(1, ids), 3);
    deepStrictEqual(await w.store.usage(1), { openTasks: 0, storedBytes: 0 });
    strictEqual(await w.store.forget(1), true);
    strictEqual(await w.store.forget(1), true);
    deepStrictEqual(await w.other.holdings(1), { ...NOTHING, named: false });
    matches(await w.store.beginAnswer(1, 'key', 'other', 1000), { kind: 'held' });
    matches(await w.other.holdings(2), { tasks: 1, answers: 1 });
    deepStrictEqual(await w.store.usage(2), { openTasks: 1, storedBytes: 10 });
  });
}

function forgettingContract(test: CareTest): void {
  test('gives a name that was forgotten to a new client', async (w) => {
    const named = await w.store.clientNamed('somebody');
    strictEqual(await w.other.forget(named), true);
    ok((await w.store.clientNamed('somebody')) > named);
  });

  test('forgets the quota of a client, where the store keeps them', async (w) => {
    for (const clientId of [1, 2]) {
      await w.store.setQuota?.(clientId, { openTasks: 5 });
    }
    const { id } = await w.addIn('completed');
    await w.store.removeEnded(1, [id]);
    strictEqual(await w.store.forget(1), true);
    strictEqual((await w.other.quota?.(1)) ?? null, null);
    if (w.other.quota) notStrictEqual(await w.other.quota(2), null);
  });

  test('erases many tasks, in as many parts as it likes', async (w) => {
    const count = 60;
    for (let i = 0; i < count; i++) await w.add();
    let cancelled = 0;
    for (let more = true; more; ) {
      const part = await w.store.disown(1);
      cancelled += part.cancelled;
      more = part.more;
    }
    strictEqual(cancelled, count);
    let removed = 0;
    for (;;) {
      const ended = await w.store.ended(1, 25);
      ok(ended.length <= 25);
      if (ended.length === 0) break;
      const ids = ended.map(({ id }) => id);
      removed += await w.store.removeEnded(1, ids);
    }
    strictEqual(removed, count);
    strictEqual(await w.store.forget(1), true);
  });
}

function ageingContract(test: CareTest): void {
  test('tells what a sweep would do, and the sweep does it', async (w) => {
    deepStrictEqual(await w.store.ageing(HOUR_MS), []);
    const first = await w.addIn('completed');
    w.clockMs += 1000;
    const last = await w.addIn('failed');
    const other = await w.add({ clientId: 2, ttlMs: 20 });
    await w.store.upload(other.id, w.blob(33));
    w.clockMs += HOUR_MS;
    const young = await w.addIn('completed');
    const clients = await w.other.ageing(HOUR_MS);
    const ends = { oldestEnd: first.finishedAt, newestEnd: last.finishedAt };
    deepStrictEqual(clients, [
      { clientId: 1, expiring: 0, removing: 2, bytes: 7, ...ends },
      { clientId: 2, expiring: 1, removing: 0, bytes: 33, oldestEnd: null, newestEnd: null },
    ]);
    deepStrictEqual(await w.store.ageing(null), clients.slice(1));
    matches((await w.store.ageing(0))[0], { removing: 3, newestEnd: young.finishedAt });
    const swept = await w.store.sweep({ answerMs: HOUR_MS, retentionMs: HOUR_MS });
    matches(swept, { expired: [other.id], removed: 2 });
    deepStrictEqual(await w.store.ageing(HOUR_MS), []);
  });
}
