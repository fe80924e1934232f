/** The end of a task, in SQL: its row, and the counters of its client. */
import { newsColumns, type TaskRow, taskColumns } from './rows.ts';

export const FINAL = `('completed', 'failed', 'cancelled', 'expired')`;
export const RUNNING = `('verifying', 'aggregating')`;

/** A row that has ended, and the file that it does not need any more. */
export type Endings = TaskRow & { readonly old_input: string | null };

/** What every end sets, whatever its state. */
export const END = (s: string) => `updated_at = clock_timestamp(),
  finished_at = clock_timestamp(), finished_ms = ${s}.now_ms(), due_ms = NULL, quarantined = false,
  input_key = NULL, input_bytes = NULL, input_tag = NULL`;

/** Cancels the task `$1` if it is as `where` says; a row of {@link Endings}. Nobody is told. */
export function cancelling(s: string, where: string): string {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND ${where} FOR UPDATE),
    done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, state = 'cancelled' FROM old WHERE t.id = old.id
      RETURNING ${taskColumns('t')}),
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - old.bytes
      FROM old WHERE c.id = old.client_id)
    SELECT ${taskColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`;
}

/** How a worker ends its task. */
export interface Outcome {
  /** Of the task `t`; the attempt is `$2`. */
  readonly where: string;
  readonly set: string;
  /** What its result adds to the client's bytes. */
  readonly resultBytes?: string;
}

/**
 * The statement that ends the task `$1` for its worker; a row of its news.
 *
 * The file of a running task does not change any more, so it can be read from the row as it was
 * found, without a lock of its own.
 */
export function ending(s: string, { where, set, resultBytes = '0' }: Outcome): string {
  return `
    WITH done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, ${set} FROM ${s}.tasks found
      WHERE t.id = $1 AND found.id = $1 AND ${where}
      RETURNING ${newsColumns('t')}, coalesce(found.input_bytes, 0) AS old_bytes),
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - done.old_bytes + ${resultBytes}
      FROM done WHERE c.id = done.client_id)
    SELECT ${newsColumns('done')} FROM done`;
}
