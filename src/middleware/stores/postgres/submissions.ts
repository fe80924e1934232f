/**
 * The verbs of clients, one statement each. Locks are taken in one order, the task's row before the
 * client's; `put` takes only the client's. A verb that changed nothing then queries the reason.
 */
import { isFinal } from '../../../wire/taskStates.ts';
import { type BlobRef, MAX_PARTS } from '../port/task.ts';
import type {
  AnswerHold,
  BeginAnswer,
  ClientLimits,
  ClientVerbs,
  NewPart,
  NewTask,
  NotifyOutcome,
  PutOptions,
  PutOutcome,
  PutPartOutcome,
  TaskStore,
  UploadOutcome,
} from '../port/taskStore.ts';
import { type Database, named, type Statement } from './database.ts';
import { cancelling, type Endings, FINAL } from './endings.ts';
import type { Ledger } from './ledger.ts';
import { closeText, putPartText, renewPartText, uploadPartText } from './partTexts.ts';
import { type TaskRow, taskColumns, toTask } from './rows.ts';
import { idAbove } from './schema.ts';

/** A task as it is, for the reason of a refusal. */
type Looked = TaskRow & { readonly live: boolean };

interface Removed {
  readonly input_key: string | null;
  readonly result_key: string | null;
}

export function submissions(ledger: Ledger): ClientVerbs {
  const { database } = ledger;
  const sql = statements(database.schema);
  const { look, takes } = looks(database, sql.look);
  const change = async (statement: Statement, values: readonly unknown[]) => {
    const [row] = await ledger.change<Endings>(statement, values);
    return row;
  };

  return {
    put: (task, options = {}) => put(ledger, sql, task, options),
    putPart: (part, { hold } = {}) => putPart(ledger, sql, part, hold),
    async upload(id, input, limits = {}): Promise<UploadOutcome> {
      const values = [id, ...blobValues(input), finite(limits.storedBytes)];
      let row = await change(sql.upload, values);
      const now = row ?? (await look(id));
      if (!row && now?.parent) row = await change(sql.uploadPart, values);
      if (row) return { ok: true, task: toTask(row), replaced: row.old_input };
      if (!now) return { ok: false, reason: 'missing' };
      return { ok: false, reason: (await takes(now as Looked)) ? 'storedBytes' : 'state' };
    },
    async notify(id, clientId, input, limits = {}): Promise<NotifyOutcome> {
      const blob = input ? blobValues(input) : [null, null, null, null];
      let row = await change(sql.notify, [id, ...blob, clientId, finite(limits.storedBytes)]);
      let now = row ? undefined : await look(id, clientId);
      if (now?.parts) {
        row = await change(sql.close, [id, clientId]);
        if (!row) now = await look(id, clientId);
      }
      if (row) return { ok: true, task: toTask(row), first: true };
      if (!now) return { ok: false, reason: 'missing' };
      if (now.submitted) return { ok: true, task: toTask(now), first: false };
      if (isFinal(now.state) || !now.live) return { ok: false, reason: 'ended' };
      if (now.parts) return { ok: false, reason: 'incomplete' };
      const isEmpty = !input || now.parts === 0;
      return { ok: false, reason: isEmpty ? 'notUploaded' : 'storedBytes' };
    },
    async renew(id, clientId, ttlMs, part) {
      const values = [id, clientId, ttlMs];
      const row = await (part === undefined
        ? change(sql.renew, values)
        : change(sql.renewPart, [...values, part]));
      return row ? toTask(row) : null;
    },
    async cancel(id, clientId) {
      const [row] = await ledger.change<Endings>(sql.cancel, [id, clientId]);
      if (row) return { ok: true, task: toTask(row), blobs: row.old_input ? [row.old_input] : [] };
      return { ok: false, reason: (await look(id, clientId)) ? 'final' : 'missing' };
    },
    async remove(id, clientId) {
      const [row] = await database.ask<Removed>(sql.remove, [id, clientId]);
      if (row) return { ok: true, blobs: [row.input_key, row.result_key].flatMap((k) => k ?? []) };
      return { ok: false, reason: (await look(id, clientId)) ? 'unfinished' : 'missing' };
    },
  };
}

