/**
 * Statements for parts and their task. Locks are taken in one order: the row of the task, those of
 * its parts, that of the client. The task's row counts its parts, so that of two that end at once
 * the second one sees the first.
 */
import { MAX_PARTS } from '../port/task.ts';
import { AFTER_PARTS, CANCEL_PARTS, END, RUNNING } from './endings.ts';
import { newsColumns, taskColumns } from './rows.ts';
import { idAbove } from './schema.ts';

/** Condition for an open task. */
const open = (s: string) =>
  `NOT submitted AND state IN ('created', 'uploaded') AND expires_ms > ${s}.now_ms()`;

/** Locks the task of the part `$1`. */
const up = (s: string, where = 'true') => `up AS MATERIALIZED (
      SELECT id, submitted FROM ${s}.tasks
      WHERE id = (SELECT parent FROM ${s}.tasks WHERE id = $1) AND ${where} FOR UPDATE)`;

/** $1 client, $2 task, $3 threads, $4 time to live, $5 request, $6 trace; $7 and $8: the hold. */
export function putPartText(s: string, held: boolean): string {
  const [before, after] = held
    ? [
        `held AS (SELECT 1 FROM ${s}.answers
      WHERE client_id = $1 AND key = $7 AND token = $8 AND task_id IS NULL FOR UPDATE),`,
        `, kept AS (UPDATE ${s}.answers a SET task_id = made.id FROM made
      WHERE a.client_id = $1 AND a.key = $7)`,
      ]
    : ['', ''];
  return `
    WITH ${before}
    up AS MATERIALIZED (
      SELECT id, parts FROM ${s}.tasks ${held ? ', held' : ''}
      WHERE id = $2 AND client_id = $1 AND parts < ${MAX_PARTS} AND ${open(s)}
      FOR UPDATE OF tasks),
    mine AS (
      UPDATE ${s}.clients c SET last_task = ${idAbove(s, 'c.last_task')} FROM up
      WHERE c.id = $1::bigint RETURNING c.last_task),
    counted AS (
      UPDATE ${s}.tasks t SET parts = t.parts + 1, updated_at = clock_timestamp(),
        expires_ms = greatest(t.expires_ms, ${s}.now_ms() + $4::bigint)
      FROM up, mine WHERE t.id = up.id),
    made AS (
      INSERT INTO ${s}.tasks AS t (id, client_id, state, count, threads, submitted, turn,
          expires_ms, created_at, submitted_at, updated_at, request_id, traceparent, parent, part)
        SELECT last_task, $1, 'created', 0, $3, false, 0, ${s}.now_ms() + $4::bigint,
          clock.at, clock.at, clock.at, $5, $6, up.id, up.parts
        FROM up, mine, (SELECT clock_timestamp() AS at OFFSET 0) clock
      RETURNING ${taskColumns('t')})${after}
    SELECT ${taskColumns('made')} FROM made`;
}

/** As `uploadText`. */
export function uploadPartText(s: string): string {
  return `
    WITH ${up(s, open(s))},
    old AS MATERIALIZED (
      SELECT t.id, t.client_id, t.state, t.input_key, coalesce(t.input_bytes, 0) AS bytes
      FROM ${s}.tasks t, up
      WHERE t.id = $1 AND t.parent = up.id AND t.state IN ('created', 'waiting', 'failed')
        AND t.expires_ms > ${s}.now_ms()
      FOR UPDATE OF t),
    mine AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - old.bytes + $3::bigint,
        last_turn = greatest((SELECT last_value FROM ${s}.queue_turn), c.last_turn + 1)
      FROM old WHERE c.id = old.client_id
        AND ($6::bigint IS NULL OR c.stored_bytes - old.bytes + $3 <= $6)
      RETURNING c.last_turn),
    counted AS (
      UPDATE ${s}.tasks t SET state = 'uploaded', updated_at = clock_timestamp(), error = NULL,
        parts_ready = t.parts_ready + 1
      FROM up, old, mine WHERE t.id = up.id AND old.state <> 'waiting')
    UPDATE ${s}.tasks t SET state = 'waiting', submitted = true, turn = mine.last_turn,
        due_ms = ${s}.now_ms(), submitted_at = clock_timestamp(), updated_at = clock_timestamp(),
        finished_at = NULL, error = NULL, failures = 0, quarantined = false,
        input_key = $2, input_bytes = $3, input_tag = $4, input_sha256 = $5
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns('t')}, old.input_key AS old_input`;
}

/** $1 task, $2 client. */
export function closeText(s: string): string {
  return `
    WITH old AS (
      SELECT id, client_id FROM ${s}.tasks
      WHERE id = $1 AND client_id = $2 AND parts > 0 AND parts_ready = parts AND ${open(s)}
      FOR UPDATE),
    mine AS (
      UPDATE ${s}.clients c SET
        last_turn = greatest((SELECT last_value FROM ${s}.queue_turn), c.last_turn + 1)
      FROM old WHERE c.id = old.client_id RETURNING c.last_turn)
    UPDATE ${s}.tasks t SET state = 'waiting', submitted = true, turn = mine.last_turn,
        submitted_at = clock_timestamp(), updated_at = clock_timestamp(),
        due_ms = CASE WHEN t.parts_done = t.parts THEN ${s}.now_ms() END
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns('t')}`;
}

