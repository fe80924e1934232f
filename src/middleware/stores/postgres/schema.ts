/**
 * The tables in PostgreSQL. `falconry migrate` (migrate.ts) applies missing steps. A released step
 * is never edited: a change is a new step. A step only adds; a later release removes what is
 * unused, so that the previous release can run beside the new one.
 */
import { SUSPECT_MS } from '../port/taskStore.ts';

export interface Step {
  /** For the reports of `falconry migrate`. */
  readonly about: string;
  /** The statements; `s` is the quoted schema. Nothing relies on the search path. */
  statements(s: string): readonly string[];
  /** First step whose release can still work with the database after this one. */
  readonly oldestReader: number;
}

/** Second 0 of task ids: 2025-01-01, as in the other stores. */
const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
/** Ids per second; 4096 per millisecond, as in the other stores. */
const IDS_PER_SECOND = 4_096_000;

/** Last step of databases made before falconry 0.1.0, which are refused. */
export const LAST_OLD_STEP = 4;

/** The steps, of which the first is number `LAST_OLD_STEP + 1`. */
export const STEPS: readonly Step[] = [
  {
    about: 'the clock, tasks and their queue, clients, quotas, Idempotency-Keys, API keys, secrets',
    oldestReader: LAST_OLD_STEP + 1,
    statements: (s) => [functions(s), tasks(s), others(s), indexes(s)],
  },
  {
    about: 'tasks with parts',
    // Earlier releases would take a part for a task.
    oldestReader: LAST_OLD_STEP + 2,
    statements: (s) => [parts(s)],
  },
];

/** The number that `new_task_id` takes, of the row that {@link numbers} is. */
const taken = (s: string) => `CASE
      WHEN floor <= seen THEN nextval('${s}.task_numbers')
      WHEN NOT pg_try_advisory_xact_lock(${advisoryKey(s, 'task id')})
        THEN nextval('${s}.task_numbers')
      WHEN floor > (SELECT last_value FROM ${s}.task_numbers)
        THEN setval('${s}.task_numbers', floor)
      ELSE nextval('${s}.task_numbers') END`;

/** A suspect clock does not push them. */
const numbers = (s: string) =>
  `(SELECT (least(${s}.now_ms(), (SELECT kept_ms + ${SUSPECT_MS} FROM ${s}.clock))
                   - ${ID_EPOCH_MS}) / 1000 * ${IDS_PER_SECOND} AS floor,
                 last_value AS seen FROM ${s}.task_numbers) n`;

/**
 * An expression for an id above that of a row. Like `new_task_id`, but planned with its statement:
 * servers before 18 plan a function anew for every statement that calls it. Because it names the
 * row, it is evaluated once the row is locked.
 */
export const idAbove = (s: string, last: string) =>
  `(SELECT greatest(${taken(s)}, ${last} + 1) FROM ${numbers(s)})`;

/** The key of an advisory lock, as an SQL expression. */
export function advisoryKey(s: string, name: string): string {
  return `hashtextextended('falconry ${s} ${name}', 0)`;
}

const functions = (s: string) => `
  -- The one clock of leases, turns and ids. STABLE, so that an index can be searched with it. The
  -- setting is for tests.
  CREATE FUNCTION ${s}.now_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('falconry.now_ms', true), '')::bigint,
                    (extract(epoch FROM statement_timestamp()) * 1000)::bigint) $$;

  -- The last time that was believed. While the clock is suspect, also when it was last looked at,
  -- and for how long the service has run since.
  CREATE TABLE ${s}.clock (kept_ms bigint, seen_ms bigint, ran_ms bigint NOT NULL);
  INSERT INTO ${s}.clock VALUES (NULL, NULL, 0);

  CREATE SEQUENCE ${s}.task_numbers;
  -- The turn being handed out: read and written without a row lock, never rolled back.
  CREATE SEQUENCE ${s}.queue_turn MINVALUE 0 START 0;

  -- A sequence that the clock pushes on once a second: the seconds since 2025 in the high bits, a
  -- count below. It does not go back when the clock does. Whoever pushes holds a lock and looks
  -- again, so that no two push at once; whoever does not get the lock takes the next number.
  -- VOLATILE: in ON CONFLICT DO UPDATE it is called once the client's row is locked, so that the
  -- ids of one client grow in the order of its commits.
  CREATE FUNCTION ${s}.new_task_id() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ${taken(s)}
    FROM ${numbers(s)} $$;
`;

