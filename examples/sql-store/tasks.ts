/** Tasks in the tables, and the steps that make up the store's methods. */
import type { ClientLimits, ClientUsage, TaskNews } from 'falconry/middleware';
import type { Database } from './database.ts';
import { bytesOf, isEarly, isFinal, isHeld, type Row } from './rows.ts';

export class Tasks {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly listeners = new Set<(news: TaskNews) => void>();
  /** The changes of the transaction so far. */
  #news: TaskNews[] = [];

  constructor(db: Database, nowMs: () => number) {
    this.db = db;
    this.nowMs = nowMs;
  }

  /** Runs a transaction; watchers are notified of its changes after the commit. */
  write<T>(work: () => T): T {
    this.#news = [];
    const result = this.db.transaction(work);
    for (const news of this.#news) for (const listener of this.listeners) listener(news);
    return result;
  }

  /** Changes a task if this attempt holds it. @returns whether it does */
  whileHeld(id: number, attempt: number, work: (row: Row) => unknown): boolean {
    return this.write(() => {
      const row = this.held(id, attempt);
      return row !== undefined && work(row) !== false;
    });
  }

  rows(sql: string, ...values: (string | number)[]): Row[] {
    return this.db.all<{ doc: string }>(sql, ...values).map(({ doc }) => JSON.parse(doc));
  }

  row(id: number, clientId?: number): Row | undefined {
    const [row] = this.rows('SELECT doc FROM tasks WHERE id = ?', id);
    return row && (clientId === undefined || row.clientId === clientId) ? row : undefined;
  }

  held(id: number, attempt: number): Row | undefined {
    const row = this.row(id);
    return row && isHeld(row) && row.attempt === attempt ? row : undefined;
  }

  /** Whether a task is neither notified nor ended, and has not expired. */
  isOpen(row: Row): boolean {
    return isEarly(row) && row.expiresAtMs > this.nowMs();
  }

  /** Writes a changed task and updates the usage of its client. */
  save(row: Row, changes: Partial<Row>): Row {
    const [wasFinal, bytes] = [isFinal(row), bytesOf(row)];
    Object.assign(row, changes);
    this.db.run('UPDATE tasks SET doc = ? WHERE id = ?', JSON.stringify(row), row.id);
    this.count(row.clientId, !wasFinal && isFinal(row) ? -1 : 0, bytesOf(row) - bytes);
    return row;
  }

  change(row: Row, changes: Partial<Row>): Row {
    this.save(row, { ...changes, updatedAt: this.at() });
    if (changes.state !== undefined) this.tell(row);
    return row;
  }

  /** Puts a task back into the queue, at its old place. */
  giveBack(row: Row, changes: Partial<Row> = {}): Row {
    return this.change(row, { state: 'waiting', progress: null, dueMs: 0, ...changes });
  }

  /** Ends a task. @returns the keys of files that are no longer needed */
  end(row: Row, state: Row['state'], changes: Partial<Row> = {}): string[] {
    const blobs = row.input ? [row.input.key] : [];
    const ended = { input: null, finishedAt: this.at(), finishedMs: this.nowMs() };
    this.change(row, { state, ...ended, quarantined: false, ...changes });
    return blobs;
  }

  /** @returns the keys of its files */
  delete(row: Row): string[] {
    this.db.run('DELETE FROM tasks WHERE id = ?', row.id);
    this.count(row.clientId, 0, -bytesOf(row));
    return row.result ? [row.result.blob.key] : [];
  }

  tell({ id, clientId, state, attempt }: Row): void {
    this.#news.push({ id, clientId, state, attempt, own: true });
  }

  usage(clientId: number): ClientUsage {
    const sql = `SELECT open_tasks AS openTasks, stored_bytes AS storedBytes
      FROM clients WHERE client_id = ?`;
    return { ...(this.db.get<ClientUsage>(sql, clientId) ?? { openTasks: 0, storedBytes: 0 }) };
  }

  fits(clientId: number, more: number, { storedBytes = Infinity }: ClientLimits): boolean {
    return this.usage(clientId).storedBytes + more <= storedBytes;
  }

  count(clientId: number, openTasks: number, bytes: number): void {
    const sql = `INSERT INTO clients (client_id, open_tasks, stored_bytes) VALUES (?, ?, ?)
      ON CONFLICT (client_id) DO UPDATE SET open_tasks = open_tasks + excluded.open_tasks,
        stored_bytes = stored_bytes + excluded.stored_bytes`;
    if (openTasks !== 0 || bytes !== 0) this.db.run(sql, clientId, openTasks, bytes);
  }

  /** The end of the queue: the turn after the client's last task. */
  place(clientId: number): Pick<Row, 'turn' | 'place'> {
    const turn = `max((SELECT turn FROM counters),
      1 + coalesce((SELECT last_turn FROM clients WHERE client_id = ?), -1))`;
    const sql = `INSERT INTO clients (client_id, last_turn) VALUES (?, ${turn})
      ON CONFLICT (client_id) DO UPDATE SET last_turn = excluded.last_turn
      RETURNING last_turn`;
    const { last_turn } = this.db.get<{ last_turn: number }>(sql, clientId, clientId)!;
    return { turn: last_turn, place: this.tick() };
  }

  tick(): number {
    const sql = 'UPDATE counters SET tick = tick + 1 RETURNING tick';
    return this.db.get<{ tick: number }>(sql)!.tick;
  }

  /** The time in nanoseconds, never the same twice: the last six digits are a counter. */
  at(): string {
    const digits = String(this.tick() % 1_000_000).padStart(6, '0');
    return `${new Date(this.nowMs()).toISOString().slice(0, -1)}${digits}Z`;
  }
}
