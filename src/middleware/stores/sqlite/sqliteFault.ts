/** The meaning of SQLite's error codes, and retries while a file is locked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../../shared/errors.ts';

/** Time between two tries: short, so that a free lock is soon taken. */
const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 10;

/** Returns a random wait, so that waiting processes do not retry at the same time. */
export const waitMs = (): number => MIN_WAIT_MS + Math.random() * (MAX_WAIT_MS - MIN_WAIT_MS);

const codeOf = (error: unknown): number => (error as { errcode?: number } | null)?.errcode ?? 0;

/** SQLITE_BUSY and SQLITE_LOCKED, extended codes included. */
export function isBusy(error: unknown): boolean {
  return [5, 6].includes(codeOf(error) & 255);
}

const IOERR_WRITE = 778;
const IOERR_SHMSIZE = 4874;

/**
 * Returns whether the disk is full: SQLITE_FULL; a failed write, which SQLite reports at a quota or
 * file size limit; or a shared-memory file that cannot grow.
 */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return (code & 255) === 13 || code === IOERR_WRITE || code === IOERR_SHMSIZE;
}

/** SQLITE_READONLY, IOERR, CANTOPEN: the file was replaced, removed or damaged. */
const LOST = [8, 10, 14];

/** Converts an error of SQLite to a CodedError; returns any other error unchanged. */
export function storeError(cause: unknown): unknown {
  if (isFull(cause)) return new CodedError('STORAGE_FULL', { cause });
  const closed = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_INVALID_STATE';
  if (closed || isBusy(cause) || LOST.includes(codeOf(cause) & 255)) {
    return new CodedError('STORE_UNAVAILABLE', { cause });
  }
  return cause;
}

/**
 * Makes each verb retry while the file is locked, without blocking the thread, and converts errors.
 * A verb that a lock has stopped did nothing, so it can be repeated.
 */
export function patient<Store extends object>(store: Store, patienceMs: number): Store {
  type Verb = (...args: unknown[]) => unknown;
  const tried = async (verb: Verb, args: unknown[]): Promise<unknown> => {
    const endMs = performance.now() + patienceMs;
    for (;;) {
      try {
        return await verb(...args);
      } catch (error) {
        if (!isBusy(error) || performance.now() > endMs) throw storeError(error);
        await sleep(waitMs());
      }
    }
  };
  const verbs = Object.entries(store).map(([name, verb]) => {
    // Returns a function, not a promise.
    if (name === 'watch') return [name, verb];
    return [name, (...args: unknown[]) => tried(verb as Verb, args)];
  });
  return Object.fromEntries(verbs) as Store;
}
