/**
 * What is done with one task of kind 'aggregate':
 *
 *   task file ─▶ read ─▶ verify every signature ─▶ aggregate ─▶ result file
 *                            └─▶ any invalid item: failed, with every one of them, nothing is proved
 *
 * Everything that costs time happens in one worker thread, which stays from task to task, and in the
 * threads that it keeps: `threads` in all. One task at a time is worked on there: it gets all
 * threads, and memory holds one proof; the file of the next one is fetched meanwhile. A result's blob
 * key belongs to one attempt: doing the same task twice at once, after a lost lease, harms nothing.
 */
import type { AggregateFormatOption, Statement } from '../../aggregate/index.ts';
import { CodedError, isCodedError } from '../../errors.ts';
import { workerBeside } from '../../threads/host.ts';
import { packItems } from '../../threads/packItems.ts';
import { ThreadPool } from '../../threads/pool.ts';
import type { Parcel } from '../../threads/thread.ts';
import { type BlobStore, resultKey } from '../blobs/blobStore.ts';
import { type Task, TaskFailure, type TaskResult } from '../task.ts';
import type { TaskContext, TaskHandler } from './runner.ts';
import {
  type Answer,
  type Judgement,
  type Made,
  type News,
  TASK_WORKER,
  type Work,
} from './taskWork.ts';

export interface AggregatorOptions {
  readonly blobs: BlobStore;
  /** Worker threads in all. */
  readonly threads: number;
  /** Format of the aggregates. */
  readonly format: AggregateFormatOption;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  readonly maxInputBytes: number;
  /** A worker that goes on for so long with a task that was stopped is ended. Default 1000 ms. */
  readonly stopMs?: number;
}

export interface Aggregator {
  readonly handler: TaskHandler;
  /**
   * Starts the worker thread.
   *
   * @throws CodedError `NO_WORKER` when it cannot be started
   */
  start(): Promise<void>;
  /**
   * Whether an aggregate holds for these statements; on the worker thread, between slices of a task.
   *
   * @throws CodedError `OVERLOADED` when too many wait already, `THREAD_LOST`
   */
  judge(aggregate: Uint8Array, statements: readonly Statement[]): Promise<boolean>;
  /** Ends the threads; tasks in work are rejected. */
  close(): Promise<void>;
}

/** What an aggregate pool takes at most. */
const MAX_THREADS = 64;

/** Judgements that may wait; one more is refused. */
const MAX_JUDGEMENTS = 64;

/** What a bundler leaves behind is a service without the file of its worker. */
const NO_WORKER_TEXT =
  'The worker thread of the service cannot be started. If falconry has been bundled, keep it out ' +
  "of the bundle: serverExternalPackages: ['falconry'] in Next, external in other bundlers";

/** Heap of the thread: what it needs anyway, and so many times the largest task file. */
const HEAP_MB = 256;
const HEAP_FACTOR = 8;
const MIB = 1024 * 1024;

/** A result file is as long as the batch makes it; this stops a fault of ours from filling the disk. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** Makes the handler and the threads that it works with; no thread starts before `start`. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { blobs, format, maxSignatures, maxDigestBytes, maxInputBytes, stopMs = 1000 } = options;
  const threads = Math.min(options.threads, MAX_THREADS);
  const limits = { maxSignatures, maxMessageBytes: maxDigestBytes, maxFileBytes: maxInputBytes };
  const worker = openWorker(maxInputBytes);
  const oneTask = turns();
  const oneJudgement = turns();
  let judgements = 0;

  const run = async (task: Task, context: TaskContext): Promise<TaskResult> => {
    const startMs = performance.now();
    const file = await fetchFile(blobs, task, maxInputBytes);
    const fetchMs = performance.now() - startMs;
    const work = { kind: 'aggregate', processId: task.id, limits, format, threads } as const;
    const made = await oneTask(context.signal, () =>
      workOn(worker, { work: { ...work, file, fetchMs }, transfer: [file] }, context, stopMs),
    );
    const key = resultKey(task.id, task.attempt);
    const { signal } = context;
    const blob = await stored(
      blobs.put(key, new Uint8Array(made.file), { maxBytes: MAX_RESULT_BYTES, signal }),
    );
    return { blob, format: made.format, aggregateBytes: made.aggregateBytes };
  };

  return {
    handler: {
      run,
      async discard(keys) {
        for (const key of keys) await blobs.delete(key);
      },
    },
    async start() {
      try {
        await worker.ready();
      } catch (cause) {
        throw new CodedError('NO_WORKER', { message: NO_WORKER_TEXT, cause });
      }
    },
    async judge(aggregate, statements) {
      if (judgements >= MAX_JUDGEMENTS) throw new CodedError('OVERLOADED');
      judgements++;
      try {
        const parcel = judgeParcel(aggregate, statements, threads);
        return await oneJudgement(undefined, async () => {
          return outcomeOf<Judgement>(await worker.call(parcel)).valid;
        });
      } finally {
        judgements--;
      }
    },
    close: () => worker.close(),
  };
}

/** The worker thread. */
function openWorker(maxInputBytes: number): ThreadPool {
  return new ThreadPool({
    size: 1,
    name: TASK_WORKER,
    module: workerBeside(import.meta.url, 'taskWorker'),
    // A file that blows up in memory takes its thread down (THREAD_LOST), and not the process.
    limits: { maxOldGenerationSizeMb: HEAP_MB + HEAP_FACTOR * Math.ceil(maxInputBytes / MIB) },
    maxRefusals: Number.POSITIVE_INFINITY,
  });
}

