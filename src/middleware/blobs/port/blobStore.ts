/**
 * The port for files: the task files that clients upload, and the result files. A directory and
 * S3 implement it here; a host can write its own. What must hold is
 * written at `BlobStore`.
 */

import type { BlobRef } from '../../stores/port/task.ts';

export type { BlobRef };

/** A file, at once or in pieces, of which some may be empty. */
export type BlobBody = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

export interface BlobPutOptions {
  /** `put` stops reading and throws BODY_TOO_LARGE as soon as more has arrived. */
  readonly maxBytes: number;
  /**
   * Ends the `put`: it rejects at once, even while the body has stalled and gives no piece, and
   * nothing is left of the file.
   */
  readonly signal?: AbortSignal;
}

export interface UploadUrlOptions {
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** The length of the file, if the client has told it: no other is accepted then. */
  readonly bytes?: number;
}

export interface ResultUrlOptions {
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** Default `GET`. */
  readonly method?: 'GET' | 'HEAD';
}

/** A file that a client stored with an upload url of the store. */
export interface Uploaded {
  readonly blob: BlobRef;
  /** As the client sent it. */
  readonly contentType: string;
  /** As the client sent it; `identity` or absent if the file is not compressed. */
  readonly contentEncoding?: string;
}

/** Files that clients PUT at the store itself. */
export interface Arrivals {
  /** @returns what has been PUT for the task, or null */
  stat(taskId: number): Promise<Uploaded | null>;
  /** Deletes it, notified or not; called when a task has ended. */
  discard(taskId: number): Promise<void>;
}

export interface StoredBlob {
  readonly bytes: number;
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * Files: what clients upload, and results. A host that writes its own runs `blobContract` of
 * `falconry/testing` over it.
 *
 * Keys are ours, never a client's: `inputs/<UUID>.json` for a task file, and
 * `results/<attempt>/<task id>.json` for a result. `put` writes a key once, and a reader never sees
 * half a file or a mixture of two. A store that offers upload urls of its own may use one key for
 * all uploads to a task: the `tag` of a ref names the version, and `get` and `read` refuse another.
 *
 * What must hold:
 * 1. When `put` resolves, the whole file is durable under its key. When it rejects, or the process
 *    dies, nothing is readable under the key; and if it rejects, no part of the file is left.
 * 2. `put` and `get` hold a few chunks in memory, whatever the size of the file.
 * 3. A url of the store says what it allows (the upload for one task, or one result) and until
 *    when, with a signature over both. A store without urls is served by the routes of the service.
 * 4. What is wrong with the store and not with the caller is a CodedError: `STORAGE_FULL` without
 *    room for more, `STORE_UNAVAILABLE` for everything else. What a body throws is thrown on.
 * 5. When `put` resolves, the bytes that it was given are the caller's again: it may overwrite them
 *    or give their memory away.
 * 6. A `put` that ends early (the file is too large, or the signal says so) ends its body, too: it
 *    calls `return` of the iterator, or cancels the stream. It never reads far beyond the limit.
 * 7. Every verb refuses a key of another form with a RangeError, as its rejection: such a key might
 *    lead out of the store.
 */
export interface BlobStore {
  /**
   * Stores a file as it streams in; one of exactly `maxBytes` is taken, an empty one too.
   *
   * @throws CodedError `BODY_TOO_LARGE` beyond the limit, RangeError for a key of another form
   */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<BlobRef>;
  /**
   * The stream holds something open: it is to be read to its end, or cancelled.
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
  /** Deletes the file if there is one; that there is none is no error. */
  delete(key: string): Promise<void>;

  /** The store's own urls for uploads; absent if clients upload through the service. */
  readonly uploads?: Arrivals & {
    /** The url to which the file of a task may be PUT. */
    url(taskId: number, options: UploadUrlOptions): Promise<string>;
  };
  /** The same files where `uploads` is absent: another host may have given out such urls. */
  readonly arrivals?: Arrivals;
  /** The store's own urls for results; absent if clients read them from the service. */
  readonly results?: {
    /** The url of a result; its path ends in `<id>.json`. */
    url(key: string, options: ResultUrlOptions): Promise<string>;
  };

  /**
   * @throws CodedError `STORAGE_FULL` without room for files, `STORE_UNAVAILABLE` unless the store
   *   answers within a second
   */
  ping(): Promise<void>;
  /** How long a good answer to `ping` stands, for `/readyz`; default 1 s. */
  readonly keepPingMs?: number;

  /**
   * Removes what crashes left behind: unfinished writes, and files older than `olderThanMs` that
   * `referenced` does not name. It is asked for old files only.
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
