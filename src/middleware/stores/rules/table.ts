/** The tables of a store in SQLite, without the rules of the port, which are in tableStore.ts. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { isFinal, type TaskState } from '../../../wire/taskStates.ts';
import {
  LISTED_COLUMNS,
  type ListedRow,
  type QuotaRow,
  type ResultRow,
  toBlob,
  toListed,
  toQuota,
  toResult,
} from '../port/parts.ts';
import type { ClientQuota, UnfinishedQuery } from '../port/serviceStore.ts';
import type { ListedTask, Task } from '../port/task.ts';
import type {
  ApiKeyRecord,
  ClientUsage,
  ListQuery,
  PartQuery,
  QueueDepth,
} from '../port/taskStore.ts';

/**
 * A task with the fields that only the store needs. Times whose names end in `Ms` are of the
 * store's own clock (ledger.ts), in milliseconds.
 */
export interface TaskRow extends Omit<Task, 'expiresAtMs'> {
  /** Deadline for file and notification. */
  readonly expiresMs: number;
  /** Whether the task was notified, or created as waiting. */
  readonly submitted: boolean;
  /** Place in the queue, smallest first; 0 before the notification. */
  readonly turn: number;
  /** Waiting: the earliest time of a claim. Running: the end of the lease. Otherwise null. */
  readonly dueMs: number | null;
  readonly finishedMs: number | null;
}

export type TaskChanges = Partial<
  Omit<TaskRow, 'id' | 'clientId' | 'kind' | 'createdAt' | 'parent' | 'part'>
>;

/** A used Idempotency-Key; `taskId` is null while the first request runs. */
export interface AnswerRow {
  readonly clientId: number;
  readonly key: string;
  readonly fingerprint: string;
  readonly token: string;
  readonly heldUntilMs: number;
  readonly createdMs: number;
  readonly taskId: number | null;
  /** The process of the first request (processIdentity.ts). */
  readonly holder: string;
}

/** An API key with its times by the store's clock. */
export interface ApiKeyRow extends Omit<ApiKeyRecord, 'expiresAt' | 'expired' | 'lastUsedAt'> {
  readonly expiresMs: number | null;
  readonly usedMs: number | null;
}

/**
 * The counters of the table: ids of tasks and clients, the current turn of the queue, the last turn
 * of each client, the time of the store, and since when the clock is suspect and by how much.
 */
type NumberName =
  | 'task'
  | 'client'
  | 'turn'
  | `turn of ${number}`
  | 'clock'
  | `suspect ${'since' | 'by'}`;

export interface GroupCommit {
  /**
   * Runs the work soon, as one transaction that excludes all other writers, in this process and in
   * others. Durable once the promise resolves; rolled back if the work throws or the promise
   * rejects.
   */
  write<T>(work: () => T): Promise<T>;
  /** Resolves when every transaction that waits has its outcome. */
  drain(): Promise<void>;
}

type Columns = Record<string, SQLInputValue>;

type Statement = ReturnType<typeof prepare>;

/** A statement whose rows become plain objects: SQLite's own take longer, without a prototype. */
function prepare(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql);
  // Node has both since 22.16.
  const names = statement.columns?.().map(({ name }) => name) ?? [];
  statement.setReturnArrays?.(true);
  const toRow = (row: object): Columns => {
    if (!Array.isArray(row)) return { ...row };
    const columns: Columns = {};
    for (let i = 0; i < row.length; i++) columns[names[i]!] = row[i];
    return columns;
  };
  return { statement, toRow };
}

/** Rows by query, which whoever made the table clears when anything may have changed. */
export type Kept = Map<string, readonly object[]>;

const MAX_KEPT = 256;

/** Queries and transactions. A transaction is a synchronous function, so none interleave. */
export class Table {
  readonly #db: DatabaseSync;
  readonly #groupCommit: GroupCommit;
  readonly #kept: Kept | undefined;
  readonly #statements = new Map<string, Statement>();

