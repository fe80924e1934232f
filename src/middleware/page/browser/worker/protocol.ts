/** Data that travels between the page and its worker. Batches and results stay in the worker. */
import type { ResultFile } from '../../../../wire/resultFile.ts';
import type { TaskFileLimits } from '../../../../wire/taskFile.ts';

/** The name of the page's worker. Under any other name, its script is a thread of the pool. */
export const WORKER_NAME = 'falconry';

export type SetName = 'falcon512' | 'falcon1024';

/** Options for test items. */
export interface GenerateOptions {
  readonly count: number;
  readonly keys: number;
  /** The parameter set; `mixed` alternates. */
  readonly set: SetName | 'mixed';
  /** `derived` computes salts from key and message. */
  readonly salt: 'random' | 'derived';
}

/** A fault of a task file, with its place where known. */
export interface FileFault {
  readonly message: string;
  /** Index of the item, from 0. */
  readonly index?: number;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
}

/** The maximum number of faults in a message; their total is sent, too. */
export const MAX_FAULTS = 200;

export interface BatchSummary {
  /** The number of the batch in the worker. */
  readonly batch: number;
  /** Statements have no signatures. */
  readonly kind: 'task' | 'statements';
  readonly name: string;
  readonly count: number;
  readonly keys: number;
  readonly sets: Readonly<Record<SetName, number>>;
  /** Sizes of the signatures and of the task file. */
  readonly bytes: { readonly signatures: number; readonly file: number };
  /** The first items, for display. */
  readonly first: readonly {
    readonly digest: string;
    readonly publicKey: string;
    readonly signatureBytes: number;
  }[];
  /** Invalid items, with their lines if the batch came from a file. */
  readonly invalid: readonly FileFault[];
  readonly invalidTotal: number;
  /** Time to verify all signatures. */
  readonly checkMs: number;
}

/** The summary of a file, or the faults of a file that is not a task file. */
export type FileReading =
  | { readonly summary: BatchSummary }
  | { readonly faults: readonly FileFault[]; readonly total: number };

export type Limits = Required<TaskFileLimits>;

/** The content of a result file; not verified yet. */
export interface ResultSummary extends Omit<ResultFile, 'version' | 'statement' | 'aggregate'> {
  /** The number of the result in the worker. */
  readonly result: number;
  readonly statement: string;
}

/** Progress of a call. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  readonly total: number;
}
