/** API keys, client numbers, secrets and quotas. */
import { newSecret, type QuotaRow, toQuota } from '../port/parts.ts';
import type { QuotaStore } from '../port/serviceStore.ts';
import type { ApiKeyRecord, ApiKeyStore, TaskStore } from '../port/taskStore.ts';
import { type Database, named, type Statement } from './database.ts';

type Names = Pick<TaskStore, 'secret' | 'clientNamed'>;

interface ApiKeyRow extends Omit<ApiKeyRecord, 'expiresAt' | 'lastUsedAt'> {
  readonly expires_ms: number | null;
  readonly used_ms: number | null;
}

const record = (s: string) => `sha256, name, client_id AS "clientId", created_at AS "createdAt",
  expires_ms, used_ms, coalesce(expires_ms <= ${s}.now_ms(), false) AS expired`;

function told({ expires_ms, used_ms, ...row }: ApiKeyRow): ApiKeyRecord {
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { ...row, expiresAt: time(expires_ms), lastUsedAt: time(used_ms) };
}

export function names(database: Database): Names {
  const sql = statements(database.schema);
  return {
    async secret(name) {
      type Secret = { readonly value: Uint8Array };
      let [known] = await database.ask<Secret>(sql.secret, [name]);
      if (!known) {
        await database.ask(sql.putSecret, [name, Buffer.from(newSecret())]);
        [known] = await database.ask<Secret>(sql.secret, [name]);
      }
      return new Uint8Array(known!.value);
    },
    async clientNamed(name) {
      type Named = { readonly id: number };
      let [known] = await database.ask<Named>(sql.named, [name]);
      if (!known) {
        await database.ask(sql.putNamed, [name]);
        [known] = await database.ask<Named>(sql.named, [name]);
      }
      return known!.id;
    },
  };
}

export function apiKeys(database: Database): ApiKeyStore {
  const sql = keyStatements(database.schema);
  const one = async (statement: Statement, values: readonly unknown[]) => {
    const [row] = await database.ask<ApiKeyRow>(statement, values);
    return row ? told(row) : null;
  };
  return {
    putApiKey: ({ sha256, name, clientId, ttlMs }) =>
      one(sql.putKey, [sha256, name, clientId ?? null, ttlMs ?? null]),
    findApiKey: (sha256) => one(sql.findKey, [sha256]),
    listApiKeys: async () => (await database.ask<ApiKeyRow>(sql.listKeys)).map(told),
    async removeApiKey(sha256) {
      return (await database.ask(sql.removeKey, [sha256])).length > 0;
    },
    rotateApiKey: (old, { sha256, ttlMs, overlapMs }) =>
      one(sql.rotateKey, [old, sha256, ttlMs ?? null, overlapMs]),
    async markApiKeysUsed(sha256s) {
      await database.ask(sql.markKeys, [sha256s]);
    },
  };
}

function keyStatements(s: string) {
  const columns = record(s);
  return named({
    // A number given by the caller also moves the counter, so that no new client gets it.
    putKey: `WITH owner AS (
        UPDATE ${s}.client_numbers SET last =
          CASE WHEN $3::bigint IS NULL THEN last + 1 ELSE greatest(last, $3) END
        WHERE NOT EXISTS (SELECT 1 FROM ${s}.api_keys WHERE sha256 = $1)
        RETURNING coalesce($3, last) AS id)
      INSERT INTO ${s}.api_keys (sha256, name, client_id, created_at, expires_ms)
        SELECT $1, $2, owner.id, clock_timestamp(), ${s}.now_ms() + $4::bigint FROM owner
      ON CONFLICT (sha256) DO NOTHING RETURNING ${columns}`,
    findKey: `SELECT ${columns} FROM ${s}.api_keys WHERE sha256 = $1`,
    listKeys: `SELECT ${columns} FROM ${s}.api_keys ORDER BY created_at, sha256`,
    removeKey: `DELETE FROM ${s}.api_keys WHERE sha256 = $1 RETURNING 1`,
    rotateKey: `WITH old AS (
        UPDATE ${s}.api_keys SET expires_ms = least(expires_ms, ${s}.now_ms() + $4::bigint)
        WHERE sha256 = $1 AND NOT EXISTS (SELECT 1 FROM ${s}.api_keys WHERE sha256 = $2)
        RETURNING name, client_id)
      INSERT INTO ${s}.api_keys (sha256, name, client_id, created_at, expires_ms)
        SELECT $2, name, client_id, clock_timestamp(), ${s}.now_ms() + $3::bigint FROM old
      RETURNING ${columns}`,
    markKeys: `UPDATE ${s}.api_keys SET used_ms = ${s}.now_ms() WHERE sha256 = ANY($1::text[])`,
  });
}

function statements(s: string) {
  return named({
    secret: `SELECT value FROM ${s}.secrets WHERE name = $1`,
    // The first one stays.
    putSecret: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO NOTHING`,
    named: `SELECT id FROM ${s}.clients WHERE name = $1`,
    // Above every number in use, including those that a host assigned itself.
    putNamed: `WITH owner AS (
        UPDATE ${s}.client_numbers SET last =
          greatest(last, (SELECT max(id) FROM ${s}.clients)) + 1
        WHERE NOT EXISTS (SELECT 1 FROM ${s}.clients WHERE name = $1)
        RETURNING last AS id)
      INSERT INTO ${s}.clients (id, name, open_tasks, stored_bytes, last_task, last_turn)
        SELECT owner.id, $1, 0, 0, 0, 0 FROM owner
      ON CONFLICT (name) DO NOTHING`,
  });
}

const COLUMNS = 'client_id, open_tasks, stored_bytes, requests_per_second';

export function quotas(database: Database): QuotaStore {
  const sql = quotaStatements(database.schema);
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

function quotaStatements(s: string) {
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
