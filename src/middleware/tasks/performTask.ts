/**
 * The work of the service's worker thread: reads, verifies and proves one task after another, and
 * verifies aggregates in between. It never touches a store. It has a pool of further threads, kept
 * from task to task.
 */
import {
  type AggregatePool,
  type AggregateProgress,
  createAggregatePool,
  MAX_AGGREGATE_ITEMS,
  MAX_MERGED_PARTS,
  MAX_PROOF_ITEMS,
  type MergeProgress,
  type PartToMerge,
  type StreamProgress,
} from '../../aggregate/index.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { unpackItems } from '../../shared/threads/packItems.ts';
import type { WorkContext } from '../../shared/threads/serve.ts';
import {
  encodeResultFile,
  joinResultFile,
  makeResultFile,
  parseResultFile,
  type ResultFile,
  sourceSizes,
} from '../../wire/resultFile.ts';
import {
  checkTriples,
  type ShapeFault,
  shapeError,
  type TaskFileLimits,
} from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { requireHash, sha256Of } from '../blobs/checksums.ts';
import { free } from '../http/buffers.ts';
import { parseStrictJson, tokensOfBatch } from '../http/strictJson.ts';
import { TaskFailure } from '../stores/port/task.ts';
import {
  type AggregateWork,
  type Answer,
  type Judgement,
  type JudgeWork,
  type Made,
  type MergeWork,
  type News,
  PART,
  type PartWork,
  type Work,
} from './taskWork.ts';

/** Length of a public key of Falcon-512. Lengths of neither set are reported with their items. */
const KEY_BYTES_512 = 897;

/** Maximum number of faults reported in full; `total` counts all. */
const SHOWN_FAULTS = 100;

/** Time for which the threads and memory of the last task are kept. */
const IDLE_MS = 60_000;

let pool: AggregatePool | undefined;
let users = 0;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

/** Lends the pool, which is released when it has been idle for a while. */
async function withPool<T>(
  threads: number,
  use: (pool: AggregatePool) => Promise<T>,
  idleMs = IDLE_MS,
): Promise<T> {
  pool ??= createAggregatePool({ threads });
  users++;
  clearTimeout(idleTimer);
  try {
    return await use(pool);
  } finally {
    users--;
    if (users === 0) {
      idleTimer = setTimeout(() => {
        void pool?.close();
        pool = undefined;
      }, idleMs);
    }
  }
}

/** @throws CodedError; a TaskFailure for what is wrong with the file */
export async function performTask(work: Work, context: WorkContext): Promise<Answer> {
  if (work.kind === 'judge') return judge(work);
  if (work.kind === 'part') {
    asked?.resolve(work);
    return undefined;
  }
  return work.kind === 'merge' ? merge(work, context) : aggregate(work, context);
}

async function judge({ aggregate, statements, threads }: JudgeWork): Promise<Judgement> {
  const valid = await withPool(threads, (lent) =>
    lent.verifyAggregate(new Uint8Array(aggregate), unpackItems(statements)),
  );
  return { valid };
}

async function aggregate(work: AggregateWork, { signal, tell }: WorkContext): Promise<Made> {
  const report = (news: News): void => tell(news);
  const startMs = performance.now();
  const items = read(work);
  const count = items.length;
  report({ counted: count });

  const readMs = performance.now();
  let verifiedMs = 0;
  const onProgress = ({ phase, done }: Pick<AggregateProgress, 'phase' | 'done'>): void => {
    const isOver = phase === 'aggregating' || done === count;
    // End of the phase: every signature is valid.
    if (isOver && verifiedMs === 0) {
      verifiedMs = performance.now();
      report({ verified: true });
    } else report({ phase: phase === 'verifying' ? 'verify' : 'aggregate', done });
  };
  if (makesPart(work, items)) {
    const onDone = ({ done }: StreamProgress) => onProgress({ phase: 'aggregating', done });
    const parts: Uint8Array<ArrayBuffer>[] = [];
    await withPool(work.threads, async (lent) => {
      const made = lent.aggregateParts(items, { signal, onProgress: onDone });
      for await (const part of made) parts.push(part);
    });
    // The items fit one.
    return madeOf(parts[0]!, PART);
  }
  // Verifies every signature first.
  const bytes = await withPool(work.threads, (lent) =>
    lent.aggregate(items, { format: work.format, signal, onProgress }),
  );
  const timings = {
    read_ms: work.fetchMs + readMs - startMs,
    verify_ms: verifiedMs - readMs,
    aggregate_ms: performance.now() - verifiedMs,
  };
  const told = work.isPart ? {} : timings;
  const { processId } = work;
  return made(makeResultFile({ processId, aggregate: bytes, items, timings: told }));
}

/** Returns whether it is a part for merging: those of Falcon-512 are, unless bundles are wanted. */
const makesPart = ({ isPart, format }: AggregateWork, items: readonly TaskItem[]): boolean =>
  isPart &&
  format !== 'bundle' &&
  items.every(({ publicKey }) => publicKey.length === KEY_BYTES_512);

const made = (result: ResultFile): Made =>
  madeOf(encodeResultFile(result), result.format, result.aggregate.length);

const madeOf = (
  file: Uint8Array<ArrayBuffer>,
  format: string,
  aggregateBytes = file.length,
): Made => ({ file: file.buffer, sha256: sha256Of(file), format, aggregateBytes });

/** Of task files that have been accepted before. */
const NO_LIMITS = {
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: Number.POSITIVE_INFINITY,
  maxFileBytes: Number.POSITIVE_INFINITY,
};

/** The merge that waits for a part; a worker runs one at a time. */
let asked: { resolve(part: PartWork): void; reject(error: CodedError): void } | undefined;

