/**
 * Independent jobs, distributed to the threads that are running and to the calling thread. Jobs of
 * a lost thread are repeated.
 */

import { CodedError } from '../errors.ts';
import type { HostSignal } from '../hostTypes.ts';
import type { Parcel, PoolThread } from './thread.ts';

export interface Way<J, R> {
  /** Builds the request that asks a thread to do the job. */
  readonly parcel: (job: J) => Parcel;
  /** Does the job in this thread without blocking it. */
  readonly local: (job: J) => Promise<R>;
  /** Receives each result once, in order of completion. */
  readonly onDone: (job: J, result: R) => void;
  readonly signal?: HostSignal | undefined;
  /** True if this thread works only while no other thread does. */
  readonly isSpare?: boolean;
}

export class Spread<J extends object, R> {
  readonly #jobs: Iterator<J, unknown>;
  readonly #way: Way<J, R>;
  /** Jobs of lost threads, to be repeated. */
  readonly #again: J[] = [];
  /** Number of loops that feed threads; `#given` is the number of jobs in threads. */
  #loops = 0;
  #given = 0;
  #fault: { readonly error: unknown } | undefined;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(jobs: Iterator<J, unknown>, way: Way<J, R>) {
    this.#jobs = jobs;
    this.#way = way;
  }

  /**
   * Runs all jobs.
   *
   * @throws CodedError `ABORTED` if the signal is aborted; any error of a job or callback, here or
   *   in a thread
   */
  async run(threads: Iterable<PoolThread>): Promise<void> {
    const { signal, isSpare = false } = this.#way;
    const abort = (): void => {
      this.#fail(new CodedError('ABORTED', { cause: signal?.reason }));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      for (const thread of threads) this.#employ(thread);
      for (;;) {
        if (this.#fault !== undefined) throw this.#fault.error;
        const job = isSpare && this.#loops > 0 ? undefined : this.#take();
        if (job !== undefined) {
          const result = await this.#way.local(job);
          if (this.#fault === undefined) this.#way.onDone(job, result);
        } else if (this.#loops + this.#given > 0) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else {
          return;
        }
      }
    } finally {
      this.#isOver = true;
      signal?.removeEventListener('abort', abort);
    }
  }

  #fail(error: unknown): void {
    this.#fault ??= { error };
    this.#wake();
  }

  #take(): J | undefined {
    if (this.#isOver || this.#fault !== undefined) return undefined;
    const again = this.#again.pop();
    if (again !== undefined) return again;
    const next = this.#jobs.next();
    return next.done ? undefined : next.value;
  }

  /** Feeds a thread after its hello: one job running, one queued. */
  #employ(thread: PoolThread): void {
    const feed = (): void => {
      for (let i = 0; i < 2; i++) void this.#feed(thread);
    };
    if (thread.isRunning) feed();
    else thread.hello.then(feed, () => undefined);
  }

  async #feed(thread: PoolThread): Promise<void> {
    this.#loops++;
    try {
      while (thread.isRunning) {
        const job = this.#take();
        if (job === undefined) break;
        await this.#give(thread, job);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#loops--;
      this.#wake();
    }
  }

  /** @throws the error that the thread reports; a lost thread does not throw */
  async #give(thread: PoolThread, job: J): Promise<void> {
    this.#given++;
    try {
      const result = (await thread.call(this.#way.parcel(job))) as R;
      if (!this.#isOver && this.#fault === undefined) this.#way.onDone(job, result);
    } catch (error) {
      if (thread.isRunning || (error as Partial<CodedError>).code !== 'THREAD_LOST') throw error;
      this.#again.push(job);
    } finally {
      this.#given--;
    }
  }
}
