/**
 * What a store on this machine needs from its memory or its file: rows, a few queries, and
 * transactions. A transaction is a synchronous function, so nothing can come between its reads and
 * its writes. The rules of the port are in `tableStore.ts`, once for all tables.
 */

import type { UnfinishedState } from '../../wire/taskStates.ts';
import type { ListedTask, Task } from '../task.ts';
import type { UnfinishedQuery } from './operatorStore.ts';
import type { ApiKeyRecord, ClientUsage, ListQuery, QueueDepth } from './taskStore.ts';

/** A task with the fields that only the store needs. */
export interface TaskRow extends Task {
  /** Whether the task was notified, or created as waiting. */
  readonly submitted: boolean;
  /** Place in the queue: the smallest goes first. 0 before the notification. */
  readonly turn: number;
  /**
   * Waiting: the earliest time of a claim. Running: the end of the lease. Otherwise null. Unix time
   * in milliseconds.
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
}

/**
 * The counters of the table: ids of tasks and clients, the current turn of the queue, and the last
 * turn of each client.
 */
export type NumberName = 'task' | 'client' | 'turn' | `turn of ${number}`;

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
  /** Rows in created or uploaded with `expiresAtMs` at or before now. */
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

  /**
   * @returns the value under the name, which becomes `fresh` if there is none. Only inside `write`.
   */
  secret(name: string, fresh: Uint8Array): Uint8Array;

  apiKeys(): ApiKeyRecord[];
  apiKey(sha256: string): ApiKeyRecord | undefined;
  putApiKey(record: ApiKeyRecord): void;
  deleteApiKey(sha256: string): boolean;

  close(): void;
}
