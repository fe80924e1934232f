/** Aggregation with threads and memory that persist between calls. */

import { CodedError, type InvalidItem } from '../shared/errors.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import { Stop } from '../shared/threads/stop.ts';
import { elementsOf, groupsOf, seriesOf } from './aggregateStream.ts';
import { copyItems, readItems } from './arguments.ts';
import type { AggregateItem } from './batch.ts';
import { aggregateWith, invalidItemsIn, verifyWith } from './onThreads.ts';
import {
  type AcceptOptions,
  type AggregatePoolOptions,
  checkAggregateOptions,
  checkAggregateStreamOptions,
  checkMergeOptions,
  checkPartsOptions,
  checkPoolOptions,
  checkProfileWork,
  checkVerifyOptions,
  type MergeOptions,
  type PartToMerge,
  type PoolAggregateOptions,
  type PoolPartsOptions,
  type PoolStreamOptions,
  type ProfileOption,
  type WorkOptions,
} from './options.ts';
import { mergeWith, partWith } from './parts.ts';
import { holdInstances, holdKeys } from './proof/index.ts';
import type { Arriving } from './sources.ts';
import type { Statement } from './statement.ts';
import { type AggregateThreads, openThreads } from './threads.ts';

export interface AggregatePool {
  /** Maximum number of threads, including the calling one, limited by the host's concurrency. */
  readonly threads: number;
  /** Like the function `aggregate`, on this pool's threads. */
  aggregate(
    items: readonly AggregateItem[],
    options?: PoolAggregateOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Like `verifyAggregateAsync`, on this pool's threads. */
  verifyAggregate(
    aggregate: Uint8Array,
    statements: readonly Statement[],
    options?: WorkOptions & AcceptOptions,
  ): Promise<boolean>;
  /** Like the function `aggregateStream`, on this pool's threads. */
  aggregateStream(
    items: Arriving<AggregateItem>,
    options?: PoolStreamOptions,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  /** Like the function `aggregateParts`, on this pool's threads. */
  aggregateParts(
    items: Arriving<AggregateItem>,
    options?: PoolPartsOptions,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  /** Like the function `mergeParts`, on this pool's threads. */
  mergeParts(
    parts: Arriving<PartToMerge>,
    options?: MergeOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Like the function `findInvalid`, on this pool's threads. */
  findInvalid(
    items: readonly AggregateItem[],
    options?: WorkOptions & ProfileOption,
  ): Promise<InvalidItem[]>;
  /**
   * Ends the threads and releases the memory; pending and later calls are rejected with `ABORTED`.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a pool. Threads start with the first call; idle ones do not keep the process alive. After
 * its first call, an open pool keeps the WebAssembly memory of its largest batch for reuse, about
 * 230 MB for 1722 signatures over all threads. `close` releases it.
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
  return poolOn(openThreads(checkPoolOptions(options)));
}

/** The calls of a pool, which end when it is closed. */
function callsOn(pool: AggregateThreads) {
  const closing = new Stop();
  let release: (() => void) | undefined;
  const hold = (): (() => void) => {
    const releases = [holdInstances(), holdKeys(pool.keyBytes)];
    return () => {
      for (const each of releases) each();
    };
  };

  /** Runs a call that ends when the pool is closed or the call's signal is aborted. */
  async function call<T>(
    own: HostSignal | undefined,
    body: (signal: HostSignal) => Promise<T>,
  ): Promise<T> {
    if (closing.aborted) {
      throw new CodedError('ABORTED', { message: 'The aggregate pool is closed' });
    }
    release ??= hold();
    return closing.during(own, body);
  }

  async function close(): Promise<void> {
    if (closing.aborted) return;
    closing.abort('The aggregate pool is closed');
    release?.();
    await pool.close();
  }

  return { call, close };
}

/** Creates a pool on these threads. Closing the pool closes them. @internal */
export function poolOn(pool: AggregateThreads): AggregatePool {
  const { call, close } = callsOn(pool);
  const make = (items: readonly AggregateItem[], work: PoolAggregateOptions) =>
    call(work.signal, (signal) => aggregateWith(pool, items, { ...work, signal }));
  const makePart = (items: readonly AggregateItem[], work: PoolAggregateOptions) =>
    call(work.signal, (signal) => partWith(pool, items, { ...work, signal }));

  return Object.freeze({
    threads: pool.size + 1,
    async aggregate(items: readonly AggregateItem[], own: PoolAggregateOptions = {}) {
      const work = checkAggregateOptions(own, true);
      return make(copyItems(items), work);
    },
    async verifyAggregate(
      aggregate: Uint8Array,
      statements: readonly Statement[],
      own: WorkOptions & AcceptOptions = {},
    ) {
      const work = checkVerifyOptions(own, true);
      return call(work.signal, (signal) =>
        verifyWith(pool, aggregate, statements, { ...work, signal }),
      );
    },
    aggregateStream(items: Arriving<AggregateItem>, own: PoolStreamOptions = {}) {
      return seriesOf(items, checkAggregateStreamOptions(own, true), make);
    },
    aggregateParts(items: Arriving<AggregateItem>, own: PoolPartsOptions = {}) {
      const work = checkPartsOptions(own, true);
      return elementsOf(groupsOf(items, work), work, makePart);
    },
    async mergeParts(parts: Arriving<PartToMerge>, own: MergeOptions = {}) {
      const work = checkMergeOptions(own, true);
      return call(work.signal, (signal) => mergeWith(pool, parts, { ...work, signal }));
    },
    async findInvalid(items: readonly AggregateItem[], own: WorkOptions & ProfileOption = {}) {
      const work = checkProfileWork(own);
      const read = readItems(items);
      return call(work.signal, (signal) => invalidItemsIn(pool, read, { ...work, signal }));
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}
