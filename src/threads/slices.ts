/** Long work of the calling thread in slices, so that its host stays responsive. */
import { CodedError } from '../errors.ts';
import { yieldToHost } from './yieldToHost.ts';

/** Work for about this long before other work of the thread gets its turn. */
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

  /** To be called often. @throws CodedError `ABORTED` when the signal says so */
  async pause(): Promise<void> {
    throwIfAborted(this.#signal);
    if (performance.now() < this.#end) return;
    this.#show?.();
    await yieldToHost();
    throwIfAborted(this.#signal);
    this.#end = performance.now() + SLICE_MS;
  }
}

/** @throws CodedError `ABORTED` when the signal says so */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
}
