/**
 * Tasks in an SQLite file, with the SQLite that is part of Node. Any number of processes on a
 * machine may open the same file.
 *
 * A commit is on the disk when it returns (WAL with synchronous=FULL: the log is synced at each
 * commit), and writers take turns (BEGIN IMMEDIATE), so what a transaction reads stays true until
 * it ends. Transactions that arrive together share one commit (groupCommit.ts).
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CodedError } from '../../errors.ts';
import { isFinal, type TaskState } from '../../wire/taskStates.ts';
import type { ListedTask } from '../task.ts';
import { createGroupCommit, type GroupCommit } from './groupCommit.ts';
import type { OperatorStore, UnfinishedQuery } from './operatorStore.ts';
import { isBusy } from './sqliteFault.ts';
import { MIGRATIONS } from './sqliteSchema.ts';
import { type AnswerRow, noTasks, type Table, type TaskChanges, type TaskRow } from './table.ts';
import { type TableStoreOptions, tableStore } from './tableStore.ts';
import type { ApiKeyRecord, ApiKeyStore, ClientUsage, ListQuery, TaskStore } from './taskStore.ts';

export interface SqliteOptions extends TableStoreOptions {
  /** The file; it and its directory are created if missing, readable only by their owner. */
  readonly path: string;
  /** Longest wait of a writer for another process; default 10 s. */
  readonly busyTimeoutMs?: number;
}

/**
 * @returns a store in the file
 * @throws Error of the file system or of SQLite if the file cannot be opened or has a newer schema
 */
export function sqliteStore(options: SqliteOptions): TaskStore & ApiKeyStore & OperatorStore {
  return tableStore(new SqliteTable(open(options)), options);
}

