/**
 * What is done with one task of kind 'aggregate':
 *
 *   task file ─▶ read ─▶ verify in chunks, on all threads ─▶ aggregate, on all threads ─▶ result file
 *                            └─▶ any invalid item: failed, with every one of them, and nothing is proved
 *
 * Everything that costs time happens in worker threads; a thread in the middle of WebAssembly cannot be interrupted, so
 * stopping means ending the thread (the pool starts another), and the threads that it has started. One task at a time is aggregated: it
 * gets all threads, and memory holds one proof. A result's blob key belongs to one attempt: doing the same task twice at once,
 * after a lost lease, harms nothing.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { AggregateFormatOption, Statement } from '../../aggregate/index.ts';
import { CodedError, type InvalidItem, isCodedError } from '../../errors.ts';
import type { ResultTimings } from '../../wire/resultFile.ts';
import { type BlobStore, resultKey } from '../blobs/blobStore.ts';
import { type Task, TaskFailure, type TaskResult } from '../task.ts';
import { packItems } from './packedItems.ts';
import type { TaskContext, TaskHandler } from './runner.ts';
import type { Answer, Answers, Job } from './worker.ts';

export interface AggregatorOptions {
  readonly blobs: BlobStore;
  /** Worker threads, for all tasks together. */
  readonly threads: number;
  /** Format of the aggregates. */
  readonly format: AggregateFormatOption;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  readonly maxInputBytes: number;
}

export interface Aggregator {
  readonly handler: TaskHandler;
  /**
   * Whether an aggregate holds for these statements; on a thread of its own, since a proof takes long.
   *
   * @throws CodedError `OVERLOADED` when too many wait already, `THREAD_LOST`
   */
  judge(aggregate: Uint8Array, statements: readonly Statement[]): Promise<boolean>;
  /** Ends the threads; tasks in work are rejected. */
  close(): Promise<void>;
}

/** Items of a chunk: few enough that progress shows and threads share evenly, enough that handing over is cheap. */
const MIN_CHUNK = 16;
const MAX_CHUNK = 128;
const CHUNKS_PER_THREAD = 8;

/** What `aggregate` takes at most. */
const MAX_PROOF_THREADS = 64;

/** Judgements that may wait; one more is refused. */
const MAX_JUDGEMENTS = 64;

/** Threads stay warm for so long after the last job. */
const IDLE_MS = 60_000;

/** Heap of a thread: what it needs anyway, and so many times the largest task file (text, parsed, decoded: about 4). */
const HEAP_MB = 256;
const HEAP_FACTOR = 8;
const MIB = 1024 * 1024;

