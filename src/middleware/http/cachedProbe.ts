/** Questions whose answers are kept for a while. */
import { withTimeout } from '../../shared/wait.ts';

export interface CachedProbeOptions<T> {
  /** How long an answer is kept; null stands for none. */
  readonly keepMs: number | ((answer: T | null) => number);
  /** The longest that anybody waits. */
  readonly patienceMs: number;
}

/**
 * A question that costs something, for askers who may come at any rate: one is open at a time, the
 * answer is kept for a while, and nobody waits for long.
 */
export class CachedProbe<T> {
  readonly #ask: () => Promise<T>;
  readonly #keepMs: (answer: T | null) => number;
  readonly #patienceMs: number;
  #open: Promise<T | null> | null = null;
  #kept: { readonly answer: T | null; readonly atMs: number } | null = null;

  constructor(ask: () => Promise<T>, { keepMs, patienceMs }: CachedProbeOptions<T>) {
    this.#ask = ask;
    this.#keepMs = typeof keepMs === 'number' ? () => keepMs : keepMs;
    this.#patienceMs = patienceMs;
  }

  /** @returns the answer; null if there was an error, or if it takes too long */
  async answer(): Promise<T | null> {
    const { answer, atMs = -Infinity } = this.#kept ?? {};
    if (answer !== undefined && performance.now() - atMs < this.#keepMs(answer)) return answer;
    this.#open ??= this.#put();
    return withTimeout(this.#open, this.#patienceMs, () => undefined).catch(() => null);
  }

  async #put(): Promise<T | null> {
    let answer: T | null = null;
    try {
      answer = await this.#ask();
    } catch {
      // No answer: the asker decides what that means.
    }
    this.#kept = { answer, atMs: performance.now() };
    this.#open = null;
    return answer;
  }
}
