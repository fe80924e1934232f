/** The verbs that only read. */
import type { UnfinishedState } from '../../../wire/taskStates.ts';
import { type ListedRow, toListed } from '../port/parts.ts';
import type { OperatorStore, UnfinishedQuery } from '../port/serviceStore.ts';
import type {
  ClientUsage,
  ListQuery,
  PartStore,
  QueueDepth,
  TaskStore,
} from '../port/taskStore.ts';
import { type Database, named } from './database.ts';
import { RUNNING } from './endings.ts';
import { listedColumns, type TaskRow, taskColumns, toTask } from './rows.ts';

type Reads = Pick<
  TaskStore & PartStore,
  'get' | 'parts' | 'list' | 'usage' | 'depth' | 'referenced'
> &
  Pick<OperatorStore, 'unfinished'>;

/** Matches the id at the end of a result's key: see `resultKey`. */
const RESULT_KEY = /(?:^|\/)results\/\d+\/(\d{1,16})\.json$/;
/** Matches the id of the task in the key of a part's result: see `partKey`. */
const PART_KEY = /(?:^|\/)parts\/(\d{1,16})\//;

interface DepthRow {
  readonly state: UnfinishedState | 'quarantined';
  readonly tasks: number;
  readonly oldest_ms: number | null;
}

export function reads(database: Database): Reads {
  const s = database.schema;
  const sql = named({
    get: `SELECT ${taskColumns('t')} FROM ${s}.tasks t WHERE t.id = $1`,
    usage: `SELECT open_tasks AS "openTasks", stored_bytes AS "storedBytes"
      FROM ${s}.clients WHERE id = $1`,
    depth: depthText(s),
    referenced: `SELECT input_key AS key FROM ${s}.tasks WHERE input_key = ANY ($1::text[])
      UNION SELECT result_key FROM ${s}.tasks
        WHERE id = ANY ($2::bigint[]) AND result_key = ANY ($1)
      UNION SELECT result_key FROM ${s}.tasks
        WHERE parent = ANY ($3::bigint[]) AND result_key = ANY ($1)`,
    parts: `SELECT ${taskColumns('t')} FROM ${s}.tasks t
      WHERE t.parent = $1 AND ($2::text IS NULL OR t.state = $2) ORDER BY t.part LIMIT $3`,
  });
  return {
    async get(id, clientId) {
      const [row] = await database.ask<TaskRow>(sql.get, [id]);
      const isOwn = row?.client_id === clientId && row?.parent === null;
      return row && (clientId === undefined || isOwn) ? toTask(row) : null;
    },
    async parts(id, { state, limit } = {}) {
      const rows = await database.ask<TaskRow>(sql.parts, [id, state ?? null, limit ?? null]);
      return rows.map(toTask);
    },
    async list(query) {
      const { clientId, limit, order, state } = query;
      const { after = order === 'desc' ? PAST_ALL : 0 } = query;
      const values = [clientId, limit, after, ...(state === undefined ? [] : [state])];
      const rows = await database.ask<ListedRow>(listStatement(s, query), values);
      return { tasks: rows.map(toListed) };
    },
    async unfinished({ limit, after = 0, quarantined }) {
      const rows = await database.ask<TaskRow>(unfinishedStatement(s, quarantined), [limit, after]);
      return rows.map(toTask);
    },
    async usage(clientId) {
      const [row] = await database.ask<ClientUsage>(sql.usage, [clientId]);
      return row ?? { openTasks: 0, storedBytes: 0 };
    },
    async depth(): Promise<QueueDepth> {
      const rows = await database.ask<DepthRow>(sql.depth);
      const states = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
      let quarantined = 0;
      let oldestWaitingMs: number | null = null;
      for (const { state, tasks, oldest_ms } of rows) {
        if (state === 'quarantined') quarantined = tasks;
        else states[state] = tasks;
        if (state === 'waiting' && oldest_ms !== null) oldestWaitingMs = Math.max(0, oldest_ms);
      }
      return { states, quarantined, oldestWaitingMs };
    },
    async referenced(keys) {
      const ids = (form: RegExp) => keys.flatMap((key) => form.exec(key)?.[1] ?? []);
      const values = [keys, ids(RESULT_KEY), ids(PART_KEY)];
      const rows = await database.ask<{ key: string }>(sql.referenced, values);
      return new Set(rows.map(({ key }) => key));
    },
  };
}

/** Beyond every id. */
const PAST_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Returns one statement per shape of the query, so that each has its own plan. Ids are found first,
 * in a covering index: otherwise the planner would search all clients' tasks for the newest ones
 * of a client with most of them.
 */
function listStatement(s: string, { order = 'asc', state }: ListQuery) {
  const [from, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  const only = state === undefined ? '' : 'AND state = $4';
  return {
    name: `list ${order}${only && ' by state'}`,
    text: `WITH page AS MATERIALIZED (
        SELECT id FROM ${s}.tasks
        WHERE client_id = $1 AND parent IS NULL AND id ${from} $3 ${only}
        ORDER BY id ${direction} LIMIT $2)
      SELECT ${listedColumns('t')} FROM page JOIN ${s}.tasks t USING (id)
      ORDER BY t.id ${direction}`,
  };
}

/** Each part has a partial index, so that finished tasks are not read. */
function unfinishedStatement(s: string, quarantined: UnfinishedQuery['quarantined']) {
  const aside = 'quarantined';
  const free = [
    `state IN ('created', 'uploaded')`,
    `state = 'waiting' AND NOT quarantined`,
    `state IN ${RUNNING}`,
  ];
  const parts = quarantined === undefined ? [...free, aside] : quarantined ? [aside] : free;
  const ids = parts.map((where) => `SELECT id FROM ${s}.tasks WHERE ${where} AND id > $2`);
  return {
    name: `unfinished ${parts.length}`,
    text: `SELECT ${taskColumns('t')} FROM ${s}.tasks t
      WHERE t.id IN (${ids.join(' UNION ALL ')}) ORDER BY t.id LIMIT $1`,
  };
}

/** Each part has a partial index, so that finished tasks are not read. */
function depthText(s: string): string {
  const part = (state: string, where: string, oldest = 'NULL::bigint') =>
    `SELECT ${state} AS state, count(*) AS tasks, ${oldest} AS oldest_ms
      FROM ${s}.tasks WHERE ${where} GROUP BY 1`;
  const age = `(extract(epoch FROM clock_timestamp() - min(submitted_at)) * 1000)::bigint`;
  return [
    part('state', `state IN ('created', 'uploaded')`),
    part('state', `state = 'waiting' AND NOT quarantined AND due_ms IS NOT NULL`, age),
    part('state', `state IN ${RUNNING}`),
    part(`'quarantined'`, 'quarantined'),
  ].join(' UNION ALL ');
}
