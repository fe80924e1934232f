/**
 * The port for tasks and their queue. Implemented here by SQLite, memory and PostgreSQL; a host can
 * write its own. One suite tests every implementation. `TaskStore` states the contract.
 */
import type { TaskState, UnfinishedState } from '../../../wire/taskStates.ts';
import type { BlobRef, ListedTask, Task, TaskError, TaskProgress, TaskResult } from './task.ts';

export interface NewTask {
  readonly clientId: number;
  /**
   * 'created' for the three-step flow; 'waiting' for a direct request, whose input is already
   * stored.
   */
  readonly state: 'created' | 'waiting';
  readonly input?: BlobRef;
  /** Number of signatures, if known. */
  readonly count?: number;
  readonly threads: number;
  /** Time limit for file and notification. */
  readonly ttlMs: number;
  /** Id of the request that created the task, for logs and traces; at most 128 characters. */
  readonly requestId?: string;
  /** Its `traceparent` (W3C Trace Context), for the spans of its phases. */
  readonly traceparent?: string;
  /** True for a task with parts, which has no file of its own. Only in 'created'. */
  readonly parts?: boolean;
}

/** A part of a task; `ttlMs` is the time for its upload, and for the next part. */
export type NewPart = Pick<
  NewTask,
  'clientId' | 'threads' | 'ttlMs' | 'requestId' | 'traceparent'
> & { readonly parent: number };

/** Limits of a client, checked in the transaction of the change; absent: unlimited. */
export interface ClientLimits {
  /** Tasks of this client that are not final. */
  readonly openTasks?: number;
  /** Bytes of its task files and result files together. */
  readonly storedBytes?: number;
}

/** The tasks and bytes of a client. */
export interface ClientUsage {
  readonly openTasks: number;
  readonly storedBytes: number;
}

/** Proof of holding an Idempotency-Key, from `beginAnswer`. */
export interface AnswerHold {
  readonly clientId: number;
  readonly key: string;
  readonly token: string;
}

export type BeginAnswer =
  /** The first request: end it with `put(…, { hold })` or `abandonAnswer`. */
  | { readonly kind: 'held'; readonly hold: AnswerHold }
  /** The first request is still running; its hold ends in `retryMs` unless it is extended. */
  | { readonly kind: 'running'; readonly retryMs: number }
  /** The key was used for a different request. */
  | { readonly kind: 'mismatch' }
  /** The current task of the first request; null if it was removed. */
  | { readonly kind: 'replay'; readonly task: Task | null };

export interface PutOptions {
  readonly limits?: ClientLimits;
  /** Stores the task's id under the Idempotency-Key, in the same transaction. */
  readonly hold?: AnswerHold;
}

export type PutOutcome =
  | { readonly ok: true; readonly task: Task }
  /** 'superseded': the hold on the Idempotency-Key has ended, and another request has it. */
  | { readonly ok: false; readonly reason: 'openTasks' | 'storedBytes' | 'superseded' };

export type PutPartOutcome =
  | { readonly ok: true; readonly task: Task }
  /**
   * 'noParts': the task has none. 'closed': notified, or ended. 'tooMany': it has `MAX_PARTS`.
   */
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'noParts' | 'closed' | 'tooMany' | 'superseded';
    };

export type UploadOutcome =
  /** `replaced`: the earlier file, which the caller deletes. */
  | { readonly ok: true; readonly task: Task; readonly replaced: string | null }
  /** 'state': already notified, or ended. The caller deletes the new file. */
  | { readonly ok: false; readonly reason: 'missing' | 'state' | 'storedBytes' };

export type NotifyOutcome =
  /** `first` is false for every repeat. */
  | { readonly ok: true; readonly task: Task; readonly first: boolean }
  /**
   * 'ended': cancelled or expired before any notification. 'storedBytes': the file that came with
   * the notification is over the client's limit; the caller deletes it. 'incomplete': some part has
   * not been uploaded, or has failed.
   */
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'notUploaded' | 'ended' | 'storedBytes' | 'incomplete';
    };

