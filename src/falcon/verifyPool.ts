/**
 * `verifyBatch` on worker threads: the same result as the synchronous call, for any number of
 * threads, including none.
 *
 *   verifyBatch(items) ── runs of items ──> thread 1, thread 2, ..   (two runs each: one in work,
 *        ^                                       │                    one waiting)
 *        └────────── invalid items, buffer ──────┘
 *
 * Runs are packed only when a thread has room, so memory is bounded for batches of any length.
 * Until the first thread has started, or if none can be started, the calling thread verifies in
 * slices. Threads are kept for the next batch, and let the process exit while they are idle.
 */
import { CodedError } from '../shared/errors.ts';
import { lengthOf } from '../shared/intrinsics.ts';
import { packItems } from '../shared/threads/packItems.ts';
import { ThreadPool } from '../shared/threads/pool.ts';
import { Slices, throwIfAborted } from '../shared/threads/slices.ts';
import { Stop } from '../shared/threads/stop.ts';
import { type ReadItem, readItems } from './batch.ts';
import type { FalconParams } from './params.ts';
import type { BatchItem, InvalidBatchItem, ParameterSet } from './types.ts';
import { VERIFY_WORKER, type VerifyAnswer, type VerifyWork, verifyItems } from './verifyItems.ts';
import {
  checkBatchOptions,
  checkPoolOptions,
  type VerifyPoolBatchOptions,
  type VerifyPoolOptions,
} from './verifyPoolOptions.ts';

export type {
  VerifyPoolBatchOptions,
  VerifyPoolOptions,
  VerifyPoolStats,
} from './verifyPoolOptions.ts';

