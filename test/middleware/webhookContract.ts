/** What every store with webhooks must do. See `ownContract.ts`. */
import { expect } from 'vitest';
import { OPERATOR } from '../../src/middleware/stores/webhookStore.ts';
import { type DeclareTest, HOUR_MS, type StoreWorld } from '../../src/testing/storeWorld.ts';
import type { FullStore } from './fullStore.ts';

const LEASE_MS = 1000;
const FAILED = { arrived: false, error: 'refused', pauseMs: 0, disableMs: 72 * HOUR_MS } as const;

const put = (
  { store }: StoreWorld<FullStore>,
  owner: number,
  url = `https://${owner}.example/`,
): Promise<void> => store.putWebhook({ owner, url, secret: `secret ${owner}` });
const claim = (from: FullStore) => from.claimDelivery(LEASE_MS);

/** Declares the tests. */
export function webhookContract(test: DeclareTest<FullStore>): void {
  test('queues each end of a task for the operator and its client, once', async (w) => {
    expect(await claim(w.store)).toBe(null);
    const before = await w.addIn('completed');
    await put(w, OPERATOR);
    await put(w, 1);
    await put(w, 2);
    for (const state of ['created', 'expired', 'cancelled', 'verifying'] as const) {
      await w.addIn(state);
    }
    expect(await claim(w.store)).toBe(null);
    const done = await w.addIn('completed');
    await w.store.finish(done.id, done.attempt, w.result(done.id, done.attempt));
    const failed = await w.addClaimed({ clientId: 3 });
    // Any text of a file may be in an error.
    const message = 'bad \u0000 "code":"WRONG" \\"';
    const error = { code: 'BAD_TASK_FILE', message } as const;
    await w.store.fail(failed.id, failed.attempt, error, { delayMs: 0 });
    const again = (await w.claim())!;
    await w.store.fail(failed.id, again.attempt, error);

    const { finishedAt, submittedAt } = done;
    const common = { taskId: done.id, clientId: 1, state: 'completed', attempt: 1, submittedAt };
    const first = { ...common, finishedAt, count: done.count, errorCode: null };
    const told = [
      await claim(w.store),
      await claim(w.other),
      await claim(w.store),
      await claim(w.store),
    ];
    expect(told).toEqual([
      { ...first, owner: OPERATOR, url: 'https://0.example/', secret: 'secret 0' },
      { ...first, owner: 1, url: 'https://1.example/', secret: 'secret 1' },
      expect.objectContaining({ owner: 0, taskId: failed.id, errorCode: 'BAD_TASK_FILE' }),
      null,
    ]);
    expect(told.map((one) => one?.taskId)).not.toContain(before.id);
  });

  test('gives a delivery out again when its lease has ended, and settles only the last one', async (w) => {
    await put(w, 1);
    const { id } = await w.addIn('completed');
    const first = (await claim(w.store))!;
    expect(await claim(w.other)).toBe(null);
    w.clockMs += LEASE_MS;
    const second = (await claim(w.other))!;
    expect([first.attempt, second.attempt, second.taskId]).toEqual([1, 2, id]);
    expect(await w.store.settleDelivery(first, { arrived: true })).toBe(false);
    expect(await w.store.settleDelivery(first, { ...FAILED, retryMs: 1 })).toBe(false);
    expect(await w.store.settleDelivery(second, { arrived: true })).toBe(true);
    expect(await w.store.settleDelivery(second, { arrived: true })).toBe(false);
    w.clockMs += HOUR_MS;
    expect(await claim(w.store)).toBe(null);
  });

  test('waits for the next try, pauses what fails, and forgets failures with a success', async (w) => {
    await put(w, 1);
    await put(w, 2);
    const task = await w.addIn('completed');
    const first = (await claim(w.store))!;
    const failed = { ...FAILED, retryMs: 5000, pauseMs: 100 };
    expect(await w.store.settleDelivery(first, failed)).toBe(true);
    // Another one of the same webhook waits for the end of the pause, one of another does not.
    await w.addIn('failed');
    const other = await w.addClaimed({ clientId: 2 });
    await w.store.fail(other.id, other.attempt, { code: 'INTERNAL', message: 'm' });
    const elsewhere = (await claim(w.store))!;
    expect(elsewhere.owner).toBe(2);
    await w.store.settleDelivery(elsewhere, { arrived: true });
    expect(await claim(w.store)).toBe(null);
    const [webhook] = await w.other.listWebhooks();
    expect(webhook).toMatchObject({ owner: 1, lastError: 'refused', waiting: 2, dropped: 0 });
    expect(webhook).toMatchObject({ failingSince: expect.any(String), disabledAt: null });
    expect(JSON.stringify(await w.store.listWebhooks())).not.toContain('secret');
    w.clockMs += 100;
    const next = (await claim(w.store))!;
    expect(next.owner).toBe(1);
    expect(next.taskId).not.toBe(task.id);
    await w.store.settleDelivery(next, { arrived: true });
    expect((await w.store.listWebhooks())[0]).toMatchObject({
      failingSince: null,
      lastError: null,
    });
    expect(await claim(w.store)).toBe(null);
    w.clockMs += 4900;
    expect(await claim(w.store)).toMatchObject({ taskId: task.id, attempt: 2 });
  });

  test('gives up a delivery, and disables a webhook at which nothing arrives', async (w) => {
    await put(w, 1);
    for (let i = 0; i < 3; i++) await w.addIn('completed');
    await w.store.settleDelivery((await claim(w.store))!, { ...FAILED, retryMs: null });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ waiting: 2, dropped: 1 });
    w.clockMs += 72 * HOUR_MS - 1;
    await w.store.settleDelivery((await claim(w.store))!, { ...FAILED, retryMs: 0 });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ waiting: 2, disabledAt: null });
    w.clockMs += 1;
    expect(await w.store.settleDelivery((await claim(w.store))!, { ...FAILED, retryMs: 0 })).toBe(
      true,
    );
    expect(await w.other.listWebhooks()).toMatchObject([
      { owner: 1, waiting: 0, dropped: 3, disabledAt: expect.any(String), lastError: 'refused' },
    ]);
    await w.addIn('completed');
    expect(await claim(w.store)).toBe(null);
    // Set again it is in use again, and goes on counting.
    await put(w, 1, 'https://new.example/');
    await w.addIn('completed');
    expect(await claim(w.store)).toMatchObject({ url: 'https://new.example/', attempt: 1 });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ dropped: 3, disabledAt: null });
  });

  test('removes a webhook with what waits, also with its client', async (w) => {
    for (const owner of [OPERATOR, 1, 2]) await put(w, owner);
    const { id } = await w.addIn('completed');
    expect(await w.store.removeWebhook(1)).toBe(true);
    expect(await w.store.removeWebhook(1)).toBe(false);
    expect((await w.store.listWebhooks()).map(({ owner }) => owner)).toEqual([OPERATOR, 2]);
    await w.store.removeEnded(1, [id]);
    expect(await w.store.forget(1)).toBe(true);
    expect(await w.store.forget(2)).toBe(true);
    expect(await w.store.listWebhooks()).toMatchObject([{ owner: OPERATOR, waiting: 0 }]);
    expect(await claim(w.store)).toBe(null);
  });
}
