/**
 * Transactions that arrive in the same turn of the event loop share one commit, and so one disk
 * sync, which blocks this thread. If one throws, only that one is rolled back, to a savepoint. No
 * outcome is reported before it is on disk; if the commit fails, all of them fail.
 *
 *   BEGIN IMMEDIATE ─▶ SAVEPOINT ─▶ work ─▶ RELEASE | ROLLBACK TO ─▶ … ─▶ COMMIT ─▶ outcomes
 *
 * While another process holds the write lock, this thread does other work and retries every few
 * milliseconds. A transaction that cannot begin in time is rejected.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import type { GroupCommit } from '../rules/table.ts';
import { isBusy, storeError, waitMs } from './sqliteFault.ts';

/** Maximum number of transactions per commit, so that none blocks the event loop for long. */
const MAX_GROUP = 64;

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly endMs: number;
}

/**
 * @param patienceMs how long a transaction waits for another process; then its `write` rejects with
 *   CodedError `STORE_UNAVAILABLE`. On a full disk with `STORAGE_FULL`
 */
export function createGroupCommit(db: DatabaseSync, patienceMs: number): GroupCommit {
  const waiting: Waiting[] = [];
  let drained: (() => void)[] = [];

  const turn = () => {
    const locked = !commitNext(db, waiting);
    if (waiting.length === 0) {
      for (const tell of drained) tell();
      drained = [];
    } else if (locked) setTimeout(turn, waitMs());
    // Skips a turn, so that outcomes are reported and reads answered in between.
    else setImmediate(() => setImmediate(turn));
  };

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        const endMs = performance.now() + patienceMs;
        waiting.push({ work, resolve: resolve as Waiting['resolve'], reject, endMs });
        if (waiting.length === 1) setImmediate(turn);
      }),
    drain: () =>
      new Promise((resolve) => {
        if (waiting.length === 0) resolve();
        else drained.push(resolve);
      }),
  };
}

/** Commits the first group in the queue. @returns false if another process has the lock */
function commitNext(db: DatabaseSync, waiting: Waiting[]): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    const locked = isBusy(error);
    const nowMs = performance.now();
    const late = waiting.filter(({ endMs }) => endMs <= nowMs).length;
    for (const { reject } of waiting.splice(0, locked ? late : MAX_GROUP)) {
      reject(storeError(error));
    }
    return !locked;
  }
  commit(db, waiting.splice(0, MAX_GROUP));
  return true;
}

/** Does the work of the group in the open transaction, and ends it. */
function commit(db: DatabaseSync, group: readonly Waiting[]): void {
  const outcomes: (() => void)[] = [];
  try {
    for (const { work, resolve, reject } of group) {
      try {
        const outcome = group.length === 1 ? work() : behindSavepoint(db, work);
        outcomes.push(() => resolve(outcome));
      } catch (error) {
        // An error that ended the whole transaction (the disk is full) fails the whole group.
        if (group.length === 1 || !db.isTransaction) throw error;
        outcomes.push(() => reject(storeError(error)));
      }
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
    for (const { reject } of group) reject(storeError(error));
    return;
  }
  for (const tell of outcomes) tell();
}

function behindSavepoint(db: DatabaseSync, work: () => unknown): unknown {
  db.exec('SAVEPOINT one');
  try {
    const outcome = work();
    db.exec('RELEASE one');
    return outcome;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK TO one; RELEASE one');
    throw error;
  }
}
