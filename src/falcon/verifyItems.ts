/**
 * Verifies a run of items, in a pool's thread or in the calling one. Does not import the pool:
 * bundlers that follow `new Worker` reject a worker that starts itself.
 */
import { Batch, type ReadItem } from './batch.ts';
import type { FalconParams } from './params.ts';
import type { InvalidBatchItem, ParameterSet } from './types.ts';
import { bestModule, run } from './wasm.ts';

/** The worker's name, sent in its hello. */
export const VERIFY_WORKER = 'falconry verify';

/** The input of a thread: a run of items, packed. */
export interface VerifyWork {
  readonly parameterSet: ParameterSet;
  readonly buffer: ArrayBuffer;
  /** The module's number of the only format to accept. */
  readonly format: number | undefined;
}

/**
 * The thread's answer. Indices count from the start of the run; the buffer is returned for reuse.
 */
export interface VerifyAnswer {
  readonly invalid: InvalidBatchItem[];
  readonly buffer: ArrayBuffer;
}

/**
 * Verifies items synchronously.
 *
 * @returns the invalid items with their reasons, by ascending index
 */
export function verifyItems(
  params: FalconParams,
  items: readonly ReadItem[],
  format?: number,
): InvalidBatchItem[] {
  return run(bestModule(), false, (machine) => new Batch(machine, params, items, format).run());
}
