/**
 * What a pool's threads do with a run of items, and the calling thread where there is none. Imports
 * no pool: bundlers that follow `new Worker` refuse a worker that contains its own beginning.
 */
import { Batch, type ReadItem } from './batch.ts';
import type { FalconParams } from './params.ts';
import type { InvalidBatchItem, ParameterSet } from './types.ts';
import { bestModule, run } from './wasm.ts';

/** What a pool's threads call themselves. */
export const VERIFY_WORKER = 'falconry verify';

/** What a thread is asked for: a run of items, packed. */
export interface VerifyWork {
  readonly parameterSet: ParameterSet;
  readonly buffer: ArrayBuffer;
}

/** Its answer: indexes count from the start of the run; the buffer comes back for the next one. */
export interface VerifyAnswer {
  readonly invalid: InvalidBatchItem[];
  readonly buffer: ArrayBuffer;
}

/** @returns the invalid items with their reasons, by ascending index */
export function verifyItems(params: FalconParams, items: readonly ReadItem[]): InvalidBatchItem[] {
  return run(bestModule(), false, (machine) => new Batch(machine, params, items).run());
}
