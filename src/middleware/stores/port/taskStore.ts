/**
 * The port for tasks and the queue in which they wait. SQLite, memory and PostgreSQL implement it
 * here; a host can write its own. One contract suite runs over every implementation. What must hold
 * is written at `TaskStore`.
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
  /** The number of signatures, if known already. */
  readonly count?: number;
  readonly threads: number;
  /** The time for file and notification to arrive. */
  readonly ttlMs: number;
  /** Id of the request that made the task, for logs and traces; at most 128 characters. */
  readonly requestId?: string;
  /** Its `traceparent` (W3C Trace Context), for the spans of its phases. */
  readonly traceparent?: string;
}

/** Limits of a client, checked in the same transaction as what they limit; none if absent. */
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
  /** The first request: carry on, and end with `put(…, { hold })` or `abandonAnswer`. */
  | { readonly kind: 'held'; readonly hold: AnswerHold }
  /** The first request is still running; its hold ends in `retryMs` if nothing is heard of it. */
  | { readonly kind: 'running'; readonly retryMs: number }
  /** The key was used for a different request. */
  | { readonly kind: 'mismatch' }
  /** The task that the first request made, as it is now; null if it has been removed. */
  | { readonly kind: 'replay'; readonly task: Task | null };

export interface PutOptions {
  readonly limits?: ClientLimits;
  /** Keep the id of the task under the Idempotency-Key, in the same transaction. */
  readonly hold?: AnswerHold;
}

export type PutOutcome =
  | { readonly ok: true; readonly task: Task }
  /** 'superseded': the hold on the Idempotency-Key has ended, and another request has it. */
  | { readonly ok: false; readonly reason: 'openTasks' | 'storedBytes' | 'superseded' };

export type UploadOutcome =
  /** `replaced`: the earlier file, to be deleted by the caller. */
  | { readonly ok: true; readonly task: Task; readonly replaced: string | null }
  /** 'state': already notified, or ended. The caller deletes the new file. */
  | { readonly ok: false; readonly reason: 'missing' | 'state' | 'storedBytes' };

export type NotifyOutcome =
  /** `first` is false for every repeat. */
  | { readonly ok: true; readonly task: Task; readonly first: boolean }
  /**
   * 'ended': cancelled or expired before any notification. 'storedBytes': the file that came with
   * the notification is over the client's limit; the caller deletes it.
   */
  | { readonly ok: false; readonly reason: 'missing' | 'notUploaded' | 'ended' | 'storedBytes' };

export type CancelOutcome =
  | { readonly ok: true; readonly task: Task; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'final' };

export type RemoveOutcome =
  | { readonly ok: true; readonly blobs: readonly string[] }
  | { readonly ok: false; readonly reason: 'missing' | 'unfinished' };

export interface ListQuery {
  readonly clientId: number;
  /** The most tasks to return, 1 or more. */
  readonly limit: number;
  /** Only tasks after this id, in the requested order. */
  readonly after?: number;
  /** By id; 'asc' (oldest first) by default. */
  readonly order?: 'asc' | 'desc';
  readonly state?: TaskState;
}

export interface ListPage {
  readonly tasks: readonly ListedTask[];
}

export interface ClaimOptions {
  readonly leaseMs: number;
  /** Threads that the task gets. */
  readonly threads: number;
}

export type Claim =
  | { readonly task: Task }
  /** `nextMs`: until a claim could succeed, at most; null if nothing waits or runs. */
  | { readonly task: null; readonly nextMs: number | null };

/** An attempt at a task, as the verbs of workers name it. */
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
}

/** How a task is tried again after a fault. */
export interface Retry {
  /** Not to be claimed before this is over. */
  readonly delayMs: number;
  /** The fault is not the task's, and is not counted in its `failures`. */
  readonly blameless?: boolean;
}

export interface SweepOptions {
  /** Finished tasks older than this are removed; without it they are kept. */
  readonly retentionMs?: number;
  /** Stored answers older than this are forgotten. */
  readonly answerMs: number;
}

