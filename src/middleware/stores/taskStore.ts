/**
 * The port behind which tasks are kept, and the queue in which they wait. SQLite and memory stand behind it here;
 * a server database can. One contract suite runs over every implementation.
 *
 * What must hold, with any number of callers, connections and processes on one store:
 *
 * 1. Every verb is one transaction. When its promise resolves the effect is durable (for a store that keeps
 *    anything at all): killing the process afterwards loses nothing. When it rejects, nothing happened, or the
 *    process died; a caller that must know asks again.
 * 2. `claim` hands a waiting task to exactly one caller. It raises `attempt` and starts a lease. A lease that has
 *    ended without `extend` puts the task back to waiting (counted in `losses`); the next `claim` sees to that.
 * 3. `extend`, `finish`, `fail` and `release` name the attempt. They act only when the task is running and the
 *    attempt is the current one, and say `false` otherwise: a worker that was presumed dead, or whose task was
 *    cancelled, can change nothing. So a task is finished at most once, and, since a task that is neither final
 *    nor leased is always claimable, at least once.
 * 4. Only the steps of `TRANSITIONS` happen. Losing a race is an outcome, not an exception.
 * 5. Ids grow in the order in which the tasks become visible, so a reader that pages by id misses none.
 * 6. The store never touches blobs. A verb that ends the use of a blob hands its key back, after commit; the
 *    caller deletes it, and `referenced` lets a cleaner find what a crash left between the two.
 */
import type { BlobRef } from '../blobs/blobStore.ts';
import type { ListedTask, Task, TaskError, TaskProgress, TaskResult, TaskState } from '../task.ts';

export interface NewTask {
  readonly clientId: number;
  /** 'created' for the three-step flow; 'waiting' for a direct request, whose input is already stored. */
  readonly state: 'created' | 'waiting';
  readonly input?: BlobRef;
  /** Signatures, when already known. */
  readonly count?: number;
  readonly threads: number;
  readonly expiresAtMs: number;
}

/** Limits of one client, checked in the same transaction as what they limit. Absent = none. */
export interface ClientLimits {
  /** Tasks of this client that are not final. */
  readonly openTasks?: number;
  /** Bytes of its task files and result files together. */
  readonly storedBytes?: number;
}

/** What a client has in the store. */
export interface ClientUsage {
  readonly openTasks: number;
  readonly storedBytes: number;
}

/** The answer kept for an Idempotency-Key: exactly what was sent. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Proof of holding an Idempotency-Key, from `beginAnswer`. */
export interface AnswerHold {
  readonly clientId: number;
  readonly key: string;
  readonly token: string;
}

export type BeginAnswer =
  /** First of its kind: carry on, and end with `put(…, { answer })` or `abandonAnswer`. */
  | { readonly kind: 'held'; readonly hold: AnswerHold }
  /** The first one still runs (or its process died less than `holdMs` ago). */
  | { readonly kind: 'running' }
  /** The key was used for another request. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer };

export interface PutOptions {
  readonly limits?: ClientLimits;
  /**
   * Keep the answer with the task, in the same transaction: after a crash there are both or neither. `of` is
   * called once with the new task, inside the transaction, and must not wait.
   */
  readonly answer?: { readonly hold: AnswerHold; of(task: Task): StoredAnswer };
}

export type PutOutcome =
  | { readonly ok: true; readonly task: Task }
  /** 'superseded': the hold on the Idempotency-Key ended meanwhile, and somebody else has it. */
  | { readonly ok: false; readonly reason: 'openTasks' | 'storedBytes' | 'superseded' };

export type UploadOutcome =
  /** `replaced`: the earlier file, to be deleted by the caller. */
  | { readonly ok: true; readonly task: Task; readonly replaced: string | null }
  /** 'state': already notified, or ended. The caller deletes the new file. */
  | { readonly ok: false; readonly reason: 'missing' | 'state' | 'storedBytes' };

export type NotifyOutcome =
  /** `first` is false for every repeat. */
  | { readonly ok: true; readonly task: Task; readonly first: boolean }
  /** 'ended': cancelled or expired before any notification. */
  | { readonly ok: false; readonly reason: 'missing' | 'notUploaded' | 'ended' };

export type CancelOutcome =
  | { readonly ok: true; readonly task: Task; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'final' };

export type RemoveOutcome =
  | { readonly ok: true; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'unfinished' };

export interface ListQuery {
  readonly clientId: number;
  /** At most so many tasks, 1 or more. */
  readonly limit: number;
  /** Only tasks beyond this id, in the order asked for. */
  readonly after?: number;
  /** By id; 'asc' (oldest first) by default. */
  readonly order?: 'asc' | 'desc';
  readonly state?: TaskState;
}

export interface ListPage {
  readonly tasks: readonly ListedTask[];
  /** Whether a task of the same kind follows the last one. */
  readonly more: boolean;
}

