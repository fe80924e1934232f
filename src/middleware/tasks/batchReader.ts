/**
 * Reads bodies with many items. Small ones are read at once. Large ones are read in a worker thread
 * of their own, so that nobody waits for their parsing, and one at a time, so that memory holds
 * what one of them needs; clients take turns (docs/decisions/0025).
 */
import { CodedError } from '../../shared/errors.ts';
import type { StartThread } from '../../shared/threads/host.ts';
import type { ThreadPool } from '../../shared/threads/pool.ts';
import { Semaphore } from '../../shared/wait.ts';
import type { Blocks } from '../http/body.ts';
import { ProblemError } from '../http/problems.ts';
import {
  type Batch,
  type Claim,
  type ClaimReading,
  type ReadWork,
  readBatch,
  type TriplesReading,
} from './readBatch.ts';
import { heapFor, openWorker } from './workerPool.ts';

/** Shorter bodies take less time than the way to a thread and back is worth. */
const SMALL_BYTES = 64 * 1024;

/** An idle thread is kept this long. */
const IDLE_MS = 10_000;

export interface BatchReaderOptions {
  readonly maxBodyBytes: number;
  /** Starts the thread; default: one of the host. */
  readonly start?: StartThread;
  /** How long an idle thread is kept. Milliseconds; default 10,000. */
  readonly idleMs?: number;
}

export class BatchReader {
  readonly #open: () => ThreadPool;
  readonly #idleMs: number;
  readonly #turn = new Semaphore(1);
  #worker: ThreadPool | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor({ maxBodyBytes, start, idleMs = IDLE_MS }: BatchReaderOptions) {
    this.#idleMs = idleMs;
    this.#open = () => openWorker(heapFor(maxBodyBytes), start);
  }

  /** Whether a thread is kept. */
  get hasWorker(): boolean {
    return this.#worker !== undefined;
  }

  /**
   * Reads the body and empties `blocks`.
   *
   * @throws ProblemError as `readBatch`; CodedError `OVERLOADED` if the thread was lost,
   *   `SHUTTING_DOWN` after `close`
   */
  read(clientId: number, blocks: Blocks, reading: TriplesReading): Promise<Batch>;
  read(clientId: number, blocks: Blocks, reading: ClaimReading): Promise<Claim>;
  async read(
    clientId: number,
    blocks: Blocks,
    reading: TriplesReading | ClaimReading,
  ): Promise<Batch | Claim> {
    if (blocks.bytes < SMALL_BYTES) return readBatch(blocks.whole(), reading);
    return this.#turn.hold(() => this.#readLarge(blocks, reading), undefined, clientId);
  }

  async #readLarge(blocks: Blocks, reading: TriplesReading | ClaimReading): Promise<Batch | Claim> {
    if (this.#isClosed) throw new CodedError('SHUTTING_DOWN');
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#open();
    const worker = this.#worker;
    try {
      const isRunning = await worker.ready().then(
        () => true,
        () => false,
      );
      if (this.#isClosed) throw new CodedError('SHUTTING_DOWN');
      // A host that refuses the thread still has its answer, as all of them had before.
      if (!isRunning) return readBatch(blocks.whole(), reading);
      const { bytes } = blocks;
      const transfer = blocks.take();
      const work: ReadWork = { kind: 'read', reading, blocks: transfer, bytes };
      const answer = await worker.call({ work, transfer }).catch((error) => this.#refuse(error));
      return answer as Batch | Claim;
    } finally {
      this.#idleTimer = setTimeout(() => void this.#release(), this.#idleMs);
      this.#idleTimer.unref();
    }
  }

  /** Passes on what is wrong with the body. A lost thread is not the fault of this request. */
  #refuse(cause: CodedError & Partial<ProblemError>): never {
    if (this.#isClosed) throw new CodedError('SHUTTING_DOWN', { cause });
    const { code, message, errors } = cause;
    if (code === 'THREAD_LOST') throw new CodedError('OVERLOADED', { cause });
    // The class of an error is lost between threads.
    throw 'errors' in cause
      ? new ProblemError(code, { message, ...(errors && { errors }) })
      : cause;
  }

  async #release(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  /** Ends the thread; what it reads is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    await this.#release();
  }
}
