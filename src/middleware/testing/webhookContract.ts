/** What every store must do that keeps webhooks. See `storeContract.ts`. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { TaskStore } from '../stores/port/taskStore.ts';
import { type ClaimedDelivery, OPERATOR, type WebhookStore } from '../stores/port/webhookStore.ts';
import { matches } from './matches.ts';
import { type DeclareTest, HOUR_MS, type StoreWorld } from './storeWorld.ts';

type HookStore = TaskStore & WebhookStore;
type HookTest = DeclareTest<HookStore>;

const LEASE_MS = 1000;
const FAILED = { arrived: false, error: 'refused', pauseMs: 0, disableMs: 72 * HOUR_MS } as const;
const WRONG = { code: 'INTERNAL', message: 'm' } as const;

const put = (
  { store }: StoreWorld<HookStore>,
  owner: number,
  url = `https://${owner}.example/`,
): Promise<void> => store.putWebhook({ owner, url, secret: `secret ${owner}` });
const claim = (from: HookStore) => from.claimDelivery(LEASE_MS);

/** Declares the tests. */
export function webhookContract(test: HookTest): void {
  queueingContract(test);
  leaseContract(test);
  failureContract(test);
  disablingContract(test);
}

function queueingContract(test: HookTest): void {
  test('queues each end of a task for the operator and its client, once', async (w) => {
    strictEqual(await claim(w.store), null);
    await w.addIn('completed');
    for (const owner of [OPERATOR, 1, 2]) await put(w, owner);
    for (const state of ['created', 'expired', 'cancelled', 'verifying'] as const) {
      await w.addIn(state);
    }
    strictEqual(await claim(w.store), null);
    const done = await w.addIn('completed');
    await w.store.finish(done.id, done.attempt, w.result(done.id, done.attempt));
    const failed = await w.addClaimed({ clientId: 3 });
    // Any text of a file may be in an error.
    const error = { code: 'BAD_TASK_FILE', message: 'bad \u0000 "code":"WRONG" \\"' } as const;
    await w.store.fail(failed.id, failed.attempt, error, { delayMs: 0 });
    const again = (await w.claim())!;
    await w.store.fail(failed.id, again.attempt, error);

    const { finishedAt, submittedAt } = done;
    const common = { taskId: done.id, clientId: 1, state: 'completed', attempt: 1, submittedAt };
    const first = { ...common, finishedAt, count: done.count, errorCode: null };
    const told: ClaimedDelivery[] = [];
    for (const from of [w.store, w.other, w.store]) told.push((await claim(from))!);
    told.sort((a, b) => a.taskId - b.taskId || a.owner - b.owner);
    deepStrictEqual(told.slice(0, 2), [
      { ...first, owner: OPERATOR, url: 'https://0.example/', secret: 'secret 0' },
      { ...first, owner: 1, url: 'https://1.example/', secret: 'secret 1' },
    ]);
    matches(told[2], { owner: OPERATOR, taskId: failed.id, errorCode: 'BAD_TASK_FILE' });
    strictEqual(await claim(w.other), null);
  });
}

function leaseContract(test: HookTest): void {
  test('gives a delivery out again after its lease, and settles only the last one', async (w) => {
    await put(w, 1);
    const { id } = await w.addIn('completed');
    const first = (await claim(w.store))!;
    strictEqual(await claim(w.other), null);
    w.clockMs += LEASE_MS;
    const second = (await claim(w.other))!;
    deepStrictEqual([first.attempt, second.attempt, second.taskId], [1, 2, id]);
    strictEqual(await w.store.settleDelivery(first, { arrived: true }), false);
    strictEqual(await w.store.settleDelivery(first, { ...FAILED, retryMs: 1 }), false);
    strictEqual(await w.store.settleDelivery(second, { arrived: true }), true);
    strictEqual(await w.store.settleDelivery(second, { arrived: true }), false);
    w.clockMs += HOUR_MS;
    strictEqual(await claim(w.store), null);
  });

  test('removes a webhook with what waits for it', async (w) => {
    for (const owner of [OPERATOR, 1, 2]) await put(w, owner);
    await w.addIn('completed');
    strictEqual(await w.store.removeWebhook(1), true);
    strictEqual(await w.other.removeWebhook(1), false);
    deepStrictEqual(
      (await w.store.listWebhooks()).map(({ owner, waiting }) => [owner, waiting]),
      [
        [OPERATOR, 1],
        [2, 0],
      ],
    );
    matches(await claim(w.store), { owner: OPERATOR });
    strictEqual(await claim(w.store), null);
  });
}

