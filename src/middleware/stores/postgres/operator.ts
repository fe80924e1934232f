/**
 * The verbs of the operator over all clients: what is kept of one, how it is erased, and what the
 * next sweep would do. See `operatorStore.ts`.
 */
import {
  type Ageing,
  type CareStore,
  type Disowned,
  type EndedTask,
  ERASE_ROWS,
  type Holdings,
} from '../port/operatorStore.ts';
import { END_WITH_INPUT, FINAL } from './endings.ts';
import type { Ledger } from './ledger.ts';
import { type NewsRow, newsColumns } from './rows.ts';

type Files = { readonly id: number; readonly input_key: string | null } & {
  readonly result_key: string | null;
};

export function operator(ledger: Ledger): CareStore {
  const { database } = ledger;
  const sql = statements(database.schema);
  return {
    async holdings(clientId) {
      const [found] = await database.ask<Holdings>(sql.holdings, [clientId]);
      return found!;
    },
    async disown(clientId): Promise<Disowned> {
      // First, so that no new task of it is made by a key.
      const keys = await database.ask(sql.dropKeys, [clientId]);
      const rows = await ledger.change<NewsRow>(sql.cancelAll, [clientId]);
      const more = rows.length === ERASE_ROWS;
      return { apiKeys: keys.length, cancelled: rows.length, more };
    },
    async ended(clientId, limit) {
      const rows = await database.ask<Files>(sql.ended, [clientId, limit]);
      return rows.map(
        ({ id, input_key, result_key }): EndedTask => ({
          id,
          blobs: [input_key, result_key].flatMap((key) => key ?? []),
        }),
      );
    },
    async removeEnded(clientId, ids) {
      return (await database.ask(sql.removeEnded, [clientId, ids])).length;
    },
    async forget(clientId) {
      const [done] = await database.ask<{ free: boolean }>(sql.forget, [clientId]);
      return done!.free;
    },
    ageing: (retentionMs) => database.ask<Ageing>(sql.ageing, [retentionMs]),
  };
}

const AGED = 'client_id, finished_at, input_bytes, result_bytes';
const BYTES = 'coalesce(input_bytes, 0) + coalesce(result_bytes, 0)';

function statements(s: string) {
  return { ...questions(s), ...erasure(s) };
}

function questions(s: string) {
  return {
    holdings: {
      name: 'holdings',
      text: `SELECT count(*) AS tasks,
          count(*) FILTER (WHERE state NOT IN ${FINAL}) AS unfinished,
          count(input_key) + count(result_key) AS files,
          coalesce(sum(${BYTES}), 0)::bigint AS bytes,
          (SELECT count(*) FROM ${s}.api_keys WHERE client_id = $1) AS "apiKeys",
          (SELECT count(*) FROM ${s}.answers WHERE client_id = $1) AS answers,
          EXISTS (SELECT 1 FROM ${s}.clients WHERE id = $1 AND name IS NOT NULL) AS named
        FROM ${s}.tasks WHERE client_id = $1`,
    },
    ageing: {
      name: 'ageing',
      text: `SELECT client_id AS "clientId",
          count(*) FILTER (WHERE finished_at IS NULL) AS expiring,
          count(finished_at) AS removing, sum(${BYTES})::bigint AS bytes,
          min(finished_at) AS "oldestEnd", max(finished_at) AS "newestEnd"
        FROM (SELECT ${AGED} FROM ${s}.tasks
            WHERE state IN ('created', 'uploaded') AND expires_ms <= ${s}.now_ms()
          UNION ALL SELECT ${AGED} FROM ${s}.tasks
            WHERE finished_ms IS NOT NULL AND finished_ms <= ${s}.now_ms() - $1::bigint) t
        GROUP BY client_id ORDER BY client_id`,
    },
  };
}

function erasure(s: string) {
  return {
    dropKeys: {
      name: 'drop keys',
      text: `DELETE FROM ${s}.api_keys WHERE client_id = $1 RETURNING 1`,
    },
    // The bytes stay the client's until its rows are removed.
    cancelAll: {
      name: 'cancel all',
      text: `WITH old AS MATERIALIZED (
          SELECT id FROM ${s}.tasks WHERE client_id = $1 AND state NOT IN ${FINAL}
          ORDER BY id LIMIT ${ERASE_ROWS} FOR UPDATE),
        counted AS (
          UPDATE ${s}.clients SET open_tasks = open_tasks - (SELECT count(*) FROM old)
          WHERE id = $1)
        UPDATE ${s}.tasks t SET state = 'cancelled', ${END_WITH_INPUT(s)}
        FROM old WHERE t.id = old.id RETURNING ${newsColumns('t')}`,
    },
    ended: {
      name: 'ended of client',
      text: `SELECT id, input_key, result_key FROM ${s}.tasks
        WHERE client_id = $1 AND state IN ${FINAL} ORDER BY id LIMIT $2`,
    },
    removeEnded: {
      name: 'remove ended',
      text: `WITH old AS MATERIALIZED (
          SELECT id FROM ${s}.tasks
          WHERE client_id = $1 AND id = ANY ($2::bigint[]) AND state IN ${FINAL}
          ORDER BY id FOR UPDATE),
        gone AS (
          DELETE FROM ${s}.tasks t USING old WHERE t.id = old.id RETURNING ${BYTES} AS bytes),
        counted AS (
          UPDATE ${s}.clients
          SET stored_bytes = stored_bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)
          WHERE id = $1 AND EXISTS (SELECT 1 FROM gone))
        SELECT 1 FROM gone`,
    },
    forget: {
      name: 'forget client',
      text: `WITH free AS MATERIALIZED (
          SELECT NOT EXISTS (SELECT 1 FROM ${s}.tasks WHERE client_id = $1)
            AND NOT EXISTS (SELECT 1 FROM ${s}.api_keys WHERE client_id = $1) AS free),
        answers AS (
          DELETE FROM ${s}.answers USING free WHERE client_id = $1 AND free),
        quota AS (
          DELETE FROM ${s}.quotas USING free WHERE client_id = $1 AND free),
        client AS (
          DELETE FROM ${s}.clients USING free WHERE id = $1 AND free AND open_tasks = 0)
        SELECT free FROM free`,
    },
  };
}
