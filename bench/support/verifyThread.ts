/** A thread that verifies one proof as often as requested, for bench/support/aggregateCase.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import type { BenchItem } from './aggregateCase.ts';

const { proof, items } = workerData as { proof: Uint8Array; items: readonly BenchItem[] };

parentPort!.on('message', (rounds: number) => {
  let valid = true;
  for (let round = 0; round < rounds; round++) valid &&= verifyAggregate(proof, items);
  parentPort!.postMessage(valid);
});
