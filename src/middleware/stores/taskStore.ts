/**
 * The port for tasks and the queue in which they wait. SQLite and memory implement it here; a
 * server database can, too. One contract suite runs over every implementation.
 *
 * What must hold, with any number of callers, connections and processes on one store:
 *
 * 1. Every verb is one transaction. When its promise resolves, the effect is durable (if the store
 *    keeps anything at all): killing the process afterwards loses nothing. When it rejects, nothing
 *    happened, or the process died; a caller that must know asks again.
 * 2. `claim` hands a waiting task to exactly one caller. It increments `attempt` and starts a
 *    lease. A lease that ends without `extend` makes the task wait again (counted in `losses`); the
 *    next `claim` sees to that.
 * 3. `extend`, `finish`, `fail` and `release` name the attempt. They act only if the task is
 *    running and the attempt is the current one, and return `false` otherwise: a worker that was
 *    presumed dead, or whose task was cancelled, can change nothing. So a task is finished at most
 *    once; and since a task that is neither final nor leased can always be claimed, at least once.
 * 4. Only the steps of `TRANSITIONS` happen. Losing a race is an outcome, not an exception.
 * 5. Ids grow in the order in which tasks become visible, so that paging by id misses none.
 * 6. The store never touches blobs. A verb that ends the use of a blob returns its key after the
 *    commit; the caller deletes it, and `referenced` lets a cleaner find what a crash left behind.
 */

import type { TaskState } from '../../wire/taskStates.ts';
import type { BlobRef } from '../blobs/blobStore.ts';
import type { ListedTask, Task, TaskError, TaskProgress, TaskResult } from '../task.ts';

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
  readonly expiresAtMs: number;
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
  /** The first request: carry on, and end with `put(…, { answer })` or `abandonAnswer`. */
  | { readonly kind: 'held'; readonly hold: AnswerHold }
  /** The first request is still running (or its process died less than `holdMs` ago). */
  | { readonly kind: 'running' }
  /** The key was used for a different request. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer };

export interface PutOptions {
  readonly limits?: ClientLimits;
  /**
   * Keep the answer with the task, in the same transaction: after a crash there are both or
   * neither. `of` is called once with the new task, inside the transaction, and must not wait.
   */
  readonly answer?: { readonly hold: AnswerHold; of(task: Task): StoredAnswer };
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
  /** A task that lost its lease more often fails (THREAD_LOST): it probably kills its workers. */
  readonly maxLosses: number;
}

export interface Extension {
  readonly leaseMs: number;
  /** verifying → aggregating; without it the state stays. */
  readonly state?: 'aggregating';
  readonly count?: number;
  readonly progress?: TaskProgress;
}

export interface SweepOptions {
  /** Finished tasks older than this are removed; without it they are kept. */
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
  /**
   * @returns the task; null if there is none, or if it belongs to another client than the given one
   */
  get(id: number, clientId?: number): Promise<Task | null>;
  list(query: ListQuery): Promise<ListPage>;
  usage(clientId: number): Promise<ClientUsage>;
  /** Number of tasks in each state, of all clients. */
  counts(): Promise<Readonly<Record<TaskState, number>>>;

  /** created | uploaded → uploaded, with this file. Not after `expiresAtMs` of the task. */
  upload(id: number, input: BlobRef, limits?: ClientLimits): Promise<UploadOutcome>;
  /**
   * uploaded → waiting; `submittedAt` becomes now. `input` is for blob stores that take uploads
   * without our knowing: with it, created → uploaded → waiting is one step.
   */
  notify(id: number, clientId: number, input?: BlobRef): Promise<NotifyOutcome>;
  /** Moves the expiry of a task that is not yet notified. @returns null if there is no such task */
  renew(id: number, clientId: number, expiresAtMs: number): Promise<Task | null>;
  /** Any unfinished state → cancelled. The worker learns of it from `extend` or `watch`. */
  cancel(id: number, clientId: number): Promise<CancelOutcome>;
  /** Removes a final task. */
  remove(id: number, clientId: number): Promise<RemoveOutcome>;

  /**
   * A waiting task (whose retry is due) → verifying; null if there is none. Clients take turns:
   * each client with waiting tasks is served once per turn, with the task that it submitted first.
   */
  claim(options: ClaimOptions): Promise<Task | null>;
  /** Heartbeat, progress, next state. @returns false if the task is not yours any more: stop */
  extend(id: number, attempt: number, extension: Extension): Promise<boolean>;
  /**
   * aggregating → completed. @returns false if the task is not yours any more: delete the result
   */
  finish(id: number, attempt: number, result: TaskResult): Promise<boolean>;
  /** → failed; or, with `retry`, → waiting, and not to be claimed before the delay is over. */
  fail(
    id: number,
    attempt: number,
    error: TaskError,
    retry?: { readonly delayMs: number },
  ): Promise<boolean>;
  /** → waiting at once, without counting a failure, for a worker that shuts down. */
  release(id: number, attempt: number): Promise<boolean>;
  /** Milliseconds until a claim could succeed (0 = now), or null if nothing waits or runs. */
  nextClaimMs(): Promise<number | null>;

  /**
   * created | uploaded past their time → expired; removes old tasks and answers. Safe at any time,
   * in any process.
   */
  sweep(options: SweepOptions): Promise<Sweep>;
  /** @returns those of the keys that some task still needs. */
  referenced(keys: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Takes an Idempotency-Key. `fingerprint` is a hash over method, path and body. A hold lasts
   * for `holdMs`, so that the key of a process that died becomes free again.
   */
  beginAnswer(
    clientId: number,
    key: string,
    fingerprint: string,
    holdMs: number,
  ): Promise<BeginAnswer>;
  /** Gives the key back if the request did not create a task. */
  abandonAnswer(hold: AnswerHold): Promise<void>;

  /**
   * Calls the listener after each commit that changed a task. Only changes made through this object
   * are certain to be reported. @returns a function that removes the listener
   */
  watch(listener: (task: Task) => void): () => void;
  /**
   * 32 random bytes under this name, made at the first call and the same ever after (to sign urls).
   */
  secret(name: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** API keys, stored with the tasks: only their hashes, as 64 hex digits. */
export interface ApiKeyStore {
  /** Without `clientId`, the next free number from 1. @returns null if the hash exists already */
  putApiKey(key: {
    readonly sha256: string;
    readonly name: string;
    readonly clientId?: number;
  }): Promise<ApiKeyRecord | null>;
  findApiKey(sha256: string): Promise<ApiKeyRecord | null>;
  listApiKeys(): Promise<readonly ApiKeyRecord[]>;
  /** @returns false if there is none */
  removeApiKey(sha256: string): Promise<boolean>;
}

export interface ApiKeyRecord {
  readonly sha256: string;
  readonly name: string;
  readonly clientId: number;
  readonly createdAt: string;
}
