/** The calls of the page to its worker. Batches stay in the worker; the page has their numbers. */
import type { Triple } from '../../../../wire/triple.ts';

/** The name of the page's worker. Under any other name, its script is a thread of the pool. */
export const WORKER_NAME = 'falconry';

export type SetName = 'falcon512' | 'falcon1024';
/** The parameter set of test items; `mixed` alternates. */
export type SetChoice = SetName | 'mixed';
/** The salts of test items: drawn, or derived from key and message. */
export type SaltChoice = 'random' | 'derived';

export interface GenerateOptions {
  readonly count: number;
  readonly keys: number;
  readonly set: SetChoice;
  readonly salt: SaltChoice;
}

/** A fault of a task file, with its line and the index of its item, if it has them. */
export interface FileFault {
  readonly message: string;
  /** From 0. */
  readonly index?: number;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
}

/** The most faults that are sent, beside their total number. */
export const MAX_FAULTS = 200;

/** One of the first items, shown to the user. */
export interface ItemPreview {
  readonly digest: string;
  readonly publicKey: string;
  readonly signatureBytes: number;
}

export interface BatchSummary {
  /** The number of the batch in the worker. */
  readonly batch: number;
  readonly name: string;
  readonly count: number;
  readonly keys: number;
  readonly sets: Readonly<Record<SetName, number>>;
  /** Sizes of the signatures, and of the task file. */
  readonly bytes: { readonly signatures: number; readonly file: number };
  readonly first: readonly ItemPreview[];
  /** Invalid items, with their lines if the batch came from a file. */
  readonly invalid: readonly FileFault[];
  readonly invalidTotal: number;
  /** Time that the verification of all signatures took. */
  readonly checkMs: number;
  /** Statements have no signatures. */
  readonly kind: 'task' | 'statements';
}

/** The summary of a file, or the faults of one that is not a task file. */
export type FileReading =
  | { readonly summary: BatchSummary }
  | { readonly faults: readonly FileFault[]; readonly total: number };

export interface Limits {
  readonly maxSignatures: number;
  readonly maxMessageBytes: number;
  readonly maxFileBytes: number;
}

/** The content of a result file; not verified yet. */
export interface ResultSummary {
  /** The number of the result in the worker. */
  readonly result: number;
  readonly processId: string | null;
  readonly count: number;
  readonly format: string;
  readonly parameterSet: string;
  readonly statement: string;
  readonly sizes: {
    readonly aggregate: number;
    readonly salts: number;
    readonly signatures: number;
    readonly publicKeys: number;
    readonly digests: number;
  };
  readonly timings: Readonly<Record<string, number>>;
}

export interface Verdict {
  readonly valid: boolean;
  readonly ms: number;
  /** Threads that shared the work. */
  readonly threads: number;
  /** The reason, if it is known. */
  readonly reason?: string;
}

export interface TamperVerdict extends Verdict {
  /** The offset of the changed byte in the aggregate. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** Progress of a call. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

/** The calls: their arguments and their results. */
export interface Calls {
  verifySignature: {
    take: Triple;
    give: { readonly valid: boolean; readonly ms: number; readonly set: SetName | 'unknown' };
  };
  generate: { take: GenerateOptions; give: BatchSummary };
  /** A batch of these triples, after those of another batch if there is one. */
  collect: {
    take: {
      readonly triples: readonly Triple[];
      readonly after: number | null;
      readonly limits: Limits;
    };
    give: FileReading;
  };
  readFile: {
    take: {
      /** Empty if the file is larger than the limit. */
      readonly bytes: ArrayBuffer;
      /** Of the file. */
      readonly size: number;
      readonly name: string;
      readonly kind: BatchSummary['kind'];
      readonly limits: Limits;
    };
    give: FileReading;
  };
  /** The task file of a batch, as it goes over the wire. */
  taskFile: { take: { readonly batch: number }; give: Uint8Array<ArrayBuffer> };
  readResult: { take: { readonly bytes: ArrayBuffer }; give: ResultSummary };
  verifyResult: { take: { readonly result: number; readonly batch: number }; give: Verdict };
  tamper: { take: { readonly result: number; readonly batch: number }; give: TamperVerdict };
}

export type CallName = keyof Calls;
