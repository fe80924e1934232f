/**
 * The store in an SQLite file, by Node's own SQLite, on the calling thread. Any number of processes
 * on a machine may open the same file. The service runs it on a separate thread (sqlite.ts), since
 * each commit waits for the disk.
 *
 * A commit is on disk when it returns (WAL with synchronous=FULL), and writers take turns (BEGIN
 * IMMEDIATE), so what a transaction has read stays unchanged until it ends. Transactions that
 * arrive together share one commit (groupCommit.ts).
 */
import { nextTick } from 'node:process';
import type { CompleteStore } from '../port/serviceStore.ts';
import { apiKeys, quotas } from '../rules/clients.ts';
import { Ledger } from '../rules/ledger.ts';
import { type Kept, Table } from '../rules/table.ts';
import { clocksOf, reads, type TableStoreOptions, tableStore } from '../rules/tableStore.ts';
import { createGroupCommit } from './groupCommit.ts';
import { patient } from './sqliteFault.ts';
import { openFile, PATIENCE_MS, type SqliteFile, sqliteOfHost } from './sqliteFile.ts';

/**
 * @returns a store that works on the calling thread
 * @throws CodedError `STORE_OUTDATED`, `STORE_NEWER`, `STORE_SHARED`, `STORE_UNAVAILABLE`; Error of
 *   the file system
 */
export function sqliteTableStore(options: SqliteFile & TableStoreOptions): CompleteStore {
  const { patienceMs = PATIENCE_MS } = options;
  const db = openFile(options);
  const table = new Table(db, createGroupCommit(db, patienceMs));
  const ports = tableStore(table, options);
  const own = patient(ports.tasks, patienceMs);
  return {
    tasks: own,
    parts: own,
    apiKeys: patient(ports.apiKeys, patienceMs),
    quotas: patient(ports.quotas, patienceMs),
    open: own.open,
    close: own.close,
  };
}

export type SqliteReader = ReturnType<typeof sqliteReader>;

/**
 * Returns another connection of a process that has the file open. It reads on the calling thread,
 * and fails where it would wait. A transaction saves locks, which take longer than reading. It ends
 * before the process receives anything else, so every request sees what was committed before it.
 * Rows of lists, API keys and quotas are kept until anything is committed.
 */
export function sqliteReader({ path, ...clocks }: SqliteFile & TableStoreOptions) {
  const { DatabaseSync } = sqliteOfHost();
  // Not by `openFile`, which closes other handles of the file, and so ends the locks of SQLite.
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  const write = () => Promise.reject(new Error('a reader does not write'));
  const kept: Kept = new Map();
  const table = new Table(db, { write, drain: async () => {} }, kept);
  const ledger = new Ledger(table, clocksOf(clocks));
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  // Another number whenever another connection, of whatever process, has committed.
  const version = db.prepare('PRAGMA data_version');
  let known: unknown;
  let isBegun = false;
  const end = () => {
    if (!isBegun) return;
    isBegun = false;
    try {
      commit.run();
    } catch {
      // The connection was closed, or a failed read ended the transaction.
    }
  };
  return {
    tasks: reads(ledger),
    apiKeys: apiKeys(ledger),
    quotas: quotas(ledger),
    /** Begins a transaction, which ends after the current microtasks; `anew`: even within one. */
    begin(anew: boolean) {
      if (anew) end();
      if (isBegun) return;
      begin.run();
      isBegun = true;
      nextTick(end);
      const { data_version: current } = version.get()!;
      if (current !== known) kept.clear();
      known = current;
      if (anew) ledger.meetClock();
    },
    close: () => ledger.close(),
  };
}
