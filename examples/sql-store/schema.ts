/**
 * The tables. A task is one JSON document. The columns for queries are computed from it by the
 * database, so a document and its columns never differ.
 */
export const VERSION = 1;

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tasks (
    -- Larger than every id before, also than those of tasks that are gone.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc TEXT NOT NULL,
    client_id INTEGER AS (doc ->> '$.clientId'),
    state TEXT AS (doc ->> '$.state'),
    quarantined INTEGER AS (doc ->> '$.quarantined'),
    turn INTEGER AS (doc ->> '$.turn'),
    place INTEGER AS (doc ->> '$.place'),
    due_ms INTEGER AS (doc ->> '$.dueMs'),
    expires_ms INTEGER AS (doc ->> '$.expiresAtMs'),
    finished_ms INTEGER AS (doc ->> '$.finishedMs'),
    input_key TEXT AS (doc ->> '$.input.key'),
    result_key TEXT AS (doc ->> '$.result.blob.key')
  ) STRICT;
  CREATE INDEX IF NOT EXISTS tasks_of_client ON tasks (client_id, id);
  CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (client_id, state, id);
  CREATE INDEX IF NOT EXISTS tasks_open ON tasks (state, quarantined) WHERE finished_ms IS NULL;
  CREATE INDEX IF NOT EXISTS tasks_queue ON tasks (turn, place)
    WHERE state = 'waiting' AND quarantined = 0;
  CREATE INDEX IF NOT EXISTS tasks_held ON tasks (due_ms)
    WHERE state IN ('verifying', 'aggregating');
  CREATE INDEX IF NOT EXISTS tasks_early ON tasks (expires_ms)
    WHERE state IN ('created', 'uploaded');
  CREATE INDEX IF NOT EXISTS tasks_ended ON tasks (finished_ms) WHERE finished_ms IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_input ON tasks (input_key) WHERE input_key IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_result ON tasks (result_key) WHERE result_key IS NOT NULL;

  -- What a client has is counted in the transactions that change it, not when it is asked for.
  CREATE TABLE IF NOT EXISTS clients (
    client_id INTEGER PRIMARY KEY,
    open_tasks INTEGER NOT NULL DEFAULT 0,
    stored_bytes INTEGER NOT NULL DEFAULT 0,
    -- The turn of the task that it submitted last.
    last_turn INTEGER NOT NULL DEFAULT -1
  ) STRICT;
  CREATE TABLE IF NOT EXISTS quotas (client_id INTEGER PRIMARY KEY, doc TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, client_id INTEGER UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS answers (
    client_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    token TEXT NOT NULL,
    task_id INTEGER,
    end_ms INTEGER NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (client_id, key)
  ) STRICT;

  -- One row: a number that only grows, and the turn of the task that was claimed last.
  CREATE TABLE IF NOT EXISTS counters (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    tick INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT OR IGNORE INTO counters (one) VALUES (1);
  PRAGMA user_version = ${VERSION};
`;
