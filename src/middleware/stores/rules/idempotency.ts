/** Who holds an Idempotency-Key, and the task that was made under it. */
import type { Task } from '../port/task.ts';
import type { AnswerHold, BeginAnswer, PutOptions, TaskStore } from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import { hasEnded, ownHolder } from './processIdentity.ts';
import type { AnswerRow, Table } from './table.ts';

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

/** The row of a key that the caller still holds. */
function heldRow(table: Table, { clientId, key, token }: AnswerHold): AnswerRow | undefined {
  const row = table.answer(clientId, key);
  return row?.token === token && row.taskId === null ? row : undefined;
}

/** Whether the caller still holds the Idempotency-Key, if there is one. Only inside `write`. */
export function stillHeld(table: Table, { hold }: PutOptions): boolean {
  return hold === undefined || heldRow(table, hold) !== undefined;
}

/** Keeps the task under the key. Only inside `write`, after `stillHeld`. */
export function keepAnswer(table: Table, { hold }: PutOptions, task: Task): void {
  if (hold) table.putAnswer({ ...heldRow(table, hold)!, taskId: task.id });
}
