/**
 * Transactions that arrive in the same turn of the event loop share one commit, and so one sync of
 * the disk, which blocks this thread. Each keeps its own outcome: one that throws is rolled back
 * alone, to a savepoint. No outcome is reported before it is on the disk; if the commit fails, all
 * of them fail.
 *
 *   BEGIN IMMEDIATE ─▶ SAVEPOINT ─▶ work ─▶ RELEASE | ROLLBACK TO ─▶ … ─▶ COMMIT ─▶ outcomes
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import { CodedError } from '../../errors.ts';
import { isBusy } from './sqliteFault.ts';

/**
 * Most transactions per commit, so as not to block the event loop: others follow in the next turn.
 */
const MAX_GROUP = 64;

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommit {
  /** Runs the work as a transaction; resolves when it is durable. */
  write<T>(work: () => T): Promise<T>;
  /** Runs and commits all waiting transactions at once. */
  flush(): void;
}

export function createGroupCommit(db: DatabaseSync): GroupCommit {
  const waiting: Waiting[] = [];

  const turn = () => {
    const group = waiting.splice(0, MAX_GROUP);
    if (waiting.length > 0) setImmediate(turn);
    if (group.length > 0) commit(db, group);
  };

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
        if (waiting.length === 1) setImmediate(turn);
      }),
    flush() {
      while (waiting.length > 0) commit(db, waiting.splice(0, MAX_GROUP));
    },
  };
}

function commit(db: DatabaseSync, group: readonly Waiting[]): void {
  const outcomes: (() => void)[] = [];
  try {
    db.exec('BEGIN IMMEDIATE');
    for (const { work, resolve, reject } of group) {
      try {
        const outcome = group.length === 1 ? work() : behindSavepoint(db, work);
        outcomes.push(() => resolve(outcome));
      } catch (error) {
        // An error that ended the whole transaction (the disk is full) fails the whole group.
        if (group.length === 1 || !db.isTransaction) throw error;
        outcomes.push(() => reject(shown(error)));
      }
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
    for (const { reject } of group) reject(shown(error));
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

const shown = (error: unknown) =>
  isBusy(error) ? new CodedError('STORE_UNAVAILABLE', { cause: error }) : error;
