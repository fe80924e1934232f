/** The verbs of clients: submission, cancellation, removal. See `taskStore.ts`. */
import { isFinal } from '../../../wire/taskStates.ts';
import { canGo, type Task, timestamp } from '../port/task.ts';
import type {
  AnswerHold,
  BeginAnswer,
  CancelOutcome,
  ClientLimits,
  NewTask,
  NotifyOutcome,
  PutOptions,
  PutOutcome,
  RemoveOutcome,
  TaskStore,
  UploadOutcome,
} from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import { hasEnded, ownHolder } from './processIdentity.ts';
import type { AnswerRow, Table, TaskRow } from './table.ts';

type Submissions = Pick<TaskStore, 'put' | 'upload' | 'notify' | 'renew' | 'cancel' | 'remove'>;

export function submissions(ledger: Ledger): Submissions {
  return {
    put: (task, options = {}) => ledger.write(() => put(ledger, task, options)),
    upload: (id, input, limits = {}) => ledger.write(() => upload(ledger, id, input, limits)),
    notify: (id, clientId, input, limits = {}) =>
      ledger.write(() => notify(ledger, id, clientId, input, limits)),
    cancel: (id, clientId) => ledger.write(() => cancel(ledger, id, clientId)),
    remove: (id, clientId) => ledger.write(() => remove(ledger, id, clientId)),
    renew: (id, clientId, ttlMs) =>
      ledger.write(() => {
        const row = ledger.owned(id, clientId);
        if (!row || row.submitted || isFinal(row.state)) return null;
        return ledger.told(ledger.change(row, { expiresMs: ledger.nowMs() + ttlMs }));
      }),
  };
}

function put(ledger: Ledger, task: NewTask, options: PutOptions): PutOutcome {
  const { table } = ledger;
  if (!stillHeld(table, options)) return { ok: false, reason: 'superseded' };
  const { openTasks = Infinity, storedBytes = Infinity } = options.limits ?? {};
  const usage = table.usage(task.clientId);
  if (usage.openTasks + 1 > openTasks) return { ok: false, reason: 'openTasks' };
  if (usage.storedBytes + (task.input?.bytes ?? 0) > storedBytes) {
    return { ok: false, reason: 'storedBytes' };
  }
  const added = ledger.insert(newRow(ledger, task));
  keepAnswer(table, options, added);
  return { ok: true, task: added };
}

function newRow(ledger: Ledger, task: NewTask): TaskRow {
  const at = timestamp();
  const waiting = task.state === 'waiting';
  return {
    id: ledger.nextTaskId(),
    clientId: task.clientId,
    kind: 'aggregate',
    state: task.state,
    attempt: 0,
    failures: 0,
    losses: 0,
    quarantined: false,
    count: task.count ?? 0,
    threads: task.threads,
    progress: null,
    createdAt: at,
    submittedAt: at,
    updatedAt: at,
    finishedAt: null,
    expiresMs: ledger.nowMs() + task.ttlMs,
    requestId: task.requestId ?? null,
    traceparent: task.traceparent ?? null,
    input: task.input ?? null,
    result: null,
    error: null,
    submitted: waiting,
    turn: waiting ? ledger.nextTurn(task.clientId) : 0,
    dueMs: waiting ? ledger.nowMs() : null,
    finishedMs: null,
  };
}

function upload(
  ledger: Ledger,
  id: number,
  input: NonNullable<TaskRow['input']>,
  limits: ClientLimits,
): UploadOutcome {
  const row = ledger.table.row(id);
  if (!row) return { ok: false, reason: 'missing' };
  if (!canGo(row.state, 'uploaded') || row.expiresMs <= ledger.nowMs()) {
    return { ok: false, reason: 'state' };
  }
  if (!hasRoom(ledger, row, input, limits)) return { ok: false, reason: 'storedBytes' };
  const task = ledger.told(ledger.change(row, { state: 'uploaded', input }));
  return { ok: true, task, replaced: row.input?.key ?? null };
}

/** Returns whether the client has room for the file instead of the task's present one. */
function hasRoom(
  ledger: Ledger,
  row: TaskRow,
  input: NonNullable<TaskRow['input']>,
  { storedBytes = Infinity }: ClientLimits,
): boolean {
  const othersBytes = ledger.table.usage(row.clientId).storedBytes - (row.input?.bytes ?? 0);
  return othersBytes + input.bytes <= storedBytes;
}