const tasks = (s: string) => `
  -- json, not jsonb: an error may name any text of a client's file, also U+0000.
  CREATE TABLE ${s}.tasks (
    id              bigint      PRIMARY KEY,
    client_id       bigint      NOT NULL,
    state           text        NOT NULL,
    attempt         integer     NOT NULL DEFAULT 0,
    failures        integer     NOT NULL DEFAULT 0,
    losses          integer     NOT NULL DEFAULT 0,
    quarantined     boolean     NOT NULL DEFAULT false,
    count           integer     NOT NULL,
    threads         integer     NOT NULL,
    submitted       boolean     NOT NULL,
    turn            bigint      NOT NULL,
    due_ms          bigint,
    expires_ms      bigint      NOT NULL,
    finished_ms     bigint,
    created_at      timestamptz NOT NULL,
    submitted_at    timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    request_id      text,
    traceparent     text,
    input_key       text,
    input_bytes     bigint,
    input_tag       text,
    input_sha256    text,
    result_key      text,
    result_bytes    bigint,
    result_tag      text,
    result_sha256   text,
    result_format   text,
    aggregate_bytes bigint,
    progress        json,
    error           json
  ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
`;

const others = (s: string) => `
  CREATE TABLE ${s}.clients (
    id           bigint  PRIMARY KEY,
    name         text    UNIQUE,
    open_tasks   integer NOT NULL,
    stored_bytes bigint  NOT NULL,
    last_task    bigint  NOT NULL,
    last_turn    bigint  NOT NULL
  ) WITH (fillfactor = 50);

  -- The last number given to a client, in one row: whoever takes the next one locks it.
  CREATE TABLE ${s}.client_numbers (last bigint NOT NULL);
  INSERT INTO ${s}.client_numbers VALUES (0);

  CREATE TABLE ${s}.answers (
    client_id     bigint,
    key           text,
    fingerprint   text   NOT NULL,
    token         text   NOT NULL,
    held_until_ms bigint NOT NULL,
    created_ms    bigint NOT NULL,
    task_id       bigint,
    PRIMARY KEY (client_id, key)
  );

  CREATE TABLE ${s}.api_keys (
    sha256     text        PRIMARY KEY,
    name       text        NOT NULL,
    client_id  bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    expires_ms bigint,
    used_ms    bigint
  );

  CREATE TABLE ${s}.quotas (
    client_id           bigint PRIMARY KEY,
    open_tasks          bigint,
    stored_bytes        bigint,
    requests_per_second bigint
  );

  CREATE TABLE ${s}.secrets (
    name  text  PRIMARY KEY,
    value bytea NOT NULL
  );
`;

/** `parts` is null for tasks without, as `parent` and `part` are for what is no part. */
const parts = (s: string) => `
  ALTER TABLE ${s}.tasks ADD COLUMN parent bigint, ADD COLUMN part integer,
    ADD COLUMN parts integer, ADD COLUMN parts_ready integer, ADD COLUMN parts_done integer;
  DROP INDEX ${s}.tasks_of_client, ${s}.tasks_of_state;
  CREATE INDEX tasks_of_client ON ${s}.tasks (client_id, id) WHERE parent IS NULL;
  CREATE INDEX tasks_of_state ON ${s}.tasks (client_id, state, id) WHERE parent IS NULL;
  CREATE UNIQUE INDEX tasks_parts ON ${s}.tasks (parent, part) WHERE parent IS NOT NULL;
  CREATE INDEX tasks_gone ON ${s}.tasks (id) WHERE parent IS NOT NULL AND state = 'cancelled';
`;

/**
 * Each partial index holds only the rows of one query. There is none on `due_ms`: otherwise every
 * heartbeat, the most frequent write, would update all indexes of the table. A result's key ends in
 * its task's id, so it needs none either.
 */
const indexes = (s: string) => `
  CREATE INDEX tasks_of_client ON ${s}.tasks (client_id, id);
  CREATE INDEX tasks_of_state ON ${s}.tasks (client_id, state, id);
  CREATE INDEX tasks_queue ON ${s}.tasks (turn, submitted_at, id)
    WHERE state = 'waiting' AND NOT quarantined;
  CREATE INDEX tasks_running ON ${s}.tasks (id) WHERE state IN ('verifying', 'aggregating');
  CREATE INDEX tasks_aside ON ${s}.tasks (id) WHERE quarantined;
  CREATE INDEX tasks_unsubmitted ON ${s}.tasks (expires_ms) WHERE state IN ('created', 'uploaded');
  CREATE INDEX tasks_finished ON ${s}.tasks (finished_ms) WHERE finished_ms IS NOT NULL;
  CREATE INDEX tasks_input ON ${s}.tasks (input_key) WHERE input_key IS NOT NULL;
  CREATE INDEX answers_created ON ${s}.answers (created_ms);
`;