export type CancelOutcome =
  | { readonly ok: true; readonly task: Task; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'final' };

export type RemoveOutcome =
  | { readonly ok: true; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'unfinished' };

export interface ListQuery {
  readonly clientId: number;
  /** Maximum number of tasks, 1 or more. */
  readonly limit: number;
  /** Only tasks after this id, in the requested order. */
  readonly after?: number;
  /** By id; 'asc' (oldest first) by default. */
  readonly order?: 'asc' | 'desc';
  readonly state?: TaskState;
}

export interface PartQuery {
  readonly state?: TaskState;
  /** Maximum number of parts, 1 or more. */
  readonly limit?: number;
}

export interface ListPage {
  readonly tasks: readonly ListedTask[];
}

export interface ClaimOptions {
  readonly leaseMs: number;
  /** Threads for the task. */
  readonly threads: number;
}

export type Claim =
  | { readonly task: Task }
  /** `nextMs`: maximum time until a claim can succeed; null if nothing waits or runs. */
  | { readonly task: null; readonly nextMs: number | null };

/** An attempt at a task, in the verbs of workers. */
export interface Attempt {
  readonly id: number;
  readonly attempt: number;
}

export interface Extension {
  readonly leaseMs: number;
  /** verifying → aggregating; without it the state stays. */
  readonly state?: 'aggregating';
  readonly count?: number;
  readonly progress?: TaskProgress;
  /** The input with its SHA-256, which it did not have yet. */
  readonly input?: BlobRef;
}

/** A retry after a fault. */
export interface Retry {
  /** Time before the next claim. */
  readonly delayMs: number;
  /** True if the fault is not the task's, and so is not counted in `failures`. */
  readonly blameless?: boolean;
}

export interface SweepOptions {
  /** Age at which finished tasks are removed; default: never. */
  readonly retentionMs?: number;
  /** Age at which Idempotency-Keys are forgotten. */
  readonly answerMs: number;
}

/** A clock that is more than a day ahead of the time that the store has kept. */
export interface SuspectClock {
  readonly aheadMs: number;
  /** Running time after which the clock is believed. */
  readonly leftMs: number;
}

/** The distance from which a clock is suspect, and the running time after which it is believed. */
export const SUSPECT_MS = 24 * 3_600_000;

export interface Sweep {
  /** Ids of the tasks that expired. */
  readonly expired: readonly number[];
  readonly removed: number;
  /** Ids of the removed parts of ended tasks, if there are any. */
  readonly parts?: readonly number[];
  /** Number of forgotten Idempotency-Keys, if the store knows it. */
  readonly forgotten?: number;
  /** The sweep did nothing for this reason. */
  readonly suspect?: SuspectClock;
  /** Keys of blobs that are no longer needed. */
  readonly blobs: readonly string[];
  /** Time of the store, for hosts whose clocks may differ from it. */
  readonly nowMs?: number;
  /** True if there may be more: a call is limited, so that it does not hold the store for long. */
  readonly more: boolean;
}

/** A change of a task. */
export interface TaskNews {
  readonly id: number;
  readonly clientId: number;
  readonly state: TaskState;
  readonly attempt: number;
  /** True for a part, if known: its client sees only its task. */
  readonly isPart?: boolean;
  /** True if this store object made the change; news of others may be lost. */
  readonly own: boolean;
}

/** The unfinished tasks of all clients. */
export interface QueueDepth {
  /** Tasks by state; `waiting` excludes those set aside. */
  readonly states: Readonly<Record<UnfinishedState, number>>;
  /** Waiting tasks that were set aside. */
  readonly quarantined: number;
  /** Time since the submission of the oldest waiting task; null if none waits. */
  readonly oldestWaitingMs: number | null;
}

