/** A number of places, which are taken in the order in which they are asked for. */
export class Places {
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
