/**
 * Performs tasks and their parts:
 *   task file ─▶ read ─▶ verify every signature ─▶ aggregate ─▶ result file
 *                            └─▶ any invalid item: failed, all are listed, nothing is proved
 *   results of all parts ─▶ merged proof, or series ─▶ result file
 *
 * All expensive work happens in one worker thread, which is kept from task to task, and in its own
 * threads: `threads` in total. It works on one task at a time, so that the task gets all threads
 * and memory holds one proof; the file of the next task is fetched meanwhile. A result's blob key
 * belongs to one attempt, so a task may run twice at once after a lost lease. A task that may kill
 * its worker gets a separate one.
 */
import {
  type AggregateFormatOption,
  inspectAggregate,
  verifyAggregate,
} from '../../aggregate/index.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { noWorker } from '../../shared/threads/noWorker.ts';
import { unpackItems } from '../../shared/threads/packItems.ts';
import type { ThreadPool } from '../../shared/threads/pool.ts';
import type { Parcel } from '../../shared/threads/thread.ts';
import { Semaphore } from '../../shared/wait.ts';
import { type HashedFile, putHashed, readChecked, readTaskFile } from '../blobs/checksums.ts';
import { type BlobRef, type BlobStore, partKey, resultKey } from '../blobs/port/blobStore.ts';
import { type Task, TaskFailure, type TaskResult } from '../stores/port/task.ts';
import { Isolation } from './isolation.ts';
import { DamagedParts, type TaskContext, type TaskHandler } from './runner.ts';
import {
  type AggregateWork,
  type Judgement,
  type Made,
  type MergeWork,
  type News,
  PART,
  type PartWork,
  type Work,
} from './taskWork.ts';
import { heapFor, openWorker, untilRunning } from './workerPool.ts';

interface AggregatorOptions {
  readonly blobs: BlobStore;
  /** The total number of worker threads. */
  readonly threads: number;
  /** The format of the aggregates. */
  readonly format: AggregateFormatOption;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  readonly maxFileBytes: number;
  /** Time for a worker to stop a task, before it is terminated. Default 1000 ms. */
  readonly stopMs?: number;
}

export interface Aggregator {
  readonly handler: TaskHandler;
  /**
   * Starts the worker thread.
   *
   * @throws CodedError `NO_WORKER` if it cannot be started
   */
  start(): Promise<void>;
  /**
   * Returns whether an aggregate is valid for these statements. Small bundles are judged at once,
   * others on the worker thread, between slices of a task: clients take turns, and small proofs do
   * not wait for large ones.
   *
   * @param statements packed by `packStatements`; transferred
   * @throws CodedError `OVERLOADED` if the client waits for its share already, `THREAD_LOST`
   */
  judge(clientId: number, aggregate: Uint8Array, statements: ArrayBuffer): Promise<boolean>;
  /** Ends the threads; running tasks are rejected. */
  close(): Promise<void>;
}

/** Maximum of an aggregate pool. */
const MAX_THREADS = 64;

/** Judgements for which clients may wait; each waiting client has an equal share of them. */
const MAX_JUDGEMENTS = 64;

/** Items of a small aggregate: a bundle of so many takes about 1 ms. */
const SMALL_COUNT = 64;
/** More than such a bundle can have, or such a list of statements needs. */
const SMALL_BYTES = 512 * 1024;

/** Larger than any result file; keeps a fault of the service from filling the disk. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** Creates the handler and its threads; no thread starts before `start`. */
export function createAggregator(options: AggregatorOptions): Aggregator {
  const { blobs, format, maxSignatures, maxDigestBytes, maxFileBytes, stopMs = 1000 } = options;
  const threads = Math.min(options.threads, MAX_THREADS);
  const limits = { maxSignatures, maxMessageBytes: maxDigestBytes, maxFileBytes };
  const heapMb = heapFor(maxFileBytes);
  const worker = openWorker(heapMb);
  const isolation = new Isolation(heapMb);
  const oneTask = new Semaphore(1);

  const aggregateWork = async (task: Task, context: TaskContext): Promise<Job> => {
    const startMs = performance.now();
    const { bytes, sha256 } = await fetchFile(blobs, task, maxFileBytes, context);
    const file = whole(bytes);
    const fetchMs = performance.now() - startMs;
    const { parent, id } = task;
    const work: AggregateWork = {
      kind: 'aggregate',
      processId: parent ?? id,
      isPart: parent !== null,
      ...{ file, sha256, limits, format, threads, fetchMs },
    };
    return { parcel: { work, transfer: [file] }, total: 0 };
  };

  const run = async (task: Task, context: TaskContext): Promise<TaskResult> => {
    const isMerge = task.kind === 'merge';
    const job = await (isMerge
      ? mergeWork(blobs, task, context, threads)
      : aggregateWork(task, context));
    const { signal, isolated } = context;
    const use = (lent: ThreadPool) => workOn(lent, job, context, stopMs);
    const made = await oneTask.hold(async () => {
      if (isolated) return isolation.lend(signal, use);
      await untilRunning(worker, signal);
      return use(worker);
    }, signal);
    const result = { bytes: new Uint8Array(made.file), sha256: made.sha256 };
    const blob = await stored(putResult(blobs, task, result, signal));
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
        throw noWorker('The worker thread of the service', cause);
      }
    },
    judge: judgeOn(worker, threads),
    close: async () => void (await Promise.all([worker.close(), isolation.close()])),
  };
}

