/** SQL for the end of a task: its row, its parts, and the counters of its client. */
import { newsColumns, type TaskRow, taskColumns } from './rows.ts';

export const FINAL = `('completed', 'failed', 'cancelled', 'expired')`;
export const RUNNING = `('verifying', 'aggregating')`;

/** An ended row, and its file, which can be deleted. */
export type Endings = TaskRow & { readonly old_input: string | null };

/** Assignments for every final state. */
export const END = (s: string) => `updated_at = clock_timestamp(),
  finished_at = clock_timestamp(), finished_ms = ${s}.now_ms(), due_ms = NULL, quarantined = false,
  input_key = NULL, input_bytes = NULL, input_tag = NULL,
  input_sha256 = NULL`;

/**
 * Cancels the parts of the rows of `ended`, which has their task. Whatever counts for the client
 * joins {@link AFTER_PARTS}, so that the parts are locked first.
 */
export const CANCEL_PARTS = (s: string, ended: string) => `gone AS (
      UPDATE ${s}.tasks p SET state = 'cancelled', due_ms = NULL, quarantined = false
      FROM ${ended} WHERE p.parent = ${ended}.id AND p.state <> 'cancelled' RETURNING 1)`;
export const AFTER_PARTS = '(SELECT count(*) FROM gone) after';

/** Cancels the task `$1` if `where` holds; returns a row of {@link Endings}. */
export function cancelling(s: string, where: string): string {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND parent IS NULL AND ${where} FOR UPDATE),
    done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, state = 'cancelled' FROM old WHERE t.id = old.id
      RETURNING ${taskColumns('t')}),
    ${CANCEL_PARTS(s, 'done')},
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - old.bytes
      FROM old, ${AFTER_PARTS} WHERE c.id = old.client_id)
    SELECT ${taskColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`;
}

/** An outcome of a task. */
export interface Outcome {
  /** Of the task `t`; the attempt is `$2`. */
  readonly where: string;
  readonly set: string;
  /** Bytes that the result adds to the client's. */
  readonly resultBytes?: string;
}

/**
 * Ends the task `$1` for its worker; returns a row of its news.
 *
 * The file of a running task does not change, so it can be read from the row without a lock.
 */
export function ending(s: string, { where, set, resultBytes = '0' }: Outcome): string {
  return `
    WITH done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, ${set} FROM ${s}.tasks found
      WHERE t.id = $1 AND found.id = $1 AND t.parent IS NULL AND ${where}
      RETURNING ${newsColumns('t')}, coalesce(found.input_bytes, 0) AS old_bytes),
    ${CANCEL_PARTS(s, 'done')},
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - done.old_bytes + ${resultBytes}
      FROM done, ${AFTER_PARTS} WHERE c.id = done.client_id)
    SELECT ${newsColumns('done')} FROM done`;
}
