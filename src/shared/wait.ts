/** Timeouts, wake-up signals and semaphores. */
import type { HostSignal } from './hostTypes.ts';

/** Time to read what arrived while this thread was too busy to notice. */
const SECOND_LOOK_MS = 50;

/**
 * Limits the wait for a promise. Does not stop the promise's work.
 *
 * @returns the value of the promise
 * @throws the error from `late`, if the promise takes longer: 50 ms later, so that a thread that
 *   was busy all the time still reads an answer that has already arrived
 */
export async function withTimeout<T>(
  promise: T | Promise<T>,
  timeoutMs: number,
  late: () => unknown,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(late()), SECOND_LOOK_MS);
    }, timeoutMs);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Wakes a waiting loop. A ring before `wait` is remembered until `set`. */
export class Alarm {
  #rung = false;
  #wakeUp = () => {};

  set(): void {
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#wakeUp();
  }

  /** Resolves at the next ring, or after this many milliseconds. */
  async wait(ms: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * A limited number of places. Waiting calls are served in order, and users in turn: each user who
 * waits gets one place before any of them gets another.
 */
export class Semaphore {
  #free: number;
  readonly #waiting = new Map<unknown, Set<() => void>>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Does the work once a place is free.
   *
   * @param user any value that identifies the user; default: all calls have the same user
   * @throws the signal's reason, if it is aborted before that
   */
  async hold<T>(work: () => Promise<T>, signal?: HostSignal, user?: unknown): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal, user);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(signal: HostSignal | undefined, user: unknown): Promise<void> {
    const calls = this.#waiting.get(user) ?? new Set();
    this.#waiting.set(user, calls);
    return new Promise((resolve, reject) => {
      const leave = () => {
        calls.delete(take);
        if (calls.size === 0) this.#waiting.delete(user);
        signal?.removeEventListener('abort', stop);
      };
      const take = () => {
        leave();
        resolve();
      };
      const stop = () => {
        leave();
        reject(signal?.reason);
      };
      calls.add(take);
      signal?.addEventListener('abort', stop);
    });
  }

  /** Hands the place on, or frees it. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free++;
      return;
    }
    const [user, calls] = first;
    const [take] = calls;
    take!();
    if (calls.size === 0) return;
    // To the end of the map, behind the users whose turn is next.
    this.#waiting.delete(user);
    this.#waiting.set(user, calls);
  }
}

/** A promise with its resolving functions, for engines without `Promise.withResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** @returns a promise whose rejection may stay unhandled */
export function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Milliseconds since some time. Bare realms have no `performance`. */
export const nowMs = (): number => globalThis.performance?.now() ?? Date.now();

/**
 * Lets other work of the thread run, where the realm has any way to wait. Uses a timer, which would
 * wait for one to four milliseconds, only on hosts without message channels.
 */
export function yieldToHost(): Promise<void> {
  if (typeof MessageChannel !== 'function') {
    if (typeof setTimeout !== 'function') return Promise.resolve();
    return new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port2.onmessage = () => {
      port1.close();
      port2.close();
      resolve();
    };
    port1.postMessage(0);
  });
}
