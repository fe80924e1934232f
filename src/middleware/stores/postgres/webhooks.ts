/** Webhooks, and what is to be sent to them; `ending` queues it. See `webhookStore.ts`. */
import type { ClaimedDelivery, Settlement, Webhook, WebhookStore } from '../port/webhookStore.ts';
import type { Database } from './database.ts';

export function webhooks(database: Database): WebhookStore {
  const sql = statements(database.schema);
  return {
    async putWebhook({ owner, url, secret }) {
      await database.ask(sql.put, [owner, url, secret]);
    },
    async removeWebhook(owner) {
      return (await database.ask(sql.remove, [owner])).length > 0;
    },
    listWebhooks: () => database.ask<Webhook>(sql.list),
    async claimDelivery(leaseMs) {
      const [claimed] = await database.ask<ClaimedDelivery>(sql.claim, [leaseMs]);
      return claimed ?? null;
    },
    async settleDelivery({ owner, taskId, attempt }, outcome) {
      const held = [owner, taskId, attempt];
      const rows = outcome.arrived
        ? await database.ask(sql.arrived, held)
        : await database.ask(sql.failed, [...held, ...failure(outcome)]);
      return rows.length > 0;
    },
  };
}

function failure(outcome: Extract<Settlement, { readonly arrived: false }>): unknown[] {
  const { error, retryMs, pauseMs, disableMs } = outcome;
  return [error, retryMs, pauseMs, disableMs];
}

function statements(s: string) {
  const fresh = `failing_since = NULL, failing_ms = NULL, disabled_at = NULL, last_error = NULL,
    paused_ms = 0`;
  const held = 'owner = $1 AND task_id = $2 AND attempt = $3';
  return {
    put: {
      name: 'put webhook',
      text: `INSERT INTO ${s}.webhooks AS w (owner, url, secret, created_at)
        VALUES ($1, $2, $3, clock_timestamp())
        ON CONFLICT (owner) DO UPDATE SET url = excluded.url, secret = excluded.secret, ${fresh}`,
    },
    remove: {
      name: 'remove webhook',
      text: `WITH waiting AS (DELETE FROM ${s}.deliveries WHERE owner = $1)
        DELETE FROM ${s}.webhooks WHERE owner = $1 RETURNING 1`,
    },
    list: {
      name: 'list webhooks',
      text: `SELECT owner, url, created_at AS "createdAt", failing_since AS "failingSince",
          disabled_at AS "disabledAt", last_error AS "lastError", dropped,
          (SELECT count(*) FROM ${s}.deliveries d WHERE d.owner = w.owner) AS waiting
        FROM ${s}.webhooks w ORDER BY owner`,
    },
    claim: {
      name: 'claim delivery',
      text: `WITH next AS MATERIALIZED (
          SELECT d.owner, d.task_id FROM ${s}.deliveries d JOIN ${s}.webhooks w USING (owner)
          WHERE d.due_ms <= ${s}.now_ms() AND w.disabled_at IS NULL
            AND w.paused_ms <= ${s}.now_ms()
          ORDER BY d.due_ms, d.task_id, d.owner LIMIT 1 FOR UPDATE OF d SKIP LOCKED)
        UPDATE ${s}.deliveries d
        SET attempt = d.attempt + 1, due_ms = ${s}.now_ms() + $1::bigint
        FROM next JOIN ${s}.webhooks w USING (owner)
        WHERE d.owner = next.owner AND d.task_id = next.task_id
        RETURNING d.owner, d.task_id AS "taskId", d.client_id AS "clientId", d.state, d.count,
          d.submitted_at AS "submittedAt", d.finished_at AS "finishedAt",
          d.error_code AS "errorCode", d.attempt, w.url, w.secret`,
    },
    arrived: {
      name: 'delivery arrived',
      text: `WITH gone AS (DELETE FROM ${s}.deliveries WHERE ${held} RETURNING owner),
        healed AS (
          UPDATE ${s}.webhooks w SET ${fresh} FROM gone
          WHERE w.owner = gone.owner AND w.failing_since IS NOT NULL)
        SELECT 1 FROM gone`,
    },
    failed: { name: 'delivery failed', text: failedText(s, held) },
  };
}

/** `$4` the error, `$5` until the next try or null, `$6` the pause, `$7` until disabled. */
function failedText(s: string, held: string): string {
  const now = `${s}.now_ms()`;
  const ended = `${now} - coalesce(w.failing_ms, ${now}) >= $7::bigint`;
  return `
    WITH held AS MATERIALIZED (
      SELECT owner FROM ${s}.deliveries WHERE ${held} FOR UPDATE),
    hook AS (
      UPDATE ${s}.webhooks w SET failing_ms = coalesce(w.failing_ms, ${now}),
        failing_since = coalesce(w.failing_since, clock_timestamp()), last_error = $4,
        paused_ms = ${now} + $6::bigint,
        disabled_at = CASE WHEN ${ended} THEN clock_timestamp() END,
        dropped = w.dropped + CASE
          WHEN ${ended} THEN (SELECT count(*) FROM ${s}.deliveries WHERE owner = $1)
          WHEN $5::bigint IS NULL THEN 1 ELSE 0 END
      FROM held WHERE w.owner = held.owner RETURNING w.owner, w.disabled_at),
    gone AS (
      DELETE FROM ${s}.deliveries d USING hook
      WHERE d.owner = hook.owner
        AND (hook.disabled_at IS NOT NULL OR ($5::bigint IS NULL AND d.task_id = $2))),
    later AS (
      UPDATE ${s}.deliveries d SET due_ms = ${now} + $5::bigint FROM hook
      WHERE d.owner = hook.owner AND d.task_id = $2 AND hook.disabled_at IS NULL
        AND $5::bigint IS NOT NULL)
    SELECT 1 FROM held`;
}
