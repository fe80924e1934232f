/**
 * The port over any table: which step is legal when, who holds what, what a limit counts. Each verb
 * is one transaction of the table; see `taskStore.ts` for what each one promises.
 *
 *   submissions.ts   the verbs of clients
 *   queue.ts         the verbs of workers
 *   answers.ts       Idempotency-Keys
 *   ledger.ts        the steps of tasks, their order, and the news of them
 */
import { timestamp } from '../task.ts';
import { answers } from './answers.ts';
import { Ledger, publicTask } from './ledger.ts';
import type { OperatorStore } from './operatorStore.ts';
import { queue } from './queue.ts';
import { submissions } from './submissions.ts';
import type { Table } from './table.ts';
import type { ApiKeyStore, Sweep, SweepOptions, TaskStore } from './taskStore.ts';

/** Most rows that one sweep changes of a kind, so that it never holds the store for long. */
const SWEEP_ROWS = 500;

export interface TableStoreOptions {
  /** The clock of leases and expiry, in Unix milliseconds; for tests. */
  readonly nowMs?: () => number;
}

export function tableStore(
  table: Table,
  { nowMs = Date.now }: TableStoreOptions = {},
): TaskStore & ApiKeyStore & OperatorStore {
  const ledger = new Ledger(table, nowMs);
  return {
    ...reads(ledger),
    ...submissions(ledger),
    ...queue(ledger),
    ...answers(ledger),
    ...apiKeys(ledger),
    unfinished: async (query) => table.unfinished(query).map(publicTask),
    sweep: (options) => ledger.write(() => sweep(ledger, options)),
    referenced: async (keys) => table.referenced(keys),
    watch: (listener) => ledger.watch(listener),
    secret(name) {
      const fresh = crypto.getRandomValues(new Uint8Array(32));
      return ledger.write(() => table.secret(name, fresh));
    },
    clientNamed(name) {
      return ledger.write(() => {
        const known = table.clientNamed(name);
        if (known !== undefined) return known;
        const clientId = table.lastNumber('client') + 1;
        table.setLastNumber('client', clientId);
        table.putClientName(name, clientId);
        return clientId;
      });
    },
    open: async () => {},
    ping: async () => void table.depth(),
    close: async () => ledger.close(),
  };
}

function reads(ledger: Ledger): Pick<TaskStore, 'get' | 'list' | 'usage' | 'depth'> {
  const { table } = ledger;
  return {
    async get(id, clientId) {
      const row = clientId === undefined ? table.row(id) : ledger.owned(id, clientId);
      return row ? publicTask(row) : null;
    },
    list: async (query) => ({ tasks: table.list(query, query.limit) }),
    usage: async (clientId) => table.usage(clientId),
    async depth() {
      const { oldestWaitingAt, ...depth } = table.depth();
      const oldestWaitingMs =
        oldestWaitingAt === null ? null : Math.max(0, Date.now() - Date.parse(oldestWaitingAt));
      return { ...depth, oldestWaitingMs };
    },
  };
}

function sweep(ledger: Ledger, { retentionMs, answerMs }: SweepOptions): Sweep {
  const { table } = ledger;
  const nowMs = ledger.nowMs();
  const overdue = table.overdue(nowMs, SWEEP_ROWS);
  const blobs = overdue.flatMap((row) => ledger.end(row, 'expired').blobs);
  const old =
    retentionMs === undefined ? [] : table.finishedBefore(nowMs - retentionMs, SWEEP_ROWS);
  for (const row of old) blobs.push(...(ledger.remove(row) ?? []));
  table.deleteAnswersBefore(nowMs - answerMs);
  return {
    expired: overdue.map((row) => row.id),
    removed: old.length,
    blobs,
    more: overdue.length === SWEEP_ROWS || old.length === SWEEP_ROWS,
  };
}

function apiKeys(ledger: Ledger): ApiKeyStore {
  const { table } = ledger;
  return {
    putApiKey: ({ sha256, name, clientId }) =>
      ledger.write(() => {
        if (table.apiKey(sha256)) return null;
        // A client whose keys are gone keeps its number, since its tasks are still there.
        const last = table.lastNumber('client');
        const owner = clientId ?? last + 1;
        if (owner > last) table.setLastNumber('client', owner);
        const record = { sha256, name, clientId: owner, createdAt: timestamp() };
        table.putApiKey(record);
        return record;
      }),
    findApiKey: async (sha256) => table.apiKey(sha256) ?? null,
    listApiKeys: async () => table.apiKeys(),
    removeApiKey: (sha256) => ledger.write(() => table.deleteApiKey(sha256)),
  };
}
