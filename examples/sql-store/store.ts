/**
 * Tasks in an SQL database. Every method is one transaction, during which nobody else writes. In a
 * database with many concurrent writers, let the first query of a method lock the row it depends
 * on: the client's or the task's, with `SELECT … FOR UPDATE`, and for a claim the next free row,
 * with `FOR UPDATE SKIP LOCKED`.
 *
 * The file is long because the port is one object; the methods are short.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type {
  AnswerHold,
  Attempt,
  BeginAnswer,
  CancelOutcome,
  Claim,
  ClaimOptions,
  ClientLimits,
  ClientQuota,
  ClientUsage,
  Extension,
  ListPage,
  ListQuery,
  NewTask,
  NotifyOutcome,
  PutOptions,
  PutOutcome,
  QueueDepth,
  QuotaStore,
  RemoveOutcome,
  Retry,
  Sweep,
  SweepOptions,
  Task,
  TaskError,
  TaskNews,
  TaskResult,
  TaskStore,
  UploadOutcome,
} from 'falconry/middleware';
import { Database, type DatabaseOptions } from './database.ts';
import { bytesOf, isEarly, isFinal, listed, newRow, told } from './rows.ts';
import { Tasks } from './tasks.ts';

export interface SqlStoreOptions extends DatabaseOptions {
  /** The clock, in ms since 1970; the suites set it. In production, use the database's clock. */
  readonly nowMs?: () => number;
}

const HELD = "state IN ('verifying', 'aggregating')";
const EARLY = "state IN ('created', 'uploaded')";
const QUEUED = "state = 'waiting' AND quarantined = 0";
/** The maximum number of rows that one sweep changes, since other writers wait for it. */
const SWEEP_ROWS = 500;

export class SqlStore implements TaskStore, QuotaStore {
  readonly #db: Database;
  readonly #tasks: Tasks;

  constructor({ nowMs = Date.now, ...options }: SqlStoreOptions) {
    this.#db = new Database(options);
    this.#tasks = new Tasks(this.#db, nowMs);
  }

  // Calls of clients.

  async put(task: NewTask, { limits = {}, hold }: PutOptions = {}): Promise<PutOutcome> {
    return this.#tasks.write(() => {
      if (hold && !this.#stillHeld(hold)) return { ok: false, reason: 'superseded' };
      const { clientId, input } = task;
      const { openTasks = Infinity } = limits;
      if (this.#tasks.usage(clientId).openTasks >= openTasks)
        return { ok: false, reason: 'openTasks' };
      if (!this.#tasks.fits(clientId, input?.bytes ?? 0, limits)) {
        return { ok: false, reason: 'storedBytes' };
      }
      const row = newRow(task, this.#tasks.at(), this.#tasks.nowMs());
      if (row.submitted) Object.assign(row, this.#tasks.place(clientId));
      // The row's number is part of its document, so it is written once it is known.
      row.id = this.#db.run("INSERT INTO tasks (doc) VALUES ('{}')").id;
      this.#db.run('UPDATE tasks SET doc = ? WHERE id = ?', JSON.stringify(row), row.id);
      this.#tasks.count(clientId, 1, bytesOf(row));
      if (hold) {
        const sql = 'UPDATE answers SET task_id = ? WHERE client_id = ? AND key = ?';
        this.#db.run(sql, row.id, clientId, hold.key);
      }
      this.#tasks.tell(row);
      return { ok: true, task: told(row) };
    });
  }

  async upload(
    id: number,
    input: NonNullable<Task['input']>,
    limits: ClientLimits = {},
  ): Promise<UploadOutcome> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id);
      if (!row) return { ok: false, reason: 'missing' };
      if (!this.#tasks.isOpen(row)) return { ok: false, reason: 'state' };
      const more = input.bytes - (row.input?.bytes ?? 0);
      if (!this.#tasks.fits(row.clientId, more, limits))
        return { ok: false, reason: 'storedBytes' };
      const replaced = row.input?.key ?? null;
      return {
        ok: true,
        replaced,
        task: told(this.#tasks.change(row, { state: 'uploaded', input })),
      };
    });
  }

  async notify(
    id: number,
    clientId: number,
    input?: NonNullable<Task['input']>,
    limits: ClientLimits = {},
  ): Promise<NotifyOutcome> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (row.submitted) return { ok: true, task: told(row), first: false };
      if (!this.#tasks.isOpen(row)) return { ok: false, reason: 'ended' };
      if (!input && row.state !== 'uploaded') return { ok: false, reason: 'notUploaded' };
      const more = input ? input.bytes - (row.input?.bytes ?? 0) : 0;
      if (!this.#tasks.fits(clientId, more, limits)) return { ok: false, reason: 'storedBytes' };
      const waits = {
        submitted: true,
        submittedAt: this.#tasks.at(),
        ...this.#tasks.place(clientId),
      };
      this.#tasks.change(row, { ...(input && { input }), ...waits, state: 'waiting', dueMs: 0 });
      return { ok: true, task: told(row), first: true };
    });
  }

