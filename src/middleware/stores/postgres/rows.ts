/**
 * Columns and rows of tasks. Every statement names its columns: with `*`, prepared statements would
 * fail as soon as a migration adds a column.
 */
import { LISTED_COLUMNS, type ListedRow, type ResultRow, toBlob, toResult } from '../port/parts.ts';
import type { Task, TaskError, TaskProgress } from '../port/task.ts';

export interface TaskRow extends ListedRow, ResultRow {
  readonly client_id: number;
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  readonly quarantined: boolean;
  readonly parent: number | null;
  readonly part: number | null;
  readonly parts: number | null;
  readonly parts_ready: number;
  readonly parts_done: number;
  readonly threads: number;
  readonly submitted: boolean;
  readonly expires_ms: number;
  readonly updated_at: string;
  readonly request_id: string | null;
  readonly traceparent: string | null;
  readonly input_key: string | null;
  readonly input_bytes: number;
  readonly input_tag: string | null;
  readonly input_sha256: string | null;
  readonly progress: TaskProgress | null;
  readonly error: TaskError | null;
}

const ALL = [
  ...LISTED_COLUMNS,
  'client_id',
  'attempt',
  'failures',
  'losses',
  'quarantined',
  'parent',
  'part',
  'parts',
  'parts_ready',
  'parts_done',
  'threads',
  'submitted',
  'expires_ms',
  'updated_at',
  'request_id',
  'traceparent',
  'input_key',
  'input_bytes',
  'input_tag',
  'input_sha256',
  'result_bytes',
  'result_tag',
  'result_sha256',
  'result_format',
  'aggregate_bytes',
  'progress',
  'error',
] as const satisfies readonly (keyof TaskRow)[];

const of = (table: string, names: readonly string[]) =>
  names.map((name) => `${table}.${name}`).join(', ');

/** The columns of a {@link TaskRow}, qualified by a table or alias. */
export const taskColumns = (table: string) => of(table, ALL);
/** The columns of a {@link ListedRow}. */
export const listedColumns = (table: string) => of(table, LISTED_COLUMNS);
/** The columns of {@link TaskNews}. */
export const newsColumns = (table: string) =>
  of(table, ['id', 'client_id', 'state', 'attempt', 'parent']);

export type NewsRow = Pick<TaskRow, 'id' | 'client_id' | 'state' | 'attempt' | 'parent'>;

export function toTask(row: TaskRow): Task {
  const { parent, part, parts: announced, parts_ready: ready, parts_done: done } = row;
  return {
    id: row.id,
    clientId: row.client_id,
    kind: parent === null ? (announced === null ? 'aggregate' : 'merge') : 'part',
    parent,
    part,
    parts: announced === null ? null : { announced, ready, done },
    state: row.state,
    attempt: row.attempt,
    failures: row.failures,
    losses: row.losses,
    quarantined: row.quarantined,
    count: row.count,
    threads: row.threads,
    progress: row.progress,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
    expiresAtMs: row.expires_ms,
    requestId: row.request_id,
    traceparent: row.traceparent,
    input: toBlob(row.input_key, row.input_bytes, row.input_tag, row.input_sha256),
    result: toResult(row),
    error: row.error,
  };
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d)(:\d\d)?(?::\d\d)?$/;

/**
 * Converts a `timestamptz` of the server (microseconds, in the time zone of the session) to UTC
 * with nine digits.
 *
 * @throws RangeError for a DateStyle other than ISO
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
