/** What every task store must do for tasks with parts. See `storeContract.ts`. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { BlobRef, Task } from '../stores/port/task.ts';
import type { NewPart } from '../stores/port/taskStore.ts';
import {
  type DeclareTest,
  HOUR_MS,
  matches,
  type StoreWorld,
  type WithPort,
} from './storeWorld.ts';

const LEASE = { leaseMs: 1000 };
const INVALID = {
  code: 'INVALID_SIGNATURES',
  message: 'bad',
  invalid: [{ index: 4, reason: 'norm' }],
} as const;

type World = StoreWorld<WithPort<'parts'>>;

/** A part with its file. */
type Uploaded = Task & { readonly input: BlobRef };

const addPart = async (w: World, parent: number, more: Partial<NewPart> = {}) => {
  const part = { parent, clientId: 1, threads: 2, ttlMs: HOUR_MS, ...more };
  const outcome = await w.ports.parts.putPart(part);
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.task;
};

/** A task with so many uploaded parts. */
async function addParts(w: World, count: number): Promise<[id: number, parts: Uploaded[]]> {
  const { id } = await w.add({ parts: true });
  const parts: Uploaded[] = [];
  for (let i = 0; i < count; i++) parts.push(await upload(w, (await addPart(w, id)).id));
  return [id, parts];
}

async function upload(w: World, id: number): Promise<Uploaded> {
  const outcome = await w.store.upload(id, w.blob());
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.task as Uploaded;
}

const partResult = (w: World, { id, attempt, parent }: Task) => {
  const { blob, ...rest } = w.result(id, attempt);
  return { ...rest, blob: { ...blob, key: `parts/${parent}/${'e'.repeat(63)}${attempt}.json` } };
};

/** Claims what is next, a part of so many signatures, and completes it. */
async function finishNext(w: World, count = 5): Promise<Task> {
  const task = (await w.claim())!;
  strictEqual(task.kind, 'part');
  await w.store.extend(task.id, task.attempt, { ...LEASE, count, state: 'aggregating' });
  strictEqual(await w.store.finish(task.id, task.attempt, partResult(w, task)), true);
  return task;
}

const statesOf = async (w: World, id: number) =>
  (await w.otherPorts.parts.parts(id)).map(({ state }) => state);

