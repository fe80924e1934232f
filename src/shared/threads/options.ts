/** Thread options shared by all pools. */
import { type WorkerModule, workerAt } from './host.ts';

/** @throws TypeError, RangeError unless it is an integer from 1 to `most`, or undefined */
export function checkThreads(threads: unknown, most: number): void {
  if (threads === undefined) return;
  if (typeof threads !== 'number') throw new TypeError('"threads" expected a number');
  if (!Number.isInteger(threads) || threads < 1 || threads > most) {
    throw new RangeError(`"threads" expected an integer from 1 to ${most}, got ${threads}`);
  }
}

/** An arbitrary base: the validity of a URL does not depend on it. */
const SOMEWHERE = 'http://localhost/';

/**
 * Returns the module to run: at the caller's address if given, else the one next to this module.
 *
 * @throws TypeError, RangeError if it is not an address
 */
export function checkWorkerUrl(workerUrl: unknown, beside: WorkerModule): WorkerModule {
  if (workerUrl === undefined) return beside;
  if (typeof workerUrl !== 'string' && !(workerUrl instanceof URL)) {
    throw new TypeError('"workerUrl" expected a string or URL');
  }
  if (typeof workerUrl === 'string' && !URL.canParse(workerUrl, SOMEWHERE)) {
    throw new RangeError('"workerUrl" is not a URL');
  }
  return workerAt(workerUrl);
}
