/**
 * Statements that change tasks, and the notification of listeners: of this object directly, of
 * other processes by hints.
 */
import { Listeners } from '../port/parts.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { Database, Statement } from './database.ts';
import type { Hints } from './hints.ts';
import type { NewsRow } from './rows.ts';

export class Ledger {
  readonly database: Database;
  readonly #hints: Hints;
  readonly #listeners = new Listeners();

  constructor(database: Database, hints: Hints) {
    this.database = database;
    this.#hints = hints;
  }

  /** Runs a statement that returns the changed tasks, and notifies listeners. */
  async change<Row extends NewsRow>(
    statement: Statement,
    values: readonly unknown[] = [],
    { hint = true } = {},
  ): Promise<Row[]> {
    const rows = await this.database.ask<Row>(statement, values);
    this.tell(rows, hint);
    return rows;
  }

  /** Notifies listeners, after the commit. */
  tell(rows: readonly NewsRow[], hint = true): void {
    if (rows.length === 0) return;
    const news = rows.map(
      ({ id, client_id, state, attempt, parent }): TaskNews => ({
        id,
        clientId: client_id,
        state,
        attempt,
        own: true,
        ...(parent !== null && { isPart: true }),
      }),
    );
    queueMicrotask(() => this.#listeners.tell(news));
    if (hint) this.#hints.send(news);
  }

  /** @returns a function that removes the listener */
  watch(listener: (news: TaskNews) => void): () => void {
    this.#hints.listen((news) => this.#listeners.tell(news));
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.database.close(() => this.#hints.close());
  }
}
