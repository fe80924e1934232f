/**
 * What a store on this machine needs from its memory or its file: rows, a few queries, and
 * transactions. A transaction is a synchronous function, so nothing can come between its reads and
 * its writes. The rules of the port are in `tableStore.ts`, once for all tables.
 */

import type { UnfinishedState } from '../../../wire/taskStates.ts';
import type { Ageing, ClientQuota, Holdings, UnfinishedQuery } from '../port/operatorStore.ts';
import type { ListedTask, Task } from '../port/task.ts';
import type { ApiKeyRecord, ClientUsage, ListQuery, QueueDepth } from '../port/taskStore.ts';

/**
 * A task with the fields that only the store needs. Times whose names end in `Ms` are of the
 * store's own clock (clock.ts), in milliseconds.
 */
export interface TaskRow extends Omit<Task, 'expiresAtMs'> {
  /** Until then file and notification must arrive. */
  readonly expiresMs: number;
  /** Whether the task was notified, or created as waiting. */
  readonly submitted: boolean;
  /** Place in the queue: the smallest goes first. 0 before the notification. */
  readonly turn: number;
  /**
   * Waiting: the earliest time of a claim. Running: the end of the lease. Otherwise null.
   */
  readonly dueMs: number | null;
  readonly finishedMs: number | null;
}

export type TaskChanges = Partial<Omit<TaskRow, 'id' | 'clientId' | 'kind' | 'createdAt'>>;

/** A used Idempotency-Key; `taskId` is null while the first request runs. */
export interface AnswerRow {
  readonly clientId: number;
  readonly key: string;
  readonly fingerprint: string;
  readonly token: string;
  readonly heldUntilMs: number;
  readonly createdMs: number;
  readonly taskId: number | null;
  /** The process of the first request (holder.ts). */
  readonly holder: string;
}

/** An API key with its times by the store's clock. */
export interface ApiKeyRow extends Omit<ApiKeyRecord, 'expiresAt' | 'expired' | 'lastUsedAt'> {
  readonly expiresMs: number | null;
  readonly usedMs: number | null;
}

/** A secret that was replaced then. */
export interface RetiredRow {
  readonly value: Uint8Array;
  readonly retiredMs: number;
}

/**
 * The counters of the table: ids of tasks and clients, the current turn of the queue, the last turn
 * of each client, and the time of the store.
 */
export type NumberName = 'task' | 'client' | 'turn' | `turn of ${number}` | 'clock';

/** A depth of nothing, to be counted up. */
export function noTasks(): Record<UnfinishedState, number> {
  return { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
}

export interface Table {
  /**
   * Runs the work soon, as one transaction that excludes all other writers, in this process and in
   * others. Durable once the promise resolves; rolled back if the work throws or the promise
   * rejects.
   */
  write<T>(work: () => T): Promise<T>;

  /** The last number used, 0 at first. Numbers are never used again, whatever is deleted. */
  lastNumber(name: NumberName): number;
  setLastNumber(name: NumberName, number: number): void;
  insert(row: TaskRow): void;
  row(id: number): TaskRow | undefined;
  /** @returns the row after the change; it must exist */
  update(id: number, changes: TaskChanges): TaskRow;
  delete(id: number): void;

  /** At most `limit` rows of one client in order of id. */
  list(query: ListQuery, limit: number): ListedTask[];
  /** Rows of all clients that are not final, in order of id. */
  unfinished(query: UnfinishedQuery): TaskRow[];
  usage(clientId: number): ClientUsage;
  /** All that is kept of a client but its API keys. */
  holdings(clientId: number): Omit<Holdings, 'apiKeys'>;
  /** At most `limit` rows of one client, final or not. */
  tasksOf(clientId: number, which: 'final' | 'unfinished', limit: number): TaskRow[];
  /** Rows overdue at `nowMs`, and final ones finished at or before `beforeMs`, by client. */
  ageing(nowMs: number, beforeMs: number | null): Ageing[];
  /** `oldestWaitingAt`: when the oldest task that waits was submitted. */
  depth(): Omit<QueueDepth, 'oldestWaitingMs'> & { readonly oldestWaitingAt: string | null };
  /**
   * Of the waiting rows with `dueMs` at or before now, the one with the first turn, submitted
   * first. Rows that were set aside have no `dueMs`.
   */
  firstWaiting(nowMs: number): TaskRow | undefined;
  /** Running rows whose lease has ended. */
  endedLeases(nowMs: number): TaskRow[];
  /** Smallest `dueMs` of running rows and of waiting ones that may be claimed, or null. */
  earliestDueMs(): number | null;
  /** Rows in created or uploaded with `expiresMs` at or before now. */
  overdue(nowMs: number, limit: number): TaskRow[];
  /** Final rows that were finished at or before then. */
  finishedBefore(ms: number, limit: number): TaskRow[];
  /** Those of the keys that a row names as its input or result. */
  referenced(keys: readonly string[]): Set<string>;

  answer(clientId: number, key: string): AnswerRow | undefined;
  /** Adds or replaces. */
  putAnswer(row: AnswerRow): void;
  deleteAnswer(clientId: number, key: string): void;
  deleteAnswersBefore(createdMs: number): void;

  /** @returns the number of the client with this name */
  clientNamed(name: string): number | undefined;
  putClientName(name: string, clientId: number): void;
  /** Removes the client's name, turn and answers; it has no rows. */
  forgetClient(clientId: number): void;

  /**
   * @returns the value under the name, which becomes `fresh` if there is none. Only inside `write`.
   */
  secret(name: string, fresh: Uint8Array): Uint8Array;
  knownSecret(name: string): Uint8Array | undefined;
  /** Puts another value under the name of a secret. */
  replaceSecret(name: string, value: Uint8Array): void;
  /** The last one first. */
  retiredSecrets(name: string): RetiredRow[];
  putRetiredSecret(name: string, row: RetiredRow): void;
  /** Those that were retired at or before then. */
  deleteRetiredSecrets(name: string, ms: number): void;

  apiKeys(): ApiKeyRow[];
  apiKey(sha256: string): ApiKeyRow | undefined;
  /** Adds or replaces. */
  putApiKey(row: ApiKeyRow): void;
  deleteApiKey(sha256: string): boolean;

  quota(clientId: number): ClientQuota | undefined;
  /** In order of clients. */
  quotas(): (ClientQuota & { readonly clientId: number })[];
  /** Adds, replaces, or removes. */
  putQuota(clientId: number, quota: ClientQuota | undefined): void;

  /** Once what waits has been written. */
  close(): Promise<void>;
}