export interface Sweep {
  /** Ids of the tasks that expired. */
  readonly expired: readonly number[];
  readonly removed: number;
  /** Keys of blobs that no task needs any more. */
  readonly blobs: readonly string[];
  /** Whether there may be more to do: a call does a part, so as not to hold the store for long. */
  readonly more: boolean;
}

/** What happened to a task; who needs more reads it. */
export interface TaskNews {
  readonly id: number;
  readonly clientId: number;
  readonly state: TaskState;
  readonly attempt: number;
  /** Whether this store object made the change; news of others are hints, and may be missing. */
  readonly own: boolean;
}

/** The unfinished tasks of all clients. */
export interface QueueDepth {
  /** Number of tasks by state; `waiting` without those that were set aside. */
  readonly states: Readonly<Record<UnfinishedState, number>>;
  /** Waiting tasks that were set aside. */
  readonly quarantined: number;
  /** Since the submission of the oldest task that waits; null if none does. */
  readonly oldestWaitingMs: number | null;
}

/**
 * Tasks, and the queue in which they wait. A host that writes its own runs `taskStoreContract` of
 * `falconry/testing` over it. Errors are `CodedError`s of `falconry`: `STORE_UNAVAILABLE` for a
 * store that cannot answer.
 *
 * What must hold, with any number of callers, connections and processes on one store:
 *
 * 1. Every verb is one transaction. When its promise resolves, the effect is durable (if the store
 *    keeps anything at all): killing the process afterwards loses nothing. When it rejects with
 *    `STORE_UNAVAILABLE`, the effect is unknown: the connection may have been lost while the
 *    transaction was committed. A caller that hears it undoes nothing, and asks again if it must
 *    know. Every other rejection means that nothing happened.
 * 2. `claim` hands a waiting task to exactly one caller. It increments `attempt` and starts a
 *    lease. A lease that ends without `extend` makes the task wait again (counted in `losses`);
 *    the next `claim` sees to that. Losses never end a task: a restart of the server is one. A task
 *    that comes back, for whatever reason, keeps its place in the queue.
 * 3. `extend`, `extendAll`, `finish`, `fail`, `setAside` and `release` name the attempt. They act
 *    only if the task is running and the attempt is the current one, and say so otherwise: a worker
 *    that was presumed dead, or whose task was cancelled, can change nothing. So a task is finished
 *    at most once; and since a task that is neither final nor leased can always be claimed, at
 *    least once. (A task that was set aside is claimed again once an operator puts it back.)
 * 4. Only these steps happen: `created` → `uploaded` → `waiting`, where direct requests start →
 *    `verifying` → `aggregating` → `completed`; from `uploaded` to itself, by another file; from
 *    the first two to `expired`; from the two that are running back to `waiting`, and to `failed`;
 *    from every state that is not final to `cancelled`. Losing a race is an outcome, not an
 *    exception.
 * 5. Ids are safe integers from 1. They grow in the order in which tasks of one client become
 *    visible, so that paging by id misses none; none is used twice, also after a removal.
 * 6. The store never touches blobs. A verb that ends the use of a blob returns its key after the
 *    commit; the caller deletes it, and `referenced` lets a cleaner find what a crash left behind.
 * 7. Time is the store's own: no caller passes a point in time, only durations. A clock that is set
 *    forward or back loses no task and leaves none waiting. The times of a task grow with every
 *    step, even while the clock stands still: the digits below the millisecond see to that.
 * 8. Answers are plain objects with all members of their types and no others; what is absent is
 *    null. Every read gives new ones.
 *
 * The other ports of a store are optional (serviceStore.ts). Each has a suite in
 * `falconry/testing`. The commands of `falconry` that work on a store (`keys`, `queue`, `quota` and
 * others) know SQLite and PostgreSQL only: for a store of its own, a host's program does what they
 * do.
 */