function looks(database: Database, statement: Statement) {
  const look = async (id: number, clientId?: number): Promise<Looked | undefined> => {
    const [row] = await database.ask<Looked>(statement, [id]);
    const isOwn = row?.client_id === clientId && row?.parent === null;
    return clientId === undefined || isOwn ? row : undefined;
  };
  return {
    look,
    /** Returns whether the task or part accepts files. */
    async takes({ live, state, parent, parts }: Looked): Promise<boolean> {
      if (!live) return false;
      if (parent === null) return parts === null && ['created', 'uploaded'].includes(state);
      const above = await look(parent);
      return isOpen(above) && ['created', 'waiting', 'failed'].includes(state);
    },
  };
}

const isOpen = (row: Looked | undefined): boolean =>
  row?.live === true && !row.submitted && !isFinal(row.state);

/** Maximum number of tries of a new task, since others may interfere. */
const MAX_TRIES = 5;

async function put(
  ledger: Ledger,
  sql: ReturnType<typeof statements>,
  task: NewTask,
  { limits = {}, hold }: PutOptions,
): Promise<PutOutcome> {
  const values = [...putValues(task, limits), ...(hold ? [hold.key, hold.token] : [])];
  const make = async (plain: Statement, held: Statement) => {
    const [row] = await ledger.change<TaskRow>(hold ? held : plain, values);
    return row;
  };
  const row = await make(sql.put, sql.putHeld);
  if (row) return { ok: true, task: toTask(row) };
  const asked = [task.clientId, hold?.key ?? '', hold?.token ?? ''];
  type Usage = { readonly open_tasks: number; readonly bytes: number; readonly held: boolean };
  const { openTasks = Infinity, storedBytes = Infinity } = limits;
  // Retries for a client's first task, or if the obstacle is gone.
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [usage] = await ledger.database.ask<Usage>(sql.usageOf, asked);
    if (hold && !usage!.held) return { ok: false, reason: 'superseded' };
    if (usage!.open_tasks + 1 > openTasks) return { ok: false, reason: 'openTasks' };
    const bytes = usage!.bytes + (task.input?.bytes ?? 0);
    if (bytes > storedBytes) return { ok: false, reason: 'storedBytes' };
    const again = await make(sql.putFirst, sql.putFirstHeld);
    if (again) return { ok: true, task: toTask(again) };
  }
  return { ok: false, reason: 'openTasks' };
}

async function putPart(
  ledger: Ledger,
  sql: ReturnType<typeof statements>,
  { clientId, parent, threads, ttlMs, requestId, traceparent }: NewPart,
  hold: AnswerHold | undefined,
): Promise<PutPartOutcome> {
  const { database } = ledger;
  const values = [clientId, parent, threads, ttlMs, requestId ?? null, traceparent ?? null];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [row] = await (hold
      ? ledger.change<TaskRow>(sql.putPartHeld, [...values, hold.key, hold.token])
      : ledger.change<TaskRow>(sql.putPart, values));
    if (row) return { ok: true, task: toTask(row) };
    if (hold) {
      const asked = [clientId, hold.key, hold.token];
      const [usage] = await database.ask<{ readonly held: boolean }>(sql.usageOf, asked);
      if (!usage!.held) return { ok: false, reason: 'superseded' };
    }
    const [now] = await database.ask<Looked>(sql.look, [parent]);
    if (!now || now.client_id !== clientId || now.parent !== null) {
      return { ok: false, reason: 'missing' };
    }
    if (now.parts === null) return { ok: false, reason: 'noParts' };
    if (!isOpen(now)) return { ok: false, reason: 'closed' };
    if (now.parts >= MAX_PARTS) return { ok: false, reason: 'tooMany' };
  }
  return { ok: false, reason: 'superseded' };
}

