/** Parts that the stores share: listeners, rows of tasks and quotas, new secrets. */
import { randomBytes } from '../../../shared/random.ts';
import type { TaskState } from '../../../wire/taskStates.ts';
import type { ClientQuota } from './serviceStore.ts';
import type { BlobRef, ListedTask, Task } from './task.ts';
import type { TaskNews } from './taskStore.ts';

type Listener = (news: TaskNews) => void;

/** The listeners of a store. */
export class Listeners {
  readonly #all = new Set<Listener>();

  /** @returns a function that removes the listener */
  add(listener: Listener): () => void {
    // A wrapper, so that a function added twice is called twice and removed one by one.
    const own: Listener = (news) => listener(news);
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  tell(news: readonly TaskNews[]): void {
    for (const listener of this.#all) for (const one of news) listener(one);
  }

  clear(): void {
    this.#all.clear();
  }
}

/** Returns 32 random bytes. */
export const newSecret = (): Uint8Array => randomBytes(32);

/** The columns of a task in a list: an `error` can name 1722 signatures, and a page 1000 tasks. */
export interface ListedRow {
  readonly id: number;
  readonly state: TaskState;
  readonly count: number;
  readonly created_at: string;
  readonly submitted_at: string;
  readonly finished_at: string | null;
  readonly result_key: string | null;
}

/** The columns of a result. */
export interface ResultRow {
  readonly result_key: string | null;
  readonly result_bytes: number;
  readonly result_tag: string | null;
  readonly result_sha256: string | null;
  readonly result_format: string;
  readonly aggregate_bytes: number;
}

export const LISTED_COLUMNS = [
  'id',
  'state',
  'count',
  'created_at',
  'submitted_at',
  'finished_at',
  'result_key',
] as const satisfies readonly (keyof ListedRow)[];

export function toResult(row: ResultRow): Task['result'] {
  const { result_key, result_bytes, result_tag, result_sha256 } = row;
  const blob = toBlob(result_key, result_bytes, result_tag, result_sha256);
  return blob && { blob, format: row.result_format, aggregateBytes: row.aggregate_bytes };
}

export function toListed(row: ListedRow): ListedTask {
  return {
    id: row.id,
    state: row.state,
    count: row.count,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    finishedAt: row.finished_at,
    resultKey: row.result_key,
  };
}

export function toBlob(
  key: string | null,
  bytes: number,
  tag: string | null,
  sha256: string | null,
): BlobRef | null {
  if (key === null) return null;
  return { key, bytes, ...(tag !== null && { tag }), ...(sha256 !== null && { sha256 }) };
}

export interface QuotaRow {
  readonly client_id: number;
  readonly open_tasks: number | null;
  readonly stored_bytes: number | null;
  readonly requests_per_second: number | null;
}

export function toQuota(row: QuotaRow): ClientQuota {
  return {
    ...(row.open_tasks !== null && { openTasks: row.open_tasks }),
    ...(row.stored_bytes !== null && { storedBytes: row.stored_bytes }),
    ...(row.requests_per_second !== null && { requestsPerSecond: row.requests_per_second }),
  };
}
