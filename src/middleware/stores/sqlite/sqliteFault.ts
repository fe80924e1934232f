/** The meaning of SQLite's error codes, and the patience with a file that is locked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../../shared/errors.ts';

/** Time between two tries, so short that the lock is had soon after it is free. */
const MIN_WAIT_MS = 1;
const MAX_WAIT_MS = 10;

/** A time to wait; a random one, so that waiting processes do not run in step. */
export const waitMs = (): number => MIN_WAIT_MS + Math.random() * (MAX_WAIT_MS - MIN_WAIT_MS);

const codeOf = (error: unknown): number => (error as { errcode?: number } | null)?.errcode ?? 0;

/** SQLITE_BUSY and SQLITE_LOCKED, extended codes included. */
export function isBusy(error: unknown): boolean {
  return [5, 6].includes(codeOf(error) & 255);
}

const IOERR_WRITE = 778;
const IOERR_SHMSIZE = 4874;

/**
 * SQLITE_FULL; also a failed write, since SQLite says so if a quota or the limit of a file's size
 * is reached, and a shared-memory file that cannot grow.
 */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return (code & 255) === 13 || code === IOERR_WRITE || code === IOERR_SHMSIZE;
}

/** SQLITE_READONLY, IOERR, CANTOPEN: the file is not what it was. */
const LOST = [8, 10, 14];

/** An error of SQLite in the words of the port; any other one as it is. */
export function storeError(cause: unknown): unknown {
  if (isFull(cause)) return new CodedError('STORAGE_FULL', { cause });
  const closed = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_INVALID_STATE';
  if (closed || isBusy(cause) || LOST.includes(codeOf(cause) & 255)) {
    return new CodedError('STORE_UNAVAILABLE', { cause });
  }
  return cause;
}

/**
 * Makes each verb wait while the file is locked, without blocking the thread, and speak in codes.
 * What a locked file stops has not happened, so it can be done again.
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
