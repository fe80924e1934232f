/** The end of a task, in SQL: its row, and the counters of its client. */
import { OPERATOR } from '../port/webhookStore.ts';
import type { Statement } from './database.ts';
import { newsColumns, type TaskRow, taskColumns } from './rows.ts';

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
  readonly name: string;
  /** Of the task `t`; the attempt is `$2`. */
  readonly where: string;
  readonly set: string;
  /** What its result adds to the client's bytes. */
  readonly resultBytes?: string;
}

export interface Ending {
  /** Ends nothing if there is a webhook. */
  readonly silent: Statement;
  /** Queues for webhooks as well; `quiet` says that there is none. */
  readonly telling: Statement;
}

/**
 * The statements that end the task `$1` for its worker; a row of its news.
 *
 * The file of a running task is not changed any more, so it can be read from the row as it was
 * found, without a lock of its own.
 */
export function ending(s: string, outcome: Outcome): Ending {
  const { name, where, set, resultBytes = '0' } = outcome;
  const end = (also: string) => `
    done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, ${set} FROM ${s}.tasks found
      WHERE t.id = $1 AND found.id = $1 AND ${where} ${also}
      RETURNING ${newsColumns('t')}, t.count, t.submitted_at, t.finished_at, t.error,
        coalesce(found.input_bytes, 0) AS old_bytes),
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - done.old_bytes + ${resultBytes}
      FROM done WHERE c.id = done.client_id)`;
  const none = `NOT EXISTS (SELECT FROM ${s}.webhooks WHERE disabled_at IS NULL)`;
  return {
    silent: {
      name,
      text: `WITH ${end(`AND ${none}`)} SELECT ${newsColumns('done')} FROM done`,
    },
    telling: {
      name: `${name}, telling`,
      text: `WITH ${end('')}, told AS (${deliveries(s)})
        SELECT ${newsColumns('done')}, ${none} AS quiet FROM done`,
    },
  };
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
