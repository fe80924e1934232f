/**
 * The messages between the service and the worker thread that works on tasks. Bytes travel as
 * buffers, which are transferred. Those of the thread that reads bodies are in `readBatch.ts`.
 */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { TaskFileLimits } from '../../wire/taskFile.ts';

/** The name that the thread gives in its hello. */
export const TASK_WORKER = 'falconry tasks';

/** A task file to read, verify and aggregate. Answered by {@link Made}. */
export interface AggregateWork {
  readonly kind: 'aggregate';
  readonly processId: number;
  readonly file: ArrayBuffer;
  /** The SHA-256 that the file must have, in hex. */
  readonly sha256: string;
  readonly limits: Required<TaskFileLimits>;
  readonly format: AggregateFormatOption;
  /** Number of threads, including the worker's own. */
  readonly threads: number;
  /** The time that fetching the file took; counts as part of reading it. */
  readonly fetchMs: number;
  /**
   * True for a part: it may have as many signatures as one proof covers, and its result file is the
   * same for every attempt.
   */
  readonly isPart: boolean;
}

/** The result files of all parts of a task, in order. Answered by {@link Made}. */
export interface MergeWork {
  readonly kind: 'merge';
  readonly processId: number;
  readonly files: readonly ArrayBuffer[];
}

/** An aggregate to verify. Answered by {@link Judgement}. */
export interface JudgeWork {
  readonly kind: 'judge';
  readonly aggregate: ArrayBuffer;
  /** As items with empty signatures, packed. */
  readonly statements: ArrayBuffer;
  readonly threads: number;
}

export type Work = AggregateWork | MergeWork | JudgeWork;

/** The progress of a task. */
export type News =
  /** The file has been read, and has this many signatures. */
  | { readonly counted: number }
  /** Every signature is valid; the aggregation begins. */
  | { readonly verified: true }
  | { readonly phase: 'verify' | 'aggregate'; readonly done: number };

/** A result. */
export interface Made {
  readonly file: ArrayBuffer;
  readonly sha256: string;
  readonly format: string;
  readonly aggregateBytes: number;
}

export interface Judgement {
  readonly valid: boolean;
}

export type Answer = Made | Judgement;
