/** Divides long work of the calling thread into slices, so that the host stays responsive. */

import { CodedError } from '../errors.ts';
import type { HostSignal } from '../hostTypes.ts';
import { nowMs, yieldToHost } from '../wait.ts';

/** Duration of a slice in milliseconds, after which other work of the thread can run. */
const SLICE_MS = 10;

export class Slices {
  readonly #signal: HostSignal | undefined;
  readonly #show: (() => void) | undefined;
  #end = 0;

  /** @param show called at the end of each slice */
  constructor(signal: HostSignal | undefined, show?: () => void) {
    this.#signal = signal;
    this.#show = show;
  }

  /**
   * Yields to the host if the current slice has used up its time. Call it often.
   *
   * @throws CodedError `ABORTED` if the signal is aborted
   */
  async pause(): Promise<void> {
    throwIfAborted(this.#signal);
    if (nowMs() < this.#end) return;
    this.#show?.();
    await yieldToHost();
    throwIfAborted(this.#signal);
    this.#end = nowMs() + SLICE_MS;
  }
}

/** @throws CodedError `ABORTED` if the signal is aborted */
export function throwIfAborted(signal: HostSignal | undefined): void {
  if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
}
