/** What the page and its worker say to each other. The batches themselves stay in the worker; the page has their numbers. */
import type { Triple } from '../../wire/taskFile.ts';

/** Name of the page's worker. Its script under any other name is one of the threads that it shares work with. */
export const WORKER_NAME = 'falconry';

export type SetName = 'falcon512' | 'falcon1024';
/** What test items are made of; `mixed` alternates. */
export type SetChoice = SetName | 'mixed';

/** Where in a task file something is wrong: a line of the text, an item of the array, or neither. */
export interface FileFault {
  readonly message: string;
  /** From 0. */
  readonly index?: number;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Only so many faults travel; the total says how many there are. */
export const MAX_FAULTS = 200;

/** How many bytes the parts of a batch have. */
export interface BatchBytes {
  readonly publicKeys: number;
  /** Each key once. */
  readonly distinctKeys: number;
  readonly messages: number;
  readonly signatures: number;
  /** As a task file. */
  readonly file: number;
}

/** One of the first items, for people to recognise. */
export interface ItemPreview {
  readonly set: SetName | 'unknown';
  readonly digest: string;
  readonly publicKey: string;
  readonly signatureBytes: number;
}

export interface BatchSummary {
  /** The worker's number of it. */
  readonly batch: number;
  readonly name: string;
  readonly count: number;
  readonly keys: number;
  readonly sets: Readonly<Record<SetName, number>>;
  readonly bytes: BatchBytes;
  readonly first: readonly ItemPreview[];
  /** Items whose signature does not verify, with their lines where the batch came from a file. */
  readonly invalid: readonly FileFault[];
  readonly invalidTotal: number;
  /** How long it took to check every signature. */
  readonly checkMs: number;
  /** Statements alone have no signatures to check. */
  readonly kind: 'task' | 'statements';
}

/** A file that was read: what is in it, or why it is no task file. */
export type FileReading =
  | { readonly summary: BatchSummary }
  | { readonly faults: readonly FileFault[]; readonly total: number };

export interface Limits {
  readonly maxSignatures: number;
  readonly maxMessageBytes: number;
  readonly maxFileBytes: number;
}

/** What a result file says of itself; nothing of it is verified yet. */
export interface ResultSummary {
  /** The worker's number of it. */
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
  readonly fileBytes: number;
}

export interface Verdict {
  readonly valid: boolean;
  readonly ms: number;
  /** Threads that shared the work. */
  readonly threads: number;
  /** Why not, where it can be told. */
  readonly reason?: string;
}

export interface TamperVerdict extends Verdict {
  /** Which byte of the aggregate was changed, and how. */
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

/** Every call: what it takes and what it gives. */
export interface Calls {
  verifySignature: {
    take: Triple;
    give: { readonly valid: boolean; readonly ms: number; readonly set: SetName | 'unknown' };
  };
  generate: {
    take: { readonly count: number; readonly keys: number; readonly set: SetChoice };
    give: BatchSummary;
  };
  /** A batch of these triples, after those of another batch if one is named. */
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
      readonly file: Blob;
      readonly name: string;
      readonly kind: BatchSummary['kind'];
      readonly limits: Limits;
    };
    give: FileReading;
  };
  /** The task file of a batch, as it goes over the wire. */
  taskFile: { take: { readonly batch: number }; give: Uint8Array<ArrayBuffer> };
  readResult: { take: { readonly file: Blob }; give: ResultSummary };
  verifyResult: { take: { readonly result: number; readonly batch: number }; give: Verdict };
  tamper: { take: { readonly result: number; readonly batch: number }; give: TamperVerdict };
}

export type CallName = keyof Calls;

export type Request =
  | { readonly id: number; readonly call: CallName; readonly take: unknown }
  | { readonly id: number; readonly cancel: true };

export type Reply =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly give: unknown }
  | {
      readonly id: number;
      readonly error: { readonly message: string; readonly code: string | null };
    };
