/**
 * The first store on PostgreSQL, which knows step 1 of the schema and nothing of later ones, as
 * hosts of that version run it. Frozen: postgresFrozen.long.test.ts runs it on what `migrate` makes
 * today. It is never edited. It was built with esbuild 0.28.2 from src/middleware/stores/postgres/store.ts
 * of commit 1ceccb3cfd1b27dd12665e0977fca8c74cc28566, and is built again by
 *
 *   git archive 1ceccb3 src | tar x -C FOLDER && cd FOLDER
 *   esbuild src/middleware/stores/postgres/store.ts --bundle --format=esm --platform=node \
 *     --target=node22 --external:pg --legal-comments=none
 *
 * and this comment.
 */
// src/middleware/stores/postgres/address.ts
var PROTOCOL = /^postgres(ql)?:$/;
var SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;
var SESSION = [
  "TimeZone=UTC",
  "DateStyle=ISO",
  "statement_timeout=10s",
  "idle_in_transaction_session_timeout=10s",
  "jit=off"
];
function readAddress(name, url) {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !PROTOCOL.test(parsed.protocol)) {
    throw new TypeError(`"${name}" must be an address such as postgres://user@host:5432/database`);
  }
  const { searchParams } = parsed;
  const pooled = searchParams.get("pooled") === "1";
  const options = searchParams.get("options") ?? "";
  searchParams.delete("pooled");
  searchParams.delete("options");
  const session = SESSION.map((setting) => `-c ${setting}`).join(" ");
  const host = searchParams.get("host") ?? parsed.hostname;
  const port = searchParams.get("port") ?? (parsed.port || "5432");
  return {
    config: {
      connectionString: parsed.href,
      ...!pooled && { options: `${session} ${options}`.trim() },
      connectionTimeoutMillis: 5e3,
      query_timeout: 15e3,
      keepAlive: true
    },
    pooled,
    shown: `${host}:${port}${parsed.pathname}`
  };
}
function readSchema(schema) {
  if (typeof schema !== "string" || !SCHEMA.test(schema)) {
    throw new TypeError('"schema" must be a name of lower-case letters, digits and underscores');
  }
  return `"${schema}"`;
}

// src/middleware/stores/postgres/answers.ts
var HELD = "client_id = $1 AND key = $2 AND token = $3 AND task_id IS NULL";
var heldValues = ({ clientId, key, token }) => [clientId, key, token];
function answers(database, get) {
  const sql = statements(database.schema);
  return {
    async beginAnswer(clientId, key, fingerprint, holdMs) {
      const token = crypto.randomUUID();
      for (; ; ) {
        const values = [clientId, key, fingerprint, token, holdMs];
        const [taken] = await database.ask(sql.take, values);
        if (taken) return { kind: "held", hold: { clientId, key, token } };
        const [row] = await database.ask(sql.look, [clientId, key]);
        if (row && row.fingerprint !== fingerprint) return { kind: "mismatch" };
        if (row && row.task_id !== null) {
          return { kind: "replay", task: await get(row.task_id, clientId) };
        }
        if (row && row.left_ms > 0) return { kind: "running", retryMs: row.left_ms };
      }
    },
    async extendAnswer(hold, holdMs) {
      return (await database.ask(sql.extend, [...heldValues(hold), holdMs])).length > 0;
    },
    async abandonAnswer(hold) {
      await database.ask(sql.abandon, heldValues(hold));
    }
  };
}
function statements(s) {
  return {
    take: {
      name: "take answer",
      text: `INSERT INTO ${s}.answers AS a
          (client_id, key, fingerprint, token, held_until_ms, created_ms)
        VALUES ($1, $2, $3, $4, ${s}.now_ms() + $5::bigint, ${s}.now_ms())
        ON CONFLICT (client_id, key) DO UPDATE SET token = excluded.token,
          held_until_ms = excluded.held_until_ms, created_ms = excluded.created_ms
        WHERE a.fingerprint = excluded.fingerprint AND a.task_id IS NULL
          AND a.held_until_ms <= ${s}.now_ms()
        RETURNING a.token`
    },
    look: {
      name: "look at answer",
      text: `SELECT fingerprint, task_id, held_until_ms - ${s}.now_ms() AS left_ms
        FROM ${s}.answers WHERE client_id = $1 AND key = $2`
    },
    extend: {
      name: "extend answer",
      text: `UPDATE ${s}.answers a SET held_until_ms = ${s}.now_ms() + $4::bigint
        WHERE ${HELD} RETURNING a.token`
    },
    abandon: { name: "abandon answer", text: `DELETE FROM ${s}.answers WHERE ${HELD}` }
  };
}

