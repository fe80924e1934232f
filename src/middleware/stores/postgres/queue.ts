/**
 * The verbs of workers, one statement each: claims, leases, outcomes. Verbs that name an attempt
 * act only while it holds the task.
 */
import type { Claim, ClaimOptions, WorkerVerbs } from '../port/taskStore.ts';
import { named, type Statement } from './database.ts';
import { ending, RUNNING } from './endings.ts';
import type { Ledger } from './ledger.ts';
import { failPartText, finishPartText, remakeText } from './partTexts.ts';
import { type NewsRow, newsColumns, type TaskRow, taskColumns, toTask } from './rows.ts';
import { advisoryKey } from './schema.ts';

interface QueueOptions {
  /** Minimum interval between searches for ended leases. */
  readonly lookEveryMs: number;
  /** True if claims search near the current turn first. */
  readonly near: boolean;
}

/** Maximum number of rows per statement. */
const BATCH = 500;

/** A statement whose answer must leave time for another try before the lease ends. */
const prompt = (statement: Statement, leaseMs: number): Statement => ({
  ...statement,
  withinMs: Math.ceil(leaseMs / 3),
});

export function queue(ledger: Ledger, options: QueueOptions): WorkerVerbs {
  const { database } = ledger;
  const sql = outcomes(database.schema);
  const claims = new Claims(ledger, options);
  const held = async (statement: Statement, values: readonly unknown[]) =>
    (await ledger.change<NewsRow>(statement, values)).length > 0;

  return {
    claim: (claim) => claims.claim(claim),
    async extend(id, attempt, { leaseMs, state, count, progress, input }) {
      const told = progress && JSON.stringify(progress);
      const values = [id, attempt, leaseMs, state, count, told, input?.sha256];
      // A mere heartbeat is not news.
      const silent = state === undefined && count === undefined && progress === undefined;
      const rows = await ledger.change<NewsRow>(
        prompt(sql.extend, leaseMs),
        values.map((value) => value ?? null),
        { hint: !silent },
      );
      return rows.length === 1;
    },
    async extendAll(attempts, leaseMs) {
      if (attempts.length === 0) return new Set();
      const ids = attempts.map(({ id }) => id);
      const numbers = attempts.map(({ attempt }) => attempt);
      const values = [ids, numbers, leaseMs];
      const rows = await database.ask<{ id: number }>(prompt(sql.extendAll, leaseMs), values);
      return new Set(rows.map(({ id }) => id));
    },
    async finish(id, attempt, { blob, format, aggregateBytes }) {
      const { key, bytes, tag = null, sha256 = null } = blob;
      const values = [id, attempt, key, bytes, tag, format, aggregateBytes, sha256];
      return (await held(sql.finish, values)) || held(sql.finishPart, values);
    },
    async fail(id, attempt, error, retry) {
      if (retry) {
        return held(sql.retry, [id, attempt, retry.delayMs, retry.blameless ? 0 : 1]);
      }
      const values = [id, attempt, JSON.stringify(error)];
      return (await held(sql.fail, values)) || held(sql.failPart, values);
    },
    remake: (id, attempt, parts) => held(sql.remake, [id, attempt, parts]),
    release: (id, attempt) => held(sql.release, [id, attempt]),
    setAside: (id, attempt, error) => held(sql.setAside, [id, attempt, JSON.stringify(error)]),
    putBack: (id) => held(sql.putBack, [id]),
  };
}

