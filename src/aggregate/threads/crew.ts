/**
 * Other threads for aggregates. Nothing depends on them: whoever uses a crew can do all of the work without it, and does so when
 * a thread cannot be had or dies.
 *
 *   session()   shares of one proof: each thread holds some columns and answers step by step
 *   spread()    parts that know nothing of each other: whoever is free takes the next one
 *
 * Threads start with `start` or with the first work, and let the process exit while they are idle.
 */
import { CodedError } from '../../errors.ts';
import { type HostThread, hasThreads, startThread } from '../../falcon/hostThreads.ts';
import type { Helper, StepInput, StepName, StepOutput } from '../proof/index.ts';
import { type Answer, errorOf, packWork, type Request, unflatten, type Work } from './messages.ts';

export interface CrewOptions {
  /** Threads, the calling one included. */
  readonly threads: number;
  /** The threads' module; left out: worker.ts of this folder. */
  readonly workerUrl?: string | URL | undefined;
}

/** A thread that has not said hello after so long will not. */
const HELLO_MS = 30_000;

/** A host that has refused so many threads is not asked again. */
const MAX_REFUSALS = 3;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Where the module of the threads is: beside this file and in the same language, source as it stands or built. */
const isSource = import.meta.url?.endsWith('.ts') ?? false;

/** The words that bundlers look for. */
const makeWorker = (): Worker =>
  new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });

class Thread {
  readonly #host: HostThread;
  readonly #pending = new Map<number, Pending>();
  readonly #onLost: (thread: Thread) => void;
  readonly #helloTimer: ReturnType<typeof setTimeout>;
  #nextId = 0;
  #lost: CodedError | undefined;
  hasGreeted = false;
  /** Bytes of the modules that hold shares, as of the last answer. */
  memoryBytes = 0;

  /** @throws Error of the host when it refuses a thread */
  constructor(workerUrl: string | URL | undefined, onLost: (thread: Thread) => void) {
    this.#onLost = onLost;
    const url = new URL(workerUrl ?? `./worker.${isSource ? 'ts' : 'js'}`, import.meta.url);
    this.#host = startThread(
      url,
      {
        onMessage: (message) => this.#receive(message as Answer),
        onLost: (cause) => this.end(new CodedError('THREAD_LOST', { cause })),
      },
      workerUrl === undefined && !isSource ? makeWorker : undefined,
    );
    this.#helloTimer = setTimeout(
      () => this.end(new CodedError('THREAD_LOST', { cause: new Error('no hello') })),
      HELLO_MS,
    );
    // Outside of browsers a timer would keep the process alive.
    (this.#helloTimer as { unref?: () => void }).unref?.();
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** @returns what the thread answers; rejected with its error, or `THREAD_LOST` */
  call(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(this.#lost);
        return;
      }
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      this.#host.hold(true);
      try {
        const packed = packWork(work);
        this.#host.post({ id, work: packed.work } satisfies Request, packed.transfer);
      } catch (cause) {
        this.end(new CodedError('THREAD_LOST', { cause }));
      }
    });
  }

  /** Ends the thread; what it was asked for is rejected. */
  end(error: CodedError): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    clearTimeout(this.#helloTimer);
    this.#host?.terminate();
    this.#onLost(this);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #receive(answer: Answer): void {
    if ('hello' in answer) {
      this.hasGreeted = true;
      clearTimeout(this.#helloTimer);
      return;
    }
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#host.hold(false);
    if ('fault' in answer) {
      pending?.reject(errorOf(answer.fault));
      return;
    }
    this.memoryBytes = answer.memoryBytes;
    pending?.resolve(unflatten(answer.value));
  }
}

/** A promise to race against, which is only ever rejected. */
function stopper(): {
  readonly promise: Promise<never>;
  readonly reject: (error: unknown) => void;
} {
  let reject!: (error: unknown) => void;
  const promise = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  promise.catch(() => undefined);
  return { promise, reject };
}

