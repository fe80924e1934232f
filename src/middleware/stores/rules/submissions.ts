/** The verbs of clients: submission, cancellation, removal. See `taskStore.ts`. */
import { isFinal } from '../../../wire/taskStates.ts';
import { canGo, type Task, timestamp } from '../port/task.ts';
import type {
  AnswerHold,
  BeginAnswer,
  CancelOutcome,
  ClientLimits,
  ClientVerbs,
  NewPart,
  NewTask,
  NotifyOutcome,
  PutOptions,
  PutOutcome,
  PutPartOutcome,
  RemoveOutcome,
  TaskStore,
  UploadOutcome,
} from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import { close, partRefusal, takingParent, uploadPart } from './partRules.ts';
import { hasEnded, ownHolder } from './processIdentity.ts';
import type { AnswerRow, Table, TaskRow } from './table.ts';

export function submissions(ledger: Ledger): ClientVerbs {
  return {
    put: (task, options = {}) => ledger.write(() => put(ledger, task, options)),
    putPart: (part, options = {}) => ledger.write(() => putPart(ledger, part, options)),
    upload: (id, input, limits = {}) => ledger.write(() => upload(ledger, id, input, limits)),
    notify: (id, clientId, input, limits = {}) =>
      ledger.write(() => notify(ledger, id, clientId, input, limits)),
    cancel: (id, clientId) => ledger.write(() => cancel(ledger, id, clientId)),
    remove: (id, clientId) => ledger.write(() => remove(ledger, id, clientId)),
    renew: (id, clientId, ttlMs, part) =>
      ledger.write(() => {
        const row = ledger.owned(id, clientId);
        if (!row || row.submitted || isFinal(row.state)) return null;
        const expiresMs = ledger.nowMs() + ttlMs;
        if (part === undefined) return ledger.told(ledger.change(row, { expiresMs }));
        const own = ledger.table.part(id, part);
        if (!own || !takingParent(ledger, own)) return null;
        ledger.change(row, { expiresMs });
        return ledger.told(ledger.change(own, { expiresMs }));
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

function putPart(
  ledger: Ledger,
  { parent: id, ...task }: NewPart,
  options: PutOptions,
): PutPartOutcome {
  if (!stillHeld(ledger.table, options)) return { ok: false, reason: 'superseded' };
  const parent = ledger.owned(id, task.clientId);
  const reason = partRefusal(ledger, parent);
  if (reason !== null) return { ok: false, reason };
  const { announced, ...counts } = parent!.parts!;
  const own = { kind: 'part', parent: id, part: announced } as const;
  const added = ledger.insert({ ...newRow(ledger, { ...task, state: 'created' }), ...own });
  const expiresMs = Math.max(parent!.expiresMs, ledger.nowMs() + task.ttlMs);
  ledger.change(parent!, { expiresMs, parts: { ...counts, announced: announced + 1 } });
  keepAnswer(ledger.table, options, added);
  return { ok: true, task: added };
}

function newRow(ledger: Ledger, task: NewTask): TaskRow {
  const at = timestamp();
  const waiting = task.state === 'waiting';
  return {
    id: ledger.nextTaskId(),
    clientId: task.clientId,
    kind: task.parts ? 'merge' : 'aggregate',
    parent: null,
    part: null,
    parts: task.parts ? { announced: 0, ready: 0, done: 0 } : null,
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
  const parent = row.parent === null ? null : takingParent(ledger, row);
  const takes = row.parent === null ? canGo(row.state, 'uploaded') && !row.parts : parent;
  if (!takes || row.expiresMs <= ledger.nowMs()) return { ok: false, reason: 'state' };
  if (!hasRoom(ledger, row, input, limits)) return { ok: false, reason: 'storedBytes' };
  const after = parent
    ? uploadPart(ledger, row, parent, input)
    : ledger.change(row, { state: 'uploaded', input });
  return { ok: true, task: ledger.told(after), replaced: row.input?.key ?? null };
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
  if (row.parts) return close(ledger, row);
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
          const task = table.row(row.taskId);
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
