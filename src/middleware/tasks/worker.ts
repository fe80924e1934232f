/**
 * The entry of a worker thread: four jobs that cost time and never touch a store. Errors with a code travel back as
 * data, since an error loses its fields on its way between threads; only a thread that dies rejects. Bytes travel as buffers: Deno
 * looks at every element of a typed array in a message, which takes it ten seconds for the largest task file.
 */
import type { MessagePort } from 'node:worker_threads';
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  findInvalid,
  verifyAggregate,
} from '../../aggregate/index.ts';
import { type InvalidItem, toCodedError } from '../../errors.ts';
import { formatResultFile, makeResultFile, type ResultTimings } from '../../wire/resultFile.ts';
import {
  checkTriples,
  type ShapeFault,
  shapeError,
  type TaskFileLimits,
} from '../../wire/taskFile.ts';
import { parseStrictJson } from '../http/strictJson.ts';
import { type TaskError, TaskFailure } from '../task.ts';
import { packItems, unpackItems } from './packedItems.ts';

export interface ReadJob {
  readonly kind: 'read';
  readonly file: ArrayBuffer;
  readonly limits: Required<TaskFileLimits>;
}

export interface VerifyJob {
  readonly kind: 'verify';
  readonly items: SharedArrayBuffer;
  readonly from: number;
  readonly to: number;
}

export interface AggregateJob {
  readonly kind: 'aggregate';
  readonly items: SharedArrayBuffer;
  readonly processId: number;
  readonly format: AggregateFormatOption;
  /** To work with, this one included; the others are this one's own, and end with it. */
  readonly threads: number;
  /** Gets the number of items that are done, now and then. */
  readonly progress: MessagePort;
  /** Of what was done before; the file gets `aggregate_ms` beside them. */
  readonly timings: ResultTimings;
}

export interface JudgeJob {
  readonly kind: 'judge';
  readonly aggregate: ArrayBuffer;
  /** Without signatures. */
  readonly statements: SharedArrayBuffer;
}

export type Job = ReadJob | VerifyJob | AggregateJob | JudgeJob;

/** What each kind of job answers. */
export interface Answers {
  readonly read: { readonly count: number; readonly items: SharedArrayBuffer };
  /** Indexes count from the start of the batch. */
  readonly verify: readonly InvalidItem[];
  readonly aggregate: {
    readonly file: ArrayBuffer;
    readonly format: string;
    readonly aggregateBytes: number;
  };
  readonly judge: boolean;
}

export type Answer<K extends Job['kind'] = Job['kind']> =
  | { readonly ok: true; readonly value: Answers[K] }
  | {
      readonly ok: false;
      readonly error: TaskError;
      /** For the log. */
      readonly cause: string | undefined;
    };

/** Commas and brackets of a task file, for each allowed item: a triple has 4; unknown fields are let through. */
const TOKENS_PER_ITEM = 16;
const SPARE_TOKENS = 1024;

/** Faults told in full; `total` says how many there are. */
const SHOWN_FAULTS = 100;

/** What the pool calls. */
export async function runJob(job: Job): Promise<unknown> {
  try {
    if (job.kind === 'read') return { ok: true, value: read(job) } satisfies Answer<'read'>;
    if (job.kind === 'verify') return { ok: true, value: verify(job) } satisfies Answer<'verify'>;
    if (job.kind === 'judge') return { ok: true, value: judge(job) } satisfies Answer<'judge'>;
    return { ok: true, value: await aggregate(job) } satisfies Answer<'aggregate'>;
  } catch (fault) {
    const error = toCodedError(fault);
    const { code, message, invalid } = error;
    const shown =
      error instanceof TaskFailure ? error.shown : { code, message, ...(invalid && { invalid }) };
    const cause = error.cause instanceof Error ? error.cause.stack : undefined;
    return { ok: false, error: shown, cause } satisfies Answer;
  }
}

function read({ file, limits }: ReadJob): Answers['read'] {
  const { items, faults } = checkTriples(parse(new Uint8Array(file), limits), limits);
  if (faults) throw shapeFailure(faults);
  return { count: items.length, items: packItems(items) };
}

function parse(file: Uint8Array, { maxSignatures }: Required<TaskFileLimits>): unknown {
  try {
    return parseStrictJson(file, {
      maxTokens: TOKENS_PER_ITEM * maxSignatures + SPARE_TOKENS,
      tooManyCode: 'TOO_MANY_ITEMS',
    });
  } catch (fault) {
    const { code, message } = toCodedError(fault);
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

function verify({ items, from, to }: VerifyJob): Answers['verify'] {
  return findInvalid(unpackItems(items, from, to)).map(({ index, reason }) => {
    return { index: from + index, reason };
  });
}

function judge({ aggregate, statements }: JudgeJob): Answers['judge'] {
  return verifyAggregate(new Uint8Array(aggregate), unpackItems(statements));
}

async function aggregate(job: AggregateJob): Promise<Answers['aggregate']> {
  const { items: packed, processId, format, threads, progress, timings } = job;
  const startMs = performance.now();
  const items = unpackItems(packed);
  const bytes = await aggregateItems(items, {
    format,
    threads,
    onProgress({ phase, done }) {
      if (phase === 'aggregating') progress.postMessage(done);
    },
  });
  const aggregate_ms = performance.now() - startMs;
  const result = makeResultFile({
    processId,
    aggregate: bytes,
    items,
    timings: { ...timings, aggregate_ms },
  });
  const file = new TextEncoder().encode(formatResultFile(result)).slice().buffer;
  return { file, format: result.format, aggregateBytes: bytes.length };
}
