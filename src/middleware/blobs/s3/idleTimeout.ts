/** The line to the store: how long it may be silent, and what is told of it when it breaks. */

/** A fault that need not last: the request is tried again. Its text may reach a log. */
export class PassingFault extends Error {}

/** Aborts its signal once nothing has been heard for a while. */
export class Silence {
  readonly ms: number;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Counts from now on. */
  start(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#abort.abort(), this.ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Waits for the store, in a request or between two pieces of a body.
 *
 * @throws PassingFault whatever breaks
 */
export async function heard<T>(silence: Silence, work: Promise<T>): Promise<T> {
  silence.start();
  try {
    return await work;
  } catch (error) {
    throw new PassingFault(
      silence.signal.aborted
        ? `the blob store was silent for ${silence.ms} ms`
        : `the line to the blob store broke${codeOf(error)}`,
    );
  } finally {
    silence.stop();
  }
}

/** The code that the system gave, such as ECONNREFUSED. Texts of errors may hold addresses. */
function codeOf(error: unknown): string {
  const { cause = error } = (error ?? {}) as Error;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? ` (${code})` : '';
}