/** $1 task, $2 client, $3 time to live, $4 part. */
export function renewPartText(s: string): string {
  const renewed = `expires_ms = ${s}.now_ms() + $3::bigint, updated_at = clock_timestamp()`;
  return `
    WITH up AS (
      UPDATE ${s}.tasks SET ${renewed} WHERE id = $1 AND client_id = $2 AND ${open(s)}
        AND EXISTS (SELECT 1 FROM ${s}.tasks p WHERE p.parent = $1 AND p.part = $4
          AND p.state IN ('created', 'waiting', 'failed'))
      RETURNING id)
    UPDATE ${s}.tasks t SET ${renewed} FROM up WHERE t.parent = up.id AND t.part = $4
      AND t.state IN ('created', 'waiting', 'failed')
    RETURNING ${taskColumns('t')}`;
}

/** As the statement for tasks; returns the news of the part and of its task. */
export function finishPartText(s: string): string {
  return `
    WITH ${up(s)},
    done AS (
      UPDATE ${s}.tasks t SET state = 'completed', due_ms = NULL, updated_at = clock_timestamp(),
        finished_at = clock_timestamp(), result_key = $3, result_bytes = $4, result_tag = $5,
        result_format = $6, aggregate_bytes = $7, result_sha256 = $8
      FROM up WHERE t.id = $1 AND t.parent = up.id AND t.attempt = $2 AND t.state = 'aggregating'
      RETURNING ${newsColumns('t')}, t.count),
    told AS (
      UPDATE ${s}.tasks t SET parts_done = t.parts_done + 1, count = t.count + done.count,
        updated_at = clock_timestamp(),
        due_ms = CASE WHEN t.submitted AND t.parts_done + 1 = t.parts THEN ${s}.now_ms() END
      FROM done WHERE t.id = done.parent RETURNING ${newsColumns('t')}),
    counted AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes + $4::bigint
      FROM done, told WHERE c.id = done.client_id)
    SELECT ${newsColumns('done')} FROM done UNION ALL SELECT ${newsColumns('told')} FROM told`;
}

/** As the statement for tasks. The task keeps the error; if it is closed, it fails. */
export function failPartText(s: string): string {
  return `
    WITH ${up(s)},
    done AS (
      UPDATE ${s}.tasks t SET state = CASE WHEN up.submitted THEN 'cancelled' ELSE 'failed' END,
        failures = t.failures + 1, error = $3, due_ms = NULL, updated_at = clock_timestamp(),
        finished_at = clock_timestamp(), input_key = NULL, input_bytes = NULL, input_tag = NULL,
        input_sha256 = NULL
      FROM up, ${s}.tasks found
      WHERE t.id = $1 AND found.id = $1 AND t.parent = up.id AND t.attempt = $2
        AND t.state IN ${RUNNING}
      RETURNING ${newsColumns('t')}, coalesce(found.input_bytes, 0) AS old_bytes),
    told AS (
      UPDATE ${s}.tasks t SET parts_ready = t.parts_ready - 1, error = $3,
        updated_at = clock_timestamp()
      FROM done, up WHERE t.id = up.id AND NOT up.submitted RETURNING ${newsColumns('t')}),
    ended AS (
      UPDATE ${s}.tasks t SET ${END(s)}, state = 'failed', error = $3
      FROM done, up WHERE t.id = up.id AND up.submitted RETURNING ${newsColumns('t')}),
    others AS (SELECT id FROM ended),
    ${CANCEL_PARTS(s, 'others')},
    counted AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - done.old_bytes,
        open_tasks = c.open_tasks - (SELECT count(*) FROM ended)
      FROM done, ${AFTER_PARTS} WHERE c.id = done.client_id)
    SELECT ${newsColumns('done')} FROM done UNION ALL SELECT ${newsColumns('told')} FROM told
      UNION ALL SELECT ${newsColumns('ended')} FROM ended`;
}

/** $1 task, $2 attempt, $3 numbers of parts. */
export function remakeText(s: string): string {
  return `
    WITH up AS MATERIALIZED (
      SELECT id, client_id FROM ${s}.tasks
      WHERE id = $1 AND attempt = $2 AND parts IS NOT NULL AND state IN ${RUNNING} FOR UPDATE),
    again AS (
      UPDATE ${s}.tasks t SET state = 'waiting', due_ms = ${s}.now_ms(), progress = NULL,
        finished_at = NULL, updated_at = clock_timestamp(), result_key = NULL, result_bytes = NULL,
        result_tag = NULL, result_format = NULL, aggregate_bytes = NULL, result_sha256 = NULL
      FROM up, ${s}.tasks found
      WHERE t.parent = up.id AND found.id = t.id AND t.part = ANY ($3::integer[])
        AND t.state = 'completed'
      RETURNING ${newsColumns('t')}, t.count, coalesce(found.result_bytes, 0) AS bytes),
    total AS (
      SELECT count(*)::integer AS parts, coalesce(sum(count), 0)::integer AS count,
        coalesce(sum(bytes), 0)::bigint AS bytes FROM again),
    told AS (
      UPDATE ${s}.tasks t SET state = 'waiting', progress = NULL, updated_at = clock_timestamp(),
        parts_done = t.parts_done - total.parts, count = t.count - total.count,
        due_ms = CASE WHEN total.parts = 0 THEN ${s}.now_ms() END
      FROM up, total WHERE t.id = up.id RETURNING ${newsColumns('t')}),
    counted AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - total.bytes
      FROM told, total WHERE c.id = told.client_id)
    SELECT ${newsColumns('told')} FROM told UNION ALL SELECT ${newsColumns('again')} FROM again`;
}