  async renew(id: number, clientId: number, ttlMs: number): Promise<Task | null> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id, clientId);
      if (!row || !isEarly(row)) return null;
      return told(this.#tasks.change(row, { expiresAtMs: this.#tasks.nowMs() + ttlMs }));
    });
  }

  async cancel(id: number, clientId: number): Promise<CancelOutcome> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (isFinal(row)) return { ok: false, reason: 'final' };
      const blobs = this.#tasks.end(row, 'cancelled');
      return { ok: true, blobs, task: told(row) };
    });
  }

  async remove(id: number, clientId: number): Promise<RemoveOutcome> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id, clientId);
      if (!row) return { ok: false, reason: 'missing' };
      if (!isFinal(row)) return { ok: false, reason: 'unfinished' };
      return { ok: true, blobs: this.#tasks.delete(row) };
    });
  }

  async get(id: number, clientId?: number): Promise<Task | null> {
    const row = this.#tasks.row(id, clientId);
    return row ? told(row) : null;
  }

  async list({ clientId, limit, after, order = 'asc', state }: ListQuery): Promise<ListPage> {
    const [sign, from] = order === 'asc' ? ['>', 0] : ['<', Number.MAX_SAFE_INTEGER];
    const own = state === undefined ? '' : 'AND state = ?';
    const sql = `SELECT id, doc FROM tasks
      WHERE client_id = ? AND id ${sign} ? ${own} ORDER BY id ${order} LIMIT ?`;
    const values = [clientId, after ?? from, ...(state === undefined ? [] : [state]), limit];
    return { tasks: this.#tasks.rows(sql, ...values).map(listed) };
  }

  async usage(clientId: number): Promise<ClientUsage> {
    return this.#tasks.usage(clientId);
  }

  // The queue.

  async claim({ leaseMs, threads }: ClaimOptions): Promise<Claim> {
    return this.#tasks.write((): Claim => {
      const now = this.#tasks.nowMs();
      // A lease that ends later than a new one was made before the clock was set back.
      const ended = `SELECT id, doc FROM tasks
        WHERE ${HELD} AND (due_ms <= ? OR due_ms > ?)`;
      for (const row of this.#tasks.rows(ended, now, now + leaseMs)) {
        this.#tasks.giveBack(row, { losses: row.losses + 1 });
      }
      const next = `SELECT id, doc FROM tasks
        WHERE ${QUEUED} AND due_ms <= ? ORDER BY turn, place LIMIT 1`;
      const [row] = this.#tasks.rows(next, now);
      if (!row) return { task: null, nextMs: this.#nextMs(now) };
      this.#db.run('UPDATE counters SET turn = max(turn, ?)', row.turn);
      const lease = { dueMs: now + leaseMs, threads, attempt: row.attempt + 1 };
      return { task: told(this.#tasks.change(row, { state: 'verifying', ...lease })) };
    });
  }

  /** Time until a retry is due or a lease ends; null if there is neither. */
  #nextMs(now: number): number | null {
    const sql = `SELECT min(due_ms) AS due FROM tasks
      WHERE finished_ms IS NULL AND ((${QUEUED}) OR ${HELD})`;
    const due = this.#db.get<{ due: number | null }>(sql)?.due ?? null;
    return due === null ? null : Math.max(0, due - now);
  }

  async extend(id: number, attempt: number, { leaseMs, ...changes }: Extension): Promise<boolean> {
    const dueMs = this.#tasks.nowMs() + leaseMs;
    return this.#tasks.whileHeld(id, attempt, (row) =>
      this.#tasks.change(row, { ...changes, dueMs }),
    );
  }

  async extendAll(attempts: readonly Attempt[], leaseMs: number): Promise<ReadonlySet<number>> {
    return this.#tasks.write(() => {
      const dueMs = this.#tasks.nowMs() + leaseMs;
      const mine = attempts.flatMap(({ id, attempt }) => this.#tasks.held(id, attempt) ?? []);
      for (const row of mine) this.#tasks.save(row, { dueMs });
      return new Set(mine.map(({ id }) => id));
    });
  }

  async finish(id: number, attempt: number, result: TaskResult): Promise<boolean> {
    return this.#tasks.whileHeld(
      id,
      attempt,
      (row) => row.state === 'aggregating' && this.#tasks.end(row, 'completed', { result }),
    );
  }

  async fail(id: number, attempt: number, error: TaskError, retry?: Retry): Promise<boolean> {
    return this.#tasks.whileHeld(id, attempt, (row) => {
      const failures = row.failures + (retry?.blameless ? 0 : 1);
      if (!retry) return this.#tasks.end(row, 'failed', { failures, error });
      return this.#tasks.giveBack(row, { failures, dueMs: this.#tasks.nowMs() + retry.delayMs });
    });
  }

  async release(id: number, attempt: number): Promise<boolean> {
    return this.#tasks.whileHeld(id, attempt, (row) => this.#tasks.giveBack(row));
  }

  async setAside(id: number, attempt: number, error: TaskError): Promise<boolean> {
    const aside = { error, quarantined: true };
    return this.#tasks.whileHeld(id, attempt, (row) => this.#tasks.giveBack(row, aside));
  }

  async putBack(id: number): Promise<boolean> {
    return this.#tasks.write(() => {
      const row = this.#tasks.row(id);
      if (!row?.quarantined) return false;
      this.#tasks.change(row, { quarantined: false, error: null, failures: 0, dueMs: 0 });
      return true;
    });
  }

  // Housekeeping.

  async sweep({ answerMs, retentionMs = Infinity }: SweepOptions): Promise<Sweep> {
    return this.#tasks.write(() => {
      const now = this.#tasks.nowMs();
      const late = `SELECT id, doc FROM tasks WHERE ${EARLY} AND expires_ms <= ? LIMIT ?`;
      const over = this.#tasks.rows(late, now, SWEEP_ROWS);
      const blobs = over.flatMap((row) => this.#tasks.end(row, 'expired'));
      const aged = 'SELECT id, doc FROM tasks WHERE finished_ms <= ? LIMIT ?';
      const until = Math.max(-1, now - retentionMs);
      const old = this.#tasks.rows(aged, until, SWEEP_ROWS);
      for (const row of old) blobs.push(...this.#tasks.delete(row));
      this.#db.run('DELETE FROM answers WHERE made_ms <= ?', now - answerMs);
      const more = over.length === SWEEP_ROWS || old.length === SWEEP_ROWS;
      return { expired: over.map(({ id }) => id), removed: old.length, blobs, more };
    });
  }

  async referenced(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const some = JSON.stringify(keys);
    const sql = `SELECT input_key AS key FROM tasks
        WHERE input_key IN (SELECT value FROM json_each(?))
      UNION SELECT result_key FROM tasks WHERE result_key IN (SELECT value FROM json_each(?))`;
    return new Set(this.#db.all<{ key: string }>(sql, some, some).map(({ key }) => key));
  }

  async depth(): Promise<QueueDepth> {
    const sql = `SELECT state, quarantined, count(*) AS count, min(doc ->> '$.submittedAt') AS since
      FROM tasks WHERE finished_ms IS NULL GROUP BY state, quarantined`;
    interface Group {
      readonly state: keyof QueueDepth['states'];
      readonly quarantined: 0 | 1;
      readonly count: number;
      readonly since: string;
    }
    const groups = this.#db.all<Group>(sql);
    const states = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
    for (const { state, count, quarantined } of groups) if (!quarantined) states[state] = count;
    const aside = groups.find(({ quarantined }) => quarantined);
    const waiting = groups.find(({ state, quarantined }) => state === 'waiting' && !quarantined);
    const sinceMs = waiting && this.#tasks.nowMs() - Date.parse(waiting.since);
    const oldestWaitingMs = sinceMs === undefined ? null : Math.max(0, sinceMs);
    return { states, quarantined: aside?.count ?? 0, oldestWaitingMs };
  }

  // Idempotency-Keys.

  async beginAnswer(
    clientId: number,
    key: string,
    fingerprint: string,
    holdMs: number,
  ): Promise<BeginAnswer> {
    return this.#tasks.write((): BeginAnswer => {
      const now = this.#tasks.nowMs();
      const found = this.#answer({ clientId, key });
      if (found && found.fingerprint !== fingerprint) return { kind: 'mismatch' };
      if (found && found.task_id !== null) {
        const row = this.#tasks.row(found.task_id);
        return { kind: 'replay', task: row ? told(row) : null };
      }
      if (found && found.end_ms > now) return { kind: 'running', retryMs: found.end_ms - now };
      const token = randomUUID();
      const sql = 'INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, NULL, ?, ?)';
      this.#db.run(sql, clientId, key, fingerprint, token, now + holdMs, now);
      return { kind: 'held', hold: { clientId, key, token } };
    });
  }

  async extendAnswer(hold: AnswerHold, holdMs: number): Promise<boolean> {
    return this.#tasks.write(() => {
      if (!this.#stillHeld(hold)) return false;
      const sql = 'UPDATE answers SET end_ms = ? WHERE client_id = ? AND key = ?';
      this.#db.run(sql, this.#tasks.nowMs() + holdMs, hold.clientId, hold.key);
      return true;
    });
  }

  async abandonAnswer({ clientId, key, token }: AnswerHold): Promise<void> {
    const sql =
      'DELETE FROM answers WHERE client_id = ? AND key = ? AND token = ? AND task_id IS NULL';
    this.#tasks.write(() => this.#db.run(sql, clientId, key, token));
  }

  #answer({ clientId, key }: Pick<AnswerHold, 'clientId' | 'key'>) {
    type Answer = { fingerprint: string; token: string; task_id: number | null; end_ms: number };
    const sql = 'SELECT * FROM answers WHERE client_id = ? AND key = ?';
    return this.#db.get<Answer>(sql, clientId, key);
  }

  #stillHeld(hold: AnswerHold): boolean {
    const answer = this.#answer(hold);
    return answer?.token === hold.token && answer.task_id === null;
  }

  // Quotas, which are optional.

  async quota(clientId: number): Promise<ClientQuota | null> {
    const found = this.#db.get<{ doc: string }>(
      'SELECT doc FROM quotas WHERE client_id = ?',
      clientId,
    );
    return found ? JSON.parse(found.doc) : null;
  }

  async quotas(): Promise<readonly (ClientQuota & { readonly clientId: number })[]> {
    const sql = 'SELECT client_id AS clientId, doc FROM quotas ORDER BY client_id';
    const found = this.#db.all<{ clientId: number; doc: string }>(sql);
    return found.map(({ clientId, doc }) => ({ clientId, ...JSON.parse(doc) }));
  }

  async setQuota(clientId: number, quota: ClientQuota | null): Promise<ClientQuota | null> {
    if (quota === null) {
      this.#tasks.write(() => this.#db.run('DELETE FROM quotas WHERE client_id = ?', clientId));
      return null;
    }
    const sql = `INSERT INTO quotas VALUES (?, ?)
      ON CONFLICT (client_id) DO UPDATE SET doc = json_patch(doc, excluded.doc)`;
    this.#tasks.write(() => this.#db.run(sql, clientId, JSON.stringify(quota)));
    return this.quota(clientId);
  }

  // Names and secrets.

  async secret(name: string): Promise<Uint8Array> {
    this.#tasks.write(() =>
      this.#db.run('INSERT OR IGNORE INTO secrets VALUES (?, ?)', name, randomBytes(32)),
    );
    const sql = 'SELECT value FROM secrets WHERE name = ?';
    return this.#db.get<{ value: Uint8Array }>(sql, name)!.value;
  }

  async clientNamed(name: string): Promise<number> {
    const sql = `INSERT OR IGNORE INTO names
      VALUES (?, (SELECT coalesce(max(client_id), 0) + 1 FROM names))`;
    this.#tasks.write(() => this.#db.run(sql, name));
    const known = 'SELECT client_id AS id FROM names WHERE name = ?';
    return this.#db.get<{ id: number }>(known, name)!.id;
  }

  // The store itself.

  watch(listener: (news: TaskNews) => void): () => void {
    this.#tasks.listeners.add(listener);
    return () => void this.#tasks.listeners.delete(listener);
  }

  async open(): Promise<void> {
    this.#db.open();
  }

  async ping(): Promise<void> {
    this.#db.get('SELECT 1');
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}
