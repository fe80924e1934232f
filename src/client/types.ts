/** Types of answers and arguments. Members of answers have their names on the wire. */
import type {
  HostBlob,
  HostRequestInit,
  HostResponse,
  HostSignal,
  HostUrl,
} from '../shared/hostTypes.ts';
import type { TaskItem as Item, Triple } from '../wire/triple.ts';

export type { Item, Triple };

/**
 * A task id as returned by the client: always a string of decimal digits. Ids of other servers have
 * up to 18 digits, which a number cannot represent exactly.
 */
export type TaskId = string;

/** A task id as an argument: a string of digits, a bigint, or an exact number. */
export type TaskIdInput = string | number | bigint;

/** An item or triple; its signature, if any, is ignored. */
export type StatementInput =
  | Pick<Item, 'publicKey' | 'message'>
  | Pick<Triple, 'digest' | 'public_key'>;

/** A batch: an ordered list of items or triples, or a whole task file (a JSON array of triples). */
export type Batch = readonly (Triple | Item)[] | Uint8Array | string | HostBlob;

/** The answer of the signing endpoint. */
export type SignAnswer = Triple;

/** The answer to the creation of a task. */
export interface UploadTicket {
  readonly process_id: TaskId;
  /** The upload URL. It grants the right to upload, and may be on another host. */
  readonly url: string;
  /** Expiry of the URL; optional on other servers. */
  readonly expires_at?: string;
}

/** The progress of the work on a task. */
export interface TaskProgress {
  /** The current phase: `read`, `verify`, `aggregate`, `store`; `parts` if the task has parts. */
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** A faulty part of a request: a JSON pointer, a short code, a sentence. */
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

/** A problem document (RFC 9457) of the service; `invalid` lists every invalid item of a task. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly Fault[];
  readonly errors_total?: number;
  readonly invalid?: readonly InvalidItem[];
  /** With a storage limit error: the bytes that your files use, and the limit. */
  readonly stored_bytes?: number;
  readonly allowed_bytes?: number;
  /** With a server error: its id in the server's log. */
  readonly id?: string;
  /** With the failure of a task with parts: the part; `invalid` counts from its start. */
  readonly part?: number;
}

/** The parts of a task, as far as they are known. */
export interface PartCounts {
  readonly total: number;
  /** Without those that have failed. */
  readonly uploaded: number;
  readonly done: number;
}

/** The progress record of a task. The first seven members come from every server. */
export interface TaskRecord {
  readonly client_id: string;
  readonly process_id: TaskId;
  /** See the table of states in the documentation of the service. */
  readonly status: string;
  /** Number of signatures; 0 until the task file has been read. */
  readonly batch_size: number;
  readonly VCPUs: number;
  /** ISO 8601, UTC, seconds. */
  readonly request_utc_time: string;
  readonly latest_status_update_iso_utc_time: string;
  readonly progress?: TaskProgress | null;
  /** Present if the task has parts. */
  readonly parts?: PartCounts;
  /** True if the task is set aside until the service's operator retries it. */
  readonly quarantined?: boolean;
  /** The reason for a failure; of an open task, that of a part, which can be replaced. */
  readonly error?: Problem;
  /** ISO 8601, UTC, nanosecond digits. */
  readonly finished_at?: string;
  /** A signed URL, different in each answer. */
  readonly result_path?: string;
  readonly format?: string;
  readonly result_bytes?: number;
  /** Time after which the task and its result may be removed; absent if they are kept. */
  readonly result_expires_at?: string;
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
    readonly result_expires_at?: string;
  };
}

/** One page of the list. */
export interface TaskPage {
  readonly tasks: readonly TaskListItem[];
  /** The cursor of the next page; empty on the last page. */
  readonly next: string;
}

/** The result file of this service, version 1. */
export interface ResultFile {
  readonly version: number;
  readonly process_id: TaskId | null;
  readonly count: number;
  /** `bundle`, `proof`, `merged` or `series`. */
  readonly format: string;
  readonly parameter_set: string;
  /** Commitment to the ordered (parameter set, public key, digest) list, hex with `0x`. */
  readonly statement: string;
  /** The aggregate, hex with `0x`. */
  readonly aggregate: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly timings: Readonly<Record<string, number>>;
}

/** A fetched result. */
export interface TaskResult {
  readonly process_id: TaskId;
  /** The URL that it was fetched from. */
  readonly url: string;
  /** The exact text of the file. */
  readonly text: string;
  /** The parsed JSON; integers that a number cannot represent exactly are bigints. */
  readonly json: unknown;
  /** The parsed result file of this service; null if another server sent another kind of file. */
  readonly file: ResultFile | null;
  /** The bytes of the aggregate; null if `file` is null. */
  readonly aggregate: Uint8Array | null;
  /** True if the library verified it for the given statements. */
  readonly checked: boolean;
}

/** Number of bytes sent so far. */
export interface TransferProgress {
  readonly done: number;
  readonly total: number;
}

/** The progress of a submission. */
export interface SubmitProgress extends TransferProgress {
  /**
   * In `upload`, `done` and `total` are bytes; in `parts`, the parts that are uploaded, of those
   * known so far; in the other steps, 0 or 1 of 1.
   */
  readonly step: 'create' | 'upload' | 'parts' | 'notify';
}

/** Options of every method. Aborting the signal rejects the call with the code `ABORTED`. */
export interface CallOptions {
  readonly signal?: HostSignal | undefined;
}

/** Retry options. Only requests that are safe to repeat are retried. */
export interface RetryOptions {
  /** Maximum number of repeats of a request; default 4 (five attempts). */
  readonly times?: number;
  /** Maximum wait before the first repeat; doubles with each further one. Default 300 ms. */
  readonly baseMs?: number;
  /** Maximum wait between two attempts, unless the server asks for more. Default 10 s. */
  readonly maxMs?: number;
  /** Maximum Retry-After that is honoured; a longer one ends the attempts. Default 60 s. */
  readonly maxRetryAfterMs?: number;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (input: string, init: HostRequestInit) => Promise<HostResponse>;

/** Options of `createClient`; only `baseUrl` has no default. */
export interface ClientOptions {
  /** Address of the service, with its mount path, without `/v1`. May be relative on a page. */
  readonly baseUrl: string | HostUrl;
  /** The API key, or a function that returns it. Sent only to the service, never to signed URLs. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** The service's segment in its paths; default `svc`. */
  readonly serviceName?: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch;
  /** See {@link RetryOptions}; `false` for no repeats. */
  readonly retries?: RetryOptions | false;
  /** Time limit of each attempt of a small request; default 30 s. */
  readonly timeoutMs?: number;
  /** Time limit of each attempt with a batch, an aggregate or a result; default 15 minutes. */
  readonly transferTimeoutMs?: number;
  /**
   * Support of `Idempotency-Key` by the server. `ask` (the default) reads its `/v1/openapi.json`
   * when needed: after a direct aggregation with an unknown outcome. With `false`, or if the
   * document does not declare the header, such a request is not repeated.
   */
  readonly idempotencyKeys?: boolean | 'ask';
  /**
   * Upload method for a task file if `onProgress` is given. `auto` (the default): XMLHttpRequest in
   * browsers, a stream where `fetch` accepts one, else the whole file.
   */
  readonly uploadBy?: 'auto' | 'xhr' | 'stream' | 'whole';
  /**
   * `gzip` compresses batches sent to the service itself; only for servers that decompress them, as
   * this service does. A file for another host, such as an object store, is sent uncompressed.
   */
  readonly compress?: 'gzip' | false;
  /** Aborts all calls of this client. */
  readonly signal?: HostSignal;
}