export interface TaskStore {
  /**
   * Adds a task. Its id is new, and larger than every id seen before. With `limits`, it is refused
   * if the client has that many unfinished tasks already, or would have more bytes. With `hold`, it
   * is refused as 'superseded' if the hold has ended, or has made a task.
   */
  put(task: NewTask, options?: PutOptions): Promise<PutOutcome>;
  /**
   * @returns the task; null if there is none, or if it belongs to another client than the given one
   */
  get(id: number, clientId?: number): Promise<Task | null>;
  /** The tasks of a client in order of their ids, without what can be long (the error). */
  list(query: ListQuery): Promise<ListPage>;
  /** What a client has: unfinished tasks, and the files that its tasks name, ended ones as well. */
  usage(clientId: number): Promise<ClientUsage>;
  /** Costs the same however many finished tasks there are. */
  depth(): Promise<QueueDepth>;

  /**
   * created | uploaded → uploaded, with this file. Not after the task's time is over. A file that
   * is replaced does not count for the limit.
   */
  upload(id: number, input: BlobRef, limits?: ClientLimits): Promise<UploadOutcome>;
  /**
   * uploaded → waiting; `submittedAt` becomes now. `input` is for blob stores that take uploads
   * without our knowing: with it, created → uploaded → waiting is one step, within the limits.
   * Whatever has become of a task that was notified, a repeat changes nothing and is `ok`.
   */
  notify(
    id: number,
    clientId: number,
    input?: BlobRef,
    limits?: ClientLimits,
  ): Promise<NotifyOutcome>;
  /** Gives a task that is not yet notified this time from now. @returns null if there is none */
  renew(id: number, clientId: number, ttlMs: number): Promise<Task | null>;
  /**
   * Any unfinished state → cancelled, also of a task that was set aside. The worker learns of it
   * from `extend` or `watch`. `blobs` is the task's file, if it has one, which it names no more.
   */
  cancel(id: number, clientId: number): Promise<CancelOutcome>;
  /** Removes a final task. `blobs` is its result, if it has one. */
  remove(id: number, clientId: number): Promise<RemoveOutcome>;

  /**
   * A waiting task (whose retry is due) → verifying, if there is one. Clients take turns: each
   * client with waiting tasks is served once per turn, with the task that it submitted first. A
   * client that had none is served within the turn that goes on; one that submits again as soon as
   * it was served waits for the next. `threads` of the task becomes that of the options.
   */
  claim(options: ClaimOptions): Promise<Claim>;
  /**
   * Heartbeat, progress, next state; what is not given stays as it is.
   *
   * @returns false if the task is not yours any more: stop
   */
  extend(id: number, attempt: number, extension: Extension): Promise<boolean>;
  /** Heartbeat of all tasks of a process. @returns those of the ids that are still theirs */
  extendAll(attempts: readonly Attempt[], leaseMs: number): Promise<ReadonlySet<number>>;
  /**
   * aggregating → completed. The task names its input no more, which the caller deletes.
   *
   * @returns false if the task is not yours any more, or is not aggregating: delete the result
   */
  finish(id: number, attempt: number, result: TaskResult): Promise<boolean>;
  /**
   * → failed, with the whole error, and without its input, which the caller deletes; or, with
   * `retry`, → waiting, with its input and no error, not to be claimed before the delay is over.
   */
  fail(id: number, attempt: number, error: TaskError, retry?: Retry): Promise<boolean>;
  /** → waiting at once, without counting a failure, for a worker that shuts down. */
  release(id: number, attempt: number): Promise<boolean>;
  /**
   * → waiting, but not to be claimed before `putBack`: a task that ended the workers it was given
   * to. Its input is kept, and so is the error, for the operator.
   */
  setAside(id: number, attempt: number, error: TaskError): Promise<boolean>;
  /**
   * Lets a task that was set aside be claimed again, at once and without its error.
   *
   * @returns false if there is no such task
   */
  putBack(id: number): Promise<boolean>;

