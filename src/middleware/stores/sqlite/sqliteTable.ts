/**
 * Tasks in an SQLite file, with the SQLite that is part of Node, on the calling thread. Any number
 * of processes on a machine may open the same file. The service has this store on a thread of its
 * own (sqlite.ts), since each commit waits for the disk.
 *
 * A commit is on the disk when it returns (WAL with synchronous=FULL: the log is synced at each
 * commit), and writers take turns (BEGIN IMMEDIATE), so what a transaction reads stays true until
 * it ends. Transactions that arrive together share one commit (groupCommit.ts).
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { Table } from '../rules/table.ts';
import { type TableStoreOptions, tableStore } from '../rules/tableStore.ts';
import { createGroupCommit } from './groupCommit.ts';
import { patient } from './sqliteFault.ts';
import { openFile, PATIENCE_MS, type SqliteFile } from './sqliteFile.ts';

/**
 * @returns a store in the file, which works on the calling thread
 * @throws CodedError `STORE_OUTDATED`, `STORE_NEWER`, `STORE_SHARED`, `STORE_UNAVAILABLE`; Error of
 *   the file system
 */
export function sqliteTableStore(options: SqliteFile & TableStoreOptions): CompleteStore {
  const { patienceMs = PATIENCE_MS } = options;
  const db = openFile(options);
  const table = new Table(db, createGroupCommit(db, patienceMs));
  const { tasks, apiKeys, quotas, secrets } = tableStore(table, options);
  const own = patient(tasks, patienceMs);
  return {
    tasks: own,
    apiKeys: patient(apiKeys, patienceMs),
    quotas: patient(quotas, patienceMs),
    secrets: patient(secrets, patienceMs),
    open: own.open,
    close: own.close,
  };
}