function statements(s: string) {
  return named({
    putPart: putPartText(s, false),
    putPartHeld: putPartText(s, true),
    uploadPart: uploadPartText(s),
    close: closeText(s),
    renewPart: renewPartText(s),
    put: putText(s, KNOWN, false),
    putHeld: putText(s, KNOWN, true),
    putFirst: putText(s, FIRST, false),
    putFirstHeld: putText(s, FIRST, true),
    usageOf: `SELECT coalesce(open_tasks, 0) AS open_tasks, coalesce(stored_bytes, 0) AS bytes,
        EXISTS (SELECT 1 FROM ${s}.answers
          WHERE client_id = $1 AND key = $2 AND token = $3 AND task_id IS NULL) AS held
      FROM (SELECT 1) one LEFT JOIN ${s}.clients ON id = $1::bigint`,
    upload: uploadText(s),
    notify: notifyText(s),
    look: `SELECT ${taskColumns('t')}, t.expires_ms > ${s}.now_ms() AS live
      FROM ${s}.tasks t WHERE t.id = $1`,
    renew: `UPDATE ${s}.tasks t
      SET expires_ms = ${s}.now_ms() + $3::bigint, updated_at = clock_timestamp()
      WHERE id = $1 AND client_id = $2 AND NOT submitted AND parent IS NULL
        AND state IN ('created', 'uploaded')
      RETURNING ${taskColumns('t')}`,
    cancel: cancelling(s, `client_id = $2 AND state NOT IN ${FINAL}`),
    remove: removeText(s),
  });
}

/** Converts a limit: Infinity, which is not a bigint, means none. */
const finite = (limit: number | undefined) => (Number.isFinite(limit) ? limit : null);

function putValues(task: NewTask, { openTasks, storedBytes }: ClientLimits): unknown[] {
  return [
    task.clientId,
    task.input?.bytes ?? 0,
    task.state === 'waiting',
    finite(openTasks),
    finite(storedBytes),
    task.count ?? 0,
    task.threads,
    task.ttlMs,
    task.input?.key ?? null,
    task.input?.tag ?? null,
    task.input?.sha256 ?? null,
    task.requestId ?? null,
    task.traceparent ?? null,
    task.parts ?? false,
  ];
}

function blobValues({ key, bytes, tag, sha256 }: BlobRef): unknown[] {
  return [key, bytes, tag ?? null, sha256 ?? null];
}

/** SQL that counts a new task of a client, and returns its id and turn. */
type Counting = (s: string, held: boolean) => string;

const turnOf = (s: string) => `(SELECT last_value FROM ${s}.queue_turn)`;
const within = (open: string, bytes: string) =>
  `($4::bigint IS NULL OR ${open} <= $4) AND ($5::bigint IS NULL OR ${bytes} <= $5)`;
const nextTurn = (s: string) =>
  `CASE WHEN $3::boolean THEN greatest(${turnOf(s)}, c.last_turn + 1) ELSE c.last_turn END`;

/** For a client with a row. */
const KNOWN: Counting = (s, held) => `
      UPDATE ${s}.clients c SET
        open_tasks = c.open_tasks + 1,
        stored_bytes = c.stored_bytes + $2::bigint,
        last_task = ${idAbove(s, 'c.last_task')},
        last_turn = ${nextTurn(s)}
      ${held ? 'FROM held' : ''}
      WHERE c.id = $1::bigint AND ${within('c.open_tasks + 1', 'c.stored_bytes + $2')}
      RETURNING c.last_task, c.last_turn`;

