/** API keys, quotas, client numbers, and secrets. */
import { newSecret } from '../port/parts.ts';
import type { ClientQuota, QuotaStore } from '../port/serviceStore.ts';
import { timestamp } from '../port/task.ts';
import type { ApiKeyRecord, ApiKeyStore, TaskStore } from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import type { ApiKeyRow } from './table.ts';

export function clientNames(ledger: Ledger): Pick<TaskStore, 'clientNamed'> {
  const { table } = ledger;
  return {
    // A known name costs no commit.
    clientNamed: async (name) =>
      table.clientNamed(name) ??
      ledger.write(() => {
        const known = table.clientNamed(name);
        if (known !== undefined) return known;
        const clientId = table.lastNumber('client') + 1;
        table.setLastNumber('client', clientId);
        table.putClientName(name, clientId);
        return clientId;
      }),
  };
}

export function quotas(ledger: Ledger): QuotaStore {
  const { table } = ledger;
  return {
    quota: async (clientId) => table.quota(clientId) ?? null,
    quotas: async () => table.quotas(),
    setQuota: (clientId, changes) =>
      ledger.write((): ClientQuota | null => {
        const quota = changes === null ? undefined : { ...table.quota(clientId), ...changes };
        table.putQuota(clientId, quota);
        return quota ?? null;
      }),
  };
}

export function apiKeys(ledger: Ledger): ApiKeyStore {
  const { table, presentMs: nowMs } = ledger;
  const told = ({ expiresMs, usedMs, ...row }: ApiKeyRow): ApiKeyRecord => ({
    ...row,
    expiresAt: expiresMs === null ? null : ledger.toldTime(expiresMs),
    expired: expiresMs !== null && expiresMs <= nowMs(),
    lastUsedAt: usedMs === null ? null : ledger.toldTime(usedMs),
  });
  const end = (ttlMs: number | undefined) => (ttlMs === undefined ? null : nowMs() + ttlMs);
  const add = (key: Pick<ApiKeyRow, 'sha256' | 'name' | 'clientId' | 'expiresMs'>) => {
    const row = { ...key, createdAt: timestamp(), usedMs: null };
    table.putApiKey(row);
    return told(row);
  };
  return {
    putApiKey: ({ sha256, name, clientId, ttlMs }) =>
      ledger.write(() => {
        if (table.apiKey(sha256)) return null;
        // The number of a client without keys is not reused, since its tasks remain.
        const last = table.lastNumber('client');
        const owner = clientId ?? last + 1;
        if (owner > last) table.setLastNumber('client', owner);
        return add({ sha256, name, clientId: owner, expiresMs: end(ttlMs) });
      }),
    async findApiKey(sha256) {
      const row = table.apiKey(sha256);
      return row ? told(row) : null;
    },
    listApiKeys: async () => table.apiKeys().map(told),
    removeApiKey: (sha256) => ledger.write(() => table.deleteApiKey(sha256)),
    rotateApiKey: (old, { sha256, ttlMs, overlapMs }) =>
      ledger.write(() => {
        const row = table.apiKey(old);
        if (!row || table.apiKey(sha256)) return null;
        const expiresMs = Math.min(row.expiresMs ?? Number.POSITIVE_INFINITY, nowMs() + overlapMs);
        table.putApiKey({ ...row, expiresMs });
        const { name, clientId } = row;
        return add({ sha256, name, clientId, expiresMs: end(ttlMs) });
      }),
    markApiKeysUsed: (sha256s) =>
      ledger.write(() => {
        for (const sha256 of sha256s) {
          const row = table.apiKey(sha256);
          if (row) table.putApiKey({ ...row, usedMs: nowMs() });
        }
      }),
  };
}

export function knownSecret(ledger: Ledger): Pick<TaskStore, 'secret'> {
  return { secret: (name) => ledger.write(() => ledger.table.secret(name, newSecret())) };
}