function notify(
  ledger: Ledger,
  id: number,
  clientId: number,
  input: TaskRow['input'] | undefined,
  limits: ClientLimits,
): NotifyOutcome {
  let row = ledger.owned(id, clientId);
  if (!row) return { ok: false, reason: 'missing' };
  if (row.submitted) return { ok: true, task: ledger.told(row), first: false };
  if (isFinal(row.state) || row.expiresMs <= ledger.nowMs()) {
    return { ok: false, reason: 'ended' };
  }
  if (input) {
    if (!hasRoom(ledger, row, input, limits)) return { ok: false, reason: 'storedBytes' };
    row = ledger.change(row, { state: 'uploaded', input });
  }
  if (row.state !== 'uploaded') return { ok: false, reason: 'notUploaded' };
  const at = timestamp();
  const times = { updatedAt: at, submittedAt: at, dueMs: ledger.nowMs() };
  const turn = ledger.nextTurn(clientId);
  row = ledger.change(row, { state: 'waiting', submitted: true, turn, ...times });
  return { ok: true, task: ledger.told(row), first: true };
}

function cancel(ledger: Ledger, id: number, clientId: number): CancelOutcome {
  const row = ledger.owned(id, clientId);
  if (!row) return { ok: false, reason: 'missing' };
  if (isFinal(row.state)) return { ok: false, reason: 'final' };
  return { ok: true, ...ledger.end(row, 'cancelled') };
}

function remove(ledger: Ledger, id: number, clientId: number): RemoveOutcome {
  const row = ledger.owned(id, clientId);
  if (!row) return { ok: false, reason: 'missing' };
  const blobs = ledger.remove(row);
  return blobs === null ? { ok: false, reason: 'unfinished' } : { ok: true, blobs };
}

type Answers = Pick<TaskStore, 'beginAnswer' | 'extendAnswer' | 'abandonAnswer'>;

export function answers(ledger: Ledger): Answers {
  const { table, nowMs } = ledger;
  return {
    beginAnswer: (clientId, key, fingerprint, holdMs) =>
      ledger.write((): BeginAnswer => {
        const row = table.answer(clientId, key);
        if (row && row.fingerprint !== fingerprint) return { kind: 'mismatch' };
        if (row && row.taskId !== null) {
          const task = ledger.owned(row.taskId, clientId);
          return { kind: 'replay', task: task ? ledger.told(task) : null };
        }
        const leftMs = row ? row.heldUntilMs - nowMs() : 0;
        if (row && leftMs > 0 && !hasEnded(row.holder)) {
          return { kind: 'running', retryMs: leftMs };
        }
        const token = crypto.randomUUID();
        const times = { heldUntilMs: nowMs() + holdMs, createdMs: nowMs() };
        const held = { taskId: null, holder: ownHolder() };
        table.putAnswer({ clientId, key, fingerprint, token, ...times, ...held });
        return { kind: 'held', hold: { clientId, key, token } };
      }),
    extendAnswer: (hold, holdMs) =>
      ledger.write(() => {
        const row = heldRow(table, hold);
        if (row) table.putAnswer({ ...row, heldUntilMs: nowMs() + holdMs });
        return row !== undefined;
      }),
    abandonAnswer: (hold) =>
      ledger.write(() => {
        if (heldRow(table, hold)) table.deleteAnswer(hold.clientId, hold.key);
      }),
  };
}

/** Returns the row of a key that the caller still holds. */
function heldRow(table: Table, { clientId, key, token }: AnswerHold): AnswerRow | undefined {
  const row = table.answer(clientId, key);
  return row?.token === token && row.taskId === null ? row : undefined;
}

/** Returns whether the caller still holds its Idempotency-Key, if any. Only inside `write`. */
export function stillHeld(table: Table, { hold }: PutOptions): boolean {
  return hold === undefined || heldRow(table, hold) !== undefined;
}

/** Keeps the task under the key. Only inside `write`, after `stillHeld`. */
function keepAnswer(table: Table, { hold }: PutOptions, task: Task): void {
  if (hold) table.putAnswer({ ...heldRow(table, hold)!, taskId: task.id });
}
