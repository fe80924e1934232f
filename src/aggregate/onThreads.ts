/**
 * The asynchronous calls on the threads of a pool: verifying items, aggregating, verifying
 * aggregates.
 */

import type { InvalidItem } from '../shared/errors.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import { Slices, throwIfAborted } from '../shared/threads/slices.ts';
import { type AggregateItem, invalidItems, startBatch, type VerifiedBatch } from './batch.ts';
import { encodeAggregate, requireFormat } from './chooseFormat.ts';
import { verifyMergedFileIn } from './mergedFormat.ts';
import {
  type Claim,
  type ElementClaims,
  isAbout,
  itemsOfBundle,
  openClaims,
} from './openAggregate.ts';
import type { AcceptOptions, PoolAggregateOptions, ProfileOption, WorkOptions } from './options.ts';
import { type FoldJob, type FoldResult, foldOnIdle } from './proof/index.ts';
import { isTooLongForProof, type ProofStats, verifyProofIn } from './proofFormat.ts';
import type { Statement } from './statement.ts';
import type { AggregateThreads } from './threads.ts';
import { packWork, type Work } from './work.ts';

/** Number of items verified between checks of the clock, the signal and the progress. */
const STEP_ITEMS = 64;
/** Parts of a verification per thread: enough to balance the load and to report progress. */
const PARTS_PER_THREAD = 6;

