/**
 * The store in the memory of this process, for tests and for hosts that keep nothing: an SQLite
 * database without a file.
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { Table } from '../rules/table.ts';
import { type TableStoreOptions, tableStore } from '../rules/tableStore.ts';
import { createGroupCommit } from './groupCommit.ts';
import { sqliteOfHost } from './sqliteFile.ts';
import { STEPS } from './sqliteSchema.ts';

/**
 * @returns a store that loses everything when the process ends
 * @throws CodedError `NO_SQLITE`
 */
export function memoryStore(options: TableStoreOptions = {}): CompleteStore {
  const { DatabaseSync } = sqliteOfHost();
  const db = new DatabaseSync(':memory:');
  for (const step of STEPS) db.exec(step);
  return tableStore(new Table(db, createGroupCommit(db, 0)), options);
}
