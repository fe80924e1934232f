/** The rows of webhooks and deliveries in SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import type { DeliveryRow, Table, WebhookRow } from '../rules/table.ts';

type Columns = Record<string, SQLInputValue>;

/** What the table lends: prepared statements. */
export interface Statements {
  one(sql: string, ...values: SQLInputValue[]): Columns | undefined;
  all(sql: string, ...values: SQLInputValue[]): Columns[];
  /** @returns the number of changed rows */
  run(sql: string, ...values: SQLInputValue[]): number;
}

type WebhookTable = Pick<
  Table,
  | 'webhooks'
  | 'webhook'
  | 'putWebhook'
  | 'deleteWebhook'
  | 'delivery'
  | 'dueDelivery'
  | 'putDelivery'
  | 'deleteDelivery'
  | 'deleteDeliveries'
  | 'deliveryCount'
>;

const WEBHOOK = `owner, url, secret, created_at, failing_since, failing_ms, disabled_at,
  last_error, paused_ms, dropped`;
const DELIVERY = `owner, task_id, client_id, state, count, submitted_at, finished_at, error_code,
  attempt, due_ms`;

const DUE = `SELECT * FROM deliveries INDEXED BY deliveries_due
  WHERE due_ms <= ?1 AND owner IN (
    SELECT owner FROM webhooks WHERE disabled_at IS NULL AND paused_ms <= ?1)
  ORDER BY due_ms, task_id, owner LIMIT 1`;

export function webhookTable(db: Statements): WebhookTable {
  const deleteDeliveries = (owner: number) =>
    db.run('DELETE FROM deliveries WHERE owner = ?', owner);
  return {
    webhooks: () => db.all('SELECT * FROM webhooks ORDER BY owner').map(toWebhook),
    webhook(owner) {
      const row = db.one('SELECT * FROM webhooks WHERE owner = ?', owner);
      return row && toWebhook(row);
    },
    putWebhook(row) {
      const { owner, url, secret, createdAt, failingSince, failingMs } = row;
      const { disabledAt, lastError, pausedMs, dropped } = row;
      const values = [owner, url, secret, createdAt, failingSince, failingMs];
      const more = [disabledAt, lastError, pausedMs, dropped];
      const sql = `INSERT OR REPLACE INTO webhooks (${WEBHOOK})
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      db.run(sql, ...values, ...more);
    },
    deleteWebhook(owner) {
      deleteDeliveries(owner);
      return db.run('DELETE FROM webhooks WHERE owner = ?', owner) > 0;
    },
    delivery(owner, taskId) {
      const sql = 'SELECT * FROM deliveries WHERE owner = ? AND task_id = ?';
      const row = db.one(sql, owner, taskId);
      return row && toDelivery(row);
    },
    dueDelivery(nowMs) {
      const row = db.one(DUE, nowMs);
      return row && toDelivery(row);
    },
    putDelivery(row) {
      const { owner, taskId, clientId, state, count, submittedAt, finishedAt } = row;
      const { errorCode, attempt, dueMs } = row;
      const values = [owner, taskId, clientId, state, count, submittedAt, finishedAt];
      const sql = `INSERT OR REPLACE INTO deliveries (${DELIVERY})
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      db.run(sql, ...values, errorCode, attempt, dueMs);
    },
    deleteDelivery: (owner, taskId) =>
      void db.run('DELETE FROM deliveries WHERE owner = ? AND task_id = ?', owner, taskId),
    deleteDeliveries,
    deliveryCount: (owner) =>
      Number(db.one('SELECT count(*) AS waiting FROM deliveries WHERE owner = ?', owner)!.waiting),
  };
}

function toWebhook(row: Columns): WebhookRow {
  return {
    owner: row.owner,
    url: row.url,
    secret: row.secret,
    createdAt: row.created_at,
    failingSince: row.failing_since,
    failingMs: row.failing_ms,
    disabledAt: row.disabled_at,
    lastError: row.last_error,
    pausedMs: row.paused_ms,
    dropped: row.dropped,
  } as WebhookRow;
}

function toDelivery(row: Columns): DeliveryRow {
  return {
    owner: row.owner,
    taskId: row.task_id,
    clientId: row.client_id,
    state: row.state,
    count: row.count,
    submittedAt: row.submitted_at,
    finishedAt: row.finished_at,
    errorCode: row.error_code,
    attempt: row.attempt,
    dueMs: row.due_ms,
  } as DeliveryRow;
}