/**
 * Stores tasks and their queue. A host that writes its own tests it with `taskStoreContract` of
 * `falconry/testing`. Errors are `CodedError`s of `falconry`: `STORE_UNAVAILABLE` if the store
 * cannot answer.
 *
 * Contract, for any number of callers, connections and processes on one store:
 *
 * 1. Every verb is one transaction. When its promise resolves, the effect is durable (if the store
 *    keeps anything at all): killing the process afterwards loses nothing. When it rejects with
 *    `STORE_UNAVAILABLE`, the effect is unknown: the connection may have been lost while the
 *    transaction was committed. Callers then undo nothing, and query the store if necessary. Every
 *    other rejection means that nothing happened.
 * 2. `claim` hands a waiting task to exactly one caller. It increments `attempt` and starts a
 *    lease. If a lease ends without `extend`, the next `claim` makes the task wait again (counted
 *    in `losses`). Losses never end a task, since a server restart is one. A task that returns to
 *    the queue keeps its place.
 * 3. `extend`, `extendAll`, `finish`, `fail`, `setAside` and `release` name the attempt. They act
 *    only if the task is running and the attempt is the current one, and report it otherwise: a
 *    worker that was presumed dead, or whose task was cancelled, can change nothing. So a task is
 *    finished at most once; and at least once, since a task that is neither final nor leased can
 *    always be claimed. (A task set aside can be claimed once an operator puts it back.)
 * 4. Only these steps happen: `created` → `uploaded` → `waiting`, where direct requests start →
 *    `verifying` → `aggregating` → `completed`; from `uploaded` to itself, by another file; from
 *    the first two to `expired`; from the two that are running back to `waiting`, and to `failed`;
 *    from every state that is not final to `cancelled`. Losing a race is an outcome, not an
 *    exception. `task.ts` has the further steps of tasks with parts. Parts are tasks for workers
 *    and for `upload`; for every other verb of clients, lists and limits of tasks, they do not
 *    exist. A part keeps its file until its task has ended.
 * 5. Ids are safe integers from 1. They increase in the order in which a client's tasks become
 *    visible, so that paging by id misses none. Ids are never reused, even after a removal.
 * 6. The store never touches blobs. A verb that ends the use of a blob returns its key after the
 *    commit; the caller deletes it. `referenced` finds the leftovers of crashes.
 *    It keeps every member of a `BlobRef` as given: the service checks files by them.
 * 7. The store uses its own clock: callers pass durations, never times. A clock set forward or back
 *    loses no task and delays none. After a jump of more than a day ahead of the time that the
 *    store has kept, nothing expires and nothing is removed for a day of running, until the clock
 *    returns, or until an operator accepts it; such a time is not kept. API keys end by the clock.
 *    The times of a task increase with every step, even while the clock stands still, by the digits
 *    below the millisecond.
 * 8. Results are plain objects with exactly the members of their types; absent values are null.
 *    Every read returns new objects.
 *
 * The other ports of a store are optional (serviceStore.ts). Each has a suite in
 * `falconry/testing`. The commands that work on a store (`keys`, `queue`, `quota` and others)
 * support only SQLite and PostgreSQL; a host with its own store needs its own tools.
 */
export interface TaskStore {
  /**
   * Adds a task with a new id, larger than all earlier ones. Refused if it would exceed `limits`;
   * with `hold`, refused as 'superseded' if the hold has ended or already created a task.
   */
  put(task: NewTask, options?: PutOptions): Promise<PutOutcome>;
  /**
   * @returns the task; null if there is none, or, with `clientId`, if it belongs to another client
   *   or is a part
   */
  get(id: number, clientId?: number): Promise<Task | null>;
  /** Lists tasks of a client in order of id, without their errors, which can be long. */
  list(query: ListQuery): Promise<ListPage>;
  /** Returns a client's unfinished tasks, and the bytes of the files of all its tasks. */
  usage(clientId: number): Promise<ClientUsage>;
  /** The number of finished tasks does not affect the cost. */
  depth(): Promise<QueueDepth>;

