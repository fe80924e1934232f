/** What the users of pools may say about threads. */
import { type WorkerModule, workerAt } from './host.ts';

/** @throws TypeError, RangeError unless it is an integer from 1 to `most`, or undefined */
export function checkThreads(threads: unknown, most: number): void {
  if (threads === undefined) return;
  if (typeof threads !== 'number') throw new TypeError('"threads" expected a number');
  if (!Number.isInteger(threads) || threads < 1 || threads > most) {
    throw new RangeError(`"threads" expected an integer from 1 to ${most}, got ${threads}`);
  }
}

/** Any page's address: whether a string is a URL does not depend on what it is relative to. */
const SOMEWHERE = 'http://localhost/';

/**
 * The module to run: the one at the caller's address, or the one that stands beside our own.
 *
 * @throws TypeError, RangeError for what is no address at all
 */
export function checkWorkerUrl(workerUrl: unknown, beside: WorkerModule): WorkerModule {
  if (workerUrl === undefined) return beside;
  if (typeof workerUrl !== 'string' && !(workerUrl instanceof URL)) {
    throw new TypeError('"workerUrl" expected a string or URL');
  }
  if (typeof workerUrl === 'string' && !URL.canParse(workerUrl, SOMEWHERE)) {
    throw new RangeError('"workerUrl" is no URL');
  }
  return workerAt(workerUrl);
}
