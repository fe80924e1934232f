/** What every store with webhooks must do. See `ownContract.ts`. */
import { expect, it } from 'vitest';
import { OPERATOR } from '../../src/middleware/stores/webhookStore.ts';
import { HOUR_MS } from '../../src/testing/storeWorld.ts';
import type { FullWorld } from './ownContract.ts';

const LEASE_MS = 1000;
const FAILED = { arrived: false, error: 'refused', pauseMs: 0, disableMs: 72 * HOUR_MS } as const;

/** Declares the tests; `w` is the world of the one that runs. */
export function webhookContract(w: FullWorld): void {
  const put = (owner: number, url = `https://${owner}.example/`) =>
    w.store.putWebhook({ owner, url, secret: `secret ${owner}` });
  const claim = (from = w.store) => from.claimDelivery(LEASE_MS);

  it('queues each end of a task for the operator and its client, once', async () => {
    expect(await claim()).toBe(null);
    const before = await w.addIn('completed');
    await put(OPERATOR);
    await put(1);
    await put(2);
    for (const state of ['created', 'expired', 'cancelled', 'verifying'] as const) {
      await w.addIn(state);
    }
    expect(await claim()).toBe(null);
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
    const told = [await claim(), await claim(w.other), await claim(), await claim()];
    expect(told).toEqual([
      { ...first, owner: OPERATOR, url: 'https://0.example/', secret: 'secret 0' },
      { ...first, owner: 1, url: 'https://1.example/', secret: 'secret 1' },
      expect.objectContaining({ owner: 0, taskId: failed.id, errorCode: 'BAD_TASK_FILE' }),
      null,
    ]);
    expect(told.map((one) => one?.taskId)).not.toContain(before.id);
  });

  it('gives a delivery out again when its lease has ended, and settles only the last one', async () => {
    await put(1);
    const { id } = await w.addIn('completed');
    const first = (await claim())!;
    expect(await claim(w.other)).toBe(null);
    w.clockMs += LEASE_MS;
    const second = (await claim(w.other))!;
    expect([first.attempt, second.attempt, second.taskId]).toEqual([1, 2, id]);
    expect(await w.store.settleDelivery(first, { arrived: true })).toBe(false);
    expect(await w.store.settleDelivery(first, { ...FAILED, retryMs: 1 })).toBe(false);
    expect(await w.store.settleDelivery(second, { arrived: true })).toBe(true);
    expect(await w.store.settleDelivery(second, { arrived: true })).toBe(false);
    w.clockMs += HOUR_MS;
    expect(await claim()).toBe(null);
  });

  it('waits for the next try, pauses what fails, and forgets failures with a success', async () => {
    await put(1);
    await put(2);
    const task = await w.addIn('completed');
    const first = (await claim())!;
    const failed = { ...FAILED, retryMs: 5000, pauseMs: 100 };
    expect(await w.store.settleDelivery(first, failed)).toBe(true);
    // Another one of the same webhook waits for the end of the pause, one of another does not.
    await w.addIn('failed');
    const other = await w.addClaimed({ clientId: 2 });
    await w.store.fail(other.id, other.attempt, { code: 'INTERNAL', message: 'm' });
    const elsewhere = (await claim())!;
    expect(elsewhere.owner).toBe(2);
    await w.store.settleDelivery(elsewhere, { arrived: true });
    expect(await claim()).toBe(null);
    const [webhook] = await w.other.listWebhooks();
    expect(webhook).toMatchObject({ owner: 1, lastError: 'refused', waiting: 2, dropped: 0 });
    expect(webhook).toMatchObject({ failingSince: expect.any(String), disabledAt: null });
    expect(JSON.stringify(await w.store.listWebhooks())).not.toContain('secret');
    w.clockMs += 100;
    const next = (await claim())!;
    expect(next.owner).toBe(1);
    expect(next.taskId).not.toBe(task.id);
    await w.store.settleDelivery(next, { arrived: true });
    expect((await w.store.listWebhooks())[0]).toMatchObject({
      failingSince: null,
      lastError: null,
    });
    expect(await claim()).toBe(null);
    w.clockMs += 4900;
    expect(await claim()).toMatchObject({ taskId: task.id, attempt: 2 });
  });

  it('gives up a delivery, and disables a webhook at which nothing arrives', async () => {
    await put(1);
    for (let i = 0; i < 3; i++) await w.addIn('completed');
    await w.store.settleDelivery((await claim())!, { ...FAILED, retryMs: null });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ waiting: 2, dropped: 1 });
    w.clockMs += 72 * HOUR_MS - 1;
    await w.store.settleDelivery((await claim())!, { ...FAILED, retryMs: 0 });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ waiting: 2, disabledAt: null });
    w.clockMs += 1;
    expect(await w.store.settleDelivery((await claim())!, { ...FAILED, retryMs: 0 })).toBe(true);
    expect(await w.other.listWebhooks()).toMatchObject([
      { owner: 1, waiting: 0, dropped: 3, disabledAt: expect.any(String), lastError: 'refused' },
    ]);
    await w.addIn('completed');
    expect(await claim()).toBe(null);
    // Set again it is in use again, and goes on counting.
    await put(1, 'https://new.example/');
    await w.addIn('completed');
    expect(await claim()).toMatchObject({ url: 'https://new.example/', attempt: 1 });
    expect((await w.store.listWebhooks())[0]).toMatchObject({ dropped: 3, disabledAt: null });
  });

  it('removes a webhook with what waits, also with its client', async () => {
    for (const owner of [OPERATOR, 1, 2]) await put(owner);
    const { id } = await w.addIn('completed');
    expect(await w.store.removeWebhook(1)).toBe(true);
    expect(await w.store.removeWebhook(1)).toBe(false);
    expect((await w.store.listWebhooks()).map(({ owner }) => owner)).toEqual([OPERATOR, 2]);
    await w.store.removeEnded(1, [id]);
    expect(await w.store.forget(1)).toBe(true);
    expect(await w.store.forget(2)).toBe(true);
    expect(await w.store.listWebhooks()).toMatchObject([{ owner: OPERATOR, waiting: 0 }]);
    expect(await claim()).toBe(null);
  });
}
