/** The quotas of clients. */
import type { QuotaStore } from '../port/operatorStore.ts';
import { type QuotaRow, toQuota } from '../rules/parts.ts';
import { type Database, named, type Statement } from './database.ts';

const COLUMNS = 'client_id, open_tasks, stored_bytes, requests_per_second';

export function quotas(database: Database): QuotaStore {
  const sql = statements(database.schema);
  const one = async (statement: Statement, values: readonly unknown[]) => {
    const [row] = await database.ask<QuotaRow>(statement, values);
    return row ? toQuota(row) : null;
  };
  return {
    quota: (clientId) => one(sql.quota, [clientId]),
    async quotas() {
      const rows = await database.ask<QuotaRow>(sql.quotas);
      return rows.map((row) => ({ clientId: row.client_id, ...toQuota(row) }));
    },
    async setQuota(clientId, quota) {
      if (quota === null) {
        await database.ask(sql.removeQuota, [clientId]);
        return null;
      }
      const { openTasks = null, storedBytes = null, requestsPerSecond = null } = quota;
      return one(sql.setQuota, [clientId, openTasks, storedBytes, requestsPerSecond]);
    },
  };
}

function statements(s: string) {
  return named({
    quota: `SELECT ${COLUMNS} FROM ${s}.quotas WHERE client_id = $1`,
    quotas: `SELECT ${COLUMNS} FROM ${s}.quotas ORDER BY client_id`,
    removeQuota: `DELETE FROM ${s}.quotas WHERE client_id = $1`,
    setQuota: `INSERT INTO ${s}.quotas AS q (${COLUMNS}) VALUES ($1, $2, $3, $4)
      ON CONFLICT (client_id) DO UPDATE SET
        open_tasks = coalesce(excluded.open_tasks, q.open_tasks),
        stored_bytes = coalesce(excluded.stored_bytes, q.stored_bytes),
        requests_per_second = coalesce(excluded.requests_per_second, q.requests_per_second)
      RETURNING ${COLUMNS}`,
  });
}