/** Implements `aggregate`, for arguments that have been checked. */
export async function aggregateWith(
  pool: AggregateThreads,
  items: readonly AggregateItem[],
  options: PoolAggregateOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { format = 'auto', onFormat, signal, onProgress, onStats } = options;
  requireFormat(items, format);
  throwIfAborted(signal);
  const total = items.length;
  // Threads needed by the proof may start now, and verify items meanwhile.
  const isProof = format !== 'bundle' && !isTooLongForProof(items);
  const helpers = pool.helpersFor(items, 'check', ...(isProof ? (['prove'] as const) : []));
  const batch = await verifiedBatch(pool, helpers, items, options);
  onProgress?.({ phase: 'verifying', done: total, total });
  throwIfAborted(signal);
  let stats: ProofStats = { threads: 1, memoryBytes: 0 };
  const { bytes, choice } = await encodeAggregate(batch, format, {
    pool,
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

export async function verifiedBatch(
  pool: AggregateThreads,
  helpers: number,
  items: readonly AggregateItem[],
  { signal, onProgress, profile = 'round3' }: PoolAggregateOptions,
): Promise<VerifiedBatch> {
  const chunks = chunksOf(items);
  const hooks = { signal, onProgress, profile };
  const refused = await checkChunks(pool, helpers, items.length, chunks, hooks);
  const batch = startBatch(profile);
  const slices = new Slices(signal);
  for (const [i, chunk] of chunks.entries()) {
    batch.add(chunk, refused[i]!);
    await slices.pause();
  }
  return batch.finish();
}

/** Implements `findInvalid`, for items whose types have been checked. */
export async function invalidItemsIn(
  pool: AggregateThreads,
  items: readonly AggregateItem[],
  options: WorkOptions & ProfileOption,
): Promise<InvalidItem[]> {
  throwIfAborted(options.signal);
  const helpers = pool.helpersFor(items, 'check');
  const refused = await checkChunks(pool, helpers, items.length, chunksOf(items), options);
  return refused.flatMap((list, chunk) =>
    list.map(({ index, reason }) => ({ index: STEP_ITEMS * chunk + index, reason })),
  );
}

const chunksOf = (items: readonly AggregateItem[]): AggregateItem[][] =>
  Array.from({ length: Math.ceil(items.length / STEP_ITEMS) }, (_, i) =>
    items.slice(STEP_ITEMS * i, STEP_ITEMS * (i + 1)),
  );

/** Returns the invalid items of each chunk. */
function checkChunks(
  pool: AggregateThreads,
  helpers: number,
  total: number,
  chunks: readonly AggregateItem[][],
  {
    signal,
    onProgress,
    profile = 'round3',
  }: { [K in keyof WorkOptions]: WorkOptions[K] | undefined } & ProfileOption,
): Promise<readonly InvalidItem[][]> {
  let done = 0;
  const slices = new Slices(signal, () => onProgress?.({ phase: 'verifying', done, total }));
  return spread(pool, helpers, chunks, {
    signal,
    work: (chunk) => ({ kind: 'check', profile, items: chunk }),
    local: async (chunk) => {
      await slices.pause();
      return invalidItems(chunk, profile);
    },
    onDone: (chunk) => {
      done += chunk.length;
    },
  });
}

/** Implements `verifyAggregateAsync`, for options that have been checked. */
export async function verifyWith(
  pool: AggregateThreads,
  aggregate: Uint8Array,
  statements: readonly Statement[],
  options: WorkOptions & AcceptOptions,
): Promise<boolean> {
  const { signal, onProgress } = options;
  const opened = openClaims(aggregate, statements, options.profiles);
  throwIfAborted(signal);
  if (opened === undefined) return false;
  const total = opened.reduce((sum, element) => sum + countOf(element), 0);
  let isValid = true;
  let before = 0;
  for (const element of opened) {
    const start = before;
    const ofElement: WorkOptions & AcceptOptions = {
      ...options,
      onProgress: ({ done }) => onProgress?.({ phase: 'verifying', done: start + done, total }),
    };
    isValid = await verifyElementWith(pool, element, ofElement);
    if (!isValid) break;
    before += countOf(element);
  }
  throwIfAborted(signal);
  onProgress?.({ phase: 'verifying', done: total, total });
  return isValid;
}

const countOf = ({ claims }: ElementClaims): number =>
  claims.reduce((sum, claim) => sum + claim.statements.length, 0);

async function verifyElementWith(
  pool: AggregateThreads,
  element: ElementClaims,
  options: WorkOptions & AcceptOptions,
): Promise<boolean> {
  const { claims, merged } = element;
  if (merged !== undefined) {
    return verifyProofWith(pool, claims, options, (parts, fold) =>
      verifyMergedFileIn(merged, claims, parts, (jobs) => fold(jobs, countOf(element))),
    );
  }
  const [claim] = claims as readonly [Claim];
  if (claim.header.format === 'proof') {
    return verifyProofWith(pool, [claim], options, (parts, fold) =>
      verifyProofIn(claim, parts, fold),
    );
  }
  const items = isAbout(claim) ? itemsOfBundle(claim) : undefined;
  if (items === undefined) return false;
  const { profile } = claim.header;
  return (await invalidItemsIn(pool, items, { ...options, profile })).length === 0;
}

type Fold = (jobs: readonly FoldJob[], items: number) => Promise<readonly FoldResult[]>;

/** @param prove verifies a proof in about so many parts, with `fold`, which does folds of items */
async function verifyProofWith(
  pool: AggregateThreads,
  claims: readonly Claim[],
  { signal, onProgress }: WorkOptions,
  prove: (parts: number, fold: Fold) => Promise<boolean>,
): Promise<boolean> {
  const statements = claims.flatMap((claim) => claim.statements);
  const total = statements.length;
  const helpers = pool.helpersFor(statements, 'verify');
  let before = 0;
  let done = 0;
  const slices = new Slices(signal, () => {
    onProgress?.({ phase: 'verifying', done: Math.floor(done), total });
  });
  const fold: Fold = async (jobs, items) => {
    done = before;
    const onDone = (): void => {
      done += items / jobs.length;
    };
    const results = await foldOn(pool, helpers, jobs, { signal, slices, onDone });
    before += items;
    return results;
  };
  const proving = prove(partsFor(helpers), fold);
  // This thread hashes the statements while others fold.
  const isRight = claims.every(isAbout);
  return (await proving) && isRight;
}

/** The number of jobs into which a verification is divided, for this number of other threads. */
export const partsFor = (helpers: number): number => PARTS_PER_THREAD * (helpers + 1);

/** Runs the jobs of a verification, each in this thread or another one. */
export const foldOn = (
  pool: AggregateThreads,
  helpers: number,
  jobs: readonly FoldJob[],
  way: {
    readonly signal: HostSignal | undefined;
    readonly slices: Slices;
    readonly onDone?: () => void;
  },
): Promise<readonly FoldResult[]> =>
  spread<FoldJob, FoldResult>(pool, helpers, jobs, {
    signal: way.signal,
    work: (job) => ({ kind: 'fold', keyBytes: pool.keyBytes, job }),
    local: async (job) => {
      const parts = foldOnIdle(job);
      for (;;) {
        await way.slices.pause();
        const { done, value } = parts.next();
        if (done) return value;
      }
    },
    onDone: () => way.onDone?.(),
  });

/**
 * Runs all jobs, each in this thread or another one.
 *
 * @param helpers maximum number of other threads
 * @returns the results in the order of the jobs
 */
async function spread<J, R>(
  pool: AggregateThreads,
  helpers: number,
  jobs: readonly J[],
  way: {
    readonly work: (job: J) => Work;
    readonly local: (job: J) => Promise<R>;
    readonly onDone: (job: J) => void;
    readonly signal: HostSignal | undefined;
  },
): Promise<R[]> {
  const results = new Array<R>(jobs.length);
  const count = Math.min(helpers, jobs.length - 1);
  await pool.spread<[number, J], R>(jobs.entries(), count, {
    signal: way.signal,
    parcel: ([, job]) => packWork(way.work(job)),
    local: ([, job]) => way.local(job),
    onDone([i, job], result) {
      results[i] = result;
      way.onDone(job);
    },
  });
  return results;
}
