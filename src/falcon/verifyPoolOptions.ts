/** The options of verify pools, and their validation. */

import { checkHook, checkSignal, readOptions } from '../shared/arguments.ts';
import type { HostSignal, HostUrl } from '../shared/hostTypes.ts';
import { hostParallelism, type WorkerModule, workerBeside } from '../shared/threads/host.ts';
import { checkThreads, checkWorkerUrl } from '../shared/threads/pool.ts';
import { type FalconParams, paramsOf, readFormat } from './params.ts';
import type { ParameterSet, VerifyOptions } from './types.ts';

const MAX_THREADS = 256;

/** Statistics of a batch. */
export interface VerifyPoolStats {
  /** Number of running threads; 0 if the calling thread did all of the work. */
  readonly threads: number;
}

type OnStats = (stats: VerifyPoolStats) => void;

/** Options of {@link createVerifyPool}. */
export interface VerifyPoolOptions {
  /** The parameter set to verify. Default `'falcon512'`. */
  readonly parameterSet?: ParameterSet;
  /**
   * Maximum number of threads, 1 to 256, not counting the calling one. Default: the parallelism
   * that the host reports. A batch starts only as many as it can use.
   */
  readonly threads?: number;
  /**
   * URL of the threads' module, if the bundler does not find it: `falconry/verify-worker`, built as
   * a separate entry. A relative string is resolved against the page (in Node, Deno and Bun:
   * against the working directory).
   */
  readonly workerUrl?: string | HostUrl;
  /** Default for the `onStats` option of `verifyBatch`. */
  readonly onStats?: OnStats;
}

/** Options of {@link VerifyPool.verifyBatch}. */
export interface VerifyPoolBatchOptions extends VerifyOptions {
  /** Stops the batch: the promise is rejected with `ABORTED`, and runs not yet sent are dropped. */
  readonly signal?: HostSignal;
  /** Called after each run of items, with the number verified so far and the total. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called once, when the batch is verified and every started thread is running or lost. */
  readonly onStats?: OnStats;
}

const OF_POOL = ['parameterSet', 'threads', 'workerUrl', 'onStats'];
const OF_BATCH = ['signal', 'onProgress', 'onStats', 'format'];

/** The threads' module, in a form that bundlers recognise. */
const beside = (): WorkerModule =>
  workerBeside(
    import.meta.url,
    'verifyWorker',
    () => new Worker(new URL('./verifyWorker.js', import.meta.url), { type: 'module' }),
  );

/**
 * @internal
 * @returns the options with their defaults
 * @throws TypeError or RangeError for unknown names or values out of range
 */
export function checkPoolOptions(options: VerifyPoolOptions): {
  params: FalconParams;
  threads: number;
  module: WorkerModule;
  onStats: OnStats | undefined;
} {
  const read = readOptions(options, OF_POOL) as VerifyPoolOptions;
  const { parameterSet = 'falcon512', threads, workerUrl, onStats } = read;
  const params = paramsOf(parameterSet);
  checkThreads(threads, MAX_THREADS);
  checkHook('onStats', onStats);
  return {
    params,
    threads: threads ?? Math.min(MAX_THREADS, hostParallelism()),
    module: checkWorkerUrl(workerUrl, beside()),
    onStats,
  };
}

/**
 * @returns the options with their defaults; the format as the module's number
 * @throws TypeError for unknown names or wrong types, RangeError for an unknown format
 */
export function checkBatchOptions(
  options: VerifyPoolBatchOptions,
  onAllStats: OnStats | undefined,
): Omit<VerifyPoolBatchOptions, 'format'> & { readonly format: number | undefined } {
  const read = readOptions(options, OF_BATCH) as VerifyPoolBatchOptions;
  const { signal, onProgress, onStats = onAllStats, format } = read;
  checkSignal(signal);
  checkHook('onProgress', onProgress);
  checkHook('onStats', onStats);
  return {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(onStats && { onStats }),
    format: format === undefined ? undefined : readFormat(format),
  };
}
