/**
 * What goes over the wire and what the client's methods take, in types. Members of answers keep the
 * names that the wire has for them, so that the contract, the answers and the code read alike.
 */
import type { TaskItem as Item, Triple } from '../wire/triple.ts';

export type { Item, Triple };

/**
 * A task's id as the client gives it out: always a string of decimal digits. Ids of other servers
 * have up to 18 digits and more than a number holds exactly; a string compares, sorts into maps,
 * goes into JSON and urls, and loses nothing.
 */
export type TaskId = string;

/** An id as the client takes it: its own string, or a number or bigint that is exact. */
export type TaskIdInput = string | number | bigint;

/** What a verifier brings: an item, or a triple, without its signature (which is not looked at). */
export type StatementInput =
  | Pick<Item, 'publicKey' | 'message'>
  | Pick<Triple, 'digest' | 'public_key'>;

/**
 * A batch: items of either kind in order, or a whole task file (JSON array of triples) as it is.
 */
export type Batch = readonly (Triple | Item)[] | Uint8Array | string | Blob;

/** Answer of the signing endpoint. */
export type SignAnswer = Triple;

/** Answer to the creation of a task: where its file goes. */
export interface UploadTicket {
  readonly process_id: TaskId;
  /** The whole right to upload; need not be on the service's own address. */
  readonly url: string;
  /** End of the url; other servers do not say. */
  readonly expires_at?: string;
}

/** How far the work on a task is. */
export interface TaskProgress {
  /** What is being done: `read`, `verify`, `aggregate`, `store`. */
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** One part of a request that is at fault: a JSON pointer, a short code, a sentence. */
export interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** One invalid item of a batch. */
export interface InvalidItem {
  readonly index: number;
  readonly reason: string;
}

/**
 * A problem document (RFC 9457) as the service writes it; `invalid` names every bad item of a task.
 */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly Fault[];
  readonly errors_total?: number;
  readonly invalid?: readonly InvalidItem[];
  /** Of a fault of the server: what its log calls it. */
  readonly id?: string;
}

/** The progress record of a task. The first seven members come from every server. */
export interface TaskRecord {
  readonly client_id: string;
  readonly process_id: TaskId;
  /** For people and programs: see the table of states in the service's documentation. */
  readonly status: string;
  /** 0 until the task file was read. */
  readonly batch_size: number;
  readonly VCPUs: number;
  /** ISO 8601, UTC, seconds. */
  readonly request_utc_time: string;
  readonly latest_status_update_iso_utc_time: string;
  readonly progress?: TaskProgress | null;
  /** Why it failed. */
  readonly error?: Problem;
  /** ISO 8601, UTC, nanosecond digits. */
  readonly finished_at?: string;
  /** A signed url, made fresh for every answer. */
  readonly result_path?: string;
  readonly format?: string;
  readonly result_bytes?: number;
}

/** One element of the list of tasks. */
export interface TaskListItem {
  readonly id: TaskId;
  readonly status: string;
  readonly meta: {
    readonly count: number;
    readonly created_at: string;
    readonly submitted_at: string;
    readonly finished_at?: string;
    readonly result_path?: string;
  };
}

/** One page of the list. */
export interface TaskPage {
  readonly tasks: readonly TaskListItem[];
  /** Cursor of the next page; empty when nothing follows. */
  readonly next: string;
}

/** The result file of this service, version 1. */
export interface ResultFile {
  readonly version: number;
  readonly process_id: TaskId | null;
  readonly count: number;
  /** `bundle` or `proof`. */
  readonly format: string;
  readonly parameter_set: string;
  /** Commitment to the ordered (parameter set, public key, digest) list, hex with `0x`. */
  readonly statement: string;
  /** The aggregate, hex with `0x`. */
  readonly aggregate: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly timings: Readonly<Record<string, number>>;
}

/** A result as it was fetched. */
export interface TaskResult {
  readonly process_id: TaskId;
  /** Where it was fetched from. */
  readonly url: string;
  /** The file to the byte. */
  readonly text: string;
  /** The file read as JSON; integers that a number does not hold exactly are bigints. */
  readonly json: unknown;
  /** The same, when it is a result file of this service; other servers may write other files. */
  readonly file: ResultFile | null;
  /** Bytes of the aggregate, when there is a file. */
  readonly aggregate: Uint8Array | null;
  /** Whether it was checked against statements, by the library; see `result`. */
  readonly checked: boolean;
}

/** Bytes that were handed to the network so far. */
export interface TransferProgress {
  readonly done: number;
  readonly total: number;
}

/** Where a submission is. */
export interface SubmitProgress extends TransferProgress {
  /** `done` and `total` are bytes in `upload`, and 0 or 1 of 1 in the others. */
  readonly step: 'create' | 'upload' | 'notify';
}

/** Every method takes a signal; what it interrupts is rejected with code `ABORTED`. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** How often and how long requests are tried again, where that is safe. */
export interface RetryOptions {
  /** Most repeats of one request; default 4 (so five attempts). 0: none. */
  readonly times?: number;
  /**
   * Longest wait before the first repeat; each further one may take twice as long. Default 300 ms.
   */
  readonly baseMs?: number;
  /** Longest wait between two attempts by our own reckoning. Default 10 s. */
  readonly maxMs?: number;
  /** Longest Retry-After that is waited for; a longer one ends the attempts. Default 60 s. */
  readonly maxRetryAfterMs?: number;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of `createClient`; only `baseUrl` has no default. */
export interface ClientOptions {
  /**
   * Address of the service without `/v1`, with the mount path if it has one. In a page it may be
   * relative.
   */
  readonly baseUrl: string | URL;
  /** The API key, or what gives it; sent to the service alone, never to upload or result urls. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** The service's own segment in its paths; default `svc`. */
  readonly serviceName?: string;
  /** Default: the global one. */
  readonly fetch?: Fetch;
  /** Default: see {@link RetryOptions}; `false` for none. */
  readonly retries?: RetryOptions | false;
  /** Most time for one attempt of a small request and its answer; default 30 s. */
  readonly timeoutMs?: number;
  /**
   * Most time for one attempt that carries a batch, an aggregate or a result; default 15 minutes.
   */
  readonly transferTimeoutMs?: number;
  /**
   * Whether the server knows `Idempotency-Key`. `ask` (the default) reads the server's
   * `/v1/openapi.json` when it matters: after a direct aggregation whose outcome is not known. With
   * `false`, or a server that does not say so, such a request is not repeated.
   */
  readonly idempotencyKeys?: boolean | 'ask';
  /**
   * How a task file is sent when progress is wanted. `auto` (the default): by XMLHttpRequest in
   * browsers, as a stream where `fetch` takes one, else whole.
   */
  readonly uploadBy?: 'auto' | 'xhr' | 'stream' | 'whole';
  /** Ends everything that this client does. */
  readonly signal?: AbortSignal;
}
