/**
 * Reads bodies with many items. Small ones are read at once. Large ones are read in a separate
 * worker thread, so that parsing does not delay other requests, and one at a time, to bound memory;
 * clients take turns (docs/decisions/0025).
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

/** Shorter bodies are parsed faster than they travel to a thread and back. */
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

  /** True while a thread is kept. */
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
      // On a host without threads, the body is read here.
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

  /** Ends the thread and rejects its work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    await this.#release();
  }
}
