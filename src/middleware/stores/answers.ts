/** The answers kept for Idempotency-Keys, and who holds a key until there is one. */
import type { Task } from '../task.ts';
import type { Ledger } from './ledger.ts';
import type { Table } from './table.ts';
import type { BeginAnswer, PutOptions, TaskStore } from './taskStore.ts';

export function answers(ledger: Ledger): Pick<TaskStore, 'beginAnswer' | 'abandonAnswer'> {
  const { table, nowMs } = ledger;
  return {
    beginAnswer: (clientId, key, fingerprint, holdMs) =>
      ledger.write((): BeginAnswer => {
        const row = table.answer(clientId, key);
        if (row && row.fingerprint !== fingerprint) return { kind: 'mismatch' };
        if (row?.answer) return { kind: 'replay', answer: row.answer };
        if (row && row.heldUntilMs > nowMs()) return { kind: 'running' };
        const token = crypto.randomUUID();
        const times = { heldUntilMs: nowMs() + holdMs, createdMs: nowMs() };
        table.putAnswer({ clientId, key, fingerprint, token, ...times, answer: null });
        return { kind: 'held', hold: { clientId, key, token } };
      }),
    abandonAnswer: ({ clientId, key, token }) =>
      ledger.write(() => {
        const row = table.answer(clientId, key);
        if (row?.token === token && row.answer === null) table.deleteAnswer(clientId, key);
      }),
  };
}

/** Whether the caller still holds the Idempotency-Key, if there is one. Only inside `write`. */
export function stillHeld(table: Table, { answer }: PutOptions): boolean {
  if (!answer) return true;
  const { clientId, key, token } = answer.hold;
  const row = table.answer(clientId, key);
  return row !== undefined && row.answer === null && row.token === token;
}

/** Keeps the answer with its task. Only inside `write`, after `stillHeld`. */
export function keepAnswer(table: Table, { answer }: PutOptions, task: Task): void {
  if (!answer) return;
  const { hold, of } = answer;
  const row = table.answer(hold.clientId, hold.key)!;
  table.putAnswer({ ...row, answer: of(task) });
}
