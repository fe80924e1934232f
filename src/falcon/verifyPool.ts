/**
 * `verifyBatch` over worker threads: the same answer as the synchronous call, for any number of threads.
 *
 *   verifyBatch(items) ── runs of items ──> thread 1, thread 2, ..   (two runs each: one in work, one waiting)
 *        ^                                       │
 *        └────────── invalid items, buffer ──────┘
 *
 * Runs are packed only when a thread has room, so memory stays bounded however long the batch is.
 * Threads start with the first batch, stay for the next, and let the process exit while they are idle.
 */
import { CodedError } from '../errors.ts';
import { lengthOf } from '../intrinsics.ts';
import { type ReadItem, readItems } from './batch.ts';
import { type HostThread, hasThreads, startThread } from './hostThreads.ts';
import type { BatchItem, InvalidBatchItem, ParameterSet } from './types.ts';
import { packItems, type VerifyAnswer, type VerifyRequest } from './verifyPack.ts';
import {
  checkBatchOptions,
  checkPoolOptions,
  type VerifyPoolBatchOptions,
  type VerifyPoolOptions,
} from './verifyPoolOptions.ts';

export type { VerifyPoolBatchOptions, VerifyPoolOptions } from './verifyPoolOptions.ts';

export interface VerifyPool {
  readonly parameterSet: ParameterSet;
  readonly threads: number;
  /**
   * Verifies a batch. The items and their bytes must stay as they are until the promise settles.
   *
   * @returns the invalid items with their reasons, by ascending index; `[]` says that all are valid
   * @throws TypeError or RangeError for items or options of wrong types (as the promise's rejection)
   * @throws CodedError `ABORTED` (signal, or pool closed), `THREAD_LOST` (retriable: a thread died), `INTERNAL`
   */
  verifyBatch(
    items: readonly BatchItem[],
    options?: VerifyPoolBatchOptions,
  ): Promise<InvalidBatchItem[]>;
  /** Ends the threads; batches in work are rejected with `ABORTED`. Further calls do nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Items of a run. Runs begin long, so that their dispatch (some 40 µs) is small beside their work, and get shorter
 * towards the end of the batch, so that all threads end together.
 */
const RUN_MIN = 32;
const RUN_MAX = 1024;
const RUN_SHARE = 4;
/** A run of long messages is cut where it passes this many bytes. */
const RUN_BYTES = 1 << 20;
const SPARE_MAX = 4 * RUN_BYTES;
const RUNS_PER_THREAD = 2;

interface Job {
  readonly items: readonly ReadItem[];
  readonly invalid: InvalidBatchItem[];
  readonly onProgress: ((done: number, total: number) => void) | undefined;
  readonly settle: (error?: unknown) => void;
  next: number;
  done: number;
  settled: boolean;
}

interface Run {
  readonly job: Job;
  readonly from: number;
  readonly to: number;
}

interface PoolThread {
  readonly host: HostThread;
  readonly runs: Map<number, Run>;
}

/**
 * Makes a pool. No thread starts before the first batch.
 *
 * @throws TypeError or RangeError for unknown options or values out of range
 * @example
 * ```ts
 * const pool = createVerifyPool({ threads: 2 });
 * const invalid = await pool.verifyBatch([{ signature, message, publicKey }]);
 * await pool.close();
 * ```
 */
export function createVerifyPool(options: VerifyPoolOptions = {}): VerifyPool {
  const { params, threads, workerUrl } = checkPoolOptions(options);
  const parameterSet = params.name;
  const crew = new Set<PoolThread>();
  const jobs: Job[] = [];
  const spareBuffers: ArrayBuffer[] = [];
  let nextId = 0;
  let closed = false;

  /** Buffers are used again (fresh memory costs more than packing), save those that one long message made large. */
  function keepBuffer(buffer: ArrayBuffer): void {
    const room = spareBuffers.length < RUNS_PER_THREAD * threads;
    if (room && buffer.byteLength <= SPARE_MAX) spareBuffers.push(buffer);
  }

  /** A buffer of one of few sizes, so that the next run has use for it. */
  function takeBuffer(size: number): ArrayBuffer {
    const fitting = spareBuffers.findIndex((buffer) => buffer.byteLength >= size);
    if (fitting >= 0) return spareBuffers.splice(fitting, 1)[0]!;
    spareBuffers.pop();
    return new ArrayBuffer(Math.max(RUN_BYTES, 2 ** Math.ceil(Math.log2(size))));
  }

  function settleRun(thread: PoolThread, message: unknown): void {
    const answer = message as VerifyAnswer;
    const run = thread.runs.get(answer.id);
    if (run === undefined) return;
    thread.runs.delete(answer.id);
    keepBuffer(answer.buffer);
    const { job } = run;
    if (!job.settled) {
      if (answer.error !== undefined) {
        job.settle(new CodedError('INTERNAL', { cause: new Error(answer.error) }));
      } else {
        for (const { index, reason } of answer.invalid) {
          job.invalid.push({ index: run.from + index, reason });
        }
        job.done += run.to - run.from;
        report(job);
      }
    }
    dispatch();
  }

  /** A progress callback that throws is the caller's fault and ends its batch, not the pool. */
  function report(job: Job): void {
    try {
      job.onProgress?.(job.done, job.items.length);
    } catch (error) {
      job.settle(error);
    }
    if (job.done === job.items.length) job.settle();
  }

  function startPoolThread(): PoolThread {
    const runs = new Map<number, Run>();
    const host = startThread(workerUrl, {
      onMessage: (message) => settleRun(thread, message),
      onLost: (cause) => loseThread(thread, cause),
    });
    const thread: PoolThread = { host, runs };
    crew.add(thread);
    return thread;
  }

  function loseThread(thread: PoolThread, cause: unknown): void {
    crew.delete(thread);
    const lost = [...thread.runs.values()];
    thread.runs.clear();
    for (const { job } of lost) job.settle(new CodedError('THREAD_LOST', { cause }));
    dispatch();
  }

  /** The thread with room that has least to do; a new one while there may be more and none is idle. */
  function freeThread(): PoolThread | undefined {
    let best: PoolThread | undefined;
    for (const thread of crew) {
      if (best === undefined || thread.runs.size < best.runs.size) best = thread;
    }
    if ((best === undefined || best.runs.size > 0) && crew.size < threads) return startPoolThread();
    return best !== undefined && best.runs.size < RUNS_PER_THREAD ? best : undefined;
  }

  /** Hands out runs, oldest batch first, until the threads or the batches have no more. */
  function dispatch(): void {
    while (!closed) {
      while (jobs[0] !== undefined && (jobs[0].settled || jobs[0].next === jobs[0].items.length)) {
        jobs.shift();
      }
      const job = jobs[0];
      if (job === undefined) break;
      try {
        const thread = freeThread();
        if (thread === undefined) break;
        send(thread, job);
      } catch (cause) {
        job.settle(new CodedError('THREAD_LOST', { cause }));
      }
    }
    for (const thread of crew) thread.host.hold(thread.runs.size > 0);
  }

  function send(thread: PoolThread, job: Job): void {
    const from = job.next;
    const share = Math.ceil((job.items.length - from) / (RUN_SHARE * threads));
    const to = runEnd(job.items, from, Math.min(RUN_MAX, Math.max(RUN_MIN, share)));
    const buffer = packItems(job.items, from, to, takeBuffer);
    const request: VerifyRequest = { id: nextId++, parameterSet, buffer };
    job.next = to;
    thread.runs.set(request.id, { job, from, to });
    thread.host.post(request, [buffer]);
  }

  async function verifyBatch(
    given: readonly BatchItem[],
    batchOptions: VerifyPoolBatchOptions = {},
  ): Promise<InvalidBatchItem[]> {
    const items = readItems(given, params);
    const { signal, onProgress } = checkBatchOptions(batchOptions);
    if (closed) throw closedError();
    if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
    if (items.length === 0) return [];
    if (!hasThreads()) throw new CodedError('THREAD_LOST', { message: 'This host has no threads' });

    return new Promise((resolve, reject) => {
      const invalid: InvalidBatchItem[] = [];
      const stop = (): void => job.settle(new CodedError('ABORTED', { cause: signal?.reason }));
      const job: Job = {
        items,
        invalid,
        onProgress,
        next: 0,
        done: 0,
        settled: false,
        settle: (error) => {
          if (job.settled) return;
          job.settled = true;
          signal?.removeEventListener('abort', stop);
          if (error === undefined) resolve(invalid.sort((a, b) => a.index - b.index));
          else reject(error);
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      jobs.push(job);
      dispatch();
    });
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    const pending = new Set(jobs);
    for (const thread of crew) {
      thread.host.terminate();
      for (const { job } of thread.runs.values()) pending.add(job);
    }
    crew.clear();
    jobs.length = 0;
    spareBuffers.length = 0;
    for (const job of pending) job.settle(closedError());
  }

  return Object.freeze({ parameterSet, threads, verifyBatch, close, [Symbol.asyncDispose]: close });
}

const closedError = (): CodedError =>
  new CodedError('ABORTED', { message: 'The verify pool is closed' });

/** First index after the run that starts at `from`: at most `length` items, and no item after RUN_BYTES. */
function runEnd(items: readonly ReadItem[], from: number, length: number): number {
  const end = Math.min(items.length, from + length);
  let bytes = 0;
  let to = from;
  while (to < end && bytes < RUN_BYTES) {
    bytes += lengthOf(items[to]!.message) + lengthOf(items[to]!.signature);
    to++;
  }
  return to;
}