/** Work on a task. */
interface Job {
  readonly parcel: Parcel;
  /** The number of signatures; 0 until it is known. */
  readonly total: number;
  /** What a merge asks for. */
  readonly files?: PartFiles;
}

/**
 * Runs one task in the worker and passes its news to the store.
 *
 * @throws TaskFailure, CodedError as the worker; DamagedParts; `THREAD_LOST`; the signal's reason
 *   once the worker has stopped
 */
async function workOn(
  worker: ThreadPool,
  { parcel, files, ...job }: Job,
  context: TaskContext,
  graceMs: number,
): Promise<Made> {
  const { signal, report } = context;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let { total } = job;
  /** The writes to the store, in order; a refusal stops the worker. */
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
    } else if ('wants' in told) {
      write(async () => {
        const part = await files!.read(told.wants);
        // It is for this merge only.
        either.throwIfAborted();
        await worker.call(part);
      });
    } else {
      report({ ...told, total });
    }
  };
  try {
    const made = await worker.call(parcel, { onNews, signal: either, graceMs });
    await written;
    signal.throwIfAborted();
    report({ phase: 'store', done: total, total });
    return made as Made;
  } catch (error) {
    signal.throwIfAborted();
    stop.signal.throwIfAborted();
    if (files && isCodedError(error) && REFUSALS.includes(error.code)) {
      throw await files.damaged(error);
    }
    // The class of an error is lost between threads.
    const { shown, cause, invalid } = error as Partial<TaskFailure>;
    throw shown ? new TaskFailure(shown, { cause, ...(invalid && { invalid }) }) : error;
  } finally {
    stop.abort();
  }
}

/** Judges aggregates: see {@link Aggregator.judge}. */
function judgeOn(worker: ThreadPool, threads: number): Aggregator['judge'] {
  const small = new Semaphore(1);
  const large = new Semaphore(1);
  /** Waiting and running, by client. */
  const judgements = new Map<number, number>();
  return async (clientId, aggregate, statements) => {
    const bytes = Math.max(aggregate.length, statements.byteLength);
    const { format, count } = bytes <= SMALL_BYTES ? headOf(aggregate) : LARGE;
    if (format === 'bundle' && count <= SMALL_COUNT) {
      return verifyAggregate(aggregate, unpackItems(statements));
    }
    const own = judgements.get(clientId) ?? 0;
    const clients = judgements.size + (own === 0 ? 1 : 0);
    if (own > 0 && own >= MAX_JUDGEMENTS / clients) throw new CodedError('OVERLOADED');
    judgements.set(clientId, own + 1);
    try {
      const parcel = judgeParcel(aggregate, statements, threads);
      // Each part of a merged proof takes as long as many items.
      const queue = count <= SMALL_COUNT && format !== 'merged' ? small : large;
      const answer = await queue.hold(() => worker.call(parcel), undefined, clientId);
      return (answer as Judgement).valid;
    } finally {
      const left = judgements.get(clientId)! - 1;
      if (left > 0) judgements.set(clientId, left);
      else judgements.delete(clientId);
    }
  };
}

const LARGE = { format: 'proof', count: Infinity };

/** What is no aggregate counts as an empty bundle: its refusal costs nothing. */
function headOf(aggregate: Uint8Array): { readonly format: string; readonly count: number } {
  try {
    return inspectAggregate(aggregate);
  } catch {
    return { format: 'bundle', count: 0 };
  }
}

