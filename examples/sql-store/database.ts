/**
 * A connection to the tables: transactions, statements that are prepared once, and database errors
 * as errors that the service knows.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CodedError } from 'falconry';
import { SCHEMA, VERSION } from './schema.ts';

export interface DatabaseOptions {
  readonly path: string;
  /** How long a write waits for another process, in ms. */
  readonly patienceMs?: number;
}

const SQLITE_FULL = 13;

export class Database {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor({ path, patienceMs = 5000 }: DatabaseOptions) {
    this.#db = new DatabaseSync(path, { timeout: patienceMs });
  }

  /** Creates the tables if they do not exist. */
  open(): void {
    const [found] = this.all<{ user_version: number }>('PRAGMA user_version');
    if (found!.user_version > VERSION) throw new CodedError('STORE_NEWER');
    // FULL: a commit is on disk when the method's promise resolves.
    this.#exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    this.#exec(SCHEMA);
  }

  /** Runs the work as one transaction, without other writers. */
  transaction<T>(work: () => T): T {
    this.#exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#exec('COMMIT');
      return result;
    } finally {
      if (this.#db.isTransaction) this.#exec('ROLLBACK');
    }
  }

  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#guarded(() => this.#prepared(sql).all(...values) as T[]);
  }

  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#guarded(() => this.#prepared(sql).get(...values) as T | undefined);
  }

  /** @returns the number of changed rows, and the id of a new one */
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#guarded(() => this.#prepared(sql).run(...values));
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #exec(sql: string): void {
    this.#guarded(() => this.#db.exec(sql));
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** Errors of the database are never the caller's fault. */
  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const full = (cause as { errcode?: number }).errcode === SQLITE_FULL;
      throw new CodedError(full ? 'STORAGE_FULL' : 'STORE_UNAVAILABLE', { cause });
    }
  }
}
