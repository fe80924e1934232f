/** The end of a task, in SQL: its row, and the counters of its client. */
import { OPERATOR } from '../stores/webhookStore.ts';
import { type TaskRow, taskColumns } from './rows.ts';

export const FINAL = `('completed', 'failed', 'cancelled', 'expired')`;
export const RUNNING = `('verifying', 'aggregating')`;

/** A row that has ended, and the file that it does not need any more. */
export type Endings = TaskRow & { readonly old_input: string | null };

/** What every end sets, with the input kept. */
export const END_WITH_INPUT = (s: string) => `updated_at = clock_timestamp(),
  finished_at = clock_timestamp(), finished_ms = ${s}.now_ms(), due_ms = NULL, quarantined = false`;

/** What every end sets that does not come from the operator. */
export const END = (s: string) => `${END_WITH_INPUT(s)},
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
      FROM old WHERE c.id = old.client_id),
    told AS (${deliveries(s)})
    SELECT ${taskColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`;
}

/**
 * Queues the task in `done` for the webhooks that are to hear of it (webhookStore.ts). The code of
 * its error is read as text: functions on json refuse U+0000 anywhere in it, and quotes within
 * strings are escaped.
 */
const deliveries = (s: string) => `
  INSERT INTO ${s}.deliveries
    (owner, task_id, client_id, state, count, submitted_at, finished_at, error_code, due_ms)
  SELECT w.owner, t.id, t.client_id, t.state, t.count, t.submitted_at, t.finished_at,
    substring(t.error::text FROM '"code": *"([A-Z_]+)"'), ${s}.now_ms()
  FROM done t JOIN ${s}.webhooks w ON w.owner IN (${OPERATOR}, t.client_id)
  WHERE t.state IN ('completed', 'failed') AND w.disabled_at IS NULL
  ON CONFLICT DO NOTHING`;
