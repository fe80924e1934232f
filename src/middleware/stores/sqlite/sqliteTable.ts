/**
 * The store in an SQLite file, by Node's own SQLite, on the calling thread. Any number of processes
 * on a machine may open the same file. The service runs it on a separate thread (sqlite.ts), since
 * each commit waits for the disk.
 *
 * A commit is on disk when it returns (WAL with synchronous=FULL), and writers take turns (BEGIN
 * IMMEDIATE), so what a transaction has read stays unchanged until it ends. Transactions that
 * arrive together share one commit (groupCommit.ts).
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { Table } from '../rules/table.ts';
import { type TableStoreOptions, tableStore } from '../rules/tableStore.ts';
import { createGroupCommit } from './groupCommit.ts';
import { patient } from './sqliteFault.ts';
import { openFile, PATIENCE_MS, type SqliteFile } from './sqliteFile.ts';

export interface SqliteTableStore extends CompleteStore {
  /** Calls that only read, made in one transaction: to lock the file takes longer than to read. */
  together(reads: () => void): void;
}

/**
 * @returns a store that works on the calling thread
 * @throws CodedError `STORE_OUTDATED`, `STORE_NEWER`, `STORE_SHARED`, `STORE_UNAVAILABLE`; Error of
 *   the file system
 */
export function sqliteTableStore(options: SqliteFile & TableStoreOptions): SqliteTableStore {
  const { patienceMs = PATIENCE_MS } = options;
  const db = openFile(options);
  const table = new Table(db, createGroupCommit(db, patienceMs));
  const { tasks, apiKeys, quotas } = tableStore(table, options);
  const own = patient(tasks, patienceMs);
  return {
    tasks: own,
    apiKeys: patient(apiKeys, patienceMs),
    quotas: patient(quotas, patienceMs),
    open: own.open,
    close: own.close,
    together(reads) {
      db.exec('BEGIN');
      reads();
      // A read that fails may have ended it.
      if (db.isTransaction) db.exec('COMMIT');
    },
  };
}