  /**
   * created | uploaded → uploaded, with this file, before the deadline. A replaced file does not
   * count towards the limit.
   *
   * A part of an open task that is created, waiting or failed → waiting.
   */
  upload(id: number, input: BlobRef, limits?: ClientLimits): Promise<UploadOutcome>;
  /**
   * uploaded → waiting; `submittedAt` becomes now. `input` is for uploads that bypass the service:
   * with it, created → uploaded → waiting is one step, within the limits. A repeated notification
   * changes nothing and is `ok`, whatever the state of the task.
   *
   * A task with parts is closed if each of them is uploaded and none has failed. It can be claimed
   * once all are done.
   */
  notify(
    id: number,
    clientId: number,
    input?: BlobRef,
    limits?: ClientLimits,
  ): Promise<NotifyOutcome>;
  /**
   * Extends the deadline of a task before its notification; with `part`, also that of this part.
   *
   * @returns the task or the part; null if there is none, or if it takes no file
   */
  renew(id: number, clientId: number, ttlMs: number, part?: number): Promise<Task | null>;
  /**
   * Any unfinished state → cancelled, even if set aside. The worker is informed by `extend` or
   * `watch`. `blobs` is the task's former file, if it had one.
   */
  cancel(id: number, clientId: number): Promise<CancelOutcome>;
  /** Removes a final task. `blobs` is its result, if it has one. */
  remove(id: number, clientId: number): Promise<RemoveOutcome>;

  /**
   * Claims a waiting task that is due → verifying. Clients take turns: each client with waiting
   * tasks is served once per turn, with its earliest submission. A client without tasks so far is
   * served within the current turn; one that submits again after it was served waits for the next.
   * The task's `threads` becomes that of the options.
   */
  claim(options: ClaimOptions): Promise<Claim>;
  /**
   * Heartbeat, progress, next state; absent members do not change.
   *
   * @returns false if the attempt has lost the task: stop
   */
  extend(id: number, attempt: number, extension: Extension): Promise<boolean>;
  /** Heartbeat of all tasks of a process. @returns the ids of those still held */
  extendAll(attempts: readonly Attempt[], leaseMs: number): Promise<ReadonlySet<number>>;
  /**
   * aggregating → completed. The caller deletes the input, unless this is a part: the last one of a
   * closed task makes the task claimable.
   *
   * @returns false if the attempt has lost the task, or it is not aggregating: delete the result
   */
  finish(id: number, attempt: number, result: TaskResult): Promise<boolean>;
  /**
   * → failed, with the error; the caller deletes the input. With `retry`: → waiting, with its input
   * and without an error, not claimable before the delay is over. The error of a part becomes that
   * of its task, which fails if it is closed.
   */
  fail(id: number, attempt: number, error: TaskError, retry?: Retry): Promise<boolean>;
  /** → waiting, claimable at once and without a failure, for a worker that shuts down. */
  release(id: number, attempt: number): Promise<boolean>;
  /**
   * → waiting, but not claimable before `putBack`, for a task that killed its workers. Input and
   * error are kept.
   */
  setAside(id: number, attempt: number, error: TaskError): Promise<boolean>;
  /**
   * Makes a task that was set aside claimable again, at once and without its error.
   *
   * @returns false if there is no such task
   */
  putBack(id: number): Promise<boolean>;

  /**
   * created | uploaded past their deadline → expired; removes old final tasks, the parts of ended
   * ones, and Idempotency-Keys.
   * Does nothing while the clock is suspect. Safe at any time, in any process.
   */
  sweep(options: SweepOptions): Promise<Sweep>;
  /** @returns those of the keys that some task still needs */
  referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Takes an Idempotency-Key of a client. `fingerprint` is a hash of method, path and body: another
   * one is a 'mismatch', even after the first request. A hold lasts for `holdMs` unless it is
   * extended, so that the key of a dead process becomes free; at once, if the store can detect the
   * death.
   */
  beginAnswer(
    clientId: number,
    key: string,
    fingerprint: string,
    holdMs: number,
  ): Promise<BeginAnswer>;
  /** Another `holdMs` from now. @returns false if the hold has ended and another request has it */
  extendAnswer(hold: AnswerHold, holdMs: number): Promise<boolean>;
  /** Frees the key if the request did not create a task. No effect after the end of the hold. */
  abandonAnswer(hold: AnswerHold): Promise<void>;

