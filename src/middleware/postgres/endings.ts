/** The end of a task, in SQL: its row, and the counters of its client. */
import { type TaskRow, taskColumns } from './rows.ts';

export const FINAL = `('completed', 'failed', 'cancelled', 'expired')`;
export const RUNNING = `('verifying', 'aggregating')`;

/** A row that has ended, and the file that it does not need any more. */
export type Endings = TaskRow & { readonly old_input: string | null };

/** What every end sets. */
export const END = (s: string) => `updated_at = clock_timestamp(), finished_at = clock_timestamp(),
  finished_ms = ${s}.now_ms(), due_ms = NULL, quarantined = false,
  input_key = NULL, input_bytes = NULL, input_tag = NULL`;

/**
 * Ends the task `$1` if it is as `where` says; a row of {@link Endings}.
 *
 * @param resultBytes what its result adds to the client's bytes
 */
export function ending(s: string, where: string, set: string, resultBytes = '0'): string {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND ${where} FOR UPDATE),
    done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, ${set} FROM old WHERE t.id = old.id
      RETURNING ${taskColumns('t')}),
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - old.bytes + ${resultBytes}
      FROM old WHERE c.id = old.client_id)
    SELECT ${taskColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`;
}
