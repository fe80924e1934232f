/**
 * The caller's iterables and streams: read one piece at a time, only when it is needed, and closed
 * however the call ends.
 */
import { copyBytes, typeName } from '../shared/arguments.ts';
import { CodedError } from '../shared/errors.ts';
import type { HostSignal, ReadableBytes } from '../shared/hostTypes.ts';
import { Slices } from '../shared/threads/slices.ts';

/** Elements that arrive one by one, at once or later. */
export type Arriving<T> = AsyncIterable<T> | Iterable<T>;

/** Bytes that arrive in pieces of any size. */
export type ArrivingBytes = Arriving<Uint8Array> | ReadableBytes;

/** The methods that are used of an iterator, or of the reader of a stream. */
interface Steps {
  next(): unknown;
  return?(): unknown;
}

/** @throws TypeError unless it is an iterable, or a ReadableStream where that is accepted */
export function checkArriving(name: string, value: unknown, mayBeStream: boolean): void {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && (Symbol.asyncIterator in value || Symbol.iterator in value)) return;
  if (isObject && mayBeStream && 'getReader' in value) return;
  throw new TypeError(
    `"${name}" expected ${mayBeStream ? 'a ReadableStream or ' : ''}an iterable, ` +
      `got ${typeName(value)}`,
  );
}

/** An iterable or stream that is being read. Its own errors are rethrown as they are. */
export class Source {
  readonly #steps: Steps;
  readonly #signal: HostSignal | undefined;
  readonly #slices: Slices;
  readonly #onAbort = (): void => {
    this.#stop?.(new CodedError('ABORTED', { cause: this.#signal?.reason }));
  };
  /** rejects the step that is awaited */
  #stop: ((error: CodedError) => void) | undefined;
  #isOver = false;

  /** @param from a value that passed `checkArriving` */
  constructor(from: object, signal: HostSignal | undefined) {
    this.#steps = stepsOf(from);
    this.#signal = signal;
    this.#slices = new Slices(signal);
    signal?.addEventListener('abort', this.#onAbort);
  }

  /**
   * Reads the next piece. @returns undefined at the end
   * @throws CodedError `ABORTED` as soon as the signal is aborted; any error of the source
   */
  async next(): Promise<{ readonly value: unknown } | undefined> {
    if (this.#isOver) return undefined;
    await this.#slices.pause();
    let step: { readonly done?: boolean; readonly value?: unknown };
    try {
      step = (await this.#orAborted(this.#steps.next())) as typeof step;
    } catch (error) {
      // What has failed is not closed, as in `for await`.
      this.#isOver = !this.#signal?.aborted;
      throw error;
    }
    if (!step.done) return { value: step.value };
    this.#isOver = true;
    return undefined;
  }

  /** Closes the source, unless it has ended; waits for that, unless the signal is aborted. */
  async close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#isOver) return;
    this.#isOver = true;
    const closing = (async () => this.#steps.return?.())();
    // A source that waits for its next piece may never be closed.
    if (this.#signal?.aborted) closing.catch(() => undefined);
    else await closing;
  }

  #orAborted(step: unknown): unknown {
    if (this.#signal === undefined) return step;
    if (typeof (step as Promise<unknown>)?.then !== 'function') return step;
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      // The source may have aborted the call itself.
      if (this.#signal!.aborted) this.#onAbort();
      (step as Promise<unknown>).then(resolve, reject);
    }).finally(() => {
      this.#stop = undefined;
    });
  }
}

function stepsOf(from: object): Steps {
  if ('getReader' in from) {
    const reader = (from as ReadableBytes).getReader();
    return {
      async next() {
        let isOver = true;
        try {
          const step = await reader.read();
          isOver = step.done;
          return step;
        } finally {
          if (isOver) reader.releaseLock();
        }
      },
      async return() {
        await reader.cancel();
        reader.releaseLock();
      },
    };
  }
  const both = from as { [Symbol.asyncIterator]?(): Steps; [Symbol.iterator]?(): Steps };
  return both[Symbol.asyncIterator]?.() ?? both[Symbol.iterator]!();
}

/** Reads bytes that arrive in pieces. */
export class ByteReader {
  readonly #source: Source;
  #piece = new Uint8Array(0);

  constructor(source: Source) {
    this.#source = source;
  }

  /** Returns the next bytes, at most `most`, fewer only at the end. */
  async upTo(most: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(most);
    for (let at = 0; at < most; ) {
      if (this.#piece.length === 0 && !(await this.#more())) return bytes.subarray(0, at);
      const taken = this.#piece.subarray(0, most - at);
      bytes.set(taken, at);
      at += taken.length;
      this.#piece = this.#piece.subarray(taken.length);
    }
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#piece.length === 0 && !(await this.#more());
  }

  /** Reads a piece that is not empty. @throws TypeError for anything but bytes */
  async #more(): Promise<boolean> {
    do {
      const next = await this.#source.next();
      if (next === undefined) return false;
      this.#piece = copyBytes('piece of "aggregate"', next.value);
    } while (this.#piece.length === 0);
    return true;
  }
}

/** Runs `body` on sources, and closes them however it ends. Its errors come first. */
export async function withSources<T>(
  from: readonly object[],
  signal: HostSignal | undefined,
  body: (...sources: Source[]) => Promise<T>,
): Promise<T> {
  const sources: Source[] = [];
  const close = () => Promise.allSettled(sources.map((source) => source.close()));
  let result: T;
  try {
    for (const each of from) sources.push(new Source(each, signal));
    result = await body(...sources);
  } catch (error) {
    await close();
    throw error;
  }
  const failed = (await close()).find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  return result;
}