/** Declares the tests. */
export function partContract(test: DeclareTest<WithPort<'parts'>>): void {
  test('walks a task with parts through its whole life', async (w) => {
    const created = await w.add({ parts: true });
    const none = { announced: 0, ready: 0, done: 0 };
    matches(created, { kind: 'merge', state: 'created', parent: null, parts: none });
    const first = await addPart(w, created.id);
    const facts = { kind: 'part', state: 'created', parent: created.id, parts: null };
    matches(first, { ...facts, part: 0, input: null });
    strictEqual(await w.claim(), null);

    // Work begins with the first file.
    const { input } = await upload(w, first.id);
    const open = { state: 'uploaded', parts: { announced: 1, ready: 1, done: 0 } };
    matches(await w.known(created.id), open);
    await finishNext(w, 5);
    const second = await addPart(w, created.id);
    strictEqual(second.part, 1);
    await upload(w, second.id);

    const closed = await w.store.notify(created.id, 1);
    matches(closed, { ok: true, first: true, task: { state: 'waiting', kind: 'merge' } });
    matches(await w.store.notify(created.id, 1), { ok: true, first: false });
    await finishNext(w, 6);
    const counts = { announced: 2, ready: 2, done: 2 };
    matches(await w.known(created.id), { state: 'waiting', count: 11, parts: counts });
    // Their files are kept until the end.
    deepStrictEqual((await w.otherPorts.parts.parts(created.id))[0]!.input, input);

    const merge = (await w.claim())!;
    matches(merge, { id: created.id, kind: 'merge', attempt: 1, input: null });
    await w.store.extend(merge.id, 1, { ...LEASE, state: 'aggregating' });
    const result = w.result(merge.id, 1);
    strictEqual(await w.store.finish(merge.id, 1, result), true);
    matches(await w.known(merge.id), { state: 'completed', result, count: 11, error: null });
    deepStrictEqual(await statesOf(w, merge.id), ['cancelled', 'cancelled']);
  });

  test('makes the merge claimable at once if all parts are done at the close', async (w) => {
    const [id] = await addParts(w, 2);
    await finishNext(w);
    await finishNext(w);
    strictEqual(await w.nextClaimMs(), null);
    await w.store.notify(id, 1);
    matches(await w.claim(), { id, kind: 'merge' });
  });

  test('makes a merge claimable once, whoever ends the last two parts', async (w) => {
    const [id] = await addParts(w, 8);
    await w.store.notify(id, 1);
    const claimed: Task[] = [];
    for (let i = 0; i < 8; i++) claimed.push((await w.claim())!);
    for (const part of claimed) {
      await w.store.extend(part.id, 1, { ...LEASE, state: 'aggregating' });
    }
    strictEqual(await w.claim(), null);
    const finished = claimed.map((part, i) =>
      (i % 2 ? w.store : w.other).finish(part.id, 1, partResult(w, part)),
    );
    ok((await Promise.all(finished)).every((done) => done));
    matches(await w.claim(), { id, parts: { announced: 8, ready: 8, done: 8 } });
    strictEqual(await w.claim(), null);
  });

  test('hides parts from their client, and counts them as one task', async (w) => {
    const limits = { openTasks: 2, storedBytes: 25 };
    const [id, [a, b]] = await addParts(w, 2);
    const part = a!.id;
    strictEqual(await w.store.get(part, 1), null);
    matches(await w.store.get(part), { id: part });
    deepStrictEqual(await w.store.notify(part, 1), { ok: false, reason: 'missing' });
    deepStrictEqual(await w.store.cancel(part, 1), { ok: false, reason: 'missing' });
    deepStrictEqual(await w.store.remove(part, 1), { ok: false, reason: 'missing' });
    strictEqual(await w.store.renew(part, 1, HOUR_MS), null);
    for (const state of [undefined, 'uploaded'] as const) {
      const query = { clientId: 1, limit: 9, ...(state && { state }) };
      deepStrictEqual(
        (await w.other.list(query)).tasks.map((task) => task.id),
        [id],
      );
    }
    deepStrictEqual((await w.store.list({ clientId: 1, limit: 9, state: 'waiting' })).tasks, []);
    deepStrictEqual(await w.store.usage(1), { openTasks: 1, storedBytes: 20 });
    matches(await w.store.upload(b!.id, w.blob(16), limits), { ok: false, reason: 'storedBytes' });
    matches(await w.store.upload(b!.id, w.blob(15), limits), { ok: true });
    matches((await w.store.depth()).states, { created: 0, uploaded: 1, waiting: 2 });
    await w.store.notify(id, 1);
    // The task waits for its parts, not in the queue.
    matches((await w.store.depth()).states, { uploaded: 0, waiting: 2 });
    await finishNext(w);
    deepStrictEqual(await w.store.usage(1), { openTasks: 1, storedBytes: 32 });
    await w.store.cancel(id, 1);
    matches(await w.store.usage(1), { openTasks: 0 });
    await w.store.sweep({ answerMs: HOUR_MS });
    deepStrictEqual(await w.store.usage(1), { openTasks: 0, storedBytes: 0 });
    strictEqual((await w.store.depth()).states.waiting, 0);
  });

  test('takes another file for a part until it is claimed', async (w) => {
    const [id, [part]] = await addParts(w, 1);
    const again = w.blob();
    const replaced = await w.store.upload(part!.id, again);
    matches(replaced, { ok: true, replaced: part!.input.key, task: { state: 'waiting' } });
    matches(await w.known(id), { parts: { announced: 1, ready: 1, done: 0 } });
    matches(await w.claim(), { id: part!.id, input: again });
    const refused = { ok: false, reason: 'state' };
    deepStrictEqual(await w.store.upload(part!.id, w.blob()), refused);
    strictEqual(await w.store.renew(id, 1, HOUR_MS, 0), null);
    await w.store.extend(part!.id, 1, { ...LEASE, state: 'aggregating' });
    await w.store.finish(part!.id, 1, w.result(part!.id, 1));
    deepStrictEqual(await w.store.upload(part!.id, w.blob()), refused);
    deepStrictEqual(await w.store.upload(id, w.blob()), refused);
  });

  test('lets a failed part be replaced while the list is open', async (w) => {
    const [id, [a]] = await addParts(w, 2);
    const claimed = (await w.claim())!;
    const error = { ...INVALID, part: 0 };
    strictEqual(await w.store.fail(claimed.id, 1, error), true);
    matches(await w.known(a!.id), { state: 'failed', error, input: null });
    const counts = { announced: 2, ready: 1, done: 0 };
    matches(await w.known(id), { state: 'uploaded', error, parts: counts });
    deepStrictEqual(await w.store.notify(id, 1), { ok: false, reason: 'incomplete' });
    const [failed] = await w.ports.parts.parts(id, { state: 'failed', limit: 1 });
    matches(failed, { id: a!.id, error });
    await upload(w, a!.id);
    const fresh = { state: 'waiting', error: null, failures: 0, finishedAt: null };
    matches(await w.known(a!.id), fresh);
    matches(await w.known(id), { error: null, parts: { ...counts, ready: 2 } });
    matches(await w.store.notify(id, 1), { ok: true });
  });

  test('fails a closed task with its part, and stops the others', async (w) => {
    const [id, [a, b, c]] = await addParts(w, 3);
    await w.store.notify(id, 1);
    const first = (await w.claim())!;
    const second = (await w.claim())!;
    const error = { ...INVALID, part: 1 };
    strictEqual(await w.store.fail(second.id, 1, error), true);
    matches(await w.known(id), { state: 'failed', error });
    strictEqual(await w.store.extend(first.id, 1, LEASE), false);
    strictEqual(await w.store.finish(first.id, 1, w.result(first.id, 1)), false);
    w.clockMs += 5000;
    strictEqual(await w.claim(), null);
    strictEqual((await w.store.usage(1)).openTasks, 0);
    const swept = await w.store.sweep({ answerMs: HOUR_MS });
    const ids = [a!.id, b!.id, c!.id];
    deepStrictEqual(
      [...swept.parts!].sort((x, y) => x - y),
      ids,
    );
    // The file of the failed part is deleted by its worker.
    deepStrictEqual([...swept.blobs].sort(), [a!.input.key, c!.input.key].sort());
    strictEqual(swept.removed, 0);
    deepStrictEqual(await w.ports.parts.parts(id), []);
    deepStrictEqual(await w.store.usage(1), { openTasks: 0, storedBytes: 0 });
  });

  test('tries a part again like a task', async (w) => {
    const [id, [part]] = await addParts(w, 1);
    await w.store.notify(id, 1);
    await w.claim();
    w.clockMs += 1000;
    matches(await w.claim(), { id: part!.id, attempt: 2, losses: 1 });
    await w.store.fail(part!.id, 2, INVALID, { delayMs: 0 });
    matches(await w.claim(), { attempt: 3, failures: 1 });
    await w.store.setAside(part!.id, 3, INVALID);
    strictEqual(await w.claim(), null);
    const aside = await w.store.depth();
    matches(aside, { quarantined: 1, states: { waiting: 0 } });
    strictEqual(await w.store.putBack(part!.id), true);
    await w.store.release((await w.claim())!.id, 4);
    await finishNext(w);
    matches(await w.claim(), { id, kind: 'merge' });
  });

  test('refuses to close a task without parts, or with gaps', async (w) => {
    const { id } = await w.add({ parts: true });
    deepStrictEqual(await w.store.notify(id, 1), { ok: false, reason: 'notUploaded' });
    const [a, b] = [await addPart(w, id), await addPart(w, id)];
    await upload(w, b.id);
    deepStrictEqual(await w.store.notify(id, 1), { ok: false, reason: 'incomplete' });
    await upload(w, a.id);
    matches(await w.store.notify(id, 1), { ok: true, first: true });
    const late = await w.ports.parts.putPart({ parent: id, clientId: 1, threads: 1, ttlMs: 1 });
    deepStrictEqual(late, { ok: false, reason: 'closed' });
    deepStrictEqual(await w.store.upload(a.id, w.blob()), { ok: false, reason: 'state' });
  });

  test('gives parts only to tasks that have them', async (w) => {
    const put = async (parent: number, clientId = 1) => {
      const outcome = await w.ports.parts.putPart({ parent, clientId, threads: 1, ttlMs: HOUR_MS });
      return outcome.ok ? outcome.task.part : outcome.reason;
    };
    const plain = await w.add();
    strictEqual(await put(plain.id), 'noParts');
    const { id } = await w.add({ parts: true });
    strictEqual(await put(id, 2), 'missing');
    strictEqual(await put(id + 1), 'missing');
    strictEqual(await put(id), 0);
    const [part] = await w.ports.parts.parts(id);
    strictEqual(await put(part!.id), 'missing');
    await w.store.cancel(id, 1);
    strictEqual(await put(id), 'closed');
    const old = await w.add({ parts: true, ttlMs: 10 });
    w.clockMs += 10;
    strictEqual(await put(old.id), 'closed');
  });

  test('numbers parts without gaps, whoever adds them', async (w) => {
    const { id } = await w.add({ parts: true });
    const all = Array.from({ length: 40 }, (_, i) => i);
    const outcomes = await Promise.all(
      all.map((i) =>
        (i % 2 ? w.ports : w.otherPorts).parts.putPart({
          parent: id,
          clientId: 1,
          threads: 1,
          ttlMs: 1,
        }),
      ),
    );
    const numbers = outcomes.map((one) => (one.ok ? one.task.part! : -1));
    deepStrictEqual(
      numbers.sort((a, b) => a - b),
      all,
    );
    deepStrictEqual(
      (await w.ports.parts.parts(id)).map(({ part }) => part),
      all,
    );
    strictEqual((await w.ports.parts.parts(id, { state: 'created', limit: 3 })).length, 3);
  });

  test('keeps the part of a request under its key', async (w) => {
    const { id } = await w.add({ parts: true });
    const begun = await w.store.beginAnswer(1, 'k', 'f', 60_000);
    if (begun.kind !== 'held') throw new Error(begun.kind);
    const part = { parent: id, clientId: 1, threads: 1, ttlMs: HOUR_MS };
    const put = await w.ports.parts.putPart(part, { hold: begun.hold });
    if (!put.ok) throw new Error(put.reason);
    const replay = { kind: 'replay', task: put.task };
    deepStrictEqual(await w.other.beginAnswer(1, 'k', 'f', 60_000), replay);
    const again = await w.ports.parts.putPart(part, { hold: begun.hold });
    deepStrictEqual(again, { ok: false, reason: 'superseded' });
    strictEqual((await w.ports.parts.parts(id)).length, 1);
  });

  test('expires with its parts, and every part extends the time', async (w) => {
    const [id, [part]] = await addParts(w, 1);
    w.clockMs += HOUR_MS - 1;
    const second = await addPart(w, id);
    matches(await w.known(id), { expiresAtMs: w.clockMs + HOUR_MS });
    w.clockMs += HOUR_MS - 1;
    await w.store.sweep({ answerMs: HOUR_MS });
    const renewed = await w.store.renew(id, 1, HOUR_MS, 1);
    matches(renewed, { id: second.id, expiresAtMs: w.clockMs + HOUR_MS });
    matches(await w.known(id), { state: 'uploaded', expiresAtMs: w.clockMs + HOUR_MS });
    strictEqual(await w.store.renew(id, 1, HOUR_MS, 2), null);
    strictEqual(await w.store.renew(id, 2, HOUR_MS, 1), null);
    w.clockMs += HOUR_MS;
    const expired = await w.store.sweep({ answerMs: HOUR_MS });
    deepStrictEqual(expired.expired, [id]);
    const rest = await w.store.sweep({ answerMs: HOUR_MS });
    const parts = [...(expired.parts ?? []), ...(rest.parts ?? [])].sort((a, b) => a - b);
    deepStrictEqual(parts, [part!.id, second.id]);
    deepStrictEqual([...expired.blobs, ...rest.blobs], [part!.input.key]);
    matches(await w.known(id), { state: 'expired' });
    strictEqual(await w.known(part!.id), null);
    strictEqual(await w.claim(), null);
  });

  test('makes parts again whose results are damaged, and only those', async (w) => {
    const [id] = await addParts(w, 3);
    const done: Task[] = [];
    for (let i = 0; i < 3; i++) done.push(await finishNext(w, 5));
    await w.store.notify(id, 1);
    const merge = (await w.claim())!;
    strictEqual(await w.ports.parts.remake(id, 2, [1]), false);
    strictEqual(await w.ports.parts.remake(done[0]!.id, 1, [1]), false);
    strictEqual(await w.ports.parts.remake(id, 1, [1, 7]), true);
    strictEqual(await w.ports.parts.remake(id, 1, [1]), false);
    matches(await w.known(id), {
      state: 'waiting',
      count: 10,
      parts: { announced: 3, ready: 3, done: 2 },
    });
    deepStrictEqual(await statesOf(w, id), ['completed', 'waiting', 'completed']);
    strictEqual((await w.store.usage(1)).storedBytes, 3 * 10 + 2 * 7);
    matches(await finishNext(w), { part: 1, attempt: 2 });
    matches(await w.claim(), { id, attempt: merge.attempt + 1, count: 15 });
    // Nothing to make again: the merge is tried again.
    strictEqual(await w.ports.parts.remake(id, 2, []), true);
    matches(await w.claim(), { id, attempt: 3 });
  });

  test('needs the files of parts until their task has ended', async (w) => {
    const [id, [part]] = await addParts(w, 1);
    const claimed = await finishNext(w);
    const { key } = partResult(w, claimed).blob;
    const keys = [part!.input.key, key, `parts/${id}/${'d'.repeat(64)}.json`];
    deepStrictEqual(await w.store.referenced(keys), new Set(keys.slice(0, 2)));
    await w.store.cancel(id, 1);
    matches(await w.store.remove(id, 1), { ok: true, blobs: [] });
    deepStrictEqual(await w.store.referenced(keys), new Set(keys.slice(0, 2)));
    const swept = await w.store.sweep({ answerMs: HOUR_MS });
    deepStrictEqual([...swept.blobs].sort(), keys.slice(0, 2).sort());
    deepStrictEqual(await w.store.referenced(keys), new Set());
  });

  test('lists parts and closed tasks to the operator, and tells watchers of parts', async (w) => {
    const told: string[] = [];
    w.store.watch((news) => told.push(`${news.isPart ? 'part' : 'task'} ${news.state}`));
    const [id] = await addParts(w, 1);
    await w.store.notify(id, 1);
    const claimed = await finishNext(w);
    strictEqual(claimed.kind, 'part');
    ok(told.includes('part waiting') && told.includes('part completed'));
    strictEqual(told.filter((text) => text === 'part waiting').length, 1);
    ok(told.at(-1) === 'task waiting');
  });
}
