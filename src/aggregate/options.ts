/** What the asynchronous calls can be told, and what they refuse to be told. */
import { checkHook, readOptions } from '../arguments.ts';
import { hostParallelism } from '../falcon/hostThreads.ts';

import { FORMATS } from './container.ts';
import type { AggregateFormatOption, FormatChoice } from './format.ts';

/** How far an aggregation is; `done` counts items, and comes to `total` in both phases. */
export interface AggregateProgress {
  readonly phase: 'verifying' | 'aggregating';
  readonly done: number;
  readonly total: number;
}

/** What an aggregation took. */
export interface AggregateStats {
  /** Threads that the proof was made with, the calling one included; 1 for a bundle. */
  readonly threads: number;
  /** Peak bytes of WebAssembly memory that the prover took in all threads; 0 for a bundle. */
  readonly memoryBytes: number;
}

export interface WorkOptions {
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Called now and then, and at the end of each phase. What it throws rejects the promise. */
  readonly onProgress?: (progress: AggregateProgress) => void;
}

export interface ThreadOptions {
  /**
   * Threads to work with, the calling one included, 1 to 64. The result is the same for any number. Where the host gives no threads,
   * or one dies, the calling thread does all of the work.
   */
  readonly threads?: number;
  /** The threads' module, for hosts that bundle: a copy of `dist/aggregate/threads/worker.js` built as an entry of its own. */
  readonly workerUrl?: string | URL;
}

export interface PoolAggregateOptions extends WorkOptions {
  /**
   * The format of the body. Default `auto`: the smaller one, which is a proof from some hundred
   * signatures on. A proof takes seconds where a bundle takes milliseconds, and gives no signature
   * back.
   */
  readonly format?: AggregateFormatOption;
  /** Called once, when the format is settled, with the reason. */
  readonly onFormat?: (choice: FormatChoice) => void;
  /** Called once, when the aggregate is made. */
  readonly onStats?: (stats: AggregateStats) => void;
}

/** Options of `aggregate`; `threads` is 1 by default. */
export interface AggregateOptions extends PoolAggregateOptions, ThreadOptions {}

/** Options of `verifyAggregateAsync`; `threads` is 1 by default. */
export interface VerifyAggregateOptions extends WorkOptions, ThreadOptions {}

/** Options of `createAggregatePool`; `threads` is as many as the host says can run at once by default. */
export type AggregatePoolOptions = ThreadOptions;

const MAX_THREADS = 64;
const WORK = ['signal', 'onProgress'] as const;
const AGGREGATE = [...WORK, 'format', 'onFormat', 'onStats'] as const;
const THREADS = ['threads', 'workerUrl'] as const;

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkAggregateOptions<T extends AggregateOptions>(options: T, ofPool = false): T {
  const read = readOptions(options, ofPool ? AGGREGATE : [...AGGREGATE, ...THREADS]) as T;
  const { format, onFormat, onStats } = read;
  if (format !== undefined && format !== 'auto' && !Object.hasOwn(FORMATS, format)) {
    throw new RangeError('"format" expected "auto", "proof" or "bundle"');
  }
  checkHook('onFormat', onFormat);
  checkHook('onStats', onStats);
  checkWork(read);
  checkThreads(read);
  return read;
}

/** @throws TypeError or RangeError for unknown names, wrong types, values out of range */
export function checkVerifyOptions<T extends VerifyAggregateOptions>(
  options: T,
  ofPool = false,
): T {
  const read = readOptions(options, ofPool ? WORK : [...WORK, ...THREADS]) as T;
  checkWork(read);
  checkThreads(read);
  return read;
}

/**
 * @returns the options with their defaults
 * @throws TypeError or RangeError for unknown names, wrong types, values out of range
 */
export function checkPoolOptions(options: AggregatePoolOptions): {
  threads: number;
  workerUrl: string | URL | undefined;
} {
  const read = readOptions(options, THREADS) as AggregatePoolOptions;
  checkThreads(read);
  const { threads = Math.min(MAX_THREADS, hostParallelism()), workerUrl } = read;
  return { threads, workerUrl };
}

function checkWork({ signal, onProgress }: WorkOptions): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('"signal" expected an AbortSignal');
  }
  checkHook('onProgress', onProgress);
}

function checkThreads({ threads, workerUrl }: ThreadOptions): void {
  if (threads !== undefined) {
    if (typeof threads !== 'number') {
      throw new TypeError(`"threads" expected a number, got ${typeof threads}`);
    }
    if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
      throw new RangeError(
        `"threads" expected an integer from 1 to ${MAX_THREADS}, got ${threads}`,
      );
    }
  }
  if (workerUrl === undefined || workerUrl instanceof URL) return;
  if (typeof workerUrl !== 'string') throw new TypeError('"workerUrl" expected a string or URL');
  if (!URL.canParse(workerUrl, import.meta.url)) throw new RangeError('"workerUrl" is no URL');
}
