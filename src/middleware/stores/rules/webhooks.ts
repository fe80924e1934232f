/** Webhooks over a table. See `webhookStore.ts`. */
import { timestamp } from '../port/task.ts';
import type { ClaimedDelivery, Settlement, Webhook, WebhookStore } from '../port/webhookStore.ts';
import type { Ledger } from './ledger.ts';
import type { DeliveryRow, Table, WebhookRow } from './table.ts';

export function webhooks(ledger: Ledger): WebhookStore {
  const { table } = ledger;
  return {
    putWebhook: (given) =>
      ledger.write(() => {
        const before = table.webhook(given.owner);
        const createdAt = before?.createdAt ?? timestamp();
        table.putWebhook({ ...FRESH, dropped: before?.dropped ?? 0, ...given, createdAt });
      }),
    removeWebhook: (owner) => ledger.write(() => table.deleteWebhook(owner)),
    listWebhooks: async () => table.webhooks().map((row) => told(table, row)),
    async claimDelivery(leaseMs) {
      ledger.meetClock();
      // Looks without the lock of writers first, since most claims find nothing.
      if (!table.dueDelivery(ledger.nowMs())) return null;
      return ledger.write((): ClaimedDelivery | null => {
        const row = table.dueDelivery(ledger.nowMs());
        if (!row) return null;
        const attempt = row.attempt + 1;
        table.putDelivery({ ...row, attempt, dueMs: ledger.nowMs() + leaseMs });
        const { url, secret } = table.webhook(row.owner)!;
        const { dueMs, ...delivery } = row;
        return { ...delivery, attempt, url, secret };
      });
    },
    settleDelivery: ({ owner, taskId, attempt }, outcome) =>
      ledger.write(() => {
        const row = table.delivery(owner, taskId);
        const webhook = table.webhook(owner);
        if (row?.attempt !== attempt || !webhook) return false;
        settle(ledger, row, webhook, outcome);
        return true;
      }),
  };
}

const FRESH = {
  failingMs: null,
  failingSince: null,
  disabledAt: null,
  lastError: null,
  pausedMs: 0,
} as const;

function settle(ledger: Ledger, row: DeliveryRow, webhook: WebhookRow, outcome: Settlement): void {
  const { table } = ledger;
  const { owner, taskId } = row;
  if (outcome.arrived) {
    table.deleteDelivery(owner, taskId);
    if (webhook.failingSince !== null) table.putWebhook({ ...webhook, ...FRESH });
    return;
  }
  const nowMs = ledger.nowMs();
  const { error, retryMs, pauseMs, disableMs } = outcome;
  const failingMs = webhook.failingMs ?? nowMs;
  const failing = {
    ...webhook,
    failingMs,
    failingSince: webhook.failingSince ?? timestamp(),
    lastError: error,
    pausedMs: nowMs + pauseMs,
  };
  if (nowMs - failingMs >= disableMs) {
    const dropped = webhook.dropped + table.deleteDeliveries(owner);
    table.putWebhook({ ...failing, dropped, disabledAt: timestamp() });
  } else if (retryMs === null) {
    table.deleteDelivery(owner, taskId);
    table.putWebhook({ ...failing, dropped: webhook.dropped + 1 });
  } else {
    table.putDelivery({ ...row, dueMs: nowMs + retryMs });
    table.putWebhook(failing);
  }
}

function told(table: Table, { secret, failingMs, pausedMs, ...row }: WebhookRow): Webhook {
  return { ...row, waiting: table.deliveryCount(row.owner) };
}