export interface ClaimOptions {
  readonly leaseMs: number;
  /** Threads that the task gets. */
  readonly threads: number;
  /** A task whose lease was lost more often fails (THREAD_LOST): it is likely what kills its workers. */
  readonly maxLosses: number;
}

export interface Extension {
  readonly leaseMs: number;
  /** verifying → aggregating; the state stays when absent. */
  readonly state?: 'aggregating';
  readonly count?: number;
  readonly progress?: TaskProgress;
}

export interface SweepOptions {
  /** Finished tasks older than this are removed; kept for ever when absent. */
  readonly retentionMs?: number;
  /** Stored answers older than this are forgotten. */
  readonly answerMs: number;
}

export interface Sweep {
  readonly expired: number;
  readonly removed: number;
  /** Keys of blobs that no task needs any more. */
  readonly blobs: readonly string[];
}

export interface TaskStore {
  /** Adds a task. Its id is new, and larger than every id seen before. */
  put(task: NewTask, options?: PutOptions): Promise<PutOutcome>;
  /** @returns the task; null when there is none, or when it is not this client's (if one is given). */
  get(id: number, clientId?: number): Promise<Task | null>;
  list(query: ListQuery): Promise<ListPage>;
  usage(clientId: number): Promise<ClientUsage>;
  /** Number of tasks in each state, of all clients. */
  counts(): Promise<Readonly<Record<TaskState, number>>>;

  /** created | uploaded → uploaded, with this file. Not after `expiresAtMs` of the task. */
  upload(id: number, input: BlobRef, limits?: ClientLimits): Promise<UploadOutcome>;
  /**
   * uploaded → waiting; `submittedAt` becomes now. `input` is for blob stores that take uploads without our
   * knowing: with it, created → uploaded → waiting is one step.
   */
  notify(id: number, clientId: number, input?: BlobRef): Promise<NotifyOutcome>;
  /** Moves the end of the upload url of a task that is not yet notified. @returns null if there is no such task. */
  renew(id: number, clientId: number, expiresAtMs: number): Promise<Task | null>;
  /** Any unfinished state → cancelled. Its worker learns it from `extend` or `watch`. */
  cancel(id: number, clientId: number): Promise<CancelOutcome>;
  /** Takes a final task away. */
  remove(id: number, clientId: number): Promise<RemoveOutcome>;

  /**
   * A waiting task (whose retry is due) → verifying, or null. Clients take turns: of one client the task that
   * was submitted first; of those that have tasks waiting each is served once in every turn.
   */
  claim(options: ClaimOptions): Promise<Task | null>;
  /** Heartbeat, progress, next state. @returns false = not yours any more: stop. */
  extend(id: number, attempt: number, extension: Extension): Promise<boolean>;
  /** aggregating → completed. @returns false = not yours any more: delete the result blob. */
  finish(id: number, attempt: number, result: TaskResult): Promise<boolean>;
  /** → failed; or, with `retry`, → waiting, not to be claimed before the delay is over. */
  fail(
    id: number,
    attempt: number,
    error: TaskError,
    retry?: { readonly delayMs: number },
  ): Promise<boolean>;
  /** → waiting at once, without counting a failure: for a worker that shuts down. */
  release(id: number, attempt: number): Promise<boolean>;
  /** Milliseconds until a claim could succeed (0 = now), or null when nothing waits or runs. */
  nextClaimMs(): Promise<number | null>;

  /** created | uploaded past their end → expired; retention; old answers. Safe to run anywhere, any time. */
  sweep(options: SweepOptions): Promise<Sweep>;
  /** @returns those of the keys that some task still needs. */
  referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Takes an Idempotency-Key. `fingerprint` is a hash over method, path and body. A hold lasts `holdMs`, so that
   * the key of a process that died is not blocked for ever; a hold that ended can be taken by a new request.
   */
  beginAnswer(
    clientId: number,
    key: string,
    fingerprint: string,
    holdMs: number,
  ): Promise<BeginAnswer>;
  /** Gives the key back when the request did not come to a task. */
  abandonAnswer(hold: AnswerHold): Promise<void>;

  /**
   * Calls the listener after a commit that changed a task. A hint and not the truth: only changes made through
   * this object are certain to be told, others may be. @returns a function that ends it.
   */
  watch(listener: (task: Task) => void): () => void;
  /** A random value of that name, 32 bytes, made at the first call and the same ever after (signing of urls). */
  secret(name: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** API keys, kept beside the tasks: only hashes, as 64 hex digits. */
export interface ApiKeyStore {
  /** `clientId` absent: the next free number from 1. @returns null when the hash is already there. */
  putApiKey(key: {
    readonly sha256: string;
    readonly name: string;
    readonly clientId?: number;
  }): Promise<ApiKeyRecord | null>;
  findApiKey(sha256: string): Promise<ApiKeyRecord | null>;
  listApiKeys(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false when there is none. */
  removeApiKey(sha256: string): Promise<boolean>;
}

export interface ApiKeyRecord {
  readonly sha256: string;
  readonly name: string;
  readonly clientId: number;
  readonly createdAt: string;
}
