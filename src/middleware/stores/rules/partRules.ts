/** The rules of tasks with parts; the states are in `task.ts`, the verbs in `taskStore.ts`. */
import { isFinal } from '../../../wire/taskStates.ts';
import { MAX_PARTS, type TaskError, type TaskResult, timestamp } from '../port/task.ts';
import type { NotifyOutcome, PutPartOutcome } from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import type { TaskRow } from './table.ts';

const isOpen = (ledger: Ledger, row: TaskRow): boolean =>
  !row.submitted && !isFinal(row.state) && row.expiresMs > ledger.nowMs();

/** Returns why the task takes no further part, or null. */
export function partRefusal(
  ledger: Ledger,
  parent: TaskRow | undefined,
): Exclude<PutPartOutcome, { ok: true }>['reason'] | null {
  if (!parent) return 'missing';
  if (!parent.parts) return 'noParts';
  if (!isOpen(ledger, parent)) return 'closed';
  return parent.parts.announced >= MAX_PARTS ? 'tooMany' : null;
}

/** Returns the task of a part that takes a file. */
export function takingParent(ledger: Ledger, row: TaskRow): TaskRow | undefined {
  const parent = ledger.table.row(row.parent!);
  const takes = ['created', 'waiting', 'failed'].includes(row.state);
  return parent && takes && isOpen(ledger, parent) ? parent : undefined;
}

export function uploadPart(
  ledger: Ledger,
  row: TaskRow,
  parent: TaskRow,
  input: NonNullable<TaskRow['input']>,
): TaskRow {
  if (row.state !== 'waiting') {
    const parts = { ...parent.parts!, ready: parent.parts!.ready + 1 };
    ledger.change(parent, { state: 'uploaded', parts, error: null });
  }
  const at = timestamp();
  const fresh = { error: null, failures: 0, finishedAt: null, quarantined: false };
  const turn = ledger.nextTurn(row.clientId);
  const times = { updatedAt: at, submittedAt: at, dueMs: ledger.nowMs() };
  return ledger.change(row, { state: 'waiting', submitted: true, input, turn, ...times, ...fresh });
}

/** Closes the list of an open task. */
export function close(ledger: Ledger, row: TaskRow): NotifyOutcome {
  const { announced, ready, done } = row.parts!;
  if (announced === 0) return { ok: false, reason: 'notUploaded' };
  if (ready < announced) return { ok: false, reason: 'incomplete' };
  const at = timestamp();
  const dueMs = done === announced ? ledger.nowMs() : null;
  const turn = ledger.nextTurn(row.clientId);
  const times = { updatedAt: at, submittedAt: at, dueMs, turn };
  const after = ledger.change(row, { state: 'waiting', submitted: true, ...times });
  return { ok: true, task: ledger.told(after), first: true };
}

export function finishPart(ledger: Ledger, row: TaskRow, result: TaskResult): void {
  ledger.endPart(row, 'completed', { result });
  const parent = ledger.table.row(row.parent!)!;
  const parts = { ...parent.parts!, done: parent.parts!.done + 1 };
  const isLast = parent.submitted && parts.done === parts.announced;
  const count = parent.count + row.count;
  ledger.change(parent, { parts, count, ...(isLast && { dueMs: ledger.nowMs() }) });
}

export function failPart(
  ledger: Ledger,
  row: TaskRow,
  fault: { readonly failures: number; readonly error: TaskError },
): void {
  ledger.endPart(row, 'failed', { ...fault, input: null });
  const parent = ledger.table.row(row.parent!)!;
  const { error } = fault;
  if (parent.submitted) {
    ledger.end(parent, 'failed', { error });
  } else {
    const parts = { ...parent.parts!, ready: parent.parts!.ready - 1 };
    ledger.change(parent, { parts, error });
  }
}

/** Puts completed parts back into the queue, and lets their task wait for them. */
export function remake(ledger: Ledger, row: TaskRow, numbers: readonly number[]): boolean {
  if (!row.parts) return false;
  const again = numbers
    .map((part) => ledger.table.part(row.id, part))
    .filter((part) => part !== undefined);
  const dueMs = ledger.nowMs();
  for (const part of again) {
    const cleared = { result: null, finishedAt: null, progress: null };
    ledger.change(part, { state: 'waiting', dueMs, ...cleared });
  }
  const parts = { ...row.parts, done: row.parts.done - again.length };
  const count = again.reduce((left, part) => left - part.count, row.count);
  const back = { state: 'waiting', progress: null, parts, count } as const;
  ledger.change(row, { ...back, dueMs: again.length === 0 ? dueMs : null });
  return true;
}
