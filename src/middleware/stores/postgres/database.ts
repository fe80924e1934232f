/**
 * The connections of a store: named statements, retries after conflicts and fail-overs, and the
 * conversion of the driver's errors.
 */
import pg from 'pg';
import { CodedError, isCodedError } from '../../../shared/errors.ts';
import { withTimeout } from '../../../shared/wait.ts';
import { type Address, BEGIN, type LineConfig, MARK, noTimeout } from './address.ts';
import { toTimestamp } from './rows.ts';
import { LAST_OLD_STEP, STEPS } from './schema.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
  /** After this time without an answer, the connection counts as broken; default 15 s. */
  readonly withinMs?: number;
}

/** Returns statements by their names, which no other statement of the store has. */
export function named<Name extends string>(
  texts: Readonly<Record<Name, string>>,
): Record<Name, Statement> {
  const all = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }]);
  return Object.fromEntries(all) as Record<Name, Statement>;
}

export const DEFAULT_CONNECTIONS = 10;

interface DatabaseOptions {
  readonly address: Address;
  /** Quoted. */
  readonly schema: string;
  readonly connections: number;
  /** Replaces the clock of the server, for tests. */
  readonly nowMs?: (() => number) | undefined;
}

const MAX_TRIES = 6;
const PING_MS = 1000;
const CLOSE_MS = 2000;

const INT8 = 20;
const TIMESTAMPTZ = 1184;
/** `bigint` as number: ids, bytes and milliseconds stay below 2^53. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return toTimestamp;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** A connection whose end can be awaited. Without a listener, its errors would end the process. */
export class Line extends pg.Client {
  readonly ended: Promise<void>;

  constructor(config?: LineConfig) {
    super(config);
    this.on('error', () => {});
    this.ended = new Promise((resolve) => this.once('end', resolve));
    const ssl: unknown = this.ssl;
    // Before 8.23.1, the driver verifies servers at IP addresses as "localhost".
    if (typeof ssl === 'object' && ssl) Object.assign(ssl, { host: this.host });
    if (config?.bound) this.#bind();
  }

  /** Ends the connection before the driver sends a password, or uses it, without a binding. */
  #bind(): void {
    const { connection } = this;
    let isBound = false;
    const require = (isFine: boolean) => {
      if (isFine) return;
      // It may have arrived already.
      connection.removeAllListeners('readyForQuery');
      const fault = 'the server does not bind logins to its certificate (channel_binding=require)';
      connection.stream.destroy(new Error(fault));
    };
    connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) =>
      require(mechanisms.includes('SCRAM-SHA-256-PLUS')),
    );
    connection.on('authenticationSASLFinal', () => {
      isBound = true;
    });
    for (const name of ['CleartextPassword', 'MD5Password', 'Ok']) {
      connection.on(`authentication${name}`, () => require(isBound));
    }
  }

  /** Ends it without the server, which may have vanished and would never confirm. */
  cut(): void {
    this.connection.stream.destroy();
  }
}

/** Lends a connection that ends afterwards. @throws CodedError for faults of the server */
export async function withLine<T>(
  config: LineConfig,
  advice: string | undefined,
  use: (line: Line) => Promise<T>,
): Promise<T> {
  const line = new Line(config);
  try {
    await line.connect();
    return await use(line);
  } catch (error) {
    throw storeFault(error, advice);
  } finally {
    await withTimeout(line.end(), CLOSE_MS, () => undefined).catch(() => {});
    line.cut();
  }
}

const READ_ONLY =
  "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS \"readOnly\"";

/** Checks that a new connection leads to a server that can write, with the store's settings. */
export async function checkServer(client: pg.ClientBase, { pooled }: Address): Promise<void> {
  const mark = `current_setting('${MARK}', true) AS mark`;
  const text = `SELECT ${READ_ONLY}, ${mark}, ${noTimeout(pooled)}`;
  const [found] = (await client.query<{ readOnly: boolean; mark: string | null }>(text)).rows;
  if (found!.readOnly) throw readOnlyFault();
  if (!pooled && found!.mark !== 'on') throw serverFault('08P01', 'the options do not arrive');
}

const serverFault = (code: string, message: string) =>
  Object.assign(new Error(message), { code, severity: 'ERROR' });
const readOnlyFault = () =>
  serverFault(
    '25006',
    'the server can only be read: it is a standby, or default_transaction_read_only is on',
  );

export class Database {
  /** Quoted; statements qualify everything with it. */
  readonly schema: string;
  /** Called when a server that was used can only be read any more, after a fail-over. */
  onDemoted = (): void => {};
  readonly #address: Address;
  readonly #pool: pg.Pool;
  readonly #nowMs: (() => number) | undefined;
  readonly #lines = new Set<Line>();
  /** Connections to a server that can only be read; they are not used again. */
  readonly #demoted = new WeakSet<pg.ClientBase>();
  /** Rejections of those who wait for a connection. */
  readonly #waiting = new Set<(reason: Error) => void>();
  /** Set once statements showed that there is a pooler in between. */
  #misled: CodedError | undefined;
  #closed: Promise<void> | undefined;

