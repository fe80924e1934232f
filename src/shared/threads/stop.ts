import type { HostSignal } from '../hostTypes.ts';

/**
 * A signal that ends the calls of a pool. Realms without AbortController have pools, too, and some
 * supported browsers have no `AbortSignal.any`.
 */
export class Stop {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Runs a call with a signal that is aborted together with this one, or with the caller's. */
  async during<T>(
    own: HostSignal | undefined,
    body: (signal: HostSignal) => Promise<T>,
  ): Promise<T> {
    const both = new Stop();
    const stops: (Stop | HostSignal)[] = own === undefined ? [this] : [own, this];
    const follow = () => both.abort(stops.find(({ aborted }) => aborted)?.reason);
    for (const stop of stops) stop.addEventListener('abort', follow);
    if (stops.some(({ aborted }) => aborted)) follow();
    try {
      return await body(both as unknown as HostSignal);
    } finally {
      for (const stop of stops) stop.removeEventListener('abort', follow);
    }
  }
}