/** For a client without one; it may have one by now. */
const FIRST: Counting = (s, held) => `
      INSERT INTO ${s}.clients AS c (id, open_tasks, stored_bytes, last_task, last_turn)
        SELECT $1::bigint, 1, $2::bigint, ${s}.new_task_id(),
          CASE WHEN $3::boolean THEN greatest(${turnOf(s)}, 1) ELSE 0 END
        ${held ? 'FROM held' : ''}
        WHERE ${within('1', '$2::bigint')}
      ON CONFLICT (id) DO UPDATE SET
        open_tasks = c.open_tasks + 1,
        stored_bytes = c.stored_bytes + excluded.stored_bytes,
        last_task = ${idAbove(s, 'c.last_task')},
        last_turn = ${nextTurn(s)}
      WHERE ${within('c.open_tasks + 1', 'c.stored_bytes + excluded.stored_bytes')}
      RETURNING last_task, last_turn`;

/**
 * Checks limits, and takes counters, id and turn from the client's row, so that the ids of one
 * client increase in the order of its commits. With a hold, all depends on the row of the answer.
 */
function putText(s: string, counting: Counting, held: boolean): string {
  return `
    WITH ${
      held
        ? `held AS (SELECT 1 FROM ${s}.answers
      WHERE client_id = $1 AND key = $15 AND token = $16 AND task_id IS NULL FOR UPDATE),`
        : ''
    }
    mine AS (${counting(s, held)}),
    made AS (
      INSERT INTO ${s}.tasks AS t (id, client_id, state, count, threads, submitted, turn, due_ms,
          expires_ms, created_at, submitted_at, updated_at, request_id, traceparent,
          input_key, input_bytes, input_tag, input_sha256, parts, parts_ready, parts_done)
        SELECT last_task, $1, CASE WHEN $3 THEN 'waiting' ELSE 'created' END, $6, $7, $3,
          CASE WHEN $3 THEN last_turn ELSE 0 END, CASE WHEN $3 THEN ${s}.now_ms() END,
          ${s}.now_ms() + $8::bigint, clock.at, clock.at, clock.at, $12, $13,
          $9::text, CASE WHEN $9 IS NOT NULL THEN $2 END, $10, $11,
          CASE WHEN $14::boolean THEN 0 END, CASE WHEN $14 THEN 0 END, CASE WHEN $14 THEN 0 END
        FROM mine, (SELECT clock_timestamp() AS at OFFSET 0) clock
      RETURNING ${taskColumns('t')})${
        held
          ? `,
    kept AS (UPDATE ${s}.answers a SET task_id = made.id FROM made
      WHERE a.client_id = $1 AND a.key = $15)`
          : ''
      }
    SELECT ${taskColumns('made')} FROM made`;
}