/** A result file is as long as the batch makes it; this only stops a fault of ours from filling the disk. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** Makes the handler and the threads that it works with; no thread starts before the first task. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { blobs, threads, format: wanted, maxSignatures, maxDigestBytes, maxInputBytes } = options;
  const limits = { maxSignatures, maxMessageBytes: maxDigestBytes, maxFileBytes: maxInputBytes };
  let pool: Piscina | null = null;
  let judges: Piscina | null = null;
  let judgements = 0;
  const inTurn = turns();

  const run = <K extends Job['kind']>(
    job: Extract<Job, { kind: K }>,
    signal: AbortSignal,
    transferList: Transferable[] = [],
  ): Promise<Answers[K]> => {
    pool ??= startPool(threads, maxInputBytes);
    return runOn(pool, job, signal, transferList);
  };

  const runOn = async <K extends Job['kind']>(
    threads: Piscina,
    job: Extract<Job, { kind: K }>,
    signal: AbortSignal | null,
    transferList: Transferable[] = [],
  ): Promise<Answers[K]> => {
    let answer: Answer<K>;
    try {
      answer = await threads.run(job, { signal, transferList });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new CodedError('THREAD_LOST', { cause });
    }
    if (answer.ok) return answer.value;
    const { error, cause } = answer;
    throw new TaskFailure(error, {
      cause,
      ...(error.invalid && { invalid: error.invalid }),
    });
  };

  const read = async (task: Task, signal: AbortSignal): Promise<Answers['read']> => {
    const { key } = task.input!;
    const bytes = await stored(blobs.read(key, maxInputBytes));
    if (!bytes) throw new CodedError('INTERNAL', { message: 'The task file is gone' });
    const file = whole(bytes);
    return run({ kind: 'read', file, limits }, signal, [file]);
  };

  const verify = async (
    { count, items }: Answers['read'],
    { signal, report }: TaskContext,
  ): Promise<InvalidItem[]> => {
    const even = Math.ceil(count / (threads * CHUNKS_PER_THREAD));
    const chunk = Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, even));
    const jobs: Promise<Answers['verify']>[] = [];
    let done = 0;
    for (let from = 0; from < count; from += chunk) {
      const to = Math.min(count, from + chunk);
      const job = run({ kind: 'verify', items, from, to }, signal).then((invalid) => {
        done += to - from;
        report({ phase: 'verify', done, total: count });
        return invalid;
      });
      jobs.push(job);
    }
    // In order of the chunks, so in order of the items.
    return (await Promise.all(jobs)).flat();
  };

  const aggregate = async (
    { count, items }: Answers['read'],
    processId: number,
    timings: ResultTimings,
    { signal, report }: TaskContext,
  ): Promise<Answers['aggregate']> => {
    const { port1: told, port2: progress } = new MessageChannel();
    told.on('message', (done: number) => report({ phase: 'aggregate', done, total: count }));
    try {
      const format = wanted;
      const job = { kind: 'aggregate', items, processId, format, progress, timings } as const;
      return await run({ ...job, threads: Math.min(threads, MAX_PROOF_THREADS) }, signal, [
        progress,
      ]);
    } finally {
      told.close();
    }
  };

  const handle = async (task: Task, context: TaskContext): Promise<TaskResult> => {
    const { signal } = context;
    const startMs = performance.now();
    const batch = await read(task, signal);
    const { count } = batch;
    context.report({ phase: 'verify', done: 0, total: count });
    await context.counted(count);

    const readMs = performance.now();
    const invalid = await verify(batch, context);
    if (invalid.length > 0) throw new CodedError('INVALID_SIGNATURES', { invalid });

    const timings = { read_ms: readMs - startMs, verify_ms: performance.now() - readMs };
    const made = await inTurn(signal, async () => {
      await context.aggregating({ phase: 'aggregate', done: 0, total: count });
      return aggregate(batch, task.id, timings, context);
    });
    const { file, format, aggregateBytes } = made;

    context.report({ phase: 'store', done: count, total: count });
    const key = resultKey(task.id, task.attempt);
    const blob = await stored(
      blobs.put(key, new Uint8Array(file), { maxBytes: MAX_RESULT_BYTES, signal }),
    );
    return { blob, format, aggregateBytes };
  };

  return {
    handler: {
      run: handle,
      async discard(keys) {
        for (const key of keys) await blobs.delete(key);
      },
    },
    async judge(aggregate, statements) {
      if (judgements >= MAX_JUDGEMENTS) throw new CodedError('OVERLOADED');
      judges ??= startPool(1, maxInputBytes);
      judgements++;
      try {
        const signature = new Uint8Array(0);
        const packed = packItems(statements.map((statement) => ({ ...statement, signature })));
        const job = { kind: 'judge', aggregate: whole(aggregate), statements: packed } as const;
        return await runOn(judges, job, null);
      } finally {
        judgements--;
      }
    },
    async close() {
      const closing = [pool, judges];
      pool = null;
      judges = null;
      await Promise.all(closing.map((threads) => threads?.destroy()));
    },
  };
}

/** Runs one body at a time, in the order of the calls; one whose signal is aborted while it waits is rejected at once and not run. */
function turns(): <T>(signal: AbortSignal, body: () => Promise<T>) => Promise<T> {
  let last: Promise<void> = Promise.resolve();
  return (signal, body) =>
    new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      last = last.then(async () => {
        signal.removeEventListener('abort', stop);
        if (signal.aborted) stop();
        else await body().then(resolve, reject);
      });
    });
}

function startPool(threads: number, maxInputBytes: number): Piscina {
  // Beside this file, with the ending of this file: source under type stripping, or built.
  const worker = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
  return new Piscina({
    filename: fileURLToPath(worker),
    name: 'runJob',
    minThreads: Math.min(1, threads),
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    // A file that blows up in memory takes its thread down (THREAD_LOST), and not the process.
    resourceLimits: {
      maxOldGenerationSizeMb: HEAP_MB + HEAP_FACTOR * Math.ceil(maxInputBytes / MIB),
    },
  });
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
