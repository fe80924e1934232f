/** Divides long work of the calling thread into slices, so that its host stays responsive. */
import { CodedError } from '../errors.ts';
import { yieldToHost } from './yieldToHost.ts';

/** The length of a slice; after it, other work of the thread gets its turn. */
const SLICE_MS = 10;

export class Slices {
  readonly #signal: AbortSignal | undefined;
  readonly #show: (() => void) | undefined;
  #end = 0;

  /** @param show called at the end of each slice */
  constructor(signal: AbortSignal | undefined, show?: () => void) {
    this.#signal = signal;
    this.#show = show;
  }

  /**
   * Call it often: it ends a slice when its time is up.
   *
   * @throws CodedError `ABORTED` if the signal is aborted
   */
  async pause(): Promise<void> {
    throwIfAborted(this.#signal);
    if (performance.now() < this.#end) return;
    this.#show?.();
    await yieldToHost();
    throwIfAborted(this.#signal);
    this.#end = performance.now() + SLICE_MS;
  }
}

/** @throws CodedError `ABORTED` if the signal is aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
}