  /**
   * created | uploaded past their time → expired; removes final tasks that ended `retentionMs` ago
   * or earlier, and answers. Safe at any time, in any process.
   */
  sweep(options: SweepOptions): Promise<Sweep>;
  /** @returns those of the keys that some task still needs. */
  referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Takes an Idempotency-Key of a client; those of others are apart. `fingerprint` is a hash over
   * method, path and body: another one is a 'mismatch', whether the first request still runs or
   * not. A hold lasts for `holdMs` unless it is extended, so that the key of a process that died
   * becomes free again; at once, if the store can tell that the process is dead.
   */
  beginAnswer(
    clientId: number,
    key: string,
    fingerprint: string,
    holdMs: number,
  ): Promise<BeginAnswer>;
  /** Another `holdMs` from now. @returns false if the hold has ended and another request has it */
  extendAnswer(hold: AnswerHold, holdMs: number): Promise<boolean>;
  /** Gives the key back if the request did not create a task; a hold that ended gives nothing. */
  abandonAnswer(hold: AnswerHold): Promise<void>;

  /**
   * Calls the listener after each commit that changed the state of a task, once for each change and
   * in their order. Only changes made through this object are certain to be reported.
   *
   * @returns a function that removes the listener
   */
  watch(listener: (news: TaskNews) => void): () => void;
  /**
   * 32 random bytes under this name, a `Uint8Array`, made at the first call and the same ever after
   * (to sign urls), unless an operator rotates them. Callers at the same time get the same.
   */
  secret(name: string): Promise<Uint8Array>;
  /**
   * The number of the client whom the host calls by this name: a new one at the first call, the
   * same ever after, and never that of an API key's client.
   */
  clientNamed(name: string): Promise<number>;

  /**
   * Connects and checks the version of the schema; called once, before any other verb.
   *
   * @throws CodedError `STORE_NEWER`, `STORE_OLDER` (see `falconry migrate`), `STORE_OUTDATED`,
   *   `STORE_UNAVAILABLE`
   */
  open(): Promise<void>;
  /** @throws CodedError `STORE_UNAVAILABLE` unless the store answers within a second */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** API keys, stored with the tasks: only their hashes, as 64 hex digits. */
export interface ApiKeyStore {
  /**
   * Without `clientId`, the key is for a new client: its number is one more than the largest that
   * any client has or had, those with names (`clientNamed`) among them. Without `ttlMs`, it never
   * expires.
   *
   * @returns null if the hash exists already
   */
  putApiKey(key: {
    readonly sha256: string;
    readonly name: string;
    readonly clientId?: number;
    readonly ttlMs?: number;
  }): Promise<ApiKeyRecord | null>;
  /** Also one that has expired, so that its owner can be told. */
  findApiKey(sha256: string): Promise<ApiKeyRecord | null>;
  /** In the order in which they were made; expired ones, too. */
  listApiKeys(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false if there is none */
  removeApiKey(sha256: string): Promise<boolean>;
  /**
   * Adds a key with the name and client of another, which expires after the overlap, or earlier if
   * it would have.
   *
   * @returns the new record; null, and nothing is changed, if there is no such key, or if the hash
   *   of the new one exists already
   */
  rotateApiKey(sha256: string, next: NextApiKey): Promise<ApiKeyRecord | null>;
  /** Sets the time of the last use of these keys to now; hashes that are not there are ignored. */
  markApiKeysUsed(sha256s: readonly string[]): Promise<void>;
}

/** The key that takes the place of another. */
export interface NextApiKey {
  readonly sha256: string;
  /** Until it expires; absent: never. */
  readonly ttlMs?: number;
  /** For which the old key still works; 0: it ends now. */
  readonly overlapMs: number;
}

/** A key as the store has it. Times are ISO 8601, UTC. */
export interface ApiKeyRecord {
  readonly sha256: string;
  readonly name: string;
  readonly clientId: number;
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  /** Whether that time is over, by the store's clock. */
  readonly expired: boolean;
  /** Up to a minute late; null: not since the store has kept it. */
  readonly lastUsedAt: string | null;
}
