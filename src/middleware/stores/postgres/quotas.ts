/** The quotas of clients. */
import type { ClientQuota, QuotaStore } from '../port/operatorStore.ts';
import type { Database } from './database.ts';

interface QuotaRow {
  readonly client_id: number;
  readonly open_tasks: number | null;
  readonly stored_bytes: number | null;
  readonly requests_per_second: number | null;
}

const COLUMNS = 'client_id, open_tasks, stored_bytes, requests_per_second';

export function quotas(database: Database): QuotaStore {
  const sql = statements(database.schema);
  const one = async (statement: { name: string; text: string }, values: readonly unknown[]) => {
    const [row] = await database.ask<QuotaRow>(statement, values);
    return row ? toQuota(row) : null;
  };
  return {
    quota: (clientId) => one(sql.get, [clientId]),
    async quotas() {
      const rows = await database.ask<QuotaRow>(sql.list);
      return rows.map((row) => ({ clientId: row.client_id, ...toQuota(row) }));
    },
    async setQuota(clientId, quota) {
      if (quota === null) {
        await database.ask(sql.remove, [clientId]);
        return null;
      }
      const { openTasks = null, storedBytes = null, requestsPerSecond = null } = quota;
      return one(sql.set, [clientId, openTasks, storedBytes, requestsPerSecond]);
    },
  };
}

function toQuota(row: QuotaRow): ClientQuota {
  return {
    ...(row.open_tasks !== null && { openTasks: row.open_tasks }),
    ...(row.stored_bytes !== null && { storedBytes: row.stored_bytes }),
    ...(row.requests_per_second !== null && { requestsPerSecond: row.requests_per_second }),
  };
}

function statements(s: string) {
  return {
    get: { name: 'quota', text: `SELECT ${COLUMNS} FROM ${s}.quotas WHERE client_id = $1` },
    list: { name: 'quotas', text: `SELECT ${COLUMNS} FROM ${s}.quotas ORDER BY client_id` },
    remove: { name: 'remove quota', text: `DELETE FROM ${s}.quotas WHERE client_id = $1` },
    set: {
      name: 'set quota',
      text: `INSERT INTO ${s}.quotas AS q (${COLUMNS}) VALUES ($1, $2, $3, $4)
        ON CONFLICT (client_id) DO UPDATE SET
          open_tasks = coalesce(excluded.open_tasks, q.open_tasks),
          stored_bytes = coalesce(excluded.stored_bytes, q.stored_bytes),
          requests_per_second = coalesce(excluded.requests_per_second, q.requests_per_second)
        RETURNING ${COLUMNS}`,
    },
  };
}
