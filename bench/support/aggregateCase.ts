/**
 * One case of bench/aggregate.ts, in a process of its own, so that its memory is its own:
 *
 *   node bench/support/aggregateCase.ts <file of items> <count> <rounds>
 *
 * Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { aggregate, inspectAggregate, verifyAggregate } from '../../src/aggregate/index.ts';
import { isCodedError } from '../../src/errors.ts';
import { median } from './interleave.ts';

export interface BenchItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

export interface CaseFigures {
  readonly count: number;
  readonly bundleBytes: number;
  /** As signed, and each at the padded length. */
  readonly signatureBytes: number;
  readonly paddedBytes: number;
  /** Absent when no proof was found. */
  readonly proof?: {
    /** With salts and header, and without. */
    readonly bytes: number;
    readonly bareBytes: number;
    readonly proveMs: number;
    readonly verifyMs: number;
    /** Of all modules after proving; of the whole process, resident; in bytes. */
    readonly proverMemory: number;
    readonly maxRss: number;
  };
}

const PADDED = new Map([
  [897, 666],
  [1793, 1280],
]);

/** The memories of all instances made since the last question; they never shrink, so their sum is the peak. */
function watchMemories(): () => number {
  let memories: WebAssembly.Memory[] = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args, newTarget) {
      const instance = Reflect.construct(target, args, newTarget) as WebAssembly.Instance;
      const { memory } = instance.exports;
      if (memory instanceof WebAssembly.Memory) memories.push(memory);
      return instance;
    },
  });
  return () => {
    const sum = memories.reduce((bytes, memory) => bytes + memory.buffer.byteLength, 0);
    memories = [];
    return sum;
  };
}

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
  const memory = watchMemories();
  const bundle = await aggregate(items, { format: 'bundle' });
  const sizes = {
    count: items.length,
    bundleBytes: bundle.length,
    signatureBytes: items.reduce((sum, { signature }) => sum + signature.length, 0),
    paddedBytes: items.reduce((sum, { publicKey }) => sum + PADDED.get(publicKey.length)!, 0),
  };
  try {
    let proverMemory = 0;
    const [proof, proveMs] = await timed(rounds, async () => {
      memory();
      const bytes = await aggregate(items, { format: 'proof' });
      proverMemory = Math.max(proverMemory, memory());
      return bytes;
    });
    const [valid, verifyMs] = await timed(rounds, () => verifyAggregate(proof, items));
    if (!valid) throw new Error('a proof of ours was refused');
    const maxRss = 1024 * process.resourceUsage().maxRSS;
    const bareBytes = inspectAggregate(proof).sizes.body;
    const times = { proveMs, verifyMs, proverMemory, maxRss };
    return { ...sizes, proof: { bytes: proof.length, bareBytes, ...times } };
  } catch (error) {
    if (isCodedError(error) && error.code === 'NO_PROOF') return sizes;
    throw error;
  }
}

if (import.meta.main) {
  const [file, count, rounds] = process.argv.slice(2);
  const items = (deserialize(readFileSync(file!)) as BenchItem[]).slice(0, Number(count));
  console.log(JSON.stringify(await measure(items, Number(rounds))));
}
