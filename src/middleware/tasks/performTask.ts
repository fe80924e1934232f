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
  MAX_PROOF_ITEMS,
} from '../../aggregate/index.ts';
import { isCodedError } from '../../shared/errors.ts';
import { unpackItems } from '../../shared/threads/packItems.ts';
import type { WorkContext } from '../../shared/threads/serve.ts';
import {
  encodeResultFile,
  makeResultFile,
  mergeResultFiles,
  parseResultFile,
  type ResultFile,
} from '../../wire/resultFile.ts';
import {
  checkTriples,
  type ShapeFault,
  shapeError,
  type TaskFileLimits,
} from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { requireHash, sha256Of } from '../blobs/checksums.ts';
import { parseStrictJson, tokensOfBatch } from '../http/strictJson.ts';
import { TaskFailure } from '../stores/port/task.ts';
import type {
  AggregateWork,
  Answer,
  Judgement,
  JudgeWork,
  Made,
  MergeWork,
  News,
  Work,
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
async function withPool<T>(threads: number, use: (pool: AggregatePool) => Promise<T>): Promise<T> {
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
      }, IDLE_MS);
    }
  }
}

/** @throws CodedError; a TaskFailure for what is wrong with the file */
export async function performTask(work: Work, context: WorkContext): Promise<Answer> {
  if (work.kind === 'judge') return judge(work);
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
  const onProgress = ({ phase, done, total }: AggregateProgress): void => {
    // End of the phase: every signature is valid.
    if (phase === 'verifying' && done === total && verifiedMs === 0) {
      verifiedMs = performance.now();
      report({ verified: true });
    } else if (phase === 'verifying') report({ phase: 'verify', done });
    else report({ phase: 'aggregate', done });
  };
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

function made(result: ResultFile): Made {
  const file = encodeResultFile(result);
  return {
    file: file.buffer,
    sha256: sha256Of(file),
    format: result.format,
    aggregateBytes: result.aggregate.length,
  };
}

/** Their bytes are those that workers stored, so nothing is verified again. */
function merge({ processId, files }: MergeWork, { tell }: WorkContext): Made {
  const startMs = performance.now();
  tell({ verified: true } satisfies News);
  const parts = files.map((file) => {
    const part = parseResultFile(new Uint8Array(file));
    // Together they are as long as the result: each is freed once it is read.
    structuredClone(file, { transfer: [file] });
    return part;
  });
  const merged = mergeResultFiles(processId, parts);
  return made({ ...merged, timings: { merge_ms: performance.now() - startMs } });
}

/** @throws TaskFailure that describes the faults of the file; CodedError `FILE_DAMAGED` */
function read({ file, limits: given, isPart, ...ref }: AggregateWork): TaskItem[] {
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