/**
 * One task in the worker thread, its news on their way to the store.
 *
 * @throws TaskFailure as the worker says, CodedError `THREAD_LOST`; the signal's reason once the
 *   worker has stopped
 */
async function workOn(
  worker: ThreadPool,
  parcel: Parcel,
  context: TaskContext,
  graceMs: number,
): Promise<Made> {
  const { signal, report } = context;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let total = 0;
  /** What is written to the store, in order; a refusal stops the worker. */
  let written = Promise.resolve();
  const write = (step: () => Promise<void>): void => {
    written = written.then(step);
    written.catch((error) => stop.abort(error));
  };
  const onNews = (news: unknown): void => {
    const told = news as News;
    if ('counted' in told) {
      total = told.counted;
      report({ phase: 'verify', done: 0, total });
      write(() => context.counted(total));
    } else if ('verified' in told) {
      write(() => context.aggregating({ phase: 'aggregate', done: 0, total }));
    } else {
      report({ ...told, total });
    }
  };
  try {
    const answer = await worker.call(parcel, { onNews, signal: either, graceMs });
    await written;
    signal.throwIfAborted();
    const made = outcomeOf<Made>(answer);
    report({ phase: 'store', done: total, total });
    return made;
  } catch (error) {
    signal.throwIfAborted();
    stop.signal.throwIfAborted();
    throw error;
  }
}

/** What the worker answered. @throws TaskFailure */
function outcomeOf<T extends Answer>(answer: unknown): T {
  const answered = answer as Answer;
  if (!('failure' in answered)) return answered as T;
  const { shown, cause } = answered.failure;
  throw new TaskFailure(shown, { cause, ...(shown.invalid && { invalid: shown.invalid }) });
}

function judgeParcel(
  aggregate: Uint8Array,
  statements: readonly Statement[],
  threads: number,
): Parcel {
  const signature = new Uint8Array(0);
  const packed = packItems(statements.map((statement) => ({ ...statement, signature })));
  // The caller keeps the aggregate: it is copied on its way.
  const work: Work = { kind: 'judge', aggregate: whole(aggregate), statements: packed, threads };
  return { work, transfer: [packed] };
}

/**
 * Runs one body at a time, in the order of the calls; one whose signal is aborted while it waits is
 * rejected at once and not run.
 */
function turns(): <T>(signal: AbortSignal | undefined, body: () => Promise<T>) => Promise<T> {
  let last: Promise<void> = Promise.resolve();
  return (signal, body) =>
    new Promise((resolve, reject) => {
      const stop = () => reject(signal?.reason);
      signal?.addEventListener('abort', stop, { once: true });
      last = last.then(async () => {
        signal?.removeEventListener('abort', stop);
        if (signal?.aborted) stop();
        else await body().then(resolve, reject);
      });
    });
}

async function fetchFile(blobs: BlobStore, task: Task, maxBytes: number): Promise<ArrayBuffer> {
  const bytes = await stored(blobs.read(task.input!.key, maxBytes));
  if (!bytes) throw new CodedError('INTERNAL', { message: 'The task file is gone' });
  return whole(bytes);
}

/** Trouble of the blob store is no fault of the task: it is tried again. */
async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (isCodedError(cause)) throw cause;
    throw new CodedError('STORE_UNAVAILABLE', { cause });
  }
}

/** The bytes as a buffer of their own, which can be handed over. */
function whole(bytes: Uint8Array): ArrayBuffer {
  const own = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return own ? (bytes.buffer as ArrayBuffer) : bytes.slice().buffer;
}