function open({ path, busyTimeoutMs = 10_000 }: SqliteOptions): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its log the permissions of the file, which holds secrets.
  closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    // The switch to WAL does not wait by itself if several processes open a new file.
    retryBusy(busyTimeoutMs, () => db.exec('PRAGMA journal_mode = WAL'));
    db.exec('PRAGMA synchronous = FULL');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function migrate(db: DatabaseSync): void {
  const version = () => Number(db.prepare('PRAGMA user_version').get()!.user_version);
  if (version() === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    if (version() > MIGRATIONS.length) {
      throw new CodedError('STORE_NEWER');
    }
    for (const step of MIGRATIONS.slice(version())) db.exec(step);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function retryBusy(timeoutMs: number, work: () => void): void {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

type Columns = Record<string, SQLInputValue>;

class SqliteTable implements Table {
  readonly #db: DatabaseSync;
  readonly #groupCommit: GroupCommit;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#groupCommit = createGroupCommit(db);
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  #one(sql: string, ...values: SQLInputValue[]): Columns | undefined {
    return this.#prepared(sql).get(...values) as Columns | undefined;
  }

  #all(sql: string, ...values: SQLInputValue[]): Columns[] {
    return this.#prepared(sql).all(...values) as Columns[];
  }

  /** @returns the number of changed rows */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  write<T>(work: () => T): Promise<T> {
    return this.#groupCommit.write(work);
  }

  lastNumber(name: string): number {
    return Number(this.#one('SELECT number FROM last_numbers WHERE name = ?', name)?.number ?? 0);
  }

  setLastNumber(name: string, number: number): void {
    this.#run('INSERT OR REPLACE INTO last_numbers VALUES (?, ?)', name, number);
  }

  insert(row: TaskRow): void {
    const columns = toColumns(row);
    const names = Object.keys(columns);
    const sql = `INSERT INTO tasks (${names}) VALUES (${names.map(() => '?')})`;
    this.#run(sql, ...Object.values(columns));
  }

  row(id: number): TaskRow | undefined {
    return rowOf(this.#one('SELECT * FROM tasks WHERE id = ?', id));
  }

  update(id: number, changes: TaskChanges): TaskRow {
    const columns = toColumns(changes);
    const sets = Object.keys(columns).map((name) => `${name} = ?`);
    const sql = `UPDATE tasks SET ${sets} WHERE id = ? RETURNING *`;
    return fromColumns(this.#one(sql, ...Object.values(columns), id)!);
  }

  delete(id: number): void {
    this.#run('DELETE FROM tasks WHERE id = ?', id);
  }

  list({ clientId, after, order = 'asc', state }: ListQuery, limit: number): ListedTask[] {
    const values: SQLInputValue[] = [clientId];
    let where = 'client_id = ?';
    if (state !== undefined) {
      where += ' AND state = ?';
      values.push(state);
    }
    if (after !== undefined) {
      where += order === 'asc' ? ' AND id > ?' : ' AND id < ?';
      values.push(after);
    }
    const direction = order === 'asc' ? 'ASC' : 'DESC';
    const sql = `SELECT ${LISTED} FROM tasks WHERE ${where} ORDER BY id ${direction} LIMIT ?`;
    return this.#all(sql, ...values, limit).map(toListed);
  }

  unfinished({ limit, after = 0, quarantined }: UnfinishedQuery): TaskRow[] {
    // Each part has an index of its own rows, so that the many finished ones are not looked at.
    const free = `SELECT id FROM tasks WHERE due_ms IS NOT NULL
      UNION ALL SELECT id FROM tasks WHERE state IN ('created', 'uploaded')`;
    const aside = 'SELECT id FROM tasks WHERE quarantined = 1';
    const ids =
      quarantined === undefined ? `${free} UNION ALL ${aside}` : quarantined ? aside : free;
    const sql = `SELECT * FROM tasks WHERE id IN (${ids}) AND id > ? ORDER BY id LIMIT ?`;
    return this.#all(sql, after, limit).map(fromColumns);
  }

  usage(clientId: number): ClientUsage {
    let [openTasks, storedBytes] = [0, 0];
    const sql = 'SELECT state, tasks, bytes FROM usage WHERE client_id = ?';
    for (const row of this.#all(sql, clientId)) {
      if (!isFinal(row.state as TaskState)) openTasks += Number(row.tasks);
      storedBytes += Number(row.bytes);
    }
    return { openTasks, storedBytes };
  }

  depth(): ReturnType<Table['depth']> {
    const states = noTasks();
    for (const row of this.#all('SELECT state, sum(tasks) AS tasks FROM usage GROUP BY state')) {
      const state = row.state as TaskState;
      if (!isFinal(state)) states[state] = Number(row.tasks);
    }
    const aside = 'SELECT count(*) AS tasks FROM tasks WHERE quarantined = 1';
    const quarantined = Number(this.#one(aside)!.tasks);
    states.waiting -= quarantined;
    const first = `SELECT min(submitted_at) AS oldest FROM tasks INDEXED BY tasks_oldest
      WHERE state = 'waiting' AND quarantined = 0`;
    const oldestWaitingAt = this.#one(first)!.oldest as string | null;
    return { states, quarantined, oldestWaitingAt };
  }

  firstWaiting(nowMs: number): TaskRow | undefined {
    // The index is named, since the planner would rather sort all rows that are due.
    const sql = `SELECT * FROM tasks INDEXED BY tasks_queue
      WHERE state = 'waiting' AND quarantined = 0 AND due_ms <= ?
      ORDER BY turn, submitted_at, id LIMIT 1`;
    return rowOf(this.#one(sql, nowMs));
  }

  endedLeases(nowMs: number): TaskRow[] {
    // The index is named, since the planner would rather scan all waiting rows.
    const sql = `SELECT * FROM tasks INDEXED BY tasks_leases
      WHERE state IN ('verifying', 'aggregating') AND due_ms <= ?`;
    return this.#all(sql, nowMs).map(fromColumns);
  }

  earliestDueMs(): number | null {
    const { due } = this.#one('SELECT min(due_ms) AS due FROM tasks WHERE due_ms IS NOT NULL')!;
    return due === null ? null : Number(due);
  }

  overdue(nowMs: number, limit: number): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE state IN ('created', 'uploaded') AND expires_ms <= ?
      LIMIT ?`;
    return this.#all(sql, nowMs, limit).map(fromColumns);
  }

  finishedBefore(ms: number, limit: number): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE finished_ms IS NOT NULL AND finished_ms <= ? LIMIT ?`;
    return this.#all(sql, ms, limit).map(fromColumns);
  }

  referenced(keys: readonly string[]): Set<string> {
    const sql = `SELECT 1 AS known FROM tasks WHERE input_key = ?1
      UNION ALL SELECT 1 FROM tasks WHERE result_key = ?1 LIMIT 1`;
    return new Set(keys.filter((key) => this.#one(sql, key) !== undefined));
  }

  answer(clientId: number, key: string): AnswerRow | undefined {
    const sql = 'SELECT * FROM answers WHERE client_id = ? AND key = ?';
    const row = this.#one(sql, clientId, key);
    return row && toAnswer(row);
  }

  putAnswer(row: AnswerRow): void {
    const { clientId, key, fingerprint, token, heldUntilMs, createdMs, taskId } = row;
    const values = [clientId, key, fingerprint, token, heldUntilMs, createdMs, taskId];
    this.#run('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)', ...values);
  }

  deleteAnswer(clientId: number, key: string): void {
    this.#run('DELETE FROM answers WHERE client_id = ? AND key = ?', clientId, key);
  }

  deleteAnswersBefore(createdMs: number): void {
    this.#run('DELETE FROM answers WHERE created_ms < ?', createdMs);
  }

  secret(name: string, fresh: Uint8Array): Uint8Array {
    this.#run('INSERT OR IGNORE INTO secrets VALUES (?, ?)', name, fresh);
    return this.#one('SELECT value FROM secrets WHERE name = ?', name)!.value as Uint8Array;
  }

  clientNamed(name: string): number | undefined {
    const row = this.#one('SELECT client_id FROM clients WHERE name = ?', name);
    return row && Number(row.client_id);
  }

  putClientName(name: string, clientId: number): void {
    this.#run('INSERT INTO clients VALUES (?, ?)', clientId, name);
  }

  apiKeys(): ApiKeyRecord[] {
    return this.#all('SELECT * FROM api_keys ORDER BY created_at').map(toApiKey);
  }

  apiKey(sha256: string): ApiKeyRecord | undefined {
    const row = this.#one('SELECT * FROM api_keys WHERE sha256 = ?', sha256);
    return row && toApiKey(row);
  }

  putApiKey({ sha256, name, clientId, createdAt }: ApiKeyRecord): void {
    this.#run('INSERT INTO api_keys VALUES (?, ?, ?, ?)', sha256, name, clientId, createdAt);
  }

  deleteApiKey(sha256: string): boolean {
    return this.#run('DELETE FROM api_keys WHERE sha256 = ?', sha256) > 0;
  }

  close(): void {
    this.#groupCommit.flush();
    this.#statements.clear();
    if (this.#db.isOpen) this.#db.close();
  }
}

/** Fields that are stored as they are, in one column. */
const PLAIN = {
  id: 'id',
  clientId: 'client_id',
  kind: 'kind',
  state: 'state',
  attempt: 'attempt',
  failures: 'failures',
  losses: 'losses',
  count: 'count',
  threads: 'threads',
  createdAt: 'created_at',
  submittedAt: 'submitted_at',
  updatedAt: 'updated_at',
  finishedAt: 'finished_at',
  expiresAtMs: 'expires_ms',
  dueMs: 'due_ms',
  finishedMs: 'finished_ms',
  turn: 'turn',
  requestId: 'request_id',
  traceparent: 'traceparent',
} as const;

function toColumns(row: TaskRow | TaskChanges): Columns {
  const columns: Columns = {};
  for (const [field, column] of Object.entries(PLAIN)) {
    const value = row[field as keyof TaskChanges] as SQLInputValue | undefined;
    if (value !== undefined) columns[column] = value;
  }
  if (row.submitted !== undefined) columns.submitted = row.submitted ? 1 : 0;
  if (row.quarantined !== undefined) columns.quarantined = row.quarantined ? 1 : 0;
  if (row.progress !== undefined) columns.progress = json(row.progress);
  if (row.error !== undefined) columns.error = json(row.error);
  if (row.input !== undefined) {
    columns.input_key = row.input?.key ?? null;
    columns.input_bytes = row.input?.bytes ?? null;
    columns.input_tag = row.input?.tag ?? null;
  }
  if (row.result !== undefined) {
    columns.result_key = row.result?.blob.key ?? null;
    columns.result_bytes = row.result?.blob.bytes ?? null;
    columns.result_tag = row.result?.blob.tag ?? null;
    columns.result_format = row.result?.format ?? null;
    columns.aggregate_bytes = row.result?.aggregateBytes ?? null;
  }
  return columns;
}

/**
 * The columns of a list. An `error` can name 1722 signatures: a page of them would be megabytes.
 */
const LISTED = `id, client_id, state, count, created_at, submitted_at, finished_at,
  result_key, result_bytes, result_tag, result_format, aggregate_bytes`;

function toListed(columns: Columns): ListedTask {
  return {
    id: columns.id,
    clientId: columns.client_id,
    state: columns.state,
    count: columns.count,
    createdAt: columns.created_at,
    submittedAt: columns.submitted_at,
    finishedAt: columns.finished_at,
    result: toResult(columns),
  } as ListedTask;
}

function rowOf(columns: Columns | undefined): TaskRow | undefined {
  return columns && fromColumns(columns);
}

/** Written out field by field: every read of a task goes through here. */
function fromColumns(columns: Columns): TaskRow {
  return {
    id: columns.id,
    clientId: columns.client_id,
    kind: columns.kind,
    state: columns.state,
    attempt: columns.attempt,
    failures: columns.failures,
    losses: columns.losses,
    quarantined: columns.quarantined === 1,
    count: columns.count,
    threads: columns.threads,
    progress: parse(columns.progress!),
    createdAt: columns.created_at,
    submittedAt: columns.submitted_at,
    updatedAt: columns.updated_at,
    finishedAt: columns.finished_at,
    expiresAtMs: columns.expires_ms,
    requestId: columns.request_id,
    traceparent: columns.traceparent,
    input: toBlob(columns.input_key!, columns.input_bytes!, columns.input_tag!),
    result: toResult(columns),
    error: parse(columns.error!),
    submitted: columns.submitted === 1,
    dueMs: columns.due_ms,
    finishedMs: columns.finished_ms,
    turn: columns.turn,
  } as TaskRow;
}

function toBlob(key: SQLInputValue, bytes: SQLInputValue, tag: SQLInputValue) {
  return key === null ? null : { key, bytes, ...(tag !== null && { tag }) };
}

function toResult(columns: Columns) {
  const blob = toBlob(columns.result_key!, columns.result_bytes!, columns.result_tag!);
  return blob && { blob, format: columns.result_format, aggregateBytes: columns.aggregate_bytes };
}

function toAnswer(row: Columns): AnswerRow {
  return {
    clientId: Number(row.client_id),
    key: String(row.key),
    fingerprint: String(row.fingerprint),
    token: String(row.token),
    heldUntilMs: Number(row.held_until_ms),
    createdMs: Number(row.created_ms),
    taskId: row.task_id === null ? null : Number(row.task_id),
  };
}

function toApiKey(row: Columns): ApiKeyRecord {
  return {
    sha256: String(row.sha256),
    name: String(row.name),
    clientId: Number(row.client_id),
    createdAt: String(row.created_at),
  };
}

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parse(text: SQLInputValue): unknown {
  return text === null ? null : JSON.parse(String(text));
}