function outcomes(s: string) {
  const mine = `id = $1 AND attempt = $2 AND state IN ${RUNNING}`;
  const waits = (set: string, where = mine) => `
    UPDATE ${s}.tasks t SET state = 'waiting', progress = NULL, updated_at = clock_timestamp(),
      ${set} WHERE ${where} RETURNING ${newsColumns('t')}`;
  return named({
    extend: `UPDATE ${s}.tasks t SET due_ms = ${s}.now_ms() + $3::bigint,
        updated_at = clock_timestamp(), state = coalesce($4, state),
        count = coalesce($5, count), progress = coalesce($6, progress),
        input_sha256 = coalesce($7, input_sha256)
      WHERE ${mine} RETURNING ${newsColumns('t')}`,
    // In order of id, so that two calls cannot deadlock.
    extendAll: `WITH held AS MATERIALIZED (
        SELECT t.id FROM ${s}.tasks t
        JOIN unnest($1::bigint[], $2::integer[]) AS m (id, attempt)
          ON t.id = m.id AND t.attempt = m.attempt
        WHERE t.state IN ${RUNNING} ORDER BY t.id FOR UPDATE OF t)
      UPDATE ${s}.tasks t SET due_ms = ${s}.now_ms() + $3::bigint
      FROM held WHERE t.id = held.id RETURNING t.id`,
    finish: ending(s, {
      where: `t.attempt = $2 AND t.state = 'aggregating'`,
      set: `state = 'completed', result_key = $3, result_bytes = $4, result_tag = $5,
        result_format = $6, aggregate_bytes = $7, result_sha256 = $8`,
      resultBytes: '$4::bigint',
    }),
    fail: ending(s, {
      where: `t.attempt = $2 AND t.state IN ${RUNNING}`,
      set: `state = 'failed', failures = t.failures + 1, error = $3`,
    }),
    finishPart: finishPartText(s),
    failPart: failPartText(s),
    remake: remakeText(s),
    retry: waits(`failures = failures + $4::integer, due_ms = ${s}.now_ms() + $3::bigint`),
    release: waits(`due_ms = ${s}.now_ms()`),
    setAside: waits('quarantined = true, error = $3, due_ms = NULL'),
    putBack: waits(
      `quarantined = false, error = NULL, failures = 0, due_ms = ${s}.now_ms()`,
      'id = $1 AND quarantined',
    ),
  });
}

/** Hands out waiting tasks, and requeues those whose lease has ended. */
class Claims {
  readonly #ledger: Ledger;
  readonly #options: QueueOptions;
  readonly #sql: ReturnType<typeof claimStatements>;
  #lookedMs = -Infinity;
  /** False after an empty search near the turn, so that polls of an empty queue ask once. */
  #nearby = true;

  constructor(ledger: Ledger, options: QueueOptions) {
    this.#ledger = ledger;
    this.#options = options;
    this.#sql = claimStatements(ledger.database.schema);
  }

