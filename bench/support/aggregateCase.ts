/**
 * One case of bench/aggregate.ts, in its own process, so that its memory can be measured:
 *
 *   node bench/support/aggregateCase.ts <file of items> <count> times <rounds>
 *   node bench/support/aggregateCase.ts <file of items> <count> memory <threads>
 *                                                     one proof, and nothing before it
 *
 * Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  aggregate,
  createAggregatePool,
  inspectAggregate,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { equal } from '../../src/shared/bytes.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { median } from './interleave.ts';

export interface BenchItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

export interface CaseFigures {
  readonly count: number;
  readonly bundleBytes: number;
  /** The signatures as they are, and each at the padded length. */
  readonly signatureBytes: number;
  readonly paddedBytes: number;
  /** Absent if no proof was found. */
  readonly proof?: ProofFigures;
}

export interface ProofFigures {
  /** With salts and header, and without. */
  readonly bytes: number;
  readonly bareBytes: number;
  /** With one thread. */
  readonly proveMs: number;
  readonly verifyMs: number;
  /** With two that are already running. */
  readonly proveTwoMs: number;
  readonly verifyTwoMs: number;
  /** The speedup of two threads that share nothing: the most that this machine allows. */
  readonly twoAtOnce: number;
}

export interface MemoryFigures {
  /** Of all modules in all threads, in bytes. */
  readonly modules: number;
  /** The largest resident size of the process, and its size with the items before proving began. */
  readonly resident: number;
  readonly before: number;
}

const PADDED = new Map([
  [897, 666],
  [1793, 1280],
]);

async function timed<T>(rounds: number, work: () => T | Promise<T>): Promise<[T, number]> {
  const times: number[] = [];
  let value!: T;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    value = await work();
    times.push(performance.now() - start);
  }
  return [value, median(times)];
}

async function measure(items: readonly BenchItem[], rounds: number): Promise<CaseFigures> {
  const bundle = await aggregate(items, { format: 'bundle' });
  const sizes = {
    count: items.length,
    bundleBytes: bundle.length,
    signatureBytes: items.reduce((sum, { signature }) => sum + signature.length, 0),
    paddedBytes: items.reduce((sum, { publicKey }) => sum + PADDED.get(publicKey.length)!, 0),
  };
  try {
    const [proof, proveMs] = await timed(rounds, () => aggregate(items, { format: 'proof' }));
    const [valid, verifyMs] = await timed(rounds, () => verifyAggregate(proof, items));
    if (!valid) throw new Error('a proof of ours was refused');
    const { proveTwoMs, verifyTwoMs } = await measureTwoThreads(proof, items, rounds);
    const bareBytes = inspectAggregate(proof).sizes.body;
    const twoAtOnce = await measureTwoAtOnce(proof, items, verifyMs);
    const times = { proveMs, verifyMs, proveTwoMs, verifyTwoMs, twoAtOnce };
    return { ...sizes, proof: { bytes: proof.length, bareBytes, ...times } };
  } catch (error) {
    if (isCodedError(error) && error.code === 'NO_PROOF') return sizes;
    throw error;
  }
}

/** The same with two threads, started and warm before timing begins; the bytes must be the same. */
async function measureTwoThreads(
  proof: Uint8Array,
  items: readonly BenchItem[],
  rounds: number,
): Promise<{ proveTwoMs: number; verifyTwoMs: number }> {
  const pool = createAggregatePool({ threads: 2 });
  try {
    const prove = () => pool.aggregate(items, { format: 'proof' });
    if (!equal(await prove(), proof)) throw new Error('two threads made another proof');
    const [, proveTwoMs] = await timed(rounds, prove);
    const [valid, verifyTwoMs] = await timed(rounds, () => pool.verifyAggregate(proof, items));
    if (!valid) throw new Error('a proof of ours was refused by two threads');
    return { proveTwoMs, verifyTwoMs };
  } finally {
    await pool.close();
  }
}

/**
 * Two threads that verify the same proof for half a second, compared with one of them alone: at
 * most 2.
 */
async function measureTwoAtOnce(
  proof: Uint8Array,
  items: readonly BenchItem[],
  verifyMs: number,
): Promise<number> {
  const url = new URL('./verifyThread.ts', import.meta.url);
  const rounds = Math.max(1, Math.round(500 / verifyMs));
  const threads = [1, 2].map(() => new Worker(url, { workerData: { proof, items } }));
  const verify = (thread: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      thread.once('message', (valid) =>
        valid === true ? resolve() : reject(new Error('refused')),
      );
      thread.once('error', reject);
      thread.postMessage(rounds);
    });
  const time = async (...those: Worker[]): Promise<number> => {
    const start = performance.now();
    await Promise.all(those.map(verify));
    return performance.now() - start;
  };
  try {
    await time(...threads); // warm
    const [one, two] = threads as [Worker, Worker];
    const alone: number[] = [];
    const both: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      alone.push(await time(turn % 2 === 0 ? one : two));
      both.push(await time(one, two));
    }
    return (2 * median(alone)) / median(both);
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

async function measureMemory(
  items: readonly BenchItem[],
  threads: number,
): Promise<MemoryFigures | undefined> {
  const before = 1024 * process.resourceUsage().maxRSS;
  let modules = 0;
  try {
    await aggregate(items, {
      format: 'proof',
      threads,
      onStats: ({ memoryBytes }) => {
        modules = memoryBytes;
      },
    });
  } catch (error) {
    if (isCodedError(error) && error.code === 'NO_PROOF') return undefined;
    throw error;
  }
  return { modules, resident: 1024 * process.resourceUsage().maxRSS, before };
}

if (import.meta.main) {
  const [file, count, what, number] = process.argv.slice(2);
  const items = (deserialize(readFileSync(file!)) as BenchItem[]).slice(0, Number(count));
  const figures =
    what === 'memory' ? measureMemory(items, Number(number)) : measure(items, Number(number));
  console.log(JSON.stringify((await figures) ?? null));
}
