/**
 * What every host of threads.test.ts runs: one proof on one thread, on three if there are
 * processors, and where the threads' module is not to be had.
 */
import {
  type AggregateStats,
  aggregate,
  falcon512,
  verifyAggregateAsync,
} from '../../src/index.ts';

export interface ThreadsReport {
  /** Whether all proofs are the same bytes. */
  readonly same: boolean;
  readonly valid: boolean;
  /** Threads that made the second proof. */
  readonly threads: number;
  /** Threads that made the one without the module. */
  readonly refused: number;
}

/** So many that their proof is worth three threads. */
const COUNT = 300;

export async function checkThreads(): Promise<ThreadsReport> {
  const { publicKey, secretKey } = falcon512.keygen(new Uint8Array(48));
  const items = Array.from({ length: COUNT }, (_, i) => {
    const message = Uint8Array.of(i, i >> 8);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  let used = 0;
  const onStats = ({ threads }: AggregateStats): void => {
    used = threads;
  };
  const one = await aggregate(items, { format: 'proof' });
  const several = await aggregate(items, { format: 'proof', threads: 3, onStats });
  const threads = used;
  const workerUrl = new URL('./nothing-here.ts', import.meta.url);
  const alone = await aggregate(items, { format: 'proof', threads: 2, workerUrl, onStats });
  return {
    same: one.join() === several.join() && one.join() === alone.join(),
    valid: await verifyAggregateAsync(several, items, { threads: 2 }),
    threads,
    refused: used,
  };
}
