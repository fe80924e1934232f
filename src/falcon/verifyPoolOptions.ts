/** What a verify pool can be told, and what it refuses to be told. */
import { hostParallelism } from './hostThreads.ts';
import { FALCON_512, FALCON_1024, type FalconParams } from './params.ts';
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

function checkOptionNames(options: object, known: readonly string[], what: string): void {
  if (options === null || typeof options !== 'object') {
    throw new TypeError(`"${what}" expected an object`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`unknown option "${name}"`);
  }
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
  checkOptionNames(options, ['parameterSet', 'threads', 'workerUrl'], 'options');
  const { parameterSet = 'falcon512', threads = Math.min(THREADS_MAX, hostParallelism()) } =
    options;
  if (parameterSet !== 'falcon512' && parameterSet !== 'falcon1024') {
    throw new RangeError('"parameterSet" expected "falcon512" or "falcon1024"');
  }
  if (typeof threads !== 'number') throw new TypeError('"threads" expected a number');
  if (!Number.isInteger(threads) || threads < 1 || threads > THREADS_MAX) {
    throw new RangeError(`"threads" expected an integer from 1 to ${THREADS_MAX}, got ${threads}`);
  }
  const params = parameterSet === 'falcon512' ? FALCON_512 : FALCON_1024;
  return { params, threads, workerUrl: new URL(options.workerUrl ?? defaultWorkerUrl()) };
}

/** Beside this module, and in the same language: source as it stands, or built. */
function defaultWorkerUrl(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./verifyWorker.${extension}`, import.meta.url);
}

/** @throws TypeError for unknown names or wrong types */
export function checkBatchOptions(options: VerifyPoolBatchOptions): VerifyPoolBatchOptions {
  checkOptionNames(options, ['signal', 'onProgress'], 'options');
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
    throw new TypeError('"signal" expected an AbortSignal');
  }
  if (options.onProgress !== undefined && typeof options.onProgress !== 'function') {
    throw new TypeError('"onProgress" expected a function');
  }
  return options;
}
