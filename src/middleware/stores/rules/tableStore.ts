/**
 * The port over a table: legal steps, leases, limits. Each verb is one transaction of the table;
 * its contract is in `taskStore.ts`.
 *
 *   submissions.ts   the verbs of clients, and Idempotency-Keys
 *   queue.ts         the verbs of workers
 *   clients.ts       API keys, quotas, numbers of clients, secrets
 *   ledger.ts        the steps of tasks, their order, and notifications
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import type { PartStore, Sweep, SweepOptions, TaskStore } from '../port/taskStore.ts';
import { apiKeys, clientNames, knownSecret, quotas } from './clients.ts';
import { type Clocks, Ledger } from './ledger.ts';
import { queue } from './queue.ts';
import { answers, submissions } from './submissions.ts';
import type { Table } from './table.ts';

/** Maximum number of rows of a kind in one sweep, so that none holds the store for long. */
const SWEEP_ROWS = 500;

/** For tests. */
export interface TableStoreOptions {
  /** The steady clock, in Unix milliseconds; also the wall clock, unless `wallMs` is given. */
  readonly nowMs?: () => number;
  /** The wall clock, which may jump. */
  readonly wallMs?: () => number;
}

/** The clocks of a store. */
export const clocksOf = ({ nowMs, wallMs = nowMs ?? Date.now }: TableStoreOptions): Clocks => ({
  steadyMs: nowMs ?? (() => performance.now()),
  wallMs,
});

export function tableStore(table: Table, options: TableStoreOptions = {}): CompleteStore {
  const ledger = new Ledger(table, clocksOf(options));
  const tasks: CompleteStore['tasks'] = {
    ...reads(ledger),
    ...submissions(ledger),
    ...queue(ledger),
    ...answers(ledger),
    ...clientNames(ledger),
    ...knownSecret(ledger),
    unfinished: async (query) => table.unfinished(query).map((row) => ledger.told(row)),
    suspectClock: async () => ledger.suspectClock(),
    acceptClock: () => ledger.write(() => ledger.acceptClock()),
    sweep: (options) => ledger.write(() => sweep(ledger, options)),
    referenced: async (keys) => table.referenced(keys),
    watch: (listener) => ledger.listeners.add(listener),
    open: async () => {},
    ping: async () => void table.depth(),
    close: () => ledger.close(),
  };
  return {
    tasks,
    parts: tasks,
    apiKeys: apiKeys(ledger),
    quotas: quotas(ledger),
    open: tasks.open,
    close: tasks.close,
  };
}

/** The verbs that only read, and ask for a few rows. */
export function reads(
  ledger: Ledger,
): Pick<TaskStore & PartStore, 'get' | 'parts' | 'list' | 'usage' | 'depth'> {
  const { table } = ledger;
  return {
    async get(id, clientId) {
      const row = clientId === undefined ? table.row(id) : ledger.owned(id, clientId);
      return row ? ledger.told(row) : null;
    },
    parts: async (id, query) => table.parts(id, query).map((row) => ledger.told(row)),
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
  const suspect = ledger.judgeClock();
  const nothing = { expired: [], removed: 0, forgotten: 0, blobs: [], more: false };
  if (suspect) return { ...nothing, suspect };
  const nowMs = ledger.nowMs();
  const overdue = table.overdue(nowMs, SWEEP_ROWS);
  const blobs = overdue.flatMap((row) => ledger.end(row, 'expired').blobs);
  const old =
    retentionMs === undefined ? [] : table.finishedBefore(nowMs - retentionMs, SWEEP_ROWS);
  for (const row of old) blobs.push(...(ledger.remove(row) ?? []));
  const gone = table.goneParts(SWEEP_ROWS);
  for (const row of gone) blobs.push(...(ledger.remove(row) ?? []));
  const forgotten = table.deleteAnswersBefore(nowMs - answerMs);
  return {
    expired: overdue.map((row) => row.id),
    removed: old.length,
    ...(gone.length > 0 && { parts: gone.map((row) => row.id) }),
    forgotten,
    blobs,
    more: [overdue, old, gone].some((rows) => rows.length === SWEEP_ROWS),
  };
}
