/**
 * The port for files: task files that clients upload, and result files. Implemented here by a
 * directory and by S3; a host can write its own. `BlobStore` states the contract.
 */
import type { HostSignal, HostStream } from '../../../shared/hostTypes.ts';
import type { BlobRef } from '../../stores/port/task.ts';

export type { BlobRef };

/** A file, whole or in pieces, some of which may be empty. */
export type BlobBody = Uint8Array | AsyncIterable<Uint8Array> | HostStream;

export interface BlobPutOptions {
  /** `put` stops reading and throws BODY_TOO_LARGE when more has arrived. */
  readonly maxBytes: number;
  /**
   * Aborts the `put`: it rejects at once, even if the body has stalled, and nothing is left of the
   * file.
   */
  readonly signal?: HostSignal;
}

export interface UploadUrlOptions {
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** Length of the file, if the client has announced it; no other is accepted then. */
  readonly bytes?: number;
}

export interface ResultUrlOptions {
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** Default `GET`. */
  readonly method?: 'GET' | 'HEAD';
}

/** A file that a client stored by an upload URL of the store. */
export interface Uploaded {
  readonly blob: BlobRef;
  /** As sent by the client. */
  readonly contentType: string;
  /** As sent by the client; `identity` or absent if the file is not compressed. */
  readonly contentEncoding?: string;
}

/** Files that clients PUT directly at the store. */
export interface Arrivals {
  /** @returns the file that was PUT for the task, or null */
  stat(taskId: number): Promise<Uploaded | null>;
  /** Deletes the file; called when a task has ended. */
  discard(taskId: number): Promise<void>;
}

export interface StoredBlob {
  readonly bytes: number;
  readonly body: HostStream;
}

/**
 * Stores task files and results. A host that writes its own tests it with `blobContract` of
 * `falconry/testing`.
 *
 * The service chooses all keys: `inputs/<UUID>.json` for a task file,
 * `results/<attempt>/<task id>.json` for a result, and `parts/<task id>/<SHA-256>.json` for that of
 * a part, which need not be JSON. `put` writes a key once, or the same bytes again, and readers
 * never get part of a file or a mixture of two. A store with its own upload URLs may use one key
 * for all uploads to a task: the `tag` of a ref names the version, and `get` and `read` reject
 * others.
 *
 * Contract:
 * 1. When `put` resolves, the whole file is durable under its key. When it rejects, or the process
 *    dies, nothing is readable under the key; and if it rejects, no part of the file is left.
 * 2. `put` and `get` hold a few chunks in memory, whatever the size of the file.
 * 3. A URL of the store states what it allows (the upload for one task, or one result) and until
 *    when, with a signature over both. The service's own routes serve a store without URLs.
 * 4. A fault of the store is a CodedError: `STORAGE_FULL` without room, else `STORE_UNAVAILABLE`.
 *    Errors of a body are rethrown.
 * 5. When `put` resolves, the caller may overwrite the given bytes or free their memory.
 * 6. A `put` that ends early (file too large, or aborted) also ends its body: it calls `return` of
 *    the iterator, or cancels the stream. It never reads far beyond the limit.
 * 7. Every verb rejects a key of another form with a RangeError, since it might lead out of the
 *    store.
 */
export interface BlobStore {
  /**
   * Stores a file as it arrives; accepts exactly `maxBytes`, and an empty file.
   *
   * @throws CodedError `BODY_TOO_LARGE` beyond the limit, RangeError for a key of another form
   */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<BlobRef>;
  /**
   * The caller must read the stream to its end, or cancel it.
   *
   * @returns the file as a stream with its length, or null
   * @throws CodedError `INPUT_CHANGED` if its version is not that of the ref's tag
   */
  get(blob: Pick<BlobRef, 'key' | 'tag'>): Promise<StoredBlob | null>;
  /**
   * @returns the whole file, or null
   * @throws CodedError `BODY_TOO_LARGE` for a file of more than `maxBytes`, `INPUT_CHANGED` if its
   *   version is not that of the ref's tag
   */
  read(blob: Pick<BlobRef, 'key' | 'tag'>, maxBytes: number): Promise<Uint8Array | null>;
  /** @returns key and length of the file, or null */
  stat(key: string): Promise<BlobRef | null>;
  /** Deletes the file, if there is one. */
  delete(key: string): Promise<void>;

  /** Upload URLs of the store; absent if clients upload through the service. */
  readonly uploads?: Arrivals & {
    /** The url to which the file of a task may be PUT. */
    url(taskId: number, options: UploadUrlOptions): Promise<string>;
  };
  /** The same files if `uploads` is absent: another host may have issued such URLs. */
  readonly arrivals?: Arrivals;
  /** Result URLs of the store; absent if clients read results from the service. */
  readonly results?: {
    /** The url of a result; its path ends in `<id>.json`. */
    url(key: string, options: ResultUrlOptions): Promise<string>;
  };

  /**
   * @throws CodedError `STORAGE_FULL` without room for files, `STORE_UNAVAILABLE` unless the store
   *   answers within a second
   */
  ping(): Promise<void>;
  /** Time for which `/readyz` caches a successful `ping`; default 1 s. */
  readonly keepPingMs?: number;

  /**
   * Removes the leftovers of crashes: unfinished writes, and files older than `olderThanMs` that
   * `referenced` does not return. It is called for old files only.
   *
   * @returns the number of removed files
   */
  clean(options: {
    readonly olderThanMs: number;
    referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;
  }): Promise<number>;
}

/** @returns a fresh key for a task file. */
export function newInputKey(): string {
  return `inputs/${crypto.randomUUID()}.json`;
}

/**
 * @returns the key of the result file of a task; each attempt has its own, so a stale worker
 * overwrites nothing
 */
export function resultKey(taskId: number, attempt: number): string {
  return `results/${attempt}/${taskId}.json`;
}

/** @returns the key of the result of a part, by its task and its bytes */
export function partKey(taskId: number, sha256: string): string {
  return `parts/${taskId}/${sha256}.json`;
}