function judgeParcel(aggregate: Uint8Array, statements: ArrayBuffer, threads: number): Parcel {
  // The caller keeps the aggregate, so it is copied.
  const work: Work = { kind: 'judge', aggregate: whole(aggregate), statements, threads };
  return { work, transfer: [statements] };
}

async function fetchFile(
  blobs: BlobStore,
  { input }: Task,
  maxBytes: number,
  context: TaskContext,
): Promise<HashedFile> {
  const file = await stored(readTaskFile(blobs, input!, maxBytes));
  if (input!.sha256 === undefined) await context.hashed({ ...input!, sha256: file.sha256 });
  return file;
}

async function mergeWork(
  blobs: BlobStore,
  { id: processId, count: total }: Task,
  context: TaskContext,
  threads: number,
): Promise<Job> {
  const parts = await context.parts();
  const files = new PartFiles(blobs, parts, context.signal);
  const work: MergeWork = { kind: 'merge', processId, parts: parts.length, threads };
  return { parcel: { work }, total, files };
}

/** Codes of files that are damaged or gone. */
const DAMAGES: readonly string[] = ['FILE_DAMAGED', 'INPUT_CHANGED', 'INTERNAL'];

/** Codes with which a merge refuses a part, or its task file. */
const REFUSALS: readonly string[] = ['BAD_PART', 'FILE_DAMAGED'];

/** The files of the parts of a task, which its merge takes in order. */
class PartFiles {
  readonly #blobs: BlobStore;
  readonly #parts: readonly Task[];
  readonly #signal: AbortSignal;
  /** The number of the part that was read last. */
  #last = 0;

  constructor(blobs: BlobStore, parts: readonly Task[], signal: AbortSignal) {
    this.#blobs = blobs;
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Reads the files of a part. @throws DamagedParts */
  async read(part: number): Promise<Parcel> {
    this.#last = part;
    const { input, result } = this.#parts[part]!;
    try {
      const bytes = await this.#result(part);
      const work: PartWork = { kind: 'part', result: bytes };
      if (result!.format !== PART) return { work, transfer: [bytes] };
      const task = await stored(readTaskFile(this.#blobs, input!, input!.bytes));
      const file = whole(task.bytes);
      const both: PartWork = { ...work, input: { file, sha256: task.sha256 } };
      return { work: both, transfer: [bytes, file] };
    } catch (error) {
      throw isDamage(error) ? await this.damaged(error) : error;
    }
  }

  /** Returns the error for the part that was read last, and for all damaged ones behind it. */
  async damaged(cause: unknown): Promise<DamagedParts> {
    const damaged = [this.#last];
    for (let part = this.#last + 1; part < this.#parts.length; part++) {
      this.#signal.throwIfAborted();
      try {
        await this.#result(part);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damaged.push(part);
      }
    }
    return new DamagedParts(damaged, cause);
  }

  async #result(part: number): Promise<ArrayBuffer> {
    const { blob } = this.#parts[part]!.result!;
    return whole(await stored(readChecked(this.#blobs, blob, MAX_RESULT_BYTES)));
  }
}

const isDamage = (error: unknown): boolean => isCodedError(error) && DAMAGES.includes(error.code);

/** The result of a part has the same name as its bytes, so that attempts write the same file. */
async function putResult(
  blobs: BlobStore,
  { id, attempt, parent }: Task,
  file: HashedFile,
  signal: AbortSignal,
): Promise<BlobRef> {
  const options = { maxBytes: MAX_RESULT_BYTES, signal };
  if (parent === null) return putHashed(blobs, resultKey(id, attempt), file, options);
  const ref = await putHashed(blobs, partKey(parent, file.sha256), file, options);
  // Without the tag, which another attempt may change.
  return { key: ref.key, bytes: ref.bytes, sha256: file.sha256 };
}

/** Makes failures of the blob store retriable: they are not the task's fault. */
async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (isCodedError(cause)) throw cause;
    throw new CodedError('STORE_UNAVAILABLE', { cause });
  }
}

/** Returns the bytes as a whole buffer, which can be transferred. */
function whole(bytes: Uint8Array): ArrayBuffer {
  const own = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  // Not `slice`: a Buffer's slice is a view of shared memory.
  return own ? (bytes.buffer as ArrayBuffer) : new Uint8Array(bytes).buffer;
}
