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

/** The format of a result that is a part for merging, not an aggregate. */
export const PART = 'part';

/**
 * The parts of a task, to be merged and joined. The worker asks for one after the other, and each
 * comes as a {@link PartWork}. Answered by {@link Made}.
 */
export interface MergeWork {
  readonly kind: 'merge';
  readonly processId: number;
  /** Number of parts. */
  readonly parts: number;
  /** Number of threads, including the worker's own. */
  readonly threads: number;
}

/** The files of a part, for the merge that has asked for them. The answer is empty. */
export interface PartWork {
  readonly kind: 'part';
  readonly result: ArrayBuffer;
  /** The task file and its SHA-256, if the result is a part for merging. */
  readonly input?: { readonly file: ArrayBuffer; readonly sha256: string };
}

/** An aggregate to verify. Answered by {@link Judgement}. */
export interface JudgeWork {
  readonly kind: 'judge';
  readonly aggregate: ArrayBuffer;
  /** As items with empty signatures, packed. */
  readonly statements: ArrayBuffer;
  readonly threads: number;
}

export type Work = AggregateWork | MergeWork | PartWork | JudgeWork;

/** The progress of a task. */
export type News =
  /** The file has been read, and has this many signatures. */
  | { readonly counted: number }
  /** Every signature is valid; the aggregation begins. */
  | { readonly verified: true }
  | { readonly phase: 'verify' | 'aggregate'; readonly done: number }
  /** The merge needs the part with this number. */
  | { readonly wants: number };

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

export type Answer = Made | Judgement | undefined;
