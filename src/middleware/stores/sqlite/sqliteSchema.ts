/**
 * The tables of the SQLite file. Opening a file applies its missing steps. A released step is never
 * edited: a change is a new step.
 *
 * Triggers maintain `usage`, so that limits and counts cost the same with a million tasks as with
 * one. Each partial index holds only the rows for one query (the queue, the leases, expiry).
 */

/** Maximum `user_version` of files made before falconry 0.1.0, which are refused. */
export const LAST_OLD_VERSION = 6;

const INITIAL = `
CREATE TABLE tasks (
  id              INTEGER PRIMARY KEY,
  client_id       INTEGER NOT NULL,
  kind            TEXT    NOT NULL,
  state           TEXT    NOT NULL,
  attempt         INTEGER NOT NULL,
  failures        INTEGER NOT NULL,
  losses          INTEGER NOT NULL,
  count           INTEGER NOT NULL,
  threads         INTEGER NOT NULL,
  progress        TEXT,
  created_at      TEXT    NOT NULL,
  submitted_at    TEXT    NOT NULL,
  updated_at      TEXT    NOT NULL,
  finished_at     TEXT,
  expires_ms      INTEGER NOT NULL,
  submitted       INTEGER NOT NULL,
  turn            INTEGER NOT NULL,
  quarantined     INTEGER NOT NULL,
  request_id      TEXT,
  traceparent     TEXT,
  due_ms          INTEGER,
  finished_ms     INTEGER,
  input_key       TEXT,
  input_bytes     INTEGER,
  input_tag       TEXT,
  input_sha256    TEXT,
  result_key      TEXT,
  result_bytes    INTEGER,
  result_tag      TEXT,
  result_sha256   TEXT,
  result_format   TEXT,
  aggregate_bytes INTEGER,
  error           TEXT
) STRICT;

-- An index of SQLite always ends in the row's id, so these two give pages in order of id.
CREATE INDEX tasks_of_client ON tasks (client_id);
CREATE INDEX tasks_of_state ON tasks (client_id, state);
CREATE INDEX tasks_queue ON tasks (turn, submitted_at)
  WHERE state = 'waiting' AND quarantined = 0;
CREATE INDEX tasks_oldest ON tasks (submitted_at) WHERE state = 'waiting' AND quarantined = 0;
CREATE INDEX tasks_aside ON tasks (id) WHERE quarantined = 1;
CREATE INDEX tasks_leases ON tasks (due_ms) WHERE state IN ('verifying', 'aggregating');
CREATE INDEX tasks_due ON tasks (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX tasks_unsubmitted ON tasks (expires_ms) WHERE state IN ('created', 'uploaded');
CREATE INDEX tasks_finished ON tasks (finished_ms) WHERE finished_ms IS NOT NULL;
CREATE INDEX tasks_input ON tasks (input_key) WHERE input_key IS NOT NULL;
CREATE INDEX tasks_result ON tasks (result_key) WHERE result_key IS NOT NULL;

CREATE TABLE usage (
  client_id INTEGER NOT NULL,
  state     TEXT    NOT NULL,
  tasks     INTEGER NOT NULL,
  bytes     INTEGER NOT NULL,
  PRIMARY KEY (client_id, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO usage VALUES (new.client_id, new.state, 1,
      ifnull(new.input_bytes, 0) + ifnull(new.result_bytes, 0))
    ON CONFLICT DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER usage_update AFTER UPDATE OF state, input_bytes, result_bytes ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
      bytes = bytes - ifnull(old.input_bytes, 0) - ifnull(old.result_bytes, 0)
    WHERE client_id = old.client_id AND state = old.state;
  INSERT INTO usage VALUES (new.client_id, new.state, 1,
      ifnull(new.input_bytes, 0) + ifnull(new.result_bytes, 0))
    ON CONFLICT DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER usage_delete AFTER DELETE ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
      bytes = bytes - ifnull(old.input_bytes, 0) - ifnull(old.result_bytes, 0)
    WHERE client_id = old.client_id AND state = old.state;
END;

CREATE TABLE answers (
  client_id     INTEGER NOT NULL,
  key           TEXT    NOT NULL,
  fingerprint   TEXT    NOT NULL,
  token         TEXT    NOT NULL,
  held_until_ms INTEGER NOT NULL,
  created_ms    INTEGER NOT NULL,
  task_id       INTEGER,
  holder        TEXT    NOT NULL,
  PRIMARY KEY (client_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_created ON answers (created_ms);

CREATE TABLE api_keys (
  sha256     TEXT    PRIMARY KEY,
  name       TEXT    NOT NULL,
  client_id  INTEGER NOT NULL,
  created_at TEXT    NOT NULL,
  expires_ms INTEGER,
  used_ms    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Clients that a host gave names.
CREATE TABLE clients (
  client_id INTEGER PRIMARY KEY,
  name      TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE quotas (
  client_id           INTEGER PRIMARY KEY,
  open_tasks          INTEGER,
  stored_bytes        INTEGER,
  requests_per_second INTEGER
) STRICT;

CREATE TABLE last_numbers (
  name   TEXT    PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Tasks with parts. In `usage`, the states of parts have names of their own. */
const PARTS = `
ALTER TABLE tasks ADD COLUMN parent INTEGER;
ALTER TABLE tasks ADD COLUMN part INTEGER;
ALTER TABLE tasks ADD COLUMN parts INTEGER;
ALTER TABLE tasks ADD COLUMN parts_ready INTEGER;
ALTER TABLE tasks ADD COLUMN parts_done INTEGER;

DROP INDEX tasks_of_client;
DROP INDEX tasks_of_state;
CREATE INDEX tasks_of_client ON tasks (client_id) WHERE parent IS NULL;
CREATE INDEX tasks_of_state ON tasks (client_id, state) WHERE parent IS NULL;
CREATE UNIQUE INDEX tasks_parts ON tasks (parent, part) WHERE parent IS NOT NULL;
CREATE INDEX tasks_gone ON tasks (id) WHERE parent IS NOT NULL AND state = 'cancelled';
CREATE INDEX tasks_closed ON tasks (id)
  WHERE state = 'waiting' AND quarantined = 0 AND due_ms IS NULL;

DROP TRIGGER usage_insert;
DROP TRIGGER usage_update;
DROP TRIGGER usage_delete;
CREATE TRIGGER usage_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO usage VALUES (new.client_id, iif(new.parent, 'part ', '') || new.state, 1,
      ifnull(new.input_bytes, 0) + ifnull(new.result_bytes, 0))
    ON CONFLICT DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER usage_update AFTER UPDATE OF state, input_bytes, result_bytes ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
      bytes = bytes - ifnull(old.input_bytes, 0) - ifnull(old.result_bytes, 0)
    WHERE client_id = old.client_id AND state = iif(old.parent, 'part ', '') || old.state;
  INSERT INTO usage VALUES (new.client_id, iif(new.parent, 'part ', '') || new.state, 1,
      ifnull(new.input_bytes, 0) + ifnull(new.result_bytes, 0))
    ON CONFLICT DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER usage_delete AFTER DELETE ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
      bytes = bytes - ifnull(old.input_bytes, 0) - ifnull(old.result_bytes, 0)
    WHERE client_id = old.client_id AND state = iif(old.parent, 'part ', '') || old.state;
END;
`;

export const STEPS: readonly string[] = [INITIAL, PARTS];

/** `user_version` of a file that has taken all steps. */
export const SCHEMA_VERSION = LAST_OLD_VERSION + STEPS.length;
