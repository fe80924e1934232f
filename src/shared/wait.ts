/** Waiting: for a promise with a limit, for an alarm, and for a place among others. */

/**
 * @returns what the promise resolves to
 * @throws the error that `late` makes, if the promise takes longer; the promise itself goes on
 */
export async function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  late: () => unknown,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Wakes the one that waits. A ring before `wait` counts until `set`. */
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

  /** Resolves at the next ring, and after so many milliseconds at the latest. */
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

/** A number of places, given in the order in which they are asked for. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Does the work in a place, once there is one.
   *
   * @throws the reason of the signal, if it is aborted before that
   */
  async hold<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(take);
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
      this.#waiting.add(take);
      signal?.addEventListener('abort', stop);
    });
  }
}
