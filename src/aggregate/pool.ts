/** Aggregates over threads, and in memory, that stay from one call to the next. */
import { CodedError, type InvalidItem } from '../errors.ts';
import { copyItems, readItems } from './arguments.ts';
import type { AggregateItem } from './batch.ts';
import {
  type AggregatePoolOptions,
  checkAggregateOptions,
  checkPoolOptions,
  checkVerifyOptions,
  type PoolAggregateOptions,
  type WorkOptions,
} from './options.ts';
import { holdInstances } from './proof/index.ts';
import type { Statement } from './statement.ts';
import { Crew } from './threads/crew.ts';
import { aggregateWith, invalidItemsIn, verifyWith } from './work.ts';

export interface AggregatePool {
  /** At most; the calling one included. */
  readonly threads: number;
  /** As the function of that name, with this pool's threads. */
  aggregate(
    items: readonly AggregateItem[],
    options?: PoolAggregateOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** As `verifyAggregateAsync`, with this pool's threads. */
  verifyAggregate(
    aggregate: Uint8Array,
    statements: readonly Statement[],
    options?: WorkOptions,
  ): Promise<boolean>;
  /** As the function of that name, with this pool's threads. */
  findInvalid(items: readonly AggregateItem[], options?: WorkOptions): Promise<InvalidItem[]>;
  /** Ends the threads, and lets go of the memory; calls in work are rejected with `ABORTED`, and so are later ones. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a pool. No thread starts before the first call; idle ones let the process exit. From its first call on an open pool
 * keeps the WebAssembly memory of its largest batch, some 230 MB for 1722 signatures in all threads together; the next
 * call finds it warm, and `close` lets go of it.
 *
 * @throws TypeError or RangeError for unknown options or values out of range
 * @example
 * ```ts
 * const pool = createAggregatePool({ threads: 2 });
 * const bytes = await pool.aggregate(items);
 * await pool.verifyAggregate(bytes, items); // true
 * await pool.close();
 * ```
 */
export function createAggregatePool(options: AggregatePoolOptions = {}): AggregatePool {
  const { threads, workerUrl } = checkPoolOptions(options);
  const crew = new Crew({ threads, workerUrl });
  const closing = new AbortController();
  let release: (() => void) | undefined;

  /** Runs a call that ends when the pool is closed or its own signal says so. */
  async function call<T>(
    own: AbortSignal | undefined,
    body: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = own === undefined ? closing.signal : AbortSignal.any([own, closing.signal]);
    if (closing.signal.aborted) {
      throw new CodedError('ABORTED', { message: 'The aggregate pool is closed' });
    }
    release ??= holdInstances();
    return body(signal);
  }

  async function close(): Promise<void> {
    if (closing.signal.aborted) return;
    closing.abort('The aggregate pool is closed');
    crew.close();
    release?.();
  }

  return Object.freeze({
    threads,
    async aggregate(items: readonly AggregateItem[], own: PoolAggregateOptions = {}) {
      const work = checkAggregateOptions(own, true);
      const copies = copyItems(items);
      return call(work.signal, (signal) => aggregateWith(crew, copies, { ...work, signal }));
    },
    async verifyAggregate(
      aggregate: Uint8Array,
      statements: readonly Statement[],
      own: WorkOptions = {},
    ) {
      const work = checkVerifyOptions(own, true);
      return call(work.signal, (signal) =>
        verifyWith(crew, aggregate, statements, { ...work, signal }),
      );
    },
    async findInvalid(items: readonly AggregateItem[], own: WorkOptions = {}) {
      const work = checkVerifyOptions(own, true);
      const read = readItems(items);
      return call(work.signal, (signal) => invalidItemsIn(crew, read, { ...work, signal }));
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}
