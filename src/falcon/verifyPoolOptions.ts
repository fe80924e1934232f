/** What a verify pool can be told, and what it refuses to be told. */
import { checkHook, readOptions } from '../arguments.ts';
import { hostParallelism } from './hostThreads.ts';
import { type FalconParams, paramsOf } from './params.ts';
import type { ParameterSet } from './types.ts';

const THREADS_MAX = 256;

/** Options of {@link createVerifyPool}. */
export interface VerifyPoolOptions {
  /** Whose `verifyBatch` it is. Default `'falcon512'`. */
  readonly parameterSet?: ParameterSet;
  /** Threads at most, 1 to 256. Default: as many as the host says can run at once. */
  readonly threads?: number;
  /** The thread's module, for hosts that bundle: a copy of `verifyWorker` built as an entry of its own. */
  readonly workerUrl?: string | URL;
}

/** Options of {@link VerifyPool.verifyBatch}. */
export interface VerifyPoolBatchOptions {
  /** Stops the batch: the promise is rejected with `ABORTED`, runs not yet sent are dropped. */
  readonly signal?: AbortSignal;
  /** Called after each run of items with the number judged so far and the number of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * @returns the options with their defaults
 * @throws TypeError or RangeError for unknown names or values out of range
 */
export function checkPoolOptions(options: VerifyPoolOptions): {
  params: FalconParams;
  threads: number;
  workerUrl: URL;
} {
  const read = readOptions(options, ['parameterSet', 'threads', 'workerUrl']) as VerifyPoolOptions;
  const { parameterSet = 'falcon512', threads = Math.min(THREADS_MAX, hostParallelism()) } = read;
  const params = paramsOf(parameterSet);
  if (typeof threads !== 'number') throw new TypeError('"threads" expected a number');
  if (!Number.isInteger(threads) || threads < 1 || threads > THREADS_MAX) {
    throw new RangeError(`"threads" expected an integer from 1 to ${THREADS_MAX}, got ${threads}`);
  }
  return { params, threads, workerUrl: new URL(read.workerUrl ?? defaultWorkerUrl()) };
}

/** Beside this module, and in the same language: source as it stands, or built. */
function defaultWorkerUrl(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./verifyWorker.${extension}`, import.meta.url);
}

/** @throws TypeError for unknown names or wrong types */
export function checkBatchOptions(options: VerifyPoolBatchOptions): VerifyPoolBatchOptions {
  const read = readOptions(options, ['signal', 'onProgress']) as VerifyPoolBatchOptions;
  if (read.signal !== undefined && !(read.signal instanceof AbortSignal)) {
    throw new TypeError('"signal" expected an AbortSignal');
  }
  checkHook('onProgress', read.onProgress);
  return read;
}