export interface VerifyPool {
  readonly parameterSet: ParameterSet;
  /** Maximum number of threads, not counting the calling one. */
  readonly threads: number;
  /**
   * Verifies a batch. The items and their bytes must not change until the promise settles. If no
   * thread can be started, or all are lost, the calling thread does the work in slices of about ten
   * milliseconds.
   *
   * @returns the invalid items with their reasons, by ascending index; `[]` if all are valid
   * @throws TypeError or RangeError for items or options of wrong types
   * @throws CodedError `ABORTED` (signal, or pool closed), `INTERNAL` (all as the promise's
   *   rejection)
   */
  verifyBatch(
    items: readonly BatchItem[],
    options?: VerifyPoolBatchOptions,
  ): Promise<InvalidBatchItem[]>;
  /** Ends the threads; running batches are rejected with `ABORTED`. Further calls do nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Minimum number of items per run. Runs are long at first, so that dispatching them (about 40 µs)
 * is cheap compared with their work, and get shorter towards the end of the batch, so that all
 * threads finish together.
 */
const RUN_MIN = 32;
const RUN_MAX = 1024;
const RUN_SHARE = 4;
/** A run of long messages ends once it exceeds this many bytes. */
const RUN_BYTES = 1 << 20;
/** Items that the calling thread verifies between two looks at the clock. */
const STEP_ITEMS = 64;

interface Run {
  readonly from: number;
  readonly to: number;
}

/**
 * Creates a pool. No thread starts before the first batch.
 *
 * @throws TypeError or RangeError for unknown options or values out of range
 * @example
 * ```ts
 * const pool = createVerifyPool({ threads: 2 });
 * const invalid = await pool.verifyBatch([{ signature, message, publicKey }]);
 * await pool.close();
 * ```
 */
export function createVerifyPool(options: VerifyPoolOptions = {}): VerifyPool {
  const { params, threads, module, onStats: onAllStats } = checkPoolOptions(options);
  const parameterSet = params.name;
  const pool = new ThreadPool({ size: threads, name: VERIFY_WORKER, module });
  const buffers = new SpareBuffers(2 * threads);
  const closing = new Stop();

  async function verifyBatch(
    given: readonly BatchItem[],
    batchOptions: VerifyPoolBatchOptions = {},
  ): Promise<InvalidBatchItem[]> {
    const items = readItems(given, params);
    const read = checkBatchOptions(batchOptions, onAllStats);
    const { signal: own, onProgress, onStats, format } = read;
    if (closing.aborted) throw closedError();
    throwIfAborted(own);
    const invalid: InvalidBatchItem[] = [];
    let done = 0;
    const count = Math.ceil(items.length / RUN_MIN);
    await closing.during(own, (signal) => {
      const slices = new Slices(signal);
      return pool.spread<Run, { invalid: InvalidBatchItem[]; buffer?: ArrayBuffer }>(
        runsOf(items, threads),
        count,
        {
          signal,
          isSpare: true,
          parcel: ({ from, to }) => {
            const buffer = packItems(items, from, to, (size) => buffers.take(size));
            const work: VerifyWork = { parameterSet, buffer, format };
            return { work, transfer: [buffer] };
          },
          local: async (run) => ({
            invalid: await verifyInSteps(params, items, run, slices, format),
          }),
          onDone({ from, to }, answer: Partial<VerifyAnswer>) {
            if (answer.buffer !== undefined) buffers.keep(answer.buffer);
            for (const { index, reason } of answer.invalid!) {
              invalid.push({ index: from + index, reason });
            }
            done += to - from;
            onProgress?.(done, items.length);
          },
        },
      );
    });
    onStats?.({ threads: await pool.started() });
    return invalid.sort((a, b) => a.index - b.index);
  }

  async function close(): Promise<void> {
    if (closing.aborted) return;
    closing.abort('The verify pool is closed');
    await pool.close();
  }

  return Object.freeze({ parameterSet, threads, verifyBatch, close, [Symbol.asyncDispose]: close });
}

/**
 * Verifies a run in the calling thread, in steps, so that a long run on a slow machine does not
 * block the thread.
 */
async function verifyInSteps(
  params: FalconParams,
  items: readonly ReadItem[],
  { from, to }: Run,
  slices: Slices,
  format: number | undefined,
): Promise<InvalidBatchItem[]> {
  const found: InvalidBatchItem[] = [];
  for (let at = from; at < to; at += STEP_ITEMS) {
    await slices.pause();
    const step = items.slice(at, Math.min(to, at + STEP_ITEMS));
    for (const { index, reason } of verifyItems(params, step, format)) {
      found.push({ index: at - from + index, reason });
    }
  }
  return found;
}

const closedError = (): CodedError =>
  new CodedError('ABORTED', { message: 'The verify pool is closed' });

/** Generates the runs of a batch on demand. */
function* runsOf(items: readonly ReadItem[], threads: number): Generator<Run, void> {
  for (let from = 0; from < items.length; ) {
    const share = Math.ceil((items.length - from) / (RUN_SHARE * threads));
    const to = runEnd(items, from, Math.min(RUN_MAX, Math.max(RUN_MIN, share)));
    yield { from, to };
    from = to;
  }
}

/**
 * Returns the end of the run that starts at `from`: at most `length` items, none after RUN_BYTES.
 */
function runEnd(items: readonly ReadItem[], from: number, length: number): number {
  const end = Math.min(items.length, from + length);
  let bytes = 0;
  let to = from;
  while (to < end && bytes < RUN_BYTES) {
    bytes += lengthOf(items[to]!.message) + lengthOf(items[to]!.signature);
    to++;
  }
  return to;
}

/**
 * A pool of buffers that threads have returned: allocating costs more than packing. Buffers
 * enlarged for one long message are not kept.
 */
class SpareBuffers {
  readonly #spare: ArrayBuffer[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns a buffer of one of a few sizes, so that later runs can reuse it */
  take(size: number): ArrayBuffer {
    const fitting = this.#spare.findIndex((buffer) => buffer.byteLength >= size);
    if (fitting >= 0) return this.#spare.splice(fitting, 1)[0]!;
    this.#spare.pop();
    return new ArrayBuffer(Math.max(RUN_BYTES, 2 ** Math.ceil(Math.log2(size))));
  }

  keep(buffer: ArrayBuffer): void {
    if (this.#spare.length < this.#most && buffer.byteLength <= 4 * RUN_BYTES) {
      this.#spare.push(buffer);
    }
  }
}
