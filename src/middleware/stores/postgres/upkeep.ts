/**
 * The sweep. Unlike other verbs it locks many clients, so it holds an advisory lock, for one
 * process at a time, and skips locked tasks.
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { SUSPECT_MS, type SuspectClock, type Sweep, type SweepOptions } from '../port/taskStore.ts';
import { named, type Statement } from './database.ts';
import { AFTER_PARTS, CANCEL_PARTS, END } from './endings.ts';
import type { Ledger } from './ledger.ts';
import { type NewsRow, newsColumns } from './rows.ts';
import { advisoryKey } from './schema.ts';

/** Maximum number of rows of a kind per call. */
const BATCH = 500;

type Upkeep = Pick<CompleteStore['tasks'], 'sweep' | 'suspectClock' | 'acceptClock'>;

interface ClockRow {
  readonly ahead_ms: number | null;
  readonly ran_ms: number;
  readonly at: number;
}

function suspectOf(row: ClockRow | undefined): SuspectClock | null {
  const { ahead_ms: aheadMs = null, ran_ms = 0 } = row ?? {};
  if (aheadMs === null || aheadMs <= SUSPECT_MS) return null;
  return { aheadMs, leftMs: Math.max(0, SUSPECT_MS - ran_ms) };
}

export function upkeep(ledger: Ledger): Upkeep {
  const { database } = ledger;
  const sql = { ...clockStatements(database.schema), ...statements(database.schema) };
  const clock = async (statement: Statement) => (await database.ask<ClockRow>(statement))[0];
  const sweep = async ({ retentionMs, answerMs }: SweepOptions): Promise<Sweep> => {
    const before = await clock(sql.judge);
    const suspect = suspectOf(before);
    const nothing = { expired: [], removed: 0, forgotten: 0, blobs: [], more: false };
    if (suspect) return { ...nothing, suspect };
    await database.ask(sql.repair);
    type Expired = NewsRow & { readonly old_input: string | null };
    const expired = await ledger.change<Expired>(sql.expire);
    type Gone = Readonly<Record<'input_key' | 'result_key', string | null>> & {
      readonly id: number;
    };
    const gone =
      retentionMs === undefined ? [] : await database.ask<Gone>(sql.purge, [retentionMs]);
    const parts = await database.ask<Gone>(sql.purgeParts);
    const answers = await database.ask(sql.forget, [answerMs]);
    const keys = [
      ...expired.map((row) => row.old_input),
      ...[...gone, ...parts].flatMap((row) => [row.input_key, row.result_key]),
    ];
    return {
      expired: expired.map((row) => row.id).sort((a, b) => a - b),
      removed: gone.length,
      ...(parts.length > 0 && { parts: parts.map((row) => row.id) }),
      forgotten: answers.length,
      blobs: keys.flatMap((key) => key ?? []),
      more: [expired, gone, parts, answers].some((rows) => rows.length === BATCH),
      ...(before && { nowMs: before.at }),
    };
  };
  return {
    sweep,
    suspectClock: async () => suspectOf(await clock(sql.clock)),
    acceptClock: async () => suspectOf(await clock(sql.acceptClock)),
  };
}