// src/middleware/stores/postgres/clients.ts
var RECORD = `sha256, name, client_id AS "clientId", created_at AS "createdAt"`;
function clients(database) {
  const sql = statements2(database.schema);
  return {
    async putApiKey({ sha256, name, clientId }) {
      const [made] = await database.ask(sql.putKey, [sha256, name, clientId ?? null]);
      return made ?? null;
    },
    async findApiKey(sha256) {
      const [found] = await database.ask(sql.findKey, [sha256]);
      return found ?? null;
    },
    listApiKeys: () => database.ask(sql.listKeys),
    async removeApiKey(sha256) {
      return (await database.ask(sql.removeKey, [sha256])).length > 0;
    },
    async secret(name) {
      let [known] = await database.ask(sql.secret, [name]);
      if (!known) {
        const fresh = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
        await database.ask(sql.putSecret, [name, fresh]);
        [known] = await database.ask(sql.secret, [name]);
      }
      return new Uint8Array(known.value);
    },
    async clientNamed(name) {
      let [known] = await database.ask(sql.named, [name]);
      if (!known) {
        await database.ask(sql.putNamed, [name]);
        [known] = await database.ask(sql.named, [name]);
      }
      return known.id;
    }
  };
}
function statements2(s) {
  return {
    // A number given by hand moves the counter too, so that no new client gets it.
    putKey: {
      name: "put key",
      text: `WITH owner AS (
          UPDATE ${s}.client_numbers SET last =
            CASE WHEN $3::bigint IS NULL THEN last + 1 ELSE greatest(last, $3) END
          WHERE NOT EXISTS (SELECT 1 FROM ${s}.api_keys WHERE sha256 = $1)
          RETURNING coalesce($3, last) AS id)
        INSERT INTO ${s}.api_keys (sha256, name, client_id, created_at)
          SELECT $1, $2, owner.id, clock_timestamp() FROM owner
        ON CONFLICT (sha256) DO NOTHING RETURNING ${RECORD}`
    },
    findKey: {
      name: "find key",
      text: `SELECT ${RECORD} FROM ${s}.api_keys WHERE sha256 = $1`
    },
    listKeys: {
      name: "list keys",
      text: `SELECT ${RECORD} FROM ${s}.api_keys ORDER BY created_at, sha256`
    },
    removeKey: {
      name: "remove key",
      text: `DELETE FROM ${s}.api_keys WHERE sha256 = $1 RETURNING 1`
    },
    secret: { name: "secret", text: `SELECT value FROM ${s}.secrets WHERE name = $1` },
    // The first one stays.
    putSecret: {
      name: "put secret",
      text: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`
    },
    named: { name: "named", text: `SELECT id FROM ${s}.clients WHERE name = $1` },
    // Above every number that is in use, also those that a host made itself.
    putNamed: {
      name: "put named",
      text: `WITH owner AS (
          UPDATE ${s}.client_numbers SET last =
            greatest(last, (SELECT max(id) FROM ${s}.clients)) + 1
          WHERE NOT EXISTS (SELECT 1 FROM ${s}.clients WHERE name = $1)
          RETURNING last AS id)
        INSERT INTO ${s}.clients (id, name, open_tasks, stored_bytes, last_task, last_turn)
          SELECT owner.id, $1, 0, 0, 0, 0 FROM owner
        ON CONFLICT (name) DO NOTHING`
    }
  };
}

// src/middleware/stores/postgres/database.ts
import pg from "pg";

// src/shared/errors.ts
var meaning = (status, retriable, message) => Object.freeze({ status, retriable, message });
var ERROR_CODES = Object.freeze({
  // What was handed in is wrong: repeating it cannot help.
  INVALID_SIGNATURES: meaning(422, false, "Some signatures of the batch are not valid"),
  BAD_AGGREGATE: meaning(422, false, "The aggregate is not valid for these statements"),
  NO_PROOF: meaning(422, false, "No proof could be made of this batch"),
  NO_SIGNATURES: meaning(422, false, "A proof keeps no signatures"),
  BAD_TASK_FILE: meaning(422, false, "The task file is not an array of signature triples"),
  BAD_KEY_FILE: meaning(422, false, "The file holds no such key or signature"),
  BAD_KEY: meaning(422, false, "The bytes are not a key in any form that is known here"),
  KEY_MISMATCH: meaning(422, false, "The public key does not belong to the secret key"),
  PASSPHRASE_NEEDED: meaning(422, false, "The key is encrypted: a passphrase is needed"),
  WRONG_PASSPHRASE: meaning(422, false, "The passphrase does not open the key"),
  KEY_TOO_COSTLY: meaning(422, false, "Opening the key would cost more than is allowed"),
  BAD_RESULT_FILE: meaning(422, false, "The result file is not valid"),
  MALFORMED_JSON: meaning(400, false, "The body is not valid JSON"),
  INVALID_QUERY: meaning(400, false, "A query parameter is not valid"),
  INVALID_CURSOR: meaning(400, false, "The cursor is not valid"),
  INVALID_BODY: meaning(422, false, "The body does not have the expected shape"),
  TOO_MANY_ITEMS: meaning(422, false, "The batch holds more signatures than are allowed"),
  MALFORMED_REQUEST: meaning(400, false, "The request is not valid HTTP"),
  INVALID_HEADER: meaning(400, false, "A request header is not valid"),
  INCOMPLETE_BODY: meaning(400, false, "The body ended early"),
  HEADERS_TOO_LARGE: meaning(431, false, "The request headers are too large"),
  UNAUTHENTICATED: meaning(401, false, "An API key is required"),
  FORBIDDEN_URL: meaning(403, false, "The signed url is not valid or has ended"),
  SIGNING_DISABLED: meaning(403, false, "Signing is switched off on this service"),
  NOT_FOUND: meaning(404, false, "There is nothing here"),
  METHOD_NOT_ALLOWED: meaning(405, false, "The method is not allowed here"),
  CONFLICT: meaning(409, false, "The state of the task does not allow this"),
  NOT_UPLOADED: meaning(409, false, "The task file has not been uploaded yet"),
  INPUT_CHANGED: meaning(409, false, "The task file was replaced after the notification"),
  IDEMPOTENCY_CONFLICT: meaning(409, true, "The first request with this key is still running"),
  IDEMPOTENCY_GONE: meaning(410, false, "The task of the first request was removed"),
  IDEMPOTENCY_MISMATCH: meaning(422, false, "This key was used with a different request"),
  LENGTH_REQUIRED: meaning(411, false, "The length of the body must be given"),
  BODY_TOO_LARGE: meaning(413, false, "The body is larger than is allowed"),
  UNSUPPORTED_MEDIA_TYPE: meaning(415, false, "The body must be application/json"),
  // The host lacks something: repeating it there cannot help.
  NO_WEBASSEMBLY: meaning(500, false, "This host cannot run the WebAssembly that is needed"),
  NO_RANDOMNESS: meaning(500, false, "This host has no source of secure randomness"),
  NO_WEBCRYPTO: meaning(
    500,
    false,
    "This host has no crypto.subtle, which keys with passphrases need"
  ),
  NOT_REPRODUCIBLE: meaning(500, false, "This host does not compute the known signatures"),
  STORE_NEWER: meaning(500, false, "The store was written by a newer version of falconry"),
  STORE_OLDER: meaning(500, false, "The store must be brought up to date: falconry migrate"),
  // Resources and time: the same request can succeed later.
  REQUEST_TIMEOUT: meaning(408, true, "The request took too long to arrive"),
  NOT_STARTED: meaning(503, true, "The service is starting"),
  OVERLOADED: meaning(503, true, "The service is busy"),
  RATE_LIMITED: meaning(429, true, "Too many requests"),
  TOO_MANY_STREAMS: meaning(429, true, "Too many open event streams"),
  TOO_MANY_TASKS: meaning(429, true, "Too many unfinished tasks"),
  STORAGE_QUOTA: meaning(429, true, "The stored bytes of this client are at their limit"),
  QUEUE_FULL: meaning(503, true, "The queue is full"),
  SHUTTING_DOWN: meaning(503, true, "The service is shutting down"),
  STORAGE_FULL: meaning(507, true, "The service has no room for more files"),
  STORE_UNAVAILABLE: meaning(503, true, "The store cannot be reached"),
  THREAD_LOST: meaning(503, true, "A worker thread ended before its work was done"),
  LEASE_LOST: meaning(503, true, "Another worker has taken the task over"),
  OUT_OF_MEMORY: meaning(503, true, "There is not enough memory"),
  TIMED_OUT: meaning(503, true, "The work took longer than is allowed"),
  // The caller stopped it.
  ABORTED: meaning(499, false, "The work was stopped by its caller"),
  CANCELLED: meaning(409, false, "The task was cancelled"),
  // Us, and the server that we are mounted in.
  NO_WORKER: meaning(500, false, "The worker thread of the service cannot be started"),
  BODY_CONSUMED: meaning(
    500,
    false,
    "The host read the body: mount the service before body parsers"
  ),
  REENTERED: meaning(500, false, "A call was made while another one was in the module"),
  INTERNAL: meaning(500, false, "Something went wrong on our side")
});
var CodedError = class extends Error {
  code;
  status;
  retriable;
  /** @throws TypeError for a code that is not in the table */
  constructor(code, details = {}) {
    const entry = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code] : void 0;
    if (entry === void 0) throw new TypeError(`unknown error code "${String(code)}"`);
    super(
      details.message ?? entry.message,
      details.cause === void 0 ? void 0 : { cause: details.cause }
    );
    this.name = "CodedError";
    this.code = code;
    this.status = entry.status;
    this.retriable = entry.retriable;
    if (details.index !== void 0) this.index = details.index;
    if (details.invalid !== void 0) this.invalid = details.invalid;
    if (details.form !== void 0) this.form = details.form;
  }
};
function isCodedError(value) {
  return value instanceof Error && "code" in value && typeof value.code === "string" && Object.hasOwn(ERROR_CODES, value.code) && "retriable" in value;
}

// src/middleware/stores/postgres/faults.ts
var TRY_AGAIN = /* @__PURE__ */ new Set(["40P01", "40001", "23505"]);
var UNAVAILABLE = /^(08|28|53|57)|^(25006|25P03|3D000|55P03|58030)$/;
function sqlState(error) {
  const { code, severity } = error;
  return typeof code === "string" && severity !== void 0 ? code : void 0;
}
function isTransient(error) {
  return TRY_AGAIN.has(sqlState(error) ?? "");
}
function isBroken(error) {
  const state = sqlState(error);
  return state === void 0 || /^(08|57P)|^25P0/.test(state);
}
function storeFault(error) {
  if (isCodedError(error)) return error;
  const state = sqlState(error);
  const { code } = error;
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { message = String(first) } = first;
  const cause = new Error(typeof code === "string" ? `${code}: ${message}` : message);
  const unavailable = state === void 0 ? !isOurs(error) : UNAVAILABLE.test(state);
  return new CodedError(unavailable ? "STORE_UNAVAILABLE" : "INTERNAL", { cause });
}
function isOurs(error) {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

// src/middleware/stores/postgres/rows.ts
var LISTED = [
  "id",
  "client_id",
  "state",
  "count",
  "created_at",
  "submitted_at",
  "finished_at",
  "result_key",
  "result_bytes",
  "result_tag",
  "result_format",
  "aggregate_bytes"
];
var ALL = [
  ...LISTED,
  "attempt",
  "failures",
  "losses",
  "quarantined",
  "threads",
  "submitted",
  "expires_ms",
  "updated_at",
  "request_id",
  "traceparent",
  "input_key",
  "input_bytes",
  "input_tag",
  "progress",
  "error"
];
var of = (table, names) => names.map((name) => `${table}.${name}`).join(", ");
var taskColumns = (table) => of(table, ALL);
var listedColumns = (table) => of(table, LISTED);
var newsColumns = (table) => of(table, ["id", "client_id", "state", "attempt"]);
function toTask(row) {
  return {
    ...toListed(row),
    kind: "aggregate",
    attempt: row.attempt,
    failures: row.failures,
    losses: row.losses,
    quarantined: row.quarantined,
    threads: row.threads,
    progress: row.progress,
    updatedAt: row.updated_at,
    expiresAtMs: row.expires_ms,
    requestId: row.request_id,
    traceparent: row.traceparent,
    input: toBlob(row.input_key, row.input_bytes, row.input_tag),
    error: row.error
  };
}
function toListed(row) {
  return {
    id: row.id,
    clientId: row.client_id,
    state: row.state,
    count: row.count,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    finishedAt: row.finished_at,
    result: toResult(row)
  };
}
function toBlob(key, bytes, tag) {
  return key === null ? null : { key, bytes, ...tag !== null && { tag } };
}
function toResult(row) {
  const blob = toBlob(row.result_key, row.result_bytes, row.result_tag);
  return blob && { blob, format: row.result_format, aggregateBytes: row.aggregate_bytes };
}
var TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d)(:\d\d)?(?::\d\d)?$/;
function toTimestamp(value) {
  const [, day, time, digits = "", hours, minutes = ":00"] = TIME.exec(value) ?? [];
  if (day === void 0) throw new RangeError(`the server's DateStyle is not ISO`);
  const offset = `${hours}${minutes}`;
  const seconds = offset === "+00:00" ? `${day}T${time}` : (/* @__PURE__ */ new Date(`${day}T${time}${offset}`)).toISOString().slice(0, 19);
  return `${seconds}.${digits.padEnd(9, "0")}Z`;
}

// src/middleware/stores/postgres/schema.ts
var ID_EPOCH_MS = Date.UTC(2025, 0, 1);
var IDS_PER_SECOND = 4096e3;
var STEPS = [
  {
    about: "tasks and their queue, clients, Idempotency-Keys, API keys, secrets",
    oldestReader: 1,
    statements: (s) => [functions(s), tasks(s), others(s), indexes(s)]
  }
];
function advisoryKey(s, name) {
  return `hashtextextended('falconry ${s} ${name}', 0)`;
}
var functions = (s) => `
  -- The one clock of leases, turns and ids. STABLE, so that an index can be searched with it. The
  -- setting is for tests.
  CREATE FUNCTION ${s}.now_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('falconry.now_ms', true), '')::bigint,
                    (extract(epoch FROM statement_timestamp()) * 1000)::bigint) $$;

  CREATE SEQUENCE ${s}.task_numbers;
  -- The turn being handed out: read and written without a row lock, never rolled back.
  CREATE SEQUENCE ${s}.queue_turn MINVALUE 0 START 0;

  -- A sequence that the clock pushes on once a second: the seconds since 2025 in the high bits, a
  -- count below. It does not go back when the clock does. Whoever pushes holds a lock and looks
  -- again, so that no two push at once; whoever does not get the lock takes the next number.
  -- VOLATILE: in ON CONFLICT DO UPDATE it is called once the client's row is locked, so that the
  -- ids of one client grow in the order of its commits.
  CREATE FUNCTION ${s}.new_task_id() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE
      WHEN floor <= seen THEN nextval('${s}.task_numbers')
      WHEN NOT pg_try_advisory_xact_lock(${advisoryKey(s, "task id")})
        THEN nextval('${s}.task_numbers')
      WHEN floor > (SELECT last_value FROM ${s}.task_numbers)
        THEN setval('${s}.task_numbers', floor)
      ELSE nextval('${s}.task_numbers') END
    FROM (SELECT (${s}.now_ms() - ${ID_EPOCH_MS}) / 1000 * ${IDS_PER_SECOND} AS floor,
                 last_value AS seen FROM ${s}.task_numbers) n $$;
`;
var tasks = (s) => `
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
    result_key      text,
    result_bytes    bigint,
    result_tag      text,
    result_format   text,
    aggregate_bytes bigint,
    progress        json,
    error           json
  ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
`;
var others = (s) => `
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
    created_at timestamptz NOT NULL
  );

  CREATE TABLE ${s}.secrets (
    name  text  PRIMARY KEY,
    value bytea NOT NULL
  );
`;
var indexes = (s) => `
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

// src/middleware/stores/postgres/database.ts
var MAX_TRIES = 6;
var PING_MS = 1e3;
var INT8 = 20;
var TIMESTAMPTZ = 1184;
var types = {
  getTypeParser(oid, format) {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return toTimestamp;
    return pg.types.getTypeParser(oid, format);
  }
};
var Database = class {
  /** Quoted; statements qualify everything with it. */
  schema;
  #address;
  #pool;
  #nowMs;
  #closed;
  constructor({ address, schema, connections, nowMs }) {
    this.schema = schema;
    this.#address = address;
    this.#nowMs = nowMs;
    this.#pool = new pg.Pool({ ...address.config, max: connections, types });
    this.#pool.on("error", () => {
    });
    this.#pool.on("connect", (client) => client.on("error", () => {
    }));
  }
  /**
   * Runs one statement, which is one transaction.
   *
   * @throws CodedError `STORE_UNAVAILABLE` if it is not known to have been carried out
   */
  async ask(statement, values = []) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#query(statement, values);
      } catch (error) {
        if (!isTransient(error) || tries === MAX_TRIES) throw storeFault(error);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries));
      }
    }
  }
  async #query({ name, text }, values) {
    const client = await this.#pool.connect();
    let broken = false;
    try {
      if (this.#nowMs) {
        const clock = `SELECT set_config('falconry.now_ms', $1, false)`;
        await client.query(clock, [String(this.#nowMs())]);
      }
      const named = this.#address.pooled ? {} : { name: `falconry ${name}` };
      return (await client.query({ ...named, text, values: [...values] })).rows;
    } catch (error) {
      broken = isBroken(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }
  /**
   * Connects, and compares the steps that the schema has taken with ours.
   *
   * @throws CodedError `STORE_OLDER`, `STORE_NEWER`, `STORE_UNAVAILABLE`
   */
  async checkVersion() {
    const text = `SELECT max(step) AS step, max(oldest_reader) AS reader
      FROM ${this.schema}.migrations`;
    let known;
    try {
      [known] = await this.#query({ name: "version", text }, []);
    } catch (error) {
      if (!/^(42P01|3F000)$/.test(sqlState(error) ?? "")) throw storeFault(error);
    }
    const { step, reader } = known ?? { step: null, reader: null };
    if (step === null || step < STEPS.length) throw new CodedError("STORE_OLDER");
    if (reader > STEPS.length) throw new CodedError("STORE_NEWER");
  }
  /** @throws CodedError `STORE_UNAVAILABLE` unless the server answers within a second */
  async ping() {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new CodedError("STORE_UNAVAILABLE")), PING_MS);
    });
    try {
      await Promise.race([this.ask({ name: "ping", text: "SELECT 1" }), late]);
    } finally {
      clearTimeout(timer);
    }
  }
  close() {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }
};

// src/middleware/stores/postgres/hints.ts
import pg2 from "pg";
var JOINED_MS = 3;
var PER_MESSAGE = 100;
var CHECK_MS = 3e4;
var SOMETHING = { id: 0, clientId: 0, state: "waiting", attempt: 0, own: false };
var Hints = class {
  #database;
  /** Null: there is no way to listen, behind a pooler. */
  #address;
  #from = crypto.randomUUID();
  #send;
  #pending = [];
  #sending = Promise.resolve();
  #listener = null;
  #client = null;
  #timer;
  #losses = 0;
  #closed = false;
  constructor(database, address) {
    this.#database = database;
    this.#address = address;
    const text = `SELECT set_config('synchronous_commit', 'off', true),
      pg_notify('${this.#channel}', $1)`;
    this.#send = { name: "hint", text };
  }
  get #channel() {
    return this.#database.schema.slice(1, -1);
  }
  send(news) {
    if (this.#closed) return;
    if (this.#pending.length === 0) setTimeout(() => this.#flush(), JOINED_MS);
    for (const { id, clientId, state, attempt } of news) {
      this.#pending.push([id, clientId, state, attempt]);
    }
  }
  #flush() {
    const news = this.#pending;
    this.#pending = [];
    for (let at = 0; at < news.length; at += PER_MESSAGE) {
      const part = news.slice(at, at + PER_MESSAGE);
      const message = { from: this.#from, news: part };
      const sent = this.#database.ask(this.#send, [JSON.stringify(message)]);
      const settled = sent.then(
        () => {
        },
        () => {
        }
      );
      this.#sending = Promise.all([this.#sending, settled]).then(() => {
      });
    }
  }
  /** Starts to listen, if that is possible; a second call does nothing. */
  listen(listener) {
    if (this.#listener || this.#closed || !this.#address) return;
    this.#listener = listener;
    void this.#connect(this.#address);
  }
  async #connect({ config }) {
    const client = new pg2.Client(config);
    this.#client = client;
    const lost = () => this.#reconnect(client);
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#channel}"`);
    } catch {
      lost();
      return;
    }
    if (this.#client !== client) return;
    if (this.#losses > 0) this.#listener?.([SOMETHING]);
    this.#losses = 0;
    this.#check(client);
  }
  /** A host that has vanished sends nothing, not even an end. */
  #check(client) {
    this.#timer = setTimeout(() => {
      client.query("SELECT 1").then(
        () => this.#client === client && this.#check(client),
        () => this.#reconnect(client)
      );
    }, CHECK_MS);
    this.#timer.unref();
  }
  /** Not all processes at the same moment, and less and less often. */
  #reconnect(client) {
    if (this.#client !== client || this.#closed) return;
    this.#client = null;
    clearTimeout(this.#timer);
    void client.end().catch(() => {
    });
    const delayMs = Math.min(5e3, 200 * 2 ** this.#losses++) * (0.5 + Math.random());
    this.#timer = setTimeout(() => void this.#connect(this.#address), delayMs);
    this.#timer.unref();
  }
  #hear(payload) {
    let message;
    try {
      message = JSON.parse(payload);
      if (message.from === this.#from) return;
      this.#listener?.(message.news.map(unpack));
    } catch {
      this.#listener?.([SOMETHING]);
    }
  }
  /** Sends what is left, so that others learn of the last changes of a process that ends. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#listener = null;
    clearTimeout(this.#timer);
    this.#flush();
    await this.#sending;
    await this.#client?.end().catch(() => {
    });
  }
};
function unpack([id, clientId, state, attempt]) {
  return { id, clientId, state, attempt, own: false };
}

// src/middleware/stores/postgres/ledger.ts
var Ledger = class {
  database;
  #hints;
  #listeners = /* @__PURE__ */ new Set();
  constructor(database, hints) {
    this.database = database;
    this.#hints = hints;
  }
  /** Runs a statement that returns the tasks it changed, and tells of them. */
  async change(statement, values = [], { hint = true } = {}) {
    const rows = await this.database.ask(statement, values);
    this.tell(rows, hint);
    return rows;
  }
  /** Called after the commit. */
  tell(rows, hint = true) {
    if (rows.length === 0) return;
    const news = rows.map(
      ({ id, client_id, state, attempt }) => ({
        id,
        clientId: client_id,
        state,
        attempt,
        own: true
      })
    );
    queueMicrotask(() => this.#hear(news));
    if (hint) this.#hints.send(news);
  }
  /** @returns a function that removes the listener */
  watch(listener) {
    const own = (news) => listener(news);
    this.#listeners.add(own);
    this.#hints.listen((news) => this.#hear(news));
    return () => void this.#listeners.delete(own);
  }
  #hear(news) {
    for (const listener of this.#listeners) for (const one of news) listener(one);
  }
  async close() {
    this.#listeners.clear();
    await this.#hints.close();
    await this.database.close();
  }
};

// src/middleware/stores/postgres/endings.ts
var FINAL = `('completed', 'failed', 'cancelled', 'expired')`;
var RUNNING = `('verifying', 'aggregating')`;
var END = (s) => `updated_at = clock_timestamp(), finished_at = clock_timestamp(),
  finished_ms = ${s}.now_ms(), due_ms = NULL, quarantined = false,
  input_key = NULL, input_bytes = NULL, input_tag = NULL`;
function ending(s, where, set, resultBytes = "0") {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND ${where} FOR UPDATE),
    done AS (
      UPDATE ${s}.tasks t SET ${END(s)}, ${set} FROM old WHERE t.id = old.id
      RETURNING ${taskColumns("t")}),
    counted AS (
      UPDATE ${s}.clients c SET open_tasks = c.open_tasks - 1,
        stored_bytes = c.stored_bytes - old.bytes + ${resultBytes}
      FROM old WHERE c.id = old.client_id)
    SELECT ${taskColumns("done")}, old.input_key AS old_input FROM done JOIN old USING (id)`;
}

// src/middleware/stores/postgres/queue.ts
var BATCH = 500;
function queue(ledger, options) {
  const { database } = ledger;
  const sql = outcomes(database.schema);
  const claims = new Claims(ledger, options);
  const held = async (statement, values) => (await ledger.change(statement, values)).length === 1;
  return {
    claim: (claim) => claims.claim(claim),
    async extend(id, attempt, { leaseMs, state, count, progress }) {
      const values = [id, attempt, leaseMs, state, count, progress && JSON.stringify(progress)];
      const silent = state === void 0 && count === void 0 && progress === void 0;
      const rows = await ledger.change(
        sql.extend,
        values.map((value) => value ?? null),
        { hint: !silent }
      );
      return rows.length === 1;
    },
    async extendAll(attempts, leaseMs) {
      if (attempts.length === 0) return /* @__PURE__ */ new Set();
      const ids = attempts.map(({ id }) => id);
      const numbers = attempts.map(({ attempt }) => attempt);
      const rows = await database.ask(sql.extendAll, [ids, numbers, leaseMs]);
      return new Set(rows.map(({ id }) => id));
    },
    async finish(id, attempt, { blob, format, aggregateBytes }) {
      const { key, bytes, tag = null } = blob;
      const values = [id, attempt, key, bytes, tag, format, aggregateBytes];
      return (await ledger.change(sql.finish, values)).length === 1;
    },
    fail: (id, attempt, error, retry) => retry ? held(sql.retry, [id, attempt, retry.delayMs]) : held(sql.fail, [id, attempt, JSON.stringify(error)]),
    release: (id, attempt) => held(sql.release, [id, attempt]),
    setAside: (id, attempt, error) => held(sql.setAside, [id, attempt, JSON.stringify(error)]),
    putBack: (id) => held(sql.putBack, [id])
  };
}
function outcomes(s) {
  const mine = `id = $1 AND attempt = $2 AND state IN ${RUNNING}`;
  const waits = (set, where = mine) => `
    UPDATE ${s}.tasks t SET state = 'waiting', progress = NULL, updated_at = clock_timestamp(),
      ${set} WHERE ${where} RETURNING ${newsColumns("t")}`;
  return {
    extend: {
      name: "extend",
      text: `UPDATE ${s}.tasks t SET due_ms = ${s}.now_ms() + $3::bigint,
          updated_at = clock_timestamp(), state = coalesce($4, state),
          count = coalesce($5, count), progress = coalesce($6, progress)
        WHERE ${mine} RETURNING ${newsColumns("t")}`
    },
    // In order of id, so that two of them cannot wait for each other.
    extendAll: {
      name: "extend all",
      text: `WITH held AS MATERIALIZED (
          SELECT t.id FROM ${s}.tasks t
          JOIN unnest($1::bigint[], $2::integer[]) AS m (id, attempt)
            ON t.id = m.id AND t.attempt = m.attempt
          WHERE t.state IN ${RUNNING} ORDER BY t.id FOR UPDATE OF t)
        UPDATE ${s}.tasks t SET due_ms = ${s}.now_ms() + $3::bigint
        FROM held WHERE t.id = held.id RETURNING t.id`
    },
    finish: {
      name: "finish",
      text: ending(
        s,
        `attempt = $2 AND state = 'aggregating'`,
        `state = 'completed', result_key = $3, result_bytes = $4, result_tag = $5,
          result_format = $6, aggregate_bytes = $7`,
        "$4::bigint"
      )
    },
    fail: {
      name: "fail",
      text: ending(
        s,
        `attempt = $2 AND state IN ${RUNNING}`,
        `state = 'failed', failures = failures + 1, error = $3`
      )
    },
    retry: {
      name: "retry",
      text: waits(`failures = failures + 1, due_ms = ${s}.now_ms() + $3::bigint`)
    },
    release: { name: "release", text: waits(`due_ms = ${s}.now_ms()`) },
    setAside: {
      name: "set aside",
      text: waits("quarantined = true, error = $3, due_ms = NULL")
    },
    putBack: {
      name: "put back",
      text: waits(
        `quarantined = false, error = NULL, failures = 0, due_ms = ${s}.now_ms()`,
        "id = $1 AND quarantined"
      )
    }
  };
}
var Claims = class {
  #ledger;
  #options;
  #sql;
  #lookedMs = -Infinity;
  /** Whether there has been something near the turn; polls of an empty queue then ask once. */
  #nearby = true;
  constructor(ledger, options) {
    this.#ledger = ledger;
    this.#options = options;
    this.#sql = claimStatements(ledger.database.schema);
  }
  async claim({ leaseMs, threads }) {
    const { lookEveryMs, near } = this.#options;
    const looks = performance.now() - this.#lookedMs >= lookEveryMs;
    if (looks) await this.#look();
    const values = [leaseMs, threads];
    if (near && this.#nearby) {
      const [row2] = await this.#ledger.change(this.#sql.near, values);
      if (row2) return { task: toTask(row2) };
    }
    const [row] = await this.#ledger.database.ask(this.#sql.any, values);
    this.#nearby = row.id !== null;
    if (this.#nearby) {
      this.#ledger.tell([row]);
      return { task: toTask(row) };
    }
    return { task: null, nextMs: await this.#nextMs(row.next_ms, looks) };
  }
  /** Ended leases, and tasks that wait behind the turn: a part at a time until all is done. */
  async #look() {
    this.#lookedMs = performance.now();
    const { requeue, lift } = this.#sql;
    let rows;
    do
      rows = await this.#ledger.change(requeue);
    while (rows.length === BATCH);
    if (!this.#options.near) return;
    let lifted;
    do
      lifted = await this.#ledger.database.ask(lift);
    while (lifted.length === BATCH);
  }
  /**
   * @param waitingMs until the first retry is due
   * @param looked whether leases were looked at just now; else they will be at the next look
   */
  async #nextMs(waitingMs, looked) {
    const known = (ms) => ms ?? Infinity;
    if (!looked) {
      const lookMs = this.#options.lookEveryMs - (performance.now() - this.#lookedMs);
      return Math.max(0, Math.min(known(waitingMs), Math.ceil(lookMs)));
    }
    const [lease] = await this.#ledger.database.ask(this.#sql.nextLease);
    const nextMs = Math.min(known(waitingMs), known(lease.ms));
    return nextMs === Infinity ? null : nextMs;
  }
};
function claimStatements(s) {
  const turn = `(SELECT last_value FROM ${s}.queue_turn)`;
  const waits = `state = 'waiting' AND NOT quarantined`;
  const claim = (near) => `
    WITH next AS MATERIALIZED (
      SELECT id, turn FROM ${s}.tasks WHERE ${waits} AND due_ms <= ${s}.now_ms() ${near}
      ORDER BY turn, submitted_at, id LIMIT 1 FOR UPDATE SKIP LOCKED),
    moved AS MATERIALIZED (
      SELECT setval('${s}.queue_turn', turn) FROM next WHERE turn > ${turn}),
    claimed AS (
      UPDATE ${s}.tasks t SET state = 'verifying', attempt = attempt + 1, threads = $2,
        due_ms = ${s}.now_ms() + $1::bigint, updated_at = clock_timestamp()
      FROM next LEFT JOIN moved ON true WHERE t.id = next.id
      RETURNING ${taskColumns("t")})`;
  const until = (rows) => `(SELECT CASE WHEN min(due_ms) IS NOT NULL
      THEN greatest(0, min(due_ms) - ${s}.now_ms()) END FROM (${rows}) soon)`;
  return {
    // An old transaction keeps the entries of claimed tasks in the index; they lie before the turn.
    near: {
      name: "claim near",
      text: `${claim(`AND turn >= ${turn} - 1`)} SELECT ${taskColumns("claimed")} FROM claimed`
    },
    // One row always: the task, or the time until something is due.
    any: {
      name: "claim",
      text: `${claim("")}
        SELECT ${taskColumns("claimed")}, CASE WHEN claimed.id IS NULL THEN ${until(
        `SELECT due_ms FROM ${s}.tasks WHERE ${waits}
            ORDER BY turn, submitted_at, id LIMIT 1000`
      )} END AS next_ms
        FROM (SELECT 1) one LEFT JOIN claimed ON true`
    },
    nextLease: {
      name: "next lease",
      text: `SELECT ${until(`SELECT due_ms FROM ${s}.tasks WHERE state IN ${RUNNING}`)} AS ms`
    },
    requeue: {
      name: "requeue",
      text: `WITH lost AS MATERIALIZED (
          SELECT id FROM ${s}.tasks WHERE state IN ${RUNNING} AND due_ms <= ${s}.now_ms()
            AND (SELECT pg_try_advisory_xact_lock(${advisoryKey(s, "requeue")}))
          LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
        UPDATE ${s}.tasks t SET state = 'waiting', losses = losses + 1, progress = NULL,
          due_ms = ${s}.now_ms(), updated_at = clock_timestamp()
        FROM lost WHERE t.id = lost.id RETURNING ${newsColumns("t")}`
    },
    lift: {
      name: "lift",
      text: `WITH behind AS MATERIALIZED (
          SELECT id FROM ${s}.tasks
          WHERE ${waits} AND due_ms <= ${s}.now_ms() AND turn < ${turn} - 1
            AND (SELECT pg_try_advisory_xact_lock(${advisoryKey(s, "lift")}))
          ORDER BY turn, submitted_at, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
        UPDATE ${s}.tasks t SET turn = ${turn} FROM behind WHERE t.id = behind.id
        RETURNING t.id`
    }
  };
}

// src/middleware/stores/postgres/reads.ts
var RESULT_KEY = /(?:^|\/)results\/\d+\/(\d{1,16})\.json$/;
function reads(database) {
  const s = database.schema;
  const sql = {
    get: {
      name: "get",
      text: `SELECT ${taskColumns("t")} FROM ${s}.tasks t WHERE t.id = $1`
    },
    usage: {
      name: "usage",
      text: `SELECT open_tasks AS "openTasks", stored_bytes AS "storedBytes"
        FROM ${s}.clients WHERE id = $1`
    },
    depth: { name: "depth", text: depthText(s) },
    referenced: {
      name: "referenced",
      text: `SELECT input_key AS key FROM ${s}.tasks WHERE input_key = ANY ($1::text[])
        UNION SELECT result_key FROM ${s}.tasks
          WHERE id = ANY ($2::bigint[]) AND result_key = ANY ($1)`
    }
  };
  return {
    async get(id, clientId) {
      const [row] = await database.ask(sql.get, [id]);
      if (!row || clientId !== void 0 && row.client_id !== clientId) return null;
      return toTask(row);
    },
    async list(query) {
      const { clientId, limit, after, state } = query;
      const values = [clientId, limit, after, state].filter((value) => value !== void 0);
      const rows = await database.ask(listStatement(s, query), values);
      return { tasks: rows.map(toListed) };
    },
    async usage(clientId) {
      const [row] = await database.ask(sql.usage, [clientId]);
      return row ?? { openTasks: 0, storedBytes: 0 };
    },
    async depth() {
      const rows = await database.ask(sql.depth);
      const states = { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0 };
      let quarantined = 0;
      let oldestWaitingMs = null;
      for (const { state, tasks: tasks2, oldest_ms } of rows) {
        if (state === "quarantined") quarantined = tasks2;
        else states[state] = tasks2;
        if (state === "waiting" && oldest_ms !== null) oldestWaitingMs = Math.max(0, oldest_ms);
      }
      return { states, quarantined, oldestWaitingMs };
    },
    async referenced(keys) {
      const ids = keys.flatMap((key) => RESULT_KEY.exec(key)?.[1] ?? []);
      const rows = await database.ask(sql.referenced, [keys, ids]);
      return new Set(rows.map(({ key }) => key));
    }
  };
}
function listStatement(s, { after, order = "asc", state }) {
  const from = after === void 0 ? "" : `AND id ${order === "asc" ? ">" : "<"} $3`;
  const only = state === void 0 ? "" : `AND state = $${after === void 0 ? 3 : 4}`;
  return {
    name: `list ${order}${from && " after"}${only && " by state"}`,
    text: `SELECT ${listedColumns("t")} FROM ${s}.tasks t WHERE client_id = $1 ${from} ${only}
      ORDER BY id ${order === "asc" ? "ASC" : "DESC"} LIMIT $2`
  };
}
function depthText(s) {
  const part = (state, where, oldest = "NULL::bigint") => `SELECT ${state} AS state, count(*) AS tasks, ${oldest} AS oldest_ms
      FROM ${s}.tasks WHERE ${where} GROUP BY 1`;
  const age = `(extract(epoch FROM clock_timestamp() - min(submitted_at)) * 1000)::bigint`;
  return [
    part("state", `state IN ('created', 'uploaded')`),
    part("state", `state = 'waiting' AND NOT quarantined`, age),
    part("state", `state IN ${RUNNING}`),
    part(`'quarantined'`, "quarantined")
  ].join(" UNION ALL ");
}

// src/wire/taskStates.ts
var FINAL_STATES = [
  "completed",
  "failed",
  "cancelled",
  "expired"
];
function isFinal(state) {
  return FINAL_STATES.includes(state);
}

// src/middleware/stores/postgres/submissions.ts
function submissions(ledger) {
  const { database } = ledger;
  const sql = statements3(database.schema);
  const look = async (id, clientId) => {
    const [row] = await database.ask(sql.look, [id]);
    return clientId === void 0 || row?.client_id === clientId ? row : void 0;
  };
  const change = async (name, values) => {
    const [row] = await ledger.change(sql[name], values);
    return row;
  };
  return {
    put: (task, options = {}) => put(ledger, sql, task, options),
    async upload(id, input, limits = {}) {
      const row = await change("upload", [id, ...blobValues(input), finite(limits.storedBytes)]);
      if (row) return { ok: true, task: toTask(row), replaced: row.old_input };
      const now = await look(id);
      if (!now) return { ok: false, reason: "missing" };
      const open = now.live && (now.state === "created" || now.state === "uploaded");
      return { ok: false, reason: open ? "storedBytes" : "state" };
    },
    async notify(id, clientId, input, limits = {}) {
      const blob = input ? blobValues(input) : [null, null, null];
      const row = await change("notify", [id, ...blob, clientId, finite(limits.storedBytes)]);
      if (row) return { ok: true, task: toTask(row), first: true };
      const now = await look(id, clientId);
      if (!now) return { ok: false, reason: "missing" };
      if (now.submitted) return { ok: true, task: toTask(now), first: false };
      if (isFinal(now.state) || !now.live) return { ok: false, reason: "ended" };
      return { ok: false, reason: input ? "storedBytes" : "notUploaded" };
    },
    async renew(id, clientId, ttlMs) {
      const row = await change("renew", [id, clientId, ttlMs]);
      return row ? toTask(row) : null;
    },
    async cancel(id, clientId) {
      const [row] = await ledger.change(sql.cancel, [id, clientId]);
      if (row) return { ok: true, task: toTask(row), blobs: row.old_input ? [row.old_input] : [] };
      return { ok: false, reason: await look(id, clientId) ? "final" : "missing" };
    },
    async remove(id, clientId) {
      const [row] = await database.ask(sql.remove, [id, clientId]);
      if (row) return { ok: true, blobs: [row.input_key, row.result_key].flatMap((k) => k ?? []) };
      return { ok: false, reason: await look(id, clientId) ? "unfinished" : "missing" };
    }
  };
}
async function put(ledger, sql, task, { limits = {}, hold }) {
  const values = putValues(task, limits);
  const [row] = await (hold ? ledger.change(sql.putHeld, [...values, hold.key, hold.token]) : ledger.change(sql.put, values));
  if (row) return { ok: true, task: toTask(row) };
  const asked = [task.clientId, hold?.key ?? "", hold?.token ?? ""];
  const [usage] = await ledger.database.ask(sql.usage, asked);
  if (hold && !usage.held) return { ok: false, reason: "superseded" };
  const open = (usage.open_tasks ?? 0) + 1;
  const tooMany = limits.openTasks !== void 0 && open > limits.openTasks;
  return { ok: false, reason: tooMany ? "openTasks" : "storedBytes" };
}
function statements3(s) {
  return {
    put: { name: "put", text: putText(s, false) },
    putHeld: { name: "put held", text: putText(s, true) },
    usage: {
      name: "usage of",
      text: `SELECT open_tasks,
          EXISTS (SELECT 1 FROM ${s}.answers
            WHERE client_id = $1 AND key = $2 AND token = $3 AND task_id IS NULL) AS held
        FROM (SELECT 1) one LEFT JOIN ${s}.clients ON id = $1::bigint`
    },
    upload: { name: "upload", text: uploadText(s) },
    notify: { name: "notify", text: notifyText(s) },
    look: {
      name: "look",
      text: `SELECT ${taskColumns("t")}, t.expires_ms > ${s}.now_ms() AS live
        FROM ${s}.tasks t WHERE t.id = $1`
    },
    renew: {
      name: "renew",
      text: `UPDATE ${s}.tasks t
        SET expires_ms = ${s}.now_ms() + $3::bigint, updated_at = clock_timestamp()
        WHERE id = $1 AND client_id = $2 AND NOT submitted AND state IN ('created', 'uploaded')
        RETURNING ${taskColumns("t")}`
    },
    cancel: {
      name: "cancel",
      text: ending(s, `client_id = $2 AND state NOT IN ${FINAL}`, `state = 'cancelled'`)
    },
    remove: { name: "remove", text: removeText(s) }
  };
}
var finite = (limit) => Number.isFinite(limit) ? limit : null;
function putValues(task, { openTasks, storedBytes }) {
  return [
    task.clientId,
    task.input?.bytes ?? 0,
    task.state === "waiting",
    finite(openTasks),
    finite(storedBytes),
    task.count ?? 0,
    task.threads,
    task.ttlMs,
    task.input?.key ?? null,
    task.input?.tag ?? null,
    task.requestId ?? null,
    task.traceparent ?? null
  ];
}
function blobValues({ key, bytes, tag }) {
  return [key, bytes, tag ?? null];
}
function putText(s, held) {
  const turn = `(SELECT last_value FROM ${s}.queue_turn)`;
  const within = (open, bytes) => `($4::bigint IS NULL OR ${open} <= $4) AND ($5::bigint IS NULL OR ${bytes} <= $5)`;
  return `
    WITH ${held ? `held AS (SELECT 1 FROM ${s}.answers
      WHERE client_id = $1 AND key = $13 AND token = $14 AND task_id IS NULL FOR UPDATE),` : ""}
    mine AS (
      INSERT INTO ${s}.clients AS c (id, open_tasks, stored_bytes, last_task, last_turn)
        SELECT $1::bigint, 1, $2::bigint, ${s}.new_task_id(),
          CASE WHEN $3::boolean THEN greatest(${turn}, 1) ELSE 0 END
        ${held ? "FROM held" : ""}
        WHERE ${within("1", "$2::bigint")}
      ON CONFLICT (id) DO UPDATE SET
        open_tasks = c.open_tasks + 1,
        stored_bytes = c.stored_bytes + excluded.stored_bytes,
        last_task = greatest(${s}.new_task_id(), c.last_task + 1),
        last_turn = CASE WHEN $3 THEN greatest(${turn}, c.last_turn + 1) ELSE c.last_turn END
      WHERE ${within("c.open_tasks + 1", "c.stored_bytes + excluded.stored_bytes")}
      RETURNING last_task, last_turn),
    made AS (
      INSERT INTO ${s}.tasks AS t (id, client_id, state, count, threads, submitted, turn, due_ms,
          expires_ms, created_at, submitted_at, updated_at, request_id, traceparent,
          input_key, input_bytes, input_tag)
        SELECT last_task, $1, CASE WHEN $3 THEN 'waiting' ELSE 'created' END, $6, $7, $3,
          CASE WHEN $3 THEN last_turn ELSE 0 END, CASE WHEN $3 THEN ${s}.now_ms() END,
          ${s}.now_ms() + $8::bigint, clock.at, clock.at, clock.at, $11, $12,
          $9::text, CASE WHEN $9 IS NOT NULL THEN $2 END, $10
        FROM mine, (SELECT clock_timestamp() AS at OFFSET 0) clock
      RETURNING ${taskColumns("t")})${held ? `,
    kept AS (UPDATE ${s}.answers a SET task_id = made.id FROM made
      WHERE a.client_id = $1 AND a.key = $13)` : ""}
    SELECT ${taskColumns("made")} FROM made`;
}
function uploadText(s) {
  return `
    WITH old AS (
      SELECT id, client_id, input_key, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND state IN ('created', 'uploaded') AND expires_ms > ${s}.now_ms()
      FOR UPDATE),
    mine AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - old.bytes + $3::bigint FROM old
      WHERE c.id = old.client_id
        AND ($5::bigint IS NULL OR c.stored_bytes - old.bytes + $3 <= $5)
      RETURNING c.id)
    UPDATE ${s}.tasks t SET state = 'uploaded', updated_at = clock_timestamp(),
        input_key = $2, input_bytes = $3, input_tag = $4
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns("t")}, old.input_key AS old_input`;
}
function notifyText(s) {
  return `
    WITH old AS (
      SELECT id, client_id, coalesce(input_bytes, 0) AS bytes FROM ${s}.tasks
      WHERE id = $1 AND client_id = $5 AND NOT submitted AND expires_ms > ${s}.now_ms()
        AND (state = 'uploaded' OR (state = 'created' AND $2::text IS NOT NULL))
      FOR UPDATE),
    mine AS (
      UPDATE ${s}.clients c SET
        last_turn = greatest((SELECT last_value FROM ${s}.queue_turn), c.last_turn + 1),
        stored_bytes = c.stored_bytes
          + CASE WHEN $2 IS NULL THEN 0 ELSE $3::bigint - old.bytes END
      FROM old WHERE c.id = old.client_id
        AND ($2 IS NULL OR $6::bigint IS NULL OR c.stored_bytes - old.bytes + $3 <= $6)
      RETURNING c.last_turn)
    UPDATE ${s}.tasks t SET state = 'waiting', submitted = true, turn = mine.last_turn,
        due_ms = ${s}.now_ms(), submitted_at = clock_timestamp(), updated_at = clock_timestamp(),
        input_key = coalesce($2, t.input_key),
        input_bytes = CASE WHEN $2 IS NULL THEN t.input_bytes ELSE $3 END,
        input_tag = CASE WHEN $2 IS NULL THEN t.input_tag ELSE $4 END
      FROM old, mine WHERE t.id = old.id
      RETURNING ${taskColumns("t")}`;
}
function removeText(s) {
  return `
    WITH gone AS (
      DELETE FROM ${s}.tasks WHERE id = $1 AND client_id = $2 AND state IN ${FINAL}
      RETURNING client_id, input_key, result_key,
        coalesce(input_bytes, 0) + coalesce(result_bytes, 0) AS bytes),
    counted AS (
      UPDATE ${s}.clients c SET stored_bytes = c.stored_bytes - gone.bytes
      FROM gone WHERE c.id = gone.client_id)
    SELECT input_key, result_key FROM gone`;
}

// src/middleware/stores/postgres/upkeep.ts
var BATCH2 = 500;
function sweeper(ledger) {
  const { database } = ledger;
  const sql = statements4(database.schema);
  return async ({ retentionMs, answerMs }) => {
    const expired = await ledger.change(sql.expire);
    const gone = retentionMs === void 0 ? [] : await database.ask(sql.purge, [retentionMs]);
    const answers2 = await database.ask(sql.forget, [answerMs]);
    const keys = [
      ...expired.map((row) => row.old_input),
      ...gone.flatMap((row) => [row.input_key, row.result_key])
    ];
    return {
      expired: expired.map((row) => row.id).sort((a, b) => a - b),
      removed: gone.length,
      blobs: keys.flatMap((key) => key ?? []),
      more: [expired, gone, answers2].some((rows) => rows.length === BATCH2)
    };
  };
}
function statements4(s) {
  const alone = `(SELECT pg_try_advisory_xact_lock(${advisoryKey(s, "sweep")}))`;
  const batch = `LIMIT ${BATCH2} FOR UPDATE SKIP LOCKED`;
  return {
    expire: {
      name: "expire",
      text: `WITH old AS MATERIALIZED (
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
          RETURNING ${newsColumns("t")})
        SELECT ${newsColumns("done")}, old.input_key AS old_input FROM done JOIN old USING (id)`
    },
    purge: {
      name: "purge",
      text: `WITH old AS MATERIALIZED (
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
        SELECT input_key, result_key FROM gone`
    },
    forget: {
      name: "forget answers",
      text: `WITH old AS MATERIALIZED (
          SELECT client_id, key FROM ${s}.answers
          WHERE created_ms < ${s}.now_ms() - $1::bigint AND ${alone}
          ORDER BY created_ms ${batch})
        DELETE FROM ${s}.answers a USING old WHERE a.client_id = old.client_id AND a.key = old.key
        RETURNING 1`
    }
  };
}

// src/middleware/stores/postgres/store.ts
var NAMES = ["url", "directUrl", "schema", "connections"];
function createStore(options, { nowMs, lookEveryMs = 1e3, near = true } = {}) {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== void 0) throw new TypeError(`"${unknown}" is not an option`);
  const { connections = 10 } = options;
  if (!Number.isSafeInteger(connections) || connections < 1) {
    throw new RangeError('"connections" must be a whole number, 1 or more');
  }
  const address = readAddress("url", options.url);
  const direct = options.directUrl === void 0 ? null : readAddress("directUrl", options.directUrl);
  const schema = readSchema(options.schema ?? "falconry");
  const database = new Database({ address, schema, connections, nowMs });
  const listening = direct ?? (address.pooled ? null : address);
  const ledger = new Ledger(database, new Hints(database, listening));
  const questions = reads(database);
  return {
    ...questions,
    ...submissions(ledger),
    ...queue(ledger, { lookEveryMs, near }),
    ...answers(database, questions.get),
    ...clients(database),
    sweep: sweeper(ledger),
    watch: (listener) => ledger.watch(listener),
    open: () => database.checkVersion(),
    ping: () => database.ping(),
    close: () => ledger.close()
  };
}
export {
  createStore
};