function uploadText(s: string): string {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND state IN ('created', 'uploaded') AND expires_ms > ${s}.now_ms()
        AND parent IS NULL AND parts IS NULL
      FOR UPDATE),
    mine AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - old.bytes + $3::bigint FROM old
      WHERE c.id = old.client_id
        AND ($6::bigint IS NULL OR c.stored_bytes - old.bytes + $3 <= $6)
      RETURNING c.id)
    UPDATE ${s}.tasks t SET state = 'uploaded', updated_at = clock_timestamp(),
        input_key = $2, input_bytes = $3, input_tag = $4, input_sha256 = $5
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns('t')}, old.input_key AS old_input`;
}

function notifyText(s: string): string {
  return `
    WITH old AS (
      SELECT id, client_id, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND client_id = $6 AND NOT submitted AND expires_ms > ${s}.now_ms()
        AND parent IS NULL AND parts IS NULL
        AND (state = 'uploaded' OR (state = 'created' AND $2::text IS NOT NULL))
      FOR UPDATE),
    mine AS (
      UPDATE ${s}.clients c SET
        last_turn = greatest((SELECT last_value FROM ${s}.queue_turn), c.last_turn + 1),
        stored_bytes = c.stored_bytes
          + CASE WHEN $2 IS NULL THEN 0 ELSE $3::bigint - old.bytes END
      FROM old WHERE c.id = old.client_id
        AND ($2 IS NULL OR $7::bigint IS NULL OR c.stored_bytes - old.bytes + $3 <= $7)
      RETURNING c.last_turn)
    UPDATE ${s}.tasks t SET state = 'waiting', submitted = true, turn = mine.last_turn,
        due_ms = ${s}.now_ms(), submitted_at = clock_timestamp(), updated_at = clock_timestamp(),
        input_key = coalesce($2, t.input_key),
        input_bytes = CASE WHEN $2 IS NULL THEN t.input_bytes ELSE $3 END,
        input_tag = CASE WHEN $2 IS NULL THEN t.input_tag ELSE $4 END,
        input_sha256 = CASE WHEN $2 IS NULL THEN t.input_sha256 ELSE $5 END
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns('t')}`;
}

function removeText(s: string): string {
  return `
    WITH gone AS (
      DELETE FROM ${s}.tasks
      WHERE id = $1 AND client_id = $2 AND parent IS NULL AND state IN ${FINAL}
      RETURNING client_id, input_key, result_key,
        coalesce(input_bytes, 0) + coalesce(result_bytes, 0) AS bytes),
    counted AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - gone.bytes
      FROM gone WHERE c.id = gone.client_id)
    SELECT input_key, result_key FROM gone`;
}

type Answers = Pick<TaskStore, 'beginAnswer' | 'extendAnswer' | 'abandonAnswer'>;

interface AnswerRow {
  readonly fingerprint: string;
  readonly task_id: number | null;
  readonly left_ms: number;
}

/** Condition for the row of a key that the caller still holds. */
const HELD = 'client_id = $1 AND key = $2 AND token = $3 AND task_id IS NULL';
const heldValues = ({ clientId, key, token }: AnswerHold) => [clientId, key, token];

/** @param get reads the task or part under a key that was used before */
export function answers(database: Database, get: TaskStore['get']): Answers {
  const sql = answerStatements(database.schema);

  return {
    async beginAnswer(clientId, key, fingerprint, holdMs): Promise<BeginAnswer> {
      const token = crypto.randomUUID();
      for (;;) {
        const values = [clientId, key, fingerprint, token, holdMs];
        const [taken] = await database.ask(sql.takeAnswer, values);
        if (taken) return { kind: 'held', hold: { clientId, key, token } };
        const [row] = await database.ask<AnswerRow>(sql.lookAtAnswer, [clientId, key]);
        if (row && row.fingerprint !== fingerprint) return { kind: 'mismatch' };
        if (row && row.task_id !== null) {
          return { kind: 'replay', task: await get(row.task_id) };
        }
        if (row && row.left_ms > 0) return { kind: 'running', retryMs: row.left_ms };
        // It was given back, or has ended, between the two statements.
      }
    },
    async extendAnswer(hold, holdMs) {
      return (await database.ask(sql.extendAnswer, [...heldValues(hold), holdMs])).length > 0;
    },
    async abandonAnswer(hold) {
      await database.ask(sql.abandonAnswer, heldValues(hold));
    },
  };
}

function answerStatements(s: string) {
  return named({
    takeAnswer: `INSERT INTO ${s}.answers AS a
        (client_id, key, fingerprint, token, held_until_ms, created_ms)
      VALUES ($1, $2, $3, $4, ${s}.now_ms() + $5::bigint, ${s}.now_ms())
      ON CONFLICT (client_id, key) DO UPDATE SET token = excluded.token,
        held_until_ms = excluded.held_until_ms, created_ms = excluded.created_ms
      WHERE a.fingerprint = excluded.fingerprint AND a.task_id IS NULL
        AND a.held_until_ms <= ${s}.now_ms()
      RETURNING a.token`,
    lookAtAnswer: `SELECT fingerprint, task_id, held_until_ms - ${s}.now_ms() AS left_ms
      FROM ${s}.answers WHERE client_id = $1 AND key = $2`,
    extendAnswer: `UPDATE ${s}.answers a SET held_until_ms = ${s}.now_ms() + $4::bigint
      WHERE ${HELD} RETURNING a.token`,
    abandonAnswer: `DELETE FROM ${s}.answers WHERE ${HELD}`,
  });
}
