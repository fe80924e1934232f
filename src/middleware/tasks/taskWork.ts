/**
 * The messages between the service and the worker thread that works on tasks. Bytes travel as
 * buffers, which are transferred. Those of the thread that reads bodies are in `readBatch.ts`.
 */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { TaskFileLimits } from '../../wire/taskFile.ts';

/** The name that the thread gives in its hello. */
export const TASK_WORKER = 'falconry tasks';

/** A task file to be read, verified and aggregated. Answered by {@link Made}. */
export interface AggregateWork {
  readonly kind: 'aggregate';
  readonly processId: number;
  readonly file: ArrayBuffer;
  readonly limits: Required<TaskFileLimits>;
  readonly format: AggregateFormatOption;
  /** Threads to work with, this one included. */
  readonly threads: number;
  /** The time that fetching the file took; counts as part of reading it. */
  readonly fetchMs: number;
}

/** An aggregate to be judged. Answered by {@link Judgement}. */
export interface JudgeWork {
  readonly kind: 'judge';
  readonly aggregate: ArrayBuffer;
  /** As items with empty signatures, packed. */
  readonly statements: ArrayBuffer;
  readonly threads: number;
}

export type Work = AggregateWork | JudgeWork;

/** How far a task is. */
export type News =
  /** the file has been read, and holds so many signatures */
  | { readonly counted: number }
  /** every signature is valid; what follows is the aggregate */
  | { readonly verified: true }
  | { readonly phase: 'verify' | 'aggregate'; readonly done: number };

/** A result. */
export interface Made {
  readonly file: ArrayBuffer;
  readonly format: string;
  readonly aggregateBytes: number;
}

export interface Judgement {
  readonly valid: boolean;
}

export type Answer = Made | Judgement;
