/** What the playground does: signs a batch, makes one aggregate of it, verifies that. */
import type { AggregateItem, Falcon } from 'falconry';
import type { SetName } from './sizeRows';

/** A step that is going on, `done` of `total`. */
export interface Progress {
  readonly step: 'signing' | 'verifying' | 'aggregating';
  readonly done: number;
  readonly total: number;
}

/** What came out of a batch. */
export interface Outcome {
  readonly format: string;
  readonly bytes: number;
  /** Of the signatures, one by one. */
  readonly signatureBytes: number;
  readonly threads: number;
  /** Whether the aggregate verifies; and with one bit of it flipped. */
  readonly valid: boolean;
  readonly damagedValid: boolean;
  readonly signMs: number;
  readonly proveMs: number;
  readonly verifyMs: number;
}

export interface Job {
  readonly set: SetName;
  readonly count: number;
  readonly message: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Longest time without a pause for the page, while signing. */
const SLICE_MS = 12;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function signBatch(falcon: Falcon, job: Job): Promise<AggregateItem[]> {
  const { publicKey, secretKey } = falcon.keygen();
  using expanded = falcon.expandSecretKey(secretKey);
  const items: AggregateItem[] = [];
  let since = performance.now();
  while (items.length < job.count) {
    const message = new TextEncoder().encode(`${job.message} ${items.length + 1}`);
    items.push({ publicKey, message, signature: falcon.sign(message, expanded) });
    if (performance.now() - since < SLICE_MS) continue;
    job.onProgress({ step: 'signing', done: items.length, total: job.count });
    await pause();
    job.signal.throwIfAborted();
    since = performance.now();
  }
  return items;
}

/** Does it all. @throws AbortError or CodedError `ABORTED` if the signal is aborted */
export async function runBatch(job: Job): Promise<Outcome> {
  // Loaded only when it is used: the page itself needs none of it.
  const { aggregate, falcon512, falcon1024, inspectAggregate, verifyAggregateAsync } = await import(
    'falconry'
  );
  const start = performance.now();
  const items = await signBatch(job.set === 'falcon512' ? falcon512 : falcon1024, job);
  const signed = performance.now();
  let threads = 1;
  const bytes = await aggregate(items, {
    threads: 2,
    signal: job.signal,
    onProgress: ({ phase, done, total }) => job.onProgress({ step: phase, done, total }),
    onStats: (stats) => (threads = stats.threads),
  });
  const proved = performance.now();
  const valid = await verifyAggregateAsync(bytes, items, { threads: 2 });
  const verified = performance.now();
  const damaged = bytes.slice();
  damaged[damaged.length >> 1]! ^= 1;
  return {
    format: inspectAggregate(bytes).format,
    bytes: bytes.length,
    signatureBytes: items.reduce((sum, { signature }) => sum + signature.length, 0),
    threads,
    valid,
    damagedValid: await verifyAggregateAsync(damaged, items),
    signMs: signed - start,
    proveMs: proved - signed,
    verifyMs: verified - proved,
  };
}