function failureContract(test: HookTest): void {
  test('waits for the next try, pauses what fails, forgets failures with a success', async (w) => {
    await put(w, 1);
    await put(w, 2);
    const task = await w.addIn('completed');
    const first = (await claim(w.store))!;
    const failed = { ...FAILED, retryMs: 5000, pauseMs: 100 };
    strictEqual(await w.store.settleDelivery(first, failed), true);
    // Another one of the same webhook waits for the end of the pause, one of another does not.
    await w.addIn('failed');
    const other = await w.addClaimed({ clientId: 2 });
    await w.store.fail(other.id, other.attempt, WRONG);
    const elsewhere = (await claim(w.store))!;
    strictEqual(elsewhere.owner, 2);
    await w.store.settleDelivery(elsewhere, { arrived: true });
    strictEqual(await claim(w.store), null);
    const [webhook] = await w.other.listWebhooks();
    matches(webhook, { owner: 1, lastError: 'refused', waiting: 2, dropped: 0, disabledAt: null });
    strictEqual(typeof webhook!.failingSince, 'string');
    ok(!JSON.stringify(await w.store.listWebhooks()).includes('secret'));
    w.clockMs += 100;
    const next = (await claim(w.store))!;
    strictEqual(next.owner, 1);
    ok(next.taskId !== task.id);
    await w.store.settleDelivery(next, { arrived: true });
    matches((await w.store.listWebhooks())[0], { failingSince: null, lastError: null });
    strictEqual(await claim(w.store), null);
    w.clockMs += 4900;
    matches(await claim(w.store), { taskId: task.id, attempt: 2 });
  });
}

function disablingContract(test: HookTest): void {
  test('gives up a delivery, and disables a webhook at which nothing arrives', async (w) => {
    await put(w, 1);
    for (let i = 0; i < 3; i++) await w.addIn('completed');
    const fail = async (retryMs: number | null) =>
      w.store.settleDelivery((await claim(w.store))!, { ...FAILED, retryMs });
    const first = async (from = w.store) => (await from.listWebhooks())[0]!;
    await fail(null);
    matches(await first(), { waiting: 2, dropped: 1 });
    w.clockMs += 72 * HOUR_MS - 1;
    await fail(0);
    matches(await first(), { waiting: 2, disabledAt: null });
    w.clockMs += 1;
    strictEqual(await fail(0), true);
    const disabled = await first(w.other);
    matches(disabled, { owner: 1, waiting: 0, dropped: 3, lastError: 'refused' });
    strictEqual(typeof disabled.disabledAt, 'string');
    await w.addIn('completed');
    strictEqual(await claim(w.store), null);
  });

  test('uses a webhook again that is set again, and goes on counting', async (w) => {
    await put(w, 1);
    await w.addIn('completed');
    const outcome = { ...FAILED, retryMs: null, disableMs: 0 };
    await w.store.settleDelivery((await claim(w.store))!, outcome);
    strictEqual(typeof (await w.store.listWebhooks())[0]!.disabledAt, 'string');
    await put(w, 1, 'https://new.example/');
    await w.addIn('completed');
    matches(await claim(w.store), { url: 'https://new.example/', attempt: 1 });
    matches((await w.store.listWebhooks())[0], { dropped: 1, disabledAt: null });
  });
}