  /**
   * Calls the listener after each commit that changed a task's state, once per change and in order.
   * Only changes made through this object are guaranteed to be reported.
   *
   * @returns a function that removes the listener
   */
  watch(listener: (news: TaskNews) => void): () => void;
  /**
   * Returns 32 random bytes with this name (to sign URLs), created at the first call and constant
   * afterwards. Concurrent callers get the same.
   */
  secret(name: string): Promise<Uint8Array>;
  /**
   * Returns the number of the client with this name: assigned at the first call, constant
   * afterwards, and never that of an API key's client.
   */
  clientNamed(name: string): Promise<number>;

  /**
   * Connects and checks the schema version; called once, before any other verb.
   *
   * @throws CodedError `STORE_NEWER`, `STORE_OLDER` (see `falconry migrate`), `STORE_OUTDATED`,
   *   `STORE_UNAVAILABLE`
   */
  open(): Promise<void>;
  /** @throws CodedError `STORE_UNAVAILABLE` unless the store answers within a second */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Tasks with parts. A store with this port also does what `task.ts` and the verbs of `TaskStore`
 * say of parts; without it, the service creates no such tasks.
 */
export interface PartStore {
  /** Adds the next part of a task that is open, and extends the deadline of both. */
  putPart(part: NewPart, options?: Pick<PutOptions, 'hold'>): Promise<PutPartOutcome>;
  /** Returns the parts of a task in order: all, or the first ones in a state. */
  parts(id: number, query?: PartQuery): Promise<readonly Task[]>;
  /**
   * Makes parts whose results are damaged again: completed → waiting, and the task, whose attempt
   * ends, waits for them.
   */
  remake(id: number, attempt: number, parts: readonly number[]): Promise<boolean>;
}

/** The verbs of clients: what creates tasks and parts, and ends them. */
export type ClientVerbs = Pick<
  TaskStore & PartStore,
  'put' | 'putPart' | 'upload' | 'notify' | 'renew' | 'cancel' | 'remove'
>;

/** The verbs of workers, and of operators who put a task back. */
export type WorkerVerbs = Pick<
  TaskStore & PartStore,
  | 'claim'
  | 'extend'
  | 'extendAll'
  | 'finish'
  | 'fail'
  | 'remake'
  | 'setAside'
  | 'putBack'
  | 'release'
>;

/** API keys, stored as hashes: 64 hex digits. */
export interface ApiKeyStore {
  /**
   * Without `clientId`, the key is for a new client, whose number is one more than the largest of
   * all present and former clients, including named ones. Without `ttlMs`, it never expires.
   *
   * @returns null if the hash exists already
   */
  putApiKey(key: {
    readonly sha256: string;
    readonly name: string;
    readonly clientId?: number;
    readonly ttlMs?: number;
  }): Promise<ApiKeyRecord | null>;
  /** Finds expired keys, too, so that their owners can be informed. */
  findApiKey(sha256: string): Promise<ApiKeyRecord | null>;
  /** Lists all keys, including expired ones, in order of creation. */
  listApiKeys(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false if there is none */
  removeApiKey(sha256: string): Promise<boolean>;
  /**
   * Adds a key with the name and client of another, which expires after the overlap at the latest.
   *
   * @returns the new record; null without a change if there is no such key, or the new hash exists
   */
  rotateApiKey(sha256: string, next: NextApiKey): Promise<ApiKeyRecord | null>;
  /** Sets the last use of these keys to now; unknown hashes are ignored. */
  markApiKeysUsed(sha256s: readonly string[]): Promise<void>;
}

/** A key that replaces another. */
export interface NextApiKey {
  readonly sha256: string;
  /** Lifetime; default: unlimited. */
  readonly ttlMs?: number;
  /** Time for which the old key still works; 0: it expires now. */
  readonly overlapMs: number;
}

/** A stored key. Times are ISO 8601, UTC. */
export interface ApiKeyRecord {
  readonly sha256: string;
  readonly name: string;
  readonly clientId: number;
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  /** True if it has expired, by the store's clock. */
  readonly expired: boolean;
  /** Up to a minute late; null: no recorded use. */
  readonly lastUsedAt: string | null;
}