  constructor({ address, schema, connections, nowMs }: DatabaseOptions) {
    this.schema = schema;
    this.#address = address;
    this.#nowMs = nowMs;
    const open = (config?: pg.ClientConfig) => this.open(config);
    this.#pool = new pg.Pool({
      ...address.config,
      max: connections,
      types,
      Client: function PooledLine(config?: pg.ClientConfig) {
        return open(config);
      } as unknown as typeof pg.Client,
      verify: (client, done) => void checkServer(client, address).then(() => done(), done),
    });
    // A lost connection is replaced at its next use.
    this.#pool.on('error', () => {});
  }

  /** Returns a new connection, not connected yet, which ends with the database. */
  open(config?: LineConfig): Line {
    const line = new Line(config);
    this.#lines.add(line);
    void line.ended.then(() => this.#lines.delete(line));
    return line;
  }

  /**
   * Runs one statement, which is one transaction.
   *
   * @throws CodedError `STORE_UNAVAILABLE` if it may not have been executed
   */
  async ask<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.#query(statement, values)) as Row[];
      } catch (error) {
        // Nothing happened. Another connection may lead to the server that was promoted.
        const again = isReadOnly(error) ? tries === 1 : isTransient(error) && tries < MAX_TRIES;
        if (!again) throw this.#faultOf(error);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries));
      }
    }
  }

  async #query(statement: Statement, values: readonly unknown[]): Promise<unknown[]> {
    const client = await this.#connect();
    let broken = false;
    try {
      return await this.#run(client, statement, values);
    } catch (error) {
      broken = isBroken(error);
      if (isReadOnly(error)) this.#leave();
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await new Promise<pg.PoolClient>((resolve, reject) => {
        this.#waiting.add(reject);
        const settled = () => this.#waiting.delete(reject);
        this.#pool.connect().then(resolve, reject).finally(settled);
      });
      if (!this.#demoted.has(client)) return client;
      client.release(true);
    }
  }

  /** Replaces all connections: they may lead to a server that was demoted. */
  #leave(): void {
    for (const line of this.#lines) this.#demoted.add(line);
    this.onDemoted();
  }

  #faultOf(error: unknown): CodedError {
    if (this.#address.pooled) return storeFault(error);
    const fault = storeFault(error, 'add ?pooled=1');
    if (LOST_NAMES.test(sqlState(error) ?? '')) this.#misled = fault;
    return fault;
  }

  async #run(
    client: pg.PoolClient,
    { name, text, withinMs }: Statement,
    values: readonly unknown[],
  ): Promise<unknown[]> {
    const { pooled } = this.#address;
    const limits = withinMs === undefined ? {} : { query_timeout: withinMs };
    const ask = (query: pg.QueryConfig) => client.query({ ...limits, ...query });
    const clock = `SELECT set_config('falconry.now_ms', $1, ${pooled})`;
    if (pooled) await ask({ text: BEGIN });
    try {
      if (this.#nowMs) await ask({ text: clock, values: [String(this.#nowMs())] });
      const named = pooled ? {} : { name: `falconry ${name}` };
      const { rows } = await ask({ ...named, text, values: [...values] });
      if (pooled) await ask({ text: 'COMMIT' });
      return rows;
    } catch (error) {
      if (pooled && !isBroken(error)) await ask({ text: 'ROLLBACK' });
      throw error;
    }
  }

  /**
   * Connects, compares the version of the schema with this release, and checks that the server can
   * write.
   *
   * @throws CodedError `STORE_OLDER`, `STORE_OUTDATED`, `STORE_NEWER`, `STORE_UNAVAILABLE`
   */
  async checkVersion(): Promise<void> {
    if (this.#misled) throw this.#misled;
    const text = `SELECT max(step) AS step, max(oldest_reader) AS reader, ${READ_ONLY}
      FROM ${this.schema}.migrations`;
    let known: { step: number | null; reader: number | null; readOnly?: boolean } | undefined;
    try {
      [known] = (await this.#query({ name: 'version', text }, [])) as [typeof known];
    } catch (error) {
      // No such table, or no such schema.
      if (!/^(42P01|3F000)$/.test(sqlState(error) ?? '')) throw this.#faultOf(error);
    }
    if (known?.readOnly) {
      this.#leave();
      throw storeFault(readOnlyFault());
    }
    const { step, reader } = known ?? { step: null, reader: null };
    const ours = LAST_OLD_STEP + STEPS.length;
    if (step !== null && step <= LAST_OLD_STEP) throw new CodedError('STORE_OUTDATED');
    if (step === null || step < ours) throw new CodedError('STORE_OLDER');
    if (reader! > ours) throw new CodedError('STORE_NEWER');
  }

  /**
   * Checks the version again: a newer release may have migrated the schema.
   *
   * @throws CodedError as `checkVersion`; `STORE_UNAVAILABLE` unless the server answers within a
   *   second
   */
  async ping(): Promise<void> {
    const late = () => new CodedError('STORE_UNAVAILABLE');
    await withTimeout(this.checkVersion(), PING_MS, late);
  }

  /**
   * Closes the connections, after the last use of them, and for at most two seconds: a server that
   * has vanished would never confirm the end of a connection.
   */
  close(last: () => Promise<void> = async () => {}): Promise<void> {
    this.#closed ??= this.#end(last);
    return this.#closed;
  }

  async #end(last: () => Promise<void>): Promise<void> {
    const endMs = performance.now() + CLOSE_MS;
    const wait = (work: Promise<unknown>) =>
      withTimeout(work, Math.max(0, endMs - performance.now()), () => undefined).catch(() => {});
    await wait(last());
    const ended = this.#pool.end();
    await wait(ended.then(() => Promise.all(Array.from(this.#lines, (line) => line.ended))));
    for (const line of this.#lines) line.cut();
    for (const reject of this.#waiting) reject(new Error('the store was closed'));
  }
}

/** deadlock_detected, serialization_failure, unique_violation: nothing happened, try again. */
const TRY_AGAIN: ReadonlySet<string> = new Set(['40P01', '40001', '23505']);

/**
 * Connection exceptions, refused logins, lost transactions, lack of resources, locks, shutdown,
 * time-outs and faults of the disk; a server that can only be read (a standby, after a fail-over);
 * and what still failed after all tries.
 */
const UNAVAILABLE = /^(08|25P0|28|40|53|55|57|58)|^(23505|25006|26000|3D000|42P05)$/;

/** The connection has statements of others, or none of ours: a pooler lends it. */
const LOST_NAMES = /^(26000|42P05)$/;

/** Whether there must be a pooler in between, which drops or refuses settings, or loses names. */
function isFromPooler(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  if (LOST_NAMES.test(state)) return true;
  return /^(08P01|0A000)$/.test(state) && /\boptions\b/.test((error as Error).message);
}

/** @returns the SQLSTATE of an error of the server; undefined for any other error */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined ? code : undefined;
}

/** Whether the statement did nothing because of what others did at the same time. */
function isTransient(error: unknown): boolean {
  return TRY_AGAIN.has(sqlState(error) ?? '');
}

/** Whether the server can only be read. */
const isReadOnly = (error: unknown): boolean => sqlState(error) === '25006';

/** Whether the server refuses or ends the connection with this error. */
const isFatal = (error: unknown): boolean =>
  /^(FATAL|PANIC)$/.test((error as { severity?: string }).severity ?? '');

/** Whether the connection is of no more use: no answer, or from a server that is of none. */
function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || isFatal(error) || /^(08|57P|25P0|25006|26000|42P05)/.test(state);
}

/**
 * The error for the store's callers. Without an answer of the server, nobody knows whether the
 * statement was carried out: `STORE_UNAVAILABLE` says so.
 *
 * The cause keeps code and text of the original and nothing else: other fields of it may hold
 * whole rows, or the address with its password.
 *
 * @param advice what to do if the address leads to a pooler
 */
export function storeFault(error: unknown, advice?: string): CodedError {
  if (isCodedError(error)) return error;
  const state = sqlState(error);
  const { code } = error as { code?: unknown };
  // Of several addresses of a host that were tried, the first.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message = String(first) } = first as Partial<Error>;
  const fault = typeof code === 'string' ? `${code}: ${message}` : message;
  const original = fault + (REMEDIES.find(([pattern]) => pattern.test(fault))?.[1] ?? '');
  const misled = advice !== undefined && isFromPooler(error);
  const cause = new Error(
    misled ? `the address leads to a pooler: ${advice} (${original})` : original,
  );
  const unavailable =
    state === undefined ? !isOurs(error) : misled || isFatal(error) || UNAVAILABLE.test(state);
  return new CodedError(unavailable ? 'STORE_UNAVAILABLE' : 'INTERNAL', { cause });
}

/** Faults of which the server or the system tells no remedy. */
const REMEDIES: readonly (readonly [fault: RegExp, remedy: string])[] = [
  [
    /^(SELF_SIGNED|DEPTH_ZERO_SELF|UNABLE_TO_)/,
    '; add sslrootcert=FILE, the certificate of its CA',
  ],
  [/^28000: .* no encryption$/, '; add sslmode=verify-full'],
  [/^42704: unrecognized configuration parameter/, '; PostgreSQL 15 or newer is needed'],
];

/** A fault in our own code, which must not look like a lost connection. */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
