/** One thread of a pool: its start, its requests, and its end. */
import { CodedError } from '../errors.ts';
import { deferred } from './deferred.ts';
import {
  type HostThread,
  type StartThread,
  startThread,
  type ThreadLimits,
  type WorkerModule,
} from './host.ts';
import { type Answer, errorOf, flatten, type Request, unflatten } from './messages.ts';

/**
 * Work for a thread: plain data, and those of its buffers that are transferred instead of copied.
 */
export interface Parcel {
  readonly work: unknown;
  readonly transfer?: readonly ArrayBuffer[];
}

export interface CallOptions {
  /** Gets the worker's news before its answer. */
  readonly onNews?: (news: unknown) => void;
  /** Tells the worker that its answer is no longer wanted. */
  readonly signal?: AbortSignal;
  /** The worker is ended if it has not answered this long after `signal`. Milliseconds. */
  readonly graceMs?: number;
}

/** A thread that has not said hello by then never will. */
const HELLO_MS = 20_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onNews: ((news: unknown) => void) | undefined;
}

export interface ThreadSettings {
  /** The name that the worker gives in its hello. */
  readonly name: string;
  readonly module: WorkerModule;
  readonly limits?: ThreadLimits | undefined;
  /** Default: a thread of the host. */
  readonly start?: StartThread | undefined;
  /** How long to wait for its hello. Milliseconds; default 20,000. */
  readonly helloMs?: number | undefined;
  readonly onLost: (thread: PoolThread) => void;
}

export class PoolThread {
  readonly #settings: ThreadSettings;
  readonly #host: HostThread;
  readonly #pending = new Map<number, Pending>();
  /** Requests that wait for the hello: a module that is still loading may miss them. */
  readonly #early: { readonly request: Request; readonly transfer: readonly ArrayBuffer[] }[] = [];
  readonly #hello = deferred<void>();
  #helloTimer: ReturnType<typeof setTimeout>;
  #nextId = 0;
  #waiting = 0;
  #lost: CodedError | undefined;
  #isRunning = false;
  /** Whether it was given up because it did not say hello. */
  isSilent = false;
  /** Whether it has ever answered. */
  hasAnswered = false;
  /** Bytes of memory that the worker reported with its last answer. */
  memoryBytes = 0;

  /** @throws Error of the host if it refuses a thread */
  constructor(settings: ThreadSettings) {
    this.#settings = settings;
    const { start = startThread } = settings;
    this.#host = start(
      settings.module,
      {
        onMessage: (message) => this.#receive(message as Answer),
        onLost: (cause) => void this.end(new CodedError('THREAD_LOST', { cause })),
      },
      settings.limits,
    );
    const { helloMs = HELLO_MS } = settings;
    // In two halves: if this thread was busy all the time, a hello that has arrived is read between
    // them.
    this.#helloTimer = idleTimer(() => {
      this.#helloTimer = idleTimer(() => {
        this.isSilent = true;
        const cause = new Error('the thread did not say hello');
        void this.end(new CodedError('THREAD_LOST', { cause }));
      }, helloMs / 2);
    }, helloMs / 2);
  }

  /** Whether it has said hello and is still running. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Resolves when the thread has said hello; rejected with `THREAD_LOST` if it never does. */
  get hello(): Promise<void> {
    return this.#hello.promise;
  }

  /** The same, but keeps the process alive meanwhile. */
  async greeted(): Promise<void> {
    this.#waiting++;
    this.#hold();
    try {
      await this.#hello.promise;
    } finally {
      this.#waiting--;
      this.#hold();
    }
  }

  /** @returns the worker's answer; rejected with its error, or `THREAD_LOST` */
  call({ work, transfer = [] }: Parcel, options: CallOptions = {}): Promise<unknown> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const { onNews, signal, graceMs } = options;
    const id = this.#nextId++;
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onNews });
      this.#hold();
      this.#post({ id, work: flatten(work) }, transfer);
    });
    return signal === undefined ? answer : this.#cancellable(id, answer, signal, graceMs);
  }

  async #cancellable(
    id: number,
    answer: Promise<unknown>,
    signal: AbortSignal,
    graceMs: number | undefined,
  ): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cancel = (): void => {
      this.#post({ cancel: id }, []);
      if (graceMs === undefined) return;
      const cause = new Error('the worker did not stop when told to');
      timer = setTimeout(() => void this.end(new CodedError('THREAD_LOST', { cause })), graceMs);
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  #post(request: Request, transfer: readonly ArrayBuffer[]): void {
    if (this.#lost !== undefined) return;
    if (!this.#isRunning) {
      this.#early.push({ request, transfer });
      return;
    }
    try {
      this.#host.post(request, transfer);
    } catch (cause) {
      // A message that cannot be sent fails alone.
      if ('id' in request) this.#settle(request.id)?.reject(new CodedError('INTERNAL', { cause }));
    }
  }

  #hold(): void {
    if (this.#lost === undefined) this.#host.hold(this.#pending.size + this.#waiting > 0);
  }

  /** Ends the thread and rejects its requests. Resolves when the thread has ended. */
  async end(error: CodedError): Promise<void> {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#isRunning = false;
    clearTimeout(this.#helloTimer);
    this.#hello.reject(error);
    this.#settings.onLost(this);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#early.length = 0;
    await this.#host.terminate();
  }

  #receive(answer: Answer): void {
    if ('hello' in answer) {
      this.#greet(answer.hello);
      return;
    }
    if ('news' in answer) {
      this.#pending.get(answer.id)?.onNews?.(answer.news);
      return;
    }
    this.hasAnswered = true;
    const pending = this.#settle(answer.id);
    if ('fault' in answer) {
      pending?.reject(errorOf(answer.fault));
      return;
    }
    this.memoryBytes = answer.memoryBytes;
    pending?.resolve(unflatten(answer.value));
  }

  /** Removes a request from the list. */
  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#hold();
    return pending;
  }

  #greet(name: string): void {
    clearTimeout(this.#helloTimer);
    if (name !== this.#settings.name) {
      const cause = new Error(`the thread runs "${name}" instead of "${this.#settings.name}"`);
      void this.end(new CodedError('THREAD_LOST', { cause }));
      return;
    }
    this.#isRunning = true;
    for (const { request, transfer } of this.#early.splice(0)) this.#post(request, transfer);
    this.#hello.resolve();
  }
}

/** A timer that does not keep the process alive. */
function idleTimer(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
