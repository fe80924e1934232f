/** A thread of a pool: start, requests, end. */

import { CodedError } from '../errors.ts';
import type { HostSignal } from '../hostTypes.ts';
import { deferred } from '../wait.ts';
import {
  type HostThread,
  type StartThread,
  startThread,
  type ThreadLimits,
  type WorkerModule,
} from './host.ts';
import { type Answer, errorOf, flatten, type Request, unflatten } from './messages.ts';

/** Work for a thread: plain data, and the buffers in it that are transferred instead of copied. */
export interface Parcel {
  readonly work: unknown;
  readonly transfer?: readonly ArrayBuffer[];
}

export interface CallOptions {
  /** Receives the worker's news before its answer. */
  readonly onNews?: (news: unknown) => void;
  /** Notifies the worker that its answer is no longer wanted. */
  readonly signal?: HostSignal;
  /** Time for the worker to answer after `signal`, before it is terminated. Milliseconds. */
  readonly graceMs?: number;
}

/** Time limit for a thread's hello. Milliseconds. */
const HELLO_MS = 20_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onNews: ((news: unknown) => void) | undefined;
}

export interface ThreadSettings {
  /** The worker's name, sent in its hello. */
  readonly name: string;
  readonly module: WorkerModule;
  readonly limits?: ThreadLimits | undefined;
  /** Default: a thread of the host. */
  readonly start?: StartThread | undefined;
  /** Time limit for its hello. Milliseconds; default 20,000. */
  readonly helloMs?: number | undefined;
  readonly onLost: (thread: PoolThread) => void;
}

export class PoolThread {
  readonly #settings: ThreadSettings;
  readonly #host: HostThread;
  readonly #pending = new Map<number, Pending>();
  /** Requests queued until the hello: a module that is still loading may miss messages. */
  readonly #early: { readonly request: Request; readonly transfer: readonly ArrayBuffer[] }[] = [];
  readonly #hello = deferred<void>();
  #helloTimer: ReturnType<typeof setTimeout>;
  #nextId = 0;
  #waiting = 0;
  #lost: CodedError | undefined;
  #isRunning = false;
  /** True if it was abandoned because no hello arrived. */
  isSilent = false;
  /** True once it has answered a request. */
  hasAnswered = false;
  /** Memory in bytes that the worker reported with its last answer. */
  memoryBytes = 0;

  /** @throws the host's error if it cannot start a thread */
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
    // In two halves: if this thread was busy all the time, a hello that has already arrived is read
    // between them.
    this.#helloTimer = idleTimer(() => {
      this.#helloTimer = idleTimer(() => {
        this.isSilent = true;
        const cause = new Error('the thread did not say hello');
        void this.end(new CodedError('THREAD_LOST', { cause }));
      }, helloMs / 2);
    }, helloMs / 2);
  }

  /** True from the thread's hello until its end. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Resolves at the thread's hello; rejected with `THREAD_LOST` if there is none. */
  get hello(): Promise<void> {
    return this.#hello.promise;
  }

  /** Like `hello`, but keeps the process alive in the meantime. */
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
    signal: HostSignal,
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
      // A message that cannot be sent fails only its own request.
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

/** Starts a timer that does not keep the process alive. */
function idleTimer(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
