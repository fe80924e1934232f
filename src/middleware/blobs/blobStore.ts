/**
 * The port behind which files are kept: task files that clients upload, and result files. A directory stands behind
 * it here; an object store can.
 *
 * Keys are ours, never a client's: `inputs/<random>.json` from `newInputKey`, `results/<attempt>/<id>.json` from
 * `resultKey`. A key is written once and not changed afterwards, so a reader never sees half a file or a mixture.
 *
 * What must hold:
 * 1. When `put` resolves, the whole file is durable under its key. When it rejects, or the process dies, nothing is
 *    readable under the key.
 * 2. Memory in `put` and `get` is a few chunks, whatever the size.
 * 3. A url carries its whole right: what (one task's upload, or one result), until when, and a signature over both.
 */
/** A stored blob: `tag` is the version that the blob store gave it, where it gives one (an ETag). */
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
  /** Absolute address of the routes that serve blobs, without a slash at the end; an object store ignores it. */
  readonly base: string;
  readonly expiresAtMs: number;
}

export interface BlobStore {
  /** Where `inputUrl` leads: 'served' = to routes of ours, that ask `checkUrl`; 'remote' = elsewhere. */
  readonly urls: 'served' | 'remote';

  /** Stores a file as it streams in. @throws CodedError BODY_TOO_LARGE beyond the limit. */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<BlobRef>;
  /** @returns the file as a stream with its length, or null. */
  get(key: string): Promise<{ bytes: number; body: ReadableStream<Uint8Array> } | null>;
  /** @returns the whole file, or null; @throws CodedError BODY_TOO_LARGE rather than read more than `maxBytes`. */
  read(key: string, maxBytes: number): Promise<Uint8Array | null>;
  stat(key: string): Promise<BlobRef | null>;
  /** Deletes the file; nothing happens when there is none. */
  delete(key: string): Promise<void>;

  /** The url to which one task's file may be PUT: `<base>/uploads/<id>?expires=…&signature=…` when served. */
  uploadUrl(taskId: number, options: UrlOptions): Promise<string>;
  /** The url of one result; its path ends in `<id>.json`: `<base>/results/<attempt>/<id>.json?…` when served. */
  resultUrl(key: string, options: UrlOptions): Promise<string>;
  /** Judges the query of a served url; compares in constant time. Where urls are remote: always 'forged'. */
  checkUrl(right: UrlRight, query: URLSearchParams): Promise<UrlVerdict>;

  /**
   * Removes what crashes left: unfinished writes, and files older than `olderThanMs` of which `referenced` does not
   * speak. @returns how many files went.
   */
  clean(options: {
    readonly olderThanMs: number;
    referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;
  }): Promise<number>;
}

export type UrlVerdict = 'ok' | 'forged' | 'expired';

/** What a url allows: to upload one task's file, or to read one result. */
export type UrlRight =
  | { readonly method: 'PUT'; readonly taskId: number }
  | { readonly method: 'GET'; readonly key: string };

/** @returns a fresh key for a task file. */
export function newInputKey(): string {
  return `inputs/${crypto.randomUUID()}.json`;
}

/** @returns the key of a task's result file; each attempt has its own, so a stale worker overwrites nothing. */
export function resultKey(taskId: number, attempt: number): string {
  return `results/${attempt}/${taskId}.json`;
}
