/**
 * Threads in addition to the calling one. They are optional: every user of a pool can do all of the
 * work without it, and does so if a thread cannot be started or dies.
 *
 *   spread()    independent jobs: each idle thread takes the next one
 *   session()   threads that keep state for one user, and answer step by step
 *   call()      one piece of work for one thread
 *
 * Threads start with the first work, and let the process exit while they are idle.
 */
import { CodedError } from '../errors.ts';
import { deferred } from '../wait.ts';
import {
  hasThreads,
  isUrl,
  parseUrl,
  type StartThread,
  type ThreadLimits,
  type WorkerModule,
  workerAt,
} from './host.ts';
import { Spread, type Way } from './spread.ts';
import { type CallOptions, type Parcel, PoolThread } from './thread.ts';

export interface PoolSettings {
  /** Maximum number of threads, not counting the calling one. */
  readonly size: number;
  /** The worker's name, sent in its hello. */
  readonly name: string;
  readonly module: WorkerModule;
  readonly limits?: ThreadLimits;
  /** Starts a thread or an equivalent; default: a thread of the host. */
  readonly start?: StartThread;
  /** Time limit for a thread's hello. Milliseconds; default 20,000. */
  readonly helloMs?: number;
  /** Number of failed starts after which no further thread is started. Default 3. */
  readonly maxRefusals?: number;
}

/** A thread of a session. */
export interface SessionThread {
  /** Bytes, as reported in its last answer. */
  readonly memoryBytes: number;
  /** Rejected with `THREAD_LOST`, or with the error that released the session. */
  call(parcel: Parcel): Promise<unknown>;
}

export interface Session {
  /** Distinguishes the sessions of a pool. */
  readonly id: number;
  readonly threads: readonly SessionThread[];
  /** Ends the session: unanswered calls are rejected with `error`, and every thread gets `last`. */
  release(last: Parcel, error?: CodedError): void;
}

export class ThreadPool {
  readonly size: number;
  readonly #settings: PoolSettings;
  readonly #threads = new Set<PoolThread>();
  readonly #maxRefusals: number;
  #refusals = 0;
  #nextSession = 0;
  #isClosed = false;

  constructor(settings: PoolSettings) {
    this.size = settings.size;
    this.#settings = settings;
    this.#maxRefusals = settings.maxRefusals ?? 3;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The number of threads that are running. */
  get running(): number {
    return Array.from(this.#threads).filter((thread) => thread.isRunning).length;
  }

  /**
   * Starts missing threads, as far as the host allows.
   *
   * @param count number of threads that can be used
   */
  start(count = this.size): void {
    const wanted = Math.min(count, this.size);
    while (
      !this.#isClosed &&
      this.#threads.size < wanted &&
      this.#refusals < this.#maxRefusals &&
      hasThreads()
    ) {
      try {
        this.#startOne();
      } catch {
        this.#refusals++;
      }
    }
  }

  /** @throws the host's error */
  #startOne(): PoolThread {
    const thread = new PoolThread({
      ...this.#settings,
      onLost: () => {
        this.#threads.delete(thread);
        if (thread.isSilent) this.#refusals = this.#maxRefusals;
        else if (!thread.hasAnswered) this.#refusals++;
      },
    });
    this.#threads.add(thread);
    return thread;
  }

  /**
   * Resolves when every started thread is running or lost.
   *
   * @returns the number of running threads
   */
  async started(): Promise<number> {
    await Promise.allSettled(Array.from(this.#threads, (thread) => thread.greeted()));
    return this.running;
  }

  /**
   * Runs all jobs.
   *
   * @param count maximum number of threads
   */
  spread<J extends object, R>(
    jobs: Iterator<J, unknown>,
    count: number,
    way: Way<J, R>,
  ): Promise<void> {
    this.start(count);
    return new Spread(jobs, way).run([...this.#threads].slice(0, count));
  }

  /** Opens a session on all threads, or on `count` of them. */
  session(count = this.size): Session {
    this.start(count);
    const threads = [...this.#threads].slice(0, count);
    const released = deferred<never>();
    return {
      id: this.#nextSession++,
      threads: threads.map((thread) => ({
        call: (parcel) => Promise.race([thread.call(parcel), released.promise]),
        get memoryBytes() {
          return thread.memoryBytes;
        },
      })),
      release(last, error = new CodedError('ABORTED')) {
        released.reject(error);
        for (const thread of threads) thread.call(last).catch(() => undefined);
      },
    };
  }

  /**
   * Sends a request to one thread, which is started if necessary.
   *
   * @returns its answer; rejected with its error, or `THREAD_LOST`, or `ABORTED` after closing
   */
  async call(parcel: Parcel, options?: CallOptions): Promise<unknown> {
    return this.#one().call(parcel, options);
  }

  /**
   * Resolves when a thread is running; rejected with `THREAD_LOST` and its cause if none can run.
   */
  async ready(): Promise<void> {
    await this.#one().greeted();
  }

  #one(): PoolThread {
    if (this.#isClosed) throw closed();
    const [thread] = this.#threads;
    if (thread !== undefined) return thread;
    try {
      if (!hasThreads()) throw new Error('this host has no threads');
      return this.#startOne();
    } catch (cause) {
      throw new CodedError('THREAD_LOST', { cause });
    }
  }

  /** Ends the threads and rejects their work with `ABORTED`. Resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#threads, (thread) => thread.end(closed())));
  }
}

const closed = (): CodedError => new CodedError('ABORTED', { message: 'The threads were closed' });

/** @throws TypeError, RangeError unless it is an integer from 1 to `most`, or undefined */
export function checkThreads(threads: unknown, most: number): void {
  if (threads === undefined) return;
  if (typeof threads !== 'number') throw new TypeError('"threads" expected a number');
  if (!Number.isInteger(threads) || threads < 1 || threads > most) {
    throw new RangeError(`"threads" expected an integer from 1 to ${most}, got ${threads}`);
  }
}

/** An arbitrary base: the validity of a URL does not depend on it. */
const SOMEWHERE = 'http://localhost/';

/**
 * Returns the module to run: at the caller's address if given, else the one next to this module.
 *
 * @throws TypeError, RangeError if it is not an address
 */
export function checkWorkerUrl(workerUrl: unknown, beside: WorkerModule): WorkerModule {
  if (workerUrl === undefined) return beside;
  if (typeof workerUrl !== 'string' && !isUrl(workerUrl)) {
    throw new TypeError('"workerUrl" expected a string or URL');
  }
  if (typeof URL !== 'function') throw new TypeError('"workerUrl": this host has no URL');
  if (typeof workerUrl === 'string' && parseUrl(workerUrl, SOMEWHERE) === undefined) {
    throw new RangeError('"workerUrl" is not a URL');
  }
  return workerAt(workerUrl);
}
