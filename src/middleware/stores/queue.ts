/**
 * The verbs of workers: claims, leases and outcomes. Each one that names an attempt acts only while
 * that attempt holds the task, and says `false` otherwise. See `taskStore.ts`.
 */
import type { Task, TaskError } from '../task.ts';
import { type Ledger, publicTask } from './ledger.ts';
import type { TaskRow } from './table.ts';
import type { ClaimOptions, TaskStore } from './taskStore.ts';

type Queue = Pick<TaskStore, 'claim' | 'extend' | 'finish' | 'fail' | 'release' | 'nextClaimMs'>;

const LOST: TaskError = {
  code: 'THREAD_LOST',
  message: 'The workers of this task ended before it was done, too often to try again',
};

export function queue(ledger: Ledger): Queue {
  const { table, nowMs } = ledger;
  /** Does the work on the task if the attempt holds it. */
  const whileHeld = (id: number, attempt: number, work: (row: TaskRow) => unknown) =>
    ledger.write(() => {
      const row = ledger.held(id, attempt);
      return row !== undefined && work(row) !== false;
    });

  return {
    async claim(options) {
      // Looks without the lock of writers first, since most claims find nothing.
      const dueMs = table.earliestDueMs();
      if (dueMs === null || dueMs > nowMs()) return null;
      return ledger.write(() => claim(ledger, options));
    },
    extend: (id, attempt, { leaseMs, state, count, progress }) =>
      whileHeld(id, attempt, (row) =>
        ledger.change(row, {
          dueMs: nowMs() + leaseMs,
          ...(state && { state }),
          ...(count !== undefined && { count }),
          ...(progress && { progress }),
        }),
      ),
    finish: (id, attempt, result) =>
      whileHeld(id, attempt, (row) =>
        row.state === 'aggregating' ? ledger.end(row, 'completed', { result }) : false,
      ),
    fail: (id, attempt, error, retry) =>
      whileHeld(id, attempt, (row) => {
        const failures = row.failures + 1;
        if (!retry) return ledger.end(row, 'failed', { failures, error });
        return giveBack(ledger, row, { failures, dueMs: nowMs() + retry.delayMs });
      }),
    release: (id, attempt) =>
      whileHeld(id, attempt, (row) => giveBack(ledger, row, { dueMs: nowMs() })),
    async nextClaimMs() {
      const dueMs = table.earliestDueMs();
      return dueMs === null ? null : Math.max(0, dueMs - nowMs());
    },
  };
}

function claim(ledger: Ledger, { leaseMs, threads, maxLosses }: ClaimOptions): Task | null {
  const { table } = ledger;
  const nowMs = ledger.nowMs();
  for (const row of table.endedLeases(nowMs)) {
    const losses = row.losses + 1;
    if (losses > maxLosses) ledger.end(row, 'failed', { losses, error: LOST, progress: null });
    else giveBack(ledger, row, { losses, dueMs: nowMs });
  }
  const row = table.firstWaiting(nowMs);
  if (!row) return null;
  ledger.reachTurn(row.turn);
  const attempt = row.attempt + 1;
  const dueMs = nowMs + leaseMs;
  return publicTask(ledger.change(row, { state: 'verifying', attempt, dueMs, threads }));
}

/** A running task waits again. */
function giveBack(
  ledger: Ledger,
  row: TaskRow,
  changes: Partial<Pick<TaskRow, 'failures' | 'losses' | 'dueMs'>>,
): TaskRow {
  return ledger.change(row, { state: 'waiting', progress: null, ...changes });
}