  async claim({ leaseMs, threads }: ClaimOptions): Promise<Claim> {
    const { lookEveryMs, near } = this.#options;
    const looks = performance.now() - this.#lookedMs >= lookEveryMs;
    if (looks) await this.#look(leaseMs);
    const values = [leaseMs, threads];
    if (near && this.#nearby) {
      const [row] = await this.#ledger.change<TaskRow>(
        prompt(this.#sql.claimNear, leaseMs),
        values,
      );
      if (row) return { task: toTask(row) };
    }
    type Row = TaskRow & { readonly next_ms: number | null };
    const [row] = await this.#ledger.database.ask<Row>(prompt(this.#sql.claim, leaseMs), values);
    this.#nearby = row!.id !== null;
    if (this.#nearby) {
      this.#ledger.tell([row!]);
      return { task: toTask(row!) };
    }
    return { task: null, nextMs: await this.#nextMs(row!.next_ms, looks) };
  }

  /** Requeues tasks with ended leases, and lifts tasks behind the turn, in batches. */
  async #look(leaseMs: number): Promise<void> {
    this.#lookedMs = performance.now();
    const requeue = prompt(this.#sql.requeue, leaseMs);
    const lift = prompt(this.#sql.lift, leaseMs);
    let rows: NewsRow[];
    do rows = await this.#ledger.change<NewsRow>(requeue);
    while (rows.length === BATCH);
    if (!this.#options.near) return;
    let lifted: unknown[];
    do lifted = await this.#ledger.database.ask(lift);
    while (lifted.length === BATCH);
  }

  /**
   * @param waitingMs time until the first retry is due
   * @param looked true if leases were searched just now
   */
  async #nextMs(waitingMs: number | null, looked: boolean): Promise<number | null> {
    const known = (ms: number | null) => ms ?? Infinity;
    if (!looked) {
      const lookMs = this.#options.lookEveryMs - (performance.now() - this.#lookedMs);
      return Math.max(0, Math.min(known(waitingMs), Math.ceil(lookMs)));
    }
    const [lease] = await this.#ledger.database.ask<{ ms: number | null }>(this.#sql.nextLease);
    const nextMs = Math.min(known(waitingMs), known(lease!.ms));
    return nextMs === Infinity ? null : nextMs;
  }
}

function claimStatements(s: string) {
  const turn = `(SELECT last_value FROM ${s}.queue_turn)`;
  const waits = `state = 'waiting' AND NOT quarantined`;
  /** `moved` advances the queue to the turn of the task. */
  const claim = (near: string) => `
    WITH next AS MATERIALIZED (
      SELECT id, turn FROM ${s}.tasks WHERE ${waits} AND due_ms <= ${s}.now_ms() ${near}
      ORDER BY turn, submitted_at, id LIMIT 1 FOR UPDATE SKIP LOCKED),
    moved AS MATERIALIZED (
      SELECT setval('${s}.queue_turn', turn) FROM next WHERE turn > ${turn}),
    claimed AS (
      UPDATE ${s}.tasks t SET state = 'verifying', attempt = attempt + 1, threads = $2,
        due_ms = ${s}.now_ms() + $1::bigint, updated_at = clock_timestamp()
      FROM next LEFT JOIN moved ON true WHERE t.id = next.id
      RETURNING ${taskColumns('t')})`;
  const until = (rows: string) => `(SELECT CASE WHEN min(due_ms) IS NOT NULL
      THEN greatest(0, min(due_ms) - ${s}.now_ms()) END FROM (${rows}) soon)`;
  return named({
    // Old transactions keep index entries of claimed tasks; those lie before the turn.
    claimNear: `${claim(`AND turn >= ${turn} - 1`)}
      SELECT ${taskColumns('claimed')} FROM claimed`,
    // Always one row: the task, or the time until something is due.
    claim: `${claim('')}
      SELECT ${taskColumns('claimed')}, CASE WHEN claimed.id IS NULL THEN ${until(
        `SELECT due_ms FROM ${s}.tasks WHERE ${waits} ORDER BY turn, submitted_at, id LIMIT 1000`,
      )} END AS next_ms
      FROM (SELECT 1) one LEFT JOIN claimed ON true`,
    nextLease: `SELECT ${until(`SELECT due_ms FROM ${s}.tasks WHERE state IN ${RUNNING}`)} AS ms`,
    requeue: `WITH lost AS MATERIALIZED (
        SELECT id FROM ${s}.tasks WHERE state IN ${RUNNING} AND due_ms <= ${s}.now_ms()
          AND (SELECT pg_try_advisory_xact_lock(${advisoryKey(s, 'requeue')}))
        LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      UPDATE ${s}.tasks t SET state = 'waiting', losses = losses + 1, progress = NULL,
        due_ms = ${s}.now_ms(), updated_at = clock_timestamp()
      FROM lost WHERE t.id = lost.id RETURNING ${newsColumns('t')}`,
    lift: `WITH behind AS MATERIALIZED (
        SELECT id FROM ${s}.tasks
        WHERE ${waits} AND due_ms <= ${s}.now_ms() AND turn < ${turn} - 1
          AND (SELECT pg_try_advisory_xact_lock(${advisoryKey(s, 'lift')}))
        ORDER BY turn, submitted_at, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      UPDATE ${s}.tasks t SET turn = ${turn} FROM behind WHERE t.id = behind.id
      RETURNING t.id`,
  });
}
