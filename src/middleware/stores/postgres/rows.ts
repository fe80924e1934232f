/**
 * Columns of tasks, and what a row of them says. Every statement names its columns: with `*`, a
 * statement that a connection has prepared would fail as soon as a migration adds one.
 */
import type { TaskState } from '../../../wire/taskStates.ts';
import type {
  BlobRef,
  ListedTask,
  Task,
  TaskError,
  TaskProgress,
  TaskResult,
} from '../port/task.ts';

/** The columns of a list: an `error` can name 1722 signatures, and a page holds 1000 tasks. */
export interface ListedRow {
  readonly id: number;
  readonly client_id: number;
  readonly state: TaskState;
  readonly count: number;
  readonly created_at: string;
  readonly submitted_at: string;
  readonly finished_at: string | null;
  readonly result_key: string | null;
  readonly result_bytes: number;
  readonly result_tag: string | null;
  readonly result_format: string;
  readonly aggregate_bytes: number;
}

export interface TaskRow extends ListedRow {
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly quarantined: boolean;
  readonly threads: number;
  readonly submitted: boolean;
  readonly expires_ms: number;
  readonly updated_at: string;
  readonly request_id: string | null;
  readonly traceparent: string | null;
  readonly input_key: string | null;
  readonly input_bytes: number;
  readonly input_tag: string | null;
  readonly progress: TaskProgress | null;
  readonly error: TaskError | null;
}

const LISTED = [
  'id',
  'client_id',
  'state',
  'count',
  'created_at',
  'submitted_at',
  'finished_at',
  'result_key',
  'result_bytes',
  'result_tag',
  'result_format',
  'aggregate_bytes',
] as const satisfies readonly (keyof ListedRow)[];

const ALL = [
  ...LISTED,
  'attempt',
  'failures',
  'losses',
  'quarantined',
  'threads',
  'submitted',
  'expires_ms',
  'updated_at',
  'request_id',
  'traceparent',
  'input_key',
  'input_bytes',
  'input_tag',
  'progress',
  'error',
] as const satisfies readonly (keyof TaskRow)[];

const of = (table: string, names: readonly string[]) =>
  names.map((name) => `${table}.${name}`).join(', ');

/** The columns of a {@link TaskRow}, of this table or part of a query. */
export const taskColumns = (table: string) => of(table, ALL);
/** The columns of a {@link ListedRow}. */
export const listedColumns = (table: string) => of(table, LISTED);
/** What {@link TaskNews} are made of. */
export const newsColumns = (table: string) => of(table, ['id', 'client_id', 'state', 'attempt']);

export type NewsRow = Pick<TaskRow, 'id' | 'client_id' | 'state' | 'attempt'>;

export function toTask(row: TaskRow): Task {
  return {
    ...toListed(row),
    kind: 'aggregate',
    attempt: row.attempt,
    failures: row.failures,
    losses: row.losses,
    quarantined: row.quarantined,
    threads: row.threads,
    progress: row.progress,
    updatedAt: row.updated_at,
    expiresAtMs: row.expires_ms,
    requestId: row.request_id,
    traceparent: row.traceparent,
    input: toBlob(row.input_key, row.input_bytes, row.input_tag),
    error: row.error,
  };
}

export function toListed(row: ListedRow): ListedTask {
  return {
    id: row.id,
    clientId: row.client_id,
    state: row.state,
    count: row.count,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    finishedAt: row.finished_at,
    result: toResult(row),
  };
}

function toBlob(key: string | null, bytes: number, tag: string | null): BlobRef | null {
  return key === null ? null : { key, bytes, ...(tag !== null && { tag }) };
}

function toResult(row: ListedRow): TaskResult | null {
  const blob = toBlob(row.result_key, row.result_bytes, row.result_tag);
  return blob && { blob, format: row.result_format, aggregateBytes: row.aggregate_bytes };
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d)(:\d\d)?(?::\d\d)?$/;

/**
 * A `timestamptz` of the server (microseconds, in the time zone of the session) in the form of all
 * our times: nine digits, UTC.
 *
 * @throws RangeError for another DateStyle than ISO
 */
export function toTimestamp(value: string): string {
  const [, day, time, digits = '', hours, minutes = ':00'] = TIME.exec(value) ?? [];
  if (day === undefined) throw new RangeError(`the server's DateStyle is not ISO`);
  const offset = `${hours}${minutes}`;
  const seconds =
    offset === '+00:00'
      ? `${day}T${time}`
      : new Date(`${day}T${time}${offset}`).toISOString().slice(0, 19);
  return `${seconds}.${digits.padEnd(9, '0')}Z`;
}