  constructor(db: DatabaseSync, groupCommit: GroupCommit, kept?: Kept) {
    this.#db = db;
    this.#groupCommit = groupCommit;
    this.#kept = kept;
  }

  #prepared(sql: string): Statement {
    let known = this.#statements.get(sql);
    if (!known) this.#statements.set(sql, (known = prepare(this.#db, sql)));
    return known;
  }

  #one<Row = Columns>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    const { statement, toRow } = this.#prepared(sql);
    const row = statement.get(...values);
    return row && (toRow(row) as Row);
  }

  #all<Row = Columns>(sql: string, ...values: SQLInputValue[]): Row[] {
    const { statement, toRow } = this.#prepared(sql);
    return statement.all(...values).map(toRow) as Row[];
  }

  /** Like `#all`, from what is kept, if anything is. Only for few and short rows. */
  #recall<Row>(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    if (this.#kept === undefined) return this.#all(sql, ...values);
    const key = `${sql}\n${JSON.stringify(values)}`;
    let rows = this.#kept.get(key);
    if (rows === undefined) {
      if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
      this.#kept.set(key, (rows = this.#all(sql, ...values)));
    }
    return rows as readonly Row[];
  }

  /** @returns the number of changed rows */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).statement.run(...values).changes);
  }

  /** As `write` of {@link GroupCommit}. */
  write<T>(work: () => T): Promise<T> {
    return this.#groupCommit.write(work);
  }

  /** Returns the last number used, 0 at first. Numbers are never reused. */
  lastNumber(name: NumberName): number {
    return Number(this.#one('SELECT number FROM last_numbers WHERE name = ?', name)?.number ?? 0);
  }

  setLastNumber(name: NumberName, number: number): void {
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

  /** @returns the row after the change; it must exist */
  update(id: number, changes: TaskChanges): TaskRow {
    const columns = toColumns(changes);
    const sets = Object.keys(columns).map((name) => `${name} = ?`);
    const sql = `UPDATE tasks SET ${sets} WHERE id = ? RETURNING *`;
    return fromColumns(this.#one(sql, ...Object.values(columns), id)!);
  }

  delete(id: number): void {
    this.#run('DELETE FROM tasks WHERE id = ?', id);
  }

  /** Returns at most `limit` rows of one client in order of id. */
  list({ clientId, after, order = 'asc', state }: ListQuery, limit: number): ListedTask[] {
    const values: SQLInputValue[] = [clientId];
    let where = 'client_id = ? AND parent IS NULL';
    if (state !== undefined) {
      where += ' AND state = ?';
      values.push(state);
    }
    if (after !== undefined) {
      where += order === 'asc' ? ' AND id > ?' : ' AND id < ?';
      values.push(after);
    }
    const direction = order === 'asc' ? 'ASC' : 'DESC';
    const sql = `SELECT ${LISTED_COLUMNS} FROM tasks WHERE ${where}
      ORDER BY id ${direction} LIMIT ?`;
    return this.#recall<ListedRow>(sql, ...values, limit).map(toListed);
  }

  /** Returns unfinished rows of all clients in order of id. */
  unfinished({ limit, after = 0, quarantined }: UnfinishedQuery): TaskRow[] {
    // Each part has a partial index, so that finished rows are not read.
    const free = `SELECT id FROM tasks WHERE due_ms IS NOT NULL
      UNION ALL SELECT id FROM tasks WHERE state IN ('created', 'uploaded')
      UNION ALL SELECT id FROM tasks
        WHERE state = 'waiting' AND quarantined = 0 AND due_ms IS NULL`;
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
      const state = String(row.state);
      const isOpen = !state.startsWith(PART) && !isFinal(state as TaskState);
      if (isOpen) openTasks += Number(row.tasks);
      storedBytes += Number(row.bytes);
    }
    return { openTasks, storedBytes };
  }

  /** `oldestWaitingAt`: when the oldest task that waits was submitted. */
  depth(): Omit<QueueDepth, 'oldestWaitingMs'> & { readonly oldestWaitingAt: string | null } {
    const states = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
    for (const row of this.#all('SELECT state, sum(tasks) AS tasks FROM usage GROUP BY state')) {
      const state = String(row.state).replace(PART, '') as TaskState;
      if (!isFinal(state)) states[state] += Number(row.tasks);
    }
    const closed = `SELECT count(*) AS tasks FROM tasks
      WHERE state = 'waiting' AND quarantined = 0 AND due_ms IS NULL`;
    states.waiting -= Number(this.#one(closed)!.tasks);
    const aside = 'SELECT count(*) AS tasks FROM tasks WHERE quarantined = 1';
    const quarantined = Number(this.#one(aside)!.tasks);
    states.waiting -= quarantined;
    const first = `SELECT min(submitted_at) AS oldest FROM tasks INDEXED BY tasks_oldest
      WHERE state = 'waiting' AND quarantined = 0 AND due_ms IS NOT NULL`;
    const oldestWaitingAt = this.#one(first)!.oldest as string | null;
    return { states, quarantined, oldestWaitingAt };
  }

  /**
   * Of the waiting rows with `dueMs` at or before now, the one with the first turn, submitted
   * first. Rows that were set aside have no `dueMs`.
   */
  firstWaiting(nowMs: number): TaskRow | undefined {
    // The index is named, since the planner would otherwise sort all rows that are due.
    const sql = `SELECT * FROM tasks INDEXED BY tasks_queue
      WHERE state = 'waiting' AND quarantined = 0 AND due_ms <= ?
      ORDER BY turn, submitted_at, id LIMIT 1`;
    return rowOf(this.#one(sql, nowMs));
  }

  /** Running rows whose lease has ended. */
  endedLeases(nowMs: number): TaskRow[] {
    // The index is named, since the planner would otherwise scan all waiting rows.
    const sql = `SELECT * FROM tasks INDEXED BY tasks_leases
      WHERE state IN ('verifying', 'aggregating') AND due_ms <= ?`;
    return this.#all(sql, nowMs).map(fromColumns);
  }

  /** Returns the smallest `dueMs` of running and claimable rows, or null. */
  earliestDueMs(): number | null {
    const { due } = this.#one('SELECT min(due_ms) AS due FROM tasks WHERE due_ms IS NOT NULL')!;
    return due === null ? null : Number(due);
  }

  /** Rows in created or uploaded with `expiresMs` at or before now; no parts. */
  overdue(nowMs: number, limit: number): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE state IN ('created', 'uploaded') AND expires_ms <= ?
      AND parent IS NULL LIMIT ?`;
    return this.#all(sql, nowMs, limit).map(fromColumns);
  }

  /** Final rows that were finished at or before then. */
  finishedBefore(ms: number, limit: number): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE finished_ms IS NOT NULL AND finished_ms <= ? LIMIT ?`;
    return this.#all(sql, ms, limit).map(fromColumns);
  }

  /** The parts of a task in order. */
  parts(parent: number, { state, limit = -1 }: PartQuery = {}): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE parent = ? AND (?2 IS NULL OR state = ?2)
      ORDER BY part LIMIT ?3`;
    return this.#all(sql, parent, state ?? null, limit).map(fromColumns);
  }

  part(parent: number, part: number): TaskRow | undefined {
    return rowOf(this.#one('SELECT * FROM tasks WHERE parent = ? AND part = ?', parent, part));
  }

  cancelParts(parent: number): void {
    const sql = `UPDATE tasks SET state = 'cancelled', due_ms = NULL, quarantined = 0
      WHERE parent = ?`;
    this.#run(sql, parent);
  }

  /** Parts of ended tasks. */
  goneParts(limit: number): TaskRow[] {
    const sql = `SELECT * FROM tasks WHERE parent IS NOT NULL AND state = 'cancelled' LIMIT ?`;
    return this.#all(sql, limit).map(fromColumns);
  }

  /** Returns those of the keys that are some row's input or result. */
  referenced(keys: readonly string[]): Set<string> {
    const sql = `SELECT 1 AS known FROM tasks WHERE input_key = ?1
      UNION ALL SELECT 1 FROM tasks WHERE result_key = ?1 LIMIT 1`;
    return new Set(keys.filter((key) => this.#one(sql, key) !== undefined));
  }

  answer(clientId: number, key: string): AnswerRow | undefined {
    const sql = `SELECT ${ANSWER} FROM answers WHERE client_id = ? AND key = ?`;
    return this.#one<AnswerRow>(sql, clientId, key);
  }

  /** Adds or replaces. */
  putAnswer(row: AnswerRow): void {
    const { clientId, key, fingerprint, token, heldUntilMs, createdMs, taskId, holder } = row;
    const values = [clientId, key, fingerprint, token, heldUntilMs, createdMs, taskId, holder];
    this.#run('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)', ...values);
  }

  deleteAnswer(clientId: number, key: string): void {
    this.#run('DELETE FROM answers WHERE client_id = ? AND key = ?', clientId, key);
  }

  /** @returns their number */
  deleteAnswersBefore(createdMs: number): number {
    return this.#run('DELETE FROM answers WHERE created_ms < ?', createdMs);
  }

  /** Moves every time of tasks and answers, from `sinceMs`, by `byMs`. */
  shiftTimes(sinceMs: number, byMs: number): void {
    for (const [table, columns] of Object.entries(TIMES)) {
      for (const column of columns) {
        const sql = `UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} >= ?`;
        this.#run(sql, byMs, sinceMs);
      }
    }
  }

  /**
   * @returns the value under the name, which becomes `fresh` if there is none. Only inside `write`.
   */
  secret(name: string, fresh: Uint8Array): Uint8Array {
    this.#run('INSERT OR IGNORE INTO secrets VALUES (?, ?)', name, fresh);
    return this.#one('SELECT value FROM secrets WHERE name = ?', name)!.value as Uint8Array;
  }

  /** @returns the number of the client with this name */
  clientNamed(name: string): number | undefined {
    const row = this.#one('SELECT client_id FROM clients WHERE name = ?', name);
    return row && Number(row.client_id);
  }

  putClientName(name: string, clientId: number): void {
    this.#run('INSERT INTO clients VALUES (?, ?)', clientId, name);
  }

  apiKeys(): ApiKeyRow[] {
    return this.#all<ApiKeyRow>(`SELECT ${API_KEY} FROM api_keys ORDER BY created_at`);
  }

  apiKey(sha256: string): ApiKeyRow | undefined {
    const sql = `SELECT ${API_KEY} FROM api_keys WHERE sha256 = ?`;
    return this.#recall<ApiKeyRow>(sql, sha256)[0];
  }

  /** Adds or replaces. */
  putApiKey({ sha256, name, clientId, createdAt, expiresMs, usedMs }: ApiKeyRow): void {
    const sql = `INSERT OR REPLACE INTO api_keys
      (sha256, name, client_id, created_at, expires_ms, used_ms) VALUES (?, ?, ?, ?, ?, ?)`;
    this.#run(sql, sha256, name, clientId, createdAt, expiresMs, usedMs);
  }

  deleteApiKey(sha256: string): boolean {
    return this.#run('DELETE FROM api_keys WHERE sha256 = ?', sha256) > 0;
  }

  quota(clientId: number): ClientQuota | undefined {
    const [row] = this.#recall<QuotaRow>('SELECT * FROM quotas WHERE client_id = ?', clientId);
    return row && toQuota(row);
  }

  /** In order of clients. */
  quotas(): (ClientQuota & { clientId: number })[] {
    const rows = this.#all<QuotaRow>('SELECT * FROM quotas ORDER BY client_id');
    return rows.map((row) => ({ clientId: row.client_id, ...toQuota(row) }));
  }

  /** Adds, replaces, or removes. */
  putQuota(clientId: number, quota: ClientQuota | undefined): void {
    this.#run('DELETE FROM quotas WHERE client_id = ?', clientId);
    if (!quota) return;
    const { openTasks = null, storedBytes = null, requestsPerSecond = null } = quota;
    const sql = `INSERT INTO quotas (client_id, open_tasks, stored_bytes, requests_per_second)
      VALUES (?, ?, ?, ?)`;
    this.#run(sql, clientId, openTasks, storedBytes, requestsPerSecond);
  }

  /** Closes the database after all pending writes. */
  async close(): Promise<void> {
    await this.#groupCommit.drain();
    this.#statements.clear();
    if (this.#db.isOpen) this.#db.close();
  }
}

/** What precedes the states of parts in `usage`. */
const PART = 'part ';

/** Columns of times by the store's clock. */
const TIMES = {
  tasks: ['expires_ms', 'due_ms', 'finished_ms'],
  answers: ['held_until_ms', 'created_ms'],
} as const;

/** Fields that are stored unchanged, in one column. */
const PLAIN = {
  id: 'id',
  clientId: 'client_id',
  kind: 'kind',
  parent: 'parent',
  part: 'part',
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
  expiresMs: 'expires_ms',
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
  if (row.parts !== undefined) {
    columns.parts = row.parts?.announced ?? null;
    columns.parts_ready = row.parts?.ready ?? null;
    columns.parts_done = row.parts?.done ?? null;
  }
  if (row.input !== undefined) {
    columns.input_key = row.input?.key ?? null;
    columns.input_bytes = row.input?.bytes ?? null;
    columns.input_tag = row.input?.tag ?? null;
    columns.input_sha256 = row.input?.sha256 ?? null;
  }
  if (row.result !== undefined) {
    columns.result_key = row.result?.blob.key ?? null;
    columns.result_bytes = row.result?.blob.bytes ?? null;
    columns.result_tag = row.result?.blob.tag ?? null;
    columns.result_sha256 = row.result?.blob.sha256 ?? null;
    columns.result_format = row.result?.format ?? null;
    columns.aggregate_bytes = row.result?.aggregateBytes ?? null;
  }
  return columns;
}

function rowOf(columns: Columns | undefined): TaskRow | undefined {
  return columns && fromColumns(columns);
}

/** Written out field by field, since every read of a task goes through here. */
function fromColumns(columns: Columns): TaskRow {
  type Input = Record<'input_key' | 'input_tag' | 'input_sha256', string | null>;
  const row = columns as unknown as ResultRow & Input;
  return {
    id: columns.id,
    clientId: columns.client_id,
    kind: columns.kind,
    parent: columns.parent,
    part: columns.part,
    parts: columns.parts === null ? null : partCounts(columns),
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
    expiresMs: columns.expires_ms,
    requestId: columns.request_id,
    traceparent: columns.traceparent,
    input: toBlob(row.input_key, columns.input_bytes as number, row.input_tag, row.input_sha256),
    result: toResult(row),
    error: parse(columns.error!),
    submitted: columns.submitted === 1,
    dueMs: columns.due_ms,
    finishedMs: columns.finished_ms,
    turn: columns.turn,
  } as TaskRow;
}

const partCounts = ({ parts, parts_ready, parts_done }: Columns) => ({
  announced: parts,
  ready: parts_ready,
  done: parts_done,
});

const ANSWER = `client_id AS clientId, key, fingerprint, token, held_until_ms AS heldUntilMs,
  created_ms AS createdMs, task_id AS taskId, holder`;

const API_KEY = `sha256, name, client_id AS clientId, created_at AS createdAt,
  expires_ms AS expiresMs, used_ms AS usedMs`;

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parse(text: SQLInputValue): unknown {
  return text === null ? null : JSON.parse(String(text));
}
