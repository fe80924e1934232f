/**
 * The verbs of workers: claims, leases and outcomes. A verb that names an attempt acts only while
 * that attempt holds the task, and returns `false` otherwise. See `taskStore.ts`.
 */
import type { Task, TaskResult } from '../port/task.ts';
import type { Claim, ClaimOptions, WorkerVerbs } from '../port/taskStore.ts';
import type { Ledger } from './ledger.ts';
import { failPart, finishPart, remake } from './partRules.ts';
import type { TaskChanges, TaskRow } from './table.ts';

export function queue(ledger: Ledger): WorkerVerbs {
  const { table, nowMs } = ledger;
  /** Does the work on the task if the attempt holds it. */
  const whileHeld = (id: number, attempt: number, work: (row: TaskRow) => unknown) =>
    ledger.write(() => {
      const row = ledger.held(id, attempt);
      return row !== undefined && work(row) !== false;
    });
  const back = (row: TaskRow, changes: TaskChanges) => giveBack(ledger, row, changes);

  return {
    async claim(options) {
      // First without the write lock, since most claims find nothing.
      const nextMs = nextClaimMs(ledger);
      if (nextMs === null || nextMs > 0) return { task: null, nextMs };
      return ledger.write((): Claim => {
        const task = claim(ledger, options);
        return task ? { task } : { task, nextMs: nextClaimMs(ledger) };
      });
    },
    extendAll: (attempts, leaseMs) =>
      ledger.write(() => {
        const dueMs = nowMs() + leaseMs;
        const rows = attempts.flatMap(({ id, attempt }) => ledger.held(id, attempt) ?? []);
        for (const row of rows) table.update(row.id, { dueMs });
        return new Set(rows.map((row) => row.id));
      }),
    extend: (id, attempt, { leaseMs, state, count, progress, input }) =>
      whileHeld(id, attempt, (row) =>
        ledger.change(row, {
          dueMs: nowMs() + leaseMs,
          ...(state && { state }),
          ...(count !== undefined && { count }),
          ...(progress && { progress }),
          ...(input && { input }),
        }),
      ),
    finish: (id, attempt, result) => whileHeld(id, attempt, (row) => finish(ledger, row, result)),
    fail: (id, attempt, error, retry) =>
      whileHeld(id, attempt, (row) => {
        const failures = row.failures + (retry?.blameless ? 0 : 1);
        if (retry) return back(row, { failures, dueMs: nowMs() + retry.delayMs });
        if (row.parent !== null) return failPart(ledger, row, { failures, error });
        return ledger.end(row, 'failed', { failures, error });
      }),
    remake: (id, attempt, parts) => whileHeld(id, attempt, (row) => remake(ledger, row, parts)),
    release: (id, attempt) => whileHeld(id, attempt, (row) => back(row, { dueMs: nowMs() })),
    setAside: (id, attempt, error) =>
      whileHeld(id, attempt, (row) => back(row, { error, quarantined: true, dueMs: null })),
    putBack: (id) =>
      ledger.write(() => {
        const row = table.row(id);
        if (!row?.quarantined) return false;
        ledger.change(row, { quarantined: false, error: null, failures: 0, dueMs: nowMs() });
        return true;
      }),
  };
}

/** Returns the milliseconds until a claim could succeed, or null if nothing waits or runs. */
function nextClaimMs(ledger: Ledger): number | null {
  ledger.meetClock();
  const dueMs = ledger.table.earliestDueMs();
  return dueMs === null ? null : Math.max(0, dueMs - ledger.nowMs());
}

function claim(ledger: Ledger, { leaseMs, threads }: ClaimOptions): Task | null {
  const { table } = ledger;
  const nowMs = ledger.nowMs();
  for (const row of table.endedLeases(nowMs)) {
    giveBack(ledger, row, { losses: row.losses + 1, dueMs: nowMs });
  }
  const row = table.firstWaiting(nowMs);
  if (!row) return null;
  ledger.reachTurn(row.turn);
  const attempt = row.attempt + 1;
  const dueMs = nowMs + leaseMs;
  return ledger.told(ledger.change(row, { state: 'verifying', attempt, dueMs, threads }));
}

function finish(ledger: Ledger, row: TaskRow, result: TaskResult): unknown {
  if (row.state !== 'aggregating') return false;
  if (row.parent !== null) return finishPart(ledger, row, result);
  return ledger.end(row, 'completed', { result });
}

/** Puts a running task back into the queue. */
function giveBack(ledger: Ledger, row: TaskRow, changes: TaskChanges): TaskRow {
  return ledger.change(row, { state: 'waiting', progress: null, ...changes });
}
