/** The asynchronous calls, on the threads of a crew: verification of every item, the aggregate, its verification. */
import { CodedError, type InvalidItem } from '../errors.ts';
import { type AggregateItem, invalidItems, startBatch, type VerifiedBatch } from './batch.ts';
import { encodeAggregate, requireFormat } from './format.ts';
import { type Claim, itemsOfBundle, readClaim } from './judge.ts';
import type { PoolAggregateOptions, WorkOptions } from './options.ts';
import { type FoldJob, type FoldResult, foldOnIdle, yieldToHost } from './proof/index.ts';
import { type ProofStats, verifyProofIn } from './proof.ts';
import type { Statement } from './statement.ts';
import type { Crew } from './threads/crew.ts';

/** Items that are verified between two looks at the clock, the signal and the progress. */
const STEP_ITEMS = 64;
/** Work for about this long before other work of the thread gets its turn. */
const SLICE_MS = 10;
/** Parts of a verification for each thread: threads end together, and progress shows. */
const PARTS_PER_THREAD = 6;

/** Keeps the calling thread responsive while it works. */
class Slices {
  readonly #signal: AbortSignal | undefined;
  readonly #show: () => void;
  #end = 0;

  constructor(signal: AbortSignal | undefined, show: () => void) {
    this.#signal = signal;
    this.#show = show;
  }

  /** To be called often. @throws CodedError `ABORTED` */
  async pause(): Promise<void> {
    throwIfAborted(this.#signal);
    if (performance.now() < this.#end) return;
    this.#show();
    await yieldToHost();
    throwIfAborted(this.#signal);
    this.#end = performance.now() + SLICE_MS;
  }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CodedError('ABORTED', { cause: signal.reason });
}

/** What `aggregate` does with arguments that have been checked. */
export async function aggregateWith(
  crew: Crew,
  items: readonly AggregateItem[],
  options: PoolAggregateOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { format = 'auto', onFormat, signal, onProgress, onStats } = options;
  requireFormat(items, format);
  throwIfAborted(signal);
  const total = items.length;
  const batch = await verifiedBatch(crew, items, options);
  onProgress?.({ phase: 'verifying', done: total, total });
  throwIfAborted(signal);
  let stats: ProofStats = { threads: 1, memoryBytes: 0 };
  const { bytes, choice } = await encodeAggregate(batch, format, {
    crew,
    signal,
    onProgress: onProgress && ((done) => onProgress({ phase: 'aggregating', done, total })),
    onStats: (ofProof) => {
      stats = ofProof;
    },
  });
  throwIfAborted(signal);
  onFormat?.(choice);
  onStats?.(choice.format === 'proof' ? stats : { threads: 1, memoryBytes: 0 });
  onProgress?.({ phase: 'aggregating', done: total, total });
  return bytes;
}

async function verifiedBatch(
  crew: Crew,
  items: readonly AggregateItem[],
  { signal, onProgress }: WorkOptions,
): Promise<VerifiedBatch> {
  const chunks = chunksOf(items);
  const refused = await checkChunks(crew, items.length, chunks, { signal, onProgress });
  const batch = startBatch();
  const slices = new Slices(signal, () => undefined);
  for (const [i, chunk] of chunks.entries()) {
    batch.add(chunk, refused[i]!);
    await slices.pause();
  }
  return batch.finish();
}

/** What `findInvalid` does, for items that are known to be of the right types. */
export async function invalidItemsIn(
  crew: Crew,
  items: readonly AggregateItem[],
  options: WorkOptions,
): Promise<InvalidItem[]> {
  throwIfAborted(options.signal);
  const refused = await checkChunks(crew, items.length, chunksOf(items), options);
  return refused.flatMap((list, chunk) =>
    list.map(({ index, reason }) => ({ index: STEP_ITEMS * chunk + index, reason })),
  );
}

const chunksOf = (items: readonly AggregateItem[]): AggregateItem[][] =>
  Array.from({ length: Math.ceil(items.length / STEP_ITEMS) }, (_, i) =>
    items.slice(STEP_ITEMS * i, STEP_ITEMS * (i + 1)),
  );

/** The invalid items of every chunk. */
function checkChunks(
  crew: Crew,
  total: number,
  chunks: readonly AggregateItem[][],
  { signal, onProgress }: { [K in keyof WorkOptions]: WorkOptions[K] | undefined },
): Promise<readonly InvalidItem[][]> {
  let done = 0;
  const slices = new Slices(signal, () => onProgress?.({ phase: 'verifying', done, total }));
  return crew.spread(chunks, {
    signal,
    work: (chunk) => ({ kind: 'check', items: chunk }),
    local: async (chunk) => {
      await slices.pause();
      return invalidItems(chunk);
    },
    onDone: (chunk) => {
      done += chunk.length;
    },
  });
}

/** What `verifyAggregateAsync` does with options that have been checked. */
export async function verifyWith(
  crew: Crew,
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options: WorkOptions,
): Promise<boolean> {
  const { signal, onProgress } = options;
  const claim = readClaim(aggregate, statements);
  throwIfAborted(signal);
  if (claim === undefined) return false;
  const total = claim.statements.length;
  let isValid: boolean;
  if (claim.header.format === 'bundle') {
    const items = itemsOfBundle(claim);
    isValid = items !== undefined && (await invalidItemsIn(crew, items, options)).length === 0;
  } else {
    isValid = await verifyProofWith(crew, claim, options);
  }
  throwIfAborted(signal);
  onProgress?.({ phase: 'verifying', done: total, total });
  return isValid;
}

function verifyProofWith(
  crew: Crew,
  { bytes, header, statements }: Claim,
  { signal, onProgress }: WorkOptions,
): Promise<boolean> {
  const total = statements.length;
  let before = 0;
  let done = 0;
  const slices = new Slices(signal, () => {
    onProgress?.({ phase: 'verifying', done: Math.floor(done), total });
  });
  const spread = async (
    jobs: readonly FoldJob[],
    items: number,
  ): Promise<readonly FoldResult[]> => {
    done = before;
    const results = await crew.spread<FoldJob, FoldResult>(jobs, {
      signal,
      work: (job) => ({ kind: 'fold', job }),
      local: async (job) => {
        const parts = foldOnIdle(job);
        for (;;) {
          await slices.pause();
          const { done, value } = parts.next();
          if (done) return value;
        }
      },
      onDone: () => {
        done += items / jobs.length;
      },
    });
    before += items;
    return results;
  };
  const parts = PARTS_PER_THREAD * crew.threads;
  return verifyProofIn(bytes, header, statements, parts, spread);
}