/** The parts of a merge. Asks for each when it is needed; one is in memory at a time. */
class Parts {
  readonly #count: number;
  readonly #context: WorkContext;
  /** The next part, and its number. */
  next: PartWork | undefined;
  number = -1;

  constructor({ parts }: MergeWork, context: WorkContext) {
    this.#count = parts;
    this.#context = context;
    const abort = () => asked?.reject(new CodedError('ABORTED'));
    context.signal.addEventListener('abort', abort, { once: true });
  }

  /** Moves on to the next part. @throws CodedError `ABORTED` */
  async advance(): Promise<void> {
    this.next = undefined;
    this.number++;
    if (this.number === this.#count) return;
    if (this.#context.signal.aborted) throw new CodedError('ABORTED');
    this.next = await new Promise<PartWork>((resolve, reject) => {
      asked = { resolve, reject };
      this.#context.tell({ wants: this.number } satisfies News);
    });
  }
}

/**
 * Merges parts, which are checked, as far as they go into one proof; other aggregates, which
 * workers have stored, stay as they are and are not verified again.
 */
async function merge(work: MergeWork, context: WorkContext): Promise<Made> {
  const startMs = performance.now();
  const aggregates: Uint8Array[] = [];
  const sizes: ReturnType<typeof sourceSizes>[] = [];
  /** Items of finished aggregates, and of the parts that are being merged. */
  let [done, merging] = [0, 0];
  let isVerified = false;
  const report = (phase: MergeProgress['phase'], ofThese: number): void => {
    const isMerging = phase === 'aggregating';
    if (isMerging && !isVerified) context.tell({ verified: true } satisfies News);
    isVerified ||= isMerging;
    const shown = isMerging ? 'aggregate' : 'verify';
    context.tell({ phase: shown, done: done + ofThese } satisfies News);
  };
  const finish = (aggregate: Uint8Array, count: number): void => {
    aggregates.push(aggregate);
    done += count;
    report('aggregating', 0);
  };
  const parts = new Parts(work, context);
  const opened = (result: ArrayBuffer, input: NonNullable<PartWork['input']>): PartToMerge => {
    const items = read({ ...input, limits: NO_LIMITS, isPart: true });
    free(input.file);
    sizes.push(sourceSizes(items));
    merging += items.length;
    return { part: new Uint8Array(result), statements: items };
  };
  const group = async function* (): AsyncGenerator<PartToMerge, void> {
    merging = 0;
    for (let left = MAX_MERGED_PARTS; left > 0 && parts.next?.input; left--) {
      // Kept nowhere: the files of the next part take its place.
      yield opened(parts.next.result, parts.next.input);
      await parts.advance();
    }
  };
  await parts.advance();
  while (parts.next) {
    if (parts.next.input) {
      const { signal } = context;
      const onProgress = ({ phase, done: ofThese }: MergeProgress) => report(phase, ofThese);
      // Its memory is several times that of a proof, so it is not kept.
      const merged = await withPool(
        work.threads,
        (lent) => lent.mergeParts(group(), { signal, onProgress }),
        0,
      );
      finish(merged, merging);
    } else {
      const file = parts.next.result;
      const { aggregate, sizes: ofSource, count } = parseResultFile(new Uint8Array(file));
      // Together they are as long as the result.
      free(file);
      sizes.push(ofSource);
      finish(aggregate, count);
      await parts.advance();
    }
  }
  const timings = { merge_ms: performance.now() - startMs };
  return made(joinResultFile({ processId: work.processId, aggregates, sizes, timings }));
}

/** @throws TaskFailure that describes the faults of the file; CodedError `FILE_DAMAGED` */
function read({
  file,
  limits: given,
  isPart,
  ...ref
}: Pick<AggregateWork, 'file' | 'limits' | 'isPart' | 'sha256'>): TaskItem[] {
  requireHash(sha256Of(new Uint8Array(file)), ref);
  const limits = isPart ? { ...given, maxSignatures: MAX_AGGREGATE_ITEMS } : given;
  const value = parse(new Uint8Array(file), limits);
  const { items, faults } = checkTriples(value, limits);
  if (faults) throw shapeFailure(faults);
  if (isPart) requireProvable(items);
  return items;
}

/** @throws TaskFailure unless one proof can cover the items */
function requireProvable(items: readonly TaskItem[]): void {
  const large = items.filter(({ publicKey }) => publicKey.length > KEY_BYTES_512).length;
  const { falcon512, falcon1024 } = MAX_PROOF_ITEMS;
  if (items.length - large <= falcon512 && large <= falcon1024) return;
  const code = 'TOO_MANY_ITEMS';
  const most = `${falcon512} signatures of Falcon-512 and ${falcon1024} of Falcon-1024`;
  throw new TaskFailure({ code, message: `A part holds at most ${most}` });
}

function parse(file: Uint8Array, { maxSignatures }: Required<TaskFileLimits>): unknown {
  try {
    return parseStrictJson(file, {
      maxTokens: tokensOfBatch(maxSignatures),
      tooManyCode: 'TOO_MANY_ITEMS',
    });
  } catch (fault) {
    if (!isCodedError(fault)) throw fault;
    const { code, message } = fault;
    throw new TaskFailure({ code, message: message.replace('body', 'task file') });
  }
}

function shapeFailure(faults: readonly ShapeFault[]): TaskFailure {
  const { code, message, invalid } = shapeError(faults);
  const errors = faults.slice(0, SHOWN_FAULTS).map(({ path, code, message }) => {
    return { path, code, message };
  });
  const shown = { code, message, errors, total: faults.length, ...(invalid && { invalid }) };
  return new TaskFailure(shown, invalid ? { invalid } : {});
}
