/**
 * The sweep. Unlike other verbs it locks many clients, so it holds an advisory lock, for one
 * process at a time, and skips locked tasks.
 */
import type { Sweep, SweepOptions } from '../port/taskStore.ts';
import { named } from './database.ts';
import { END } from './endings.ts';
import type { Ledger } from './ledger.ts';
import { type NewsRow, newsColumns } from './rows.ts';
import { advisoryKey } from './schema.ts';

/** Maximum number of rows of a kind per call. */
const BATCH = 500;

export function sweeper(ledger: Ledger): (options: SweepOptions) => Promise<Sweep> {
  const { database } = ledger;
  const sql = statements(database.schema);
  return async ({ retentionMs, answerMs }) => {
    type Expired = NewsRow & { readonly old_input: string | null };
    const expired = await ledger.change<Expired>(sql.expire);
    type Gone = { readonly input_key: string | null; readonly result_key: string | null };
    const gone =
      retentionMs === undefined ? [] : await database.ask<Gone>(sql.purge, [retentionMs]);
    const answers = await database.ask(sql.forget, [answerMs]);
    const keys = [
      ...expired.map((row) => row.old_input),
      ...gone.flatMap((row) => [row.input_key, row.result_key]),
    ];
    return {
      expired: expired.map((row) => row.id).sort((a, b) => a - b),
      removed: gone.length,
      blobs: keys.flatMap((key) => key ?? []),
      more: [expired, gone, answers].some((rows) => rows.length === BATCH),
    };
  };
}

function statements(s: string) {
  const alone = `(SELECT pg_try_advisory_xact_lock(${advisoryKey(s, 'sweep')}))`;
  const batch = `LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
  return named({
    expire: `WITH old AS MATERIALIZED (
        SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
        WHERE state IN ('created', 'uploaded') AND expires_ms <= ${s}.now_ms() AND ${alone}
        ORDER BY expires_ms ${batch}),
      counted AS (
        UPDATE ${s}.clients c SET open_tasks = c.open_tasks - of.tasks,
          stored_bytes = c.stored_bytes - of.bytes
        FROM (SELECT client_id, count(*) AS tasks, sum(bytes) AS bytes FROM old
          GROUP BY client_id) of WHERE c.id = of.client_id),
      done AS (
        UPDATE ${s}.tasks t SET state = 'expired', ${END(s)} FROM old WHERE t.id = old.id
        RETURNING ${newsColumns('t')})
      SELECT ${newsColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`,
    purge: `WITH old AS MATERIALIZED (
        SELECT id FROM ${s}.tasks
        WHERE finished_ms IS NOT NULL AND finished_ms <= ${s}.now_ms() - $1::bigint AND ${alone}
        ORDER BY finished_ms ${batch}),
      gone AS (
        DELETE FROM ${s}.tasks t USING old WHERE t.id = old.id
        RETURNING t.client_id, t.input_key, t.result_key,
          coalesce(t.input_bytes, 0) + coalesce(t.result_bytes, 0) AS bytes),
      counted AS (
        UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - of.bytes
        FROM (SELECT client_id, sum(bytes) AS bytes FROM gone GROUP BY client_id) of
        WHERE c.id = of.client_id)
      SELECT input_key, result_key FROM gone`,
    forget: `WITH old AS MATERIALIZED (
        SELECT client_id, key FROM ${s}.answers
        WHERE created_ms < ${s}.now_ms() - $1::bigint AND ${alone}
        ORDER BY created_ms ${batch})
      DELETE FROM ${s}.answers a USING old WHERE a.client_id = old.client_id AND a.key = old.key
      RETURNING 1`,
  });
}
