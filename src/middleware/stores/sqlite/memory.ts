/**
 * The store in the memory of this process, for tests and for hosts that keep nothing: an SQLite
 * database without a file.
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { Table } from '../rules/table.ts';
import { type TableStoreOptions, tableStore } from '../rules/tableStore.ts';
import { createGroupCommit } from './groupCommit.ts';
import { STEPS } from './sqliteSchema.ts';

/**
 * @returns a store that loses everything when the process ends
 * @throws Error on a host without `node:sqlite`
 */
export function memoryStore(options: TableStoreOptions = {}): CompleteStore {
  // Not imported, so that hosts without it can load this module.
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) {
    throw new Error('memoryStore() needs node:sqlite, which this host lacks: give another store');
  }
  const db = new sqlite.DatabaseSync(':memory:');
  for (const step of STEPS) db.exec(step);
  return tableStore(new Table(db, createGroupCommit(db, 0)), options);
}
