/**
 * The port for files: the task files that clients upload, and the result files. A directory
 * implements it here; an object store can, too.
 *
 * Keys are ours, never a client's: `inputs/<random>.json` from `newInputKey`,
 * `results/<attempt>/<id>.json` from `resultKey`. A key is written once and never changed, so a
 * reader never sees half a file or a mixture of two.
 *
 * What must hold:
 * 1. When `put` resolves, the whole file is durable under its key. When it rejects, or the process
 *    dies, nothing is readable under the key.
 * 2. `put` and `get` hold a few chunks in memory, whatever the size of the file.
 * 3. A url says what it allows (the upload for one task, or one result) and until when, with a
 *    signature over both.
 */

/** A stored blob. `tag` is the version that the blob store gave it, if it gives one (an ETag). */
export interface BlobRef {
  readonly key: string;
  readonly bytes: number;
  readonly tag?: string;
}

export type BlobBody = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

export interface BlobPutOptions {
  /** `put` stops reading and throws BODY_TOO_LARGE as soon as more has arrived. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface UrlOptions {
  /**
   * Absolute address of the routes that serve blobs, without a slash at the end; an object store
   * ignores it.
   */
  readonly base: string;
  readonly expiresAtMs: number;
}

export interface BlobStore {
  /** Where urls lead: 'served' = to our own routes, which call `checkUrl`; 'remote' = elsewhere. */
  readonly urls: 'served' | 'remote';

  /** Stores a file as it streams in. @throws CodedError BODY_TOO_LARGE beyond the limit. */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<BlobRef>;
  /** @returns the file as a stream with its length, or null. */
  get(key: string): Promise<{ bytes: number; body: ReadableStream<Uint8Array> } | null>;
  /**
   * @returns the whole file, or null
   * @throws CodedError `BODY_TOO_LARGE` for a file of more than `maxBytes`
   */
  read(key: string, maxBytes: number): Promise<Uint8Array | null>;
  stat(key: string): Promise<BlobRef | null>;
  /** Deletes the file if there is one. */
  delete(key: string): Promise<void>;

  /**
   * The url to which the file of a task may be PUT; `<base>/uploads/<id>?expires=…&signature=…` if
   * served.
   */
  uploadUrl(taskId: number, options: UrlOptions): Promise<string>;
  /**
   * The url of a result; its path ends in `<id>.json`. `<base>/results/<attempt>/<id>.json?…` if
   * served.
   */
  resultUrl(key: string, options: UrlOptions): Promise<string>;
  /** Checks the query of a served url, in constant time. If urls are remote, always 'forged'. */
  checkUrl(right: UrlRight, query: URLSearchParams): Promise<UrlVerdict>;

  /**
   * Removes what crashes left behind: unfinished writes, and files older than `olderThanMs` that
   * `referenced` does not name. @returns the number of removed files.
   */
  clean(options: {
    readonly olderThanMs: number;
    referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;
  }): Promise<number>;
}

export type UrlVerdict = 'ok' | 'forged' | 'expired';

/** The right that a url gives: to upload the file of a task, or to read a result. */
export type UrlRight =
  | { readonly method: 'PUT'; readonly taskId: number }
  | { readonly method: 'GET'; readonly key: string };

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