function clockStatements(s: string) {
  const old = `old AS MATERIALIZED (
        SELECT *, ${s}.now_ms() AS at, coalesce(${s}.now_ms() - kept_ms, 0) AS ahead_ms
        FROM ${s}.clock`;
  const limit = `${s}.now_ms() + ${SUSPECT_MS}`;
  const [isFine, step] = [`old.ahead_ms <= ${SUSPECT_MS}`, 'old.at - old.seen_ms'];
  return named({
    clock: `WITH ${old}) SELECT ahead_ms, ran_ms FROM old`,
    acceptClock: `WITH ${old} FOR UPDATE)
      UPDATE ${s}.clock SET kept_ms = old.at, seen_ms = NULL, ran_ms = 0 FROM old
      RETURNING old.ahead_ms, old.ran_ms`,
    // Keeps the time of a clock that is fine, or that is believed now. Otherwise counts how long
    // the service has run: at most a minute between two looks, and anew after another jump.
    judge: `WITH ${old} FOR UPDATE),
      counted AS (SELECT CASE WHEN ${isFine} OR NOT ${step} BETWEEN 0 AND ${SUSPECT_MS} THEN 0
          ELSE old.ran_ms + least(coalesce(${step}, 0), 60000) END AS ran_ms FROM old)
      UPDATE ${s}.clock SET
        kept_ms = CASE WHEN ${isFine} OR counted.ran_ms >= ${SUSPECT_MS} THEN old.at
          ELSE old.kept_ms END,
        seen_ms = CASE WHEN ${isFine} OR counted.ran_ms >= ${SUSPECT_MS} THEN NULL
          ELSE old.at END,
        ran_ms = counted.ran_ms
      FROM old, counted RETURNING old.ahead_ms, counted.ran_ms, old.at`,
    // What a wrong clock has set, if only for a moment: leases, retries, ends, answers.
    repair: `WITH
      retries AS (UPDATE ${s}.tasks SET due_ms = ${s}.now_ms()
        WHERE state = 'waiting' AND NOT quarantined AND due_ms > ${limit}),
      leases AS (UPDATE ${s}.tasks SET due_ms = ${s}.now_ms()
        WHERE state IN ('verifying', 'aggregating') AND due_ms > ${limit}),
      ends AS (UPDATE ${s}.tasks SET finished_ms = ${s}.now_ms() WHERE finished_ms > ${limit})
      UPDATE ${s}.answers SET created_ms = ${s}.now_ms(), held_until_ms = ${s}.now_ms()
      WHERE created_ms > ${limit}`,
  });
}

function statements(s: string) {
  // Each statement looks at the clock again, which may have jumped since the last one.
  const alone = `(SELECT coalesce(${s}.now_ms() - kept_ms, 0) <= ${SUSPECT_MS}
          AND pg_try_advisory_xact_lock(${advisoryKey(s, 'sweep')}) FROM ${s}.clock)`;
  const batch = `LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
  /** Deletes the rows with these ids. */
  const purge = (old: string) => `WITH old AS MATERIALIZED (${old}),
      gone AS (
        DELETE FROM ${s}.tasks t USING old WHERE t.id = old.id
        RETURNING t.id, t.client_id, t.input_key, t.result_key,
          coalesce(t.input_bytes, 0) + coalesce(t.result_bytes, 0) AS bytes),
      counted AS (
        UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - of.bytes
        FROM (SELECT client_id, sum(bytes) AS bytes FROM gone GROUP BY client_id) of
        WHERE c.id = of.client_id)
      SELECT id, input_key, result_key FROM gone`;
  return named({
    expire: `WITH old AS MATERIALIZED (
        SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
        WHERE state IN ('created', 'uploaded') AND expires_ms <= ${s}.now_ms()
          AND parent IS NULL AND ${alone}
        ORDER BY expires_ms ${batch}),
      done AS (
        UPDATE ${s}.tasks t SET state = 'expired', ${END(s)} FROM old WHERE t.id = old.id
        RETURNING ${newsColumns('t')}),
      ${CANCEL_PARTS(s, 'done')},
      counted AS (
        UPDATE ${s}.clients c SET open_tasks = c.open_tasks - of.tasks,
          stored_bytes = c.stored_bytes - of.bytes
        FROM (SELECT client_id, count(*) AS tasks, sum(bytes) AS bytes FROM old
          GROUP BY client_id) of, ${AFTER_PARTS} WHERE c.id = of.client_id)
      SELECT ${newsColumns('done')}, old.input_key AS old_input FROM done JOIN old USING (id)`,
    purge: purge(`
        SELECT id FROM ${s}.tasks
        WHERE finished_ms IS NOT NULL AND finished_ms <= ${s}.now_ms() - $1::bigint AND ${alone}
        ORDER BY finished_ms ${batch}`),
    purgeParts: purge(`
        SELECT id FROM ${s}.tasks
        WHERE parent IS NOT NULL AND state = 'cancelled' AND ${alone} ${batch}`),
    forget: `WITH old AS MATERIALIZED (
        SELECT client_id, key FROM ${s}.answers
        WHERE created_ms < ${s}.now_ms() - $1::bigint AND ${alone}
        ORDER BY created_ms ${batch})
      DELETE FROM ${s}.answers a USING old WHERE a.client_id = old.client_id AND a.key = old.key
      RETURNING 1`,
  });
}