/** The shares of one proof. */
export interface Session {
  readonly helpers: readonly Helper[];
  /** Ends the shares; steps that are not answered yet are rejected with `error`. */
  release(error?: CodedError): void;
}

export class Crew {
  /** The calling one included. */
  readonly threads: number;
  readonly #workerUrl: string | URL | undefined;
  readonly #others = new Set<Thread>();
  #nextProof = 0;
  #isClosed = false;
  /** Threads that could not be had. */
  #refusals = 0;

  constructor({ threads, workerUrl }: CrewOptions) {
    this.threads = threads;
    this.#workerUrl = workerUrl;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts the threads that are missing, as far as the host allows. */
  start(): void {
    while (
      !this.#isClosed &&
      hasThreads() &&
      this.#refusals < MAX_REFUSALS &&
      this.#others.size < this.threads - 1
    ) {
      try {
        this.#others.add(new Thread(this.#workerUrl, (thread) => this.#lose(thread)));
      } catch {
        this.#refusals++;
      }
    }
  }

  #lose(thread: Thread): void {
    this.#others.delete(thread);
    if (!thread.hasGreeted) this.#refusals++;
  }

  /** Shares for one proof in every other thread. */
  session(): Session {
    this.start();
    const proof = this.#nextProof++;
    const threads = [...this.#others];
    const released = stopper();
    const helpers = threads.map(
      (thread): Helper => ({
        run: <K extends StepName>(step: K, input: StepInput<K>) => {
          const answer = thread.call({ kind: 'step', proof, step, input });
          return Promise.race([answer, released.promise]) as Promise<StepOutput<K>>;
        },
        get memoryBytes() {
          return thread.memoryBytes;
        },
      }),
    );
    return {
      helpers,
      release(error = new CodedError('ABORTED')) {
        released.reject(error);
        for (const thread of threads) {
          thread.call({ kind: 'release', proof }).catch(() => undefined);
        }
      },
    };
  }

  /**
   * Does all jobs, each here or in another thread. A job whose thread is lost is done again.
   *
   * @param local does one here, and lets other work of this thread run meanwhile; what it throws ends it all
   * @param onDone called after each job
   * @returns the results in the order of the jobs
   */
  async spread<J, R>(
    jobs: readonly J[],
    way: {
      readonly work: (job: J) => Work;
      readonly local: (job: J) => Promise<R>;
      readonly onDone?: ((job: J) => void) | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<R[]> {
    if (jobs.length > 1) this.start();
    const results = new Array<R>(jobs.length);
    const waiting = Array.from(jobs.keys()).reverse();
    let isOver = false;
    const take = async (perform: (job: J) => Promise<R>): Promise<void> => {
      for (let i = waiting.pop(); i !== undefined && !isOver; i = waiting.pop()) {
        try {
          results[i] = await perform(jobs[i]!);
        } catch (error) {
          waiting.push(i);
          throw error;
        }
        if (!isOver) way.onDone?.(jobs[i]!);
      }
    };
    const aborted = stopper();
    const abort = (): void => {
      aborted.reject(new CodedError('ABORTED', { cause: way.signal?.reason }));
    };
    if (way.signal?.aborted) abort();
    way.signal?.addEventListener('abort', abort, { once: true });
    try {
      // two loops each: one job in work, one waiting
      const others = [...this.#others, ...this.#others].map((thread) =>
        take((job) => thread.call(way.work(job)) as Promise<R>).catch((error: CodedError) => {
          if (error.code !== 'THREAD_LOST') throw error;
        }),
      );
      const all = Promise.all([take(way.local), ...others]);
      await Promise.race([all, aborted.promise]);
      // of threads that were lost after this one had run out of jobs
      await Promise.race([take(way.local), aborted.promise]);
      return results;
    } finally {
      isOver = true;
      way.signal?.removeEventListener('abort', abort);
    }
  }

  /** Ends the threads; work in them is rejected with `ABORTED`. */
  close(): void {
    this.#isClosed = true;
    const error = new CodedError('ABORTED', { message: 'The threads were closed' });
    for (const thread of this.#others) thread.end(error);
  }
}
