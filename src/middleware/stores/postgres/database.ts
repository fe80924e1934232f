/**
 * The connections of a store: named statements, retries after conflicts, and the conversion of the
 * driver's errors.
 */
import pg from 'pg';
import { CodedError, isCodedError } from '../../../shared/errors.ts';
import { withTimeout } from '../../../shared/wait.ts';
import { type Address, BEGIN } from './address.ts';
import { toTimestamp } from './rows.ts';
import { LAST_OLD_STEP, STEPS } from './schema.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Returns statements by their names, which no other statement of the store has. */
export function named<Name extends string>(
  texts: Readonly<Record<Name, string>>,
): Record<Name, Statement> {
  const all = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }]);
  return Object.fromEntries(all) as Record<Name, Statement>;
}

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

export class Database {
  /** Quoted; statements qualify everything with it. */
  readonly schema: string;
  readonly #address: Address;
  readonly #pool: pg.Pool;
  readonly #nowMs: (() => number) | undefined;
  #closed: Promise<void> | undefined;

  constructor({ address, schema, connections, nowMs }: DatabaseOptions) {
    this.schema = schema;
    this.#address = address;
    this.#nowMs = nowMs;
    this.#pool = new pg.Pool({ ...address.config, max: connections, types });
    // A lost connection is replaced at its next use. Without listeners, its error would end the
    // process: the pool's while it is idle, its own while it is in use.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
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
        if (!isTransient(error) || tries === MAX_TRIES) throw storeFault(error);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries));
      }
    }
  }

  async #query({ name, text }: Statement, values: readonly unknown[]): Promise<unknown[]> {
    const client = await this.#pool.connect();
    let broken = false;
    try {
      return await this.#run(client, name, { text, values: [...values] });
    } catch (error) {
      broken = isBroken(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #run(client: pg.PoolClient, name: string, query: pg.QueryConfig): Promise<unknown[]> {
    const { pooled } = this.#address;
    const clock = `SELECT set_config('falconry.now_ms', $1, ${pooled})`;
    if (pooled) await client.query(BEGIN);
    try {
      if (this.#nowMs) await client.query(clock, [String(this.#nowMs())]);
      const named = pooled ? {} : { name: `falconry ${name}` };
      const { rows } = await client.query({ ...named, ...query });
      if (pooled) await client.query('COMMIT');
      return rows;
    } catch (error) {
      if (pooled && !isBroken(error)) await client.query('ROLLBACK');
      throw error;
    }
  }

  /**
   * Connects, and compares the version of the schema with this release.
   *
   * @throws CodedError `STORE_OLDER`, `STORE_OUTDATED`, `STORE_NEWER`, `STORE_UNAVAILABLE`
   */
  async checkVersion(): Promise<void> {
    const text = `SELECT max(step) AS step, max(oldest_reader) AS reader
      FROM ${this.schema}.migrations`;
    let known: { step: number | null; reader: number | null } | undefined;
    try {
      [known] = (await this.#query({ name: 'version', text }, [])) as [typeof known];
    } catch (error) {
      // No such table, or no such schema.
      if (!/^(42P01|3F000)$/.test(sqlState(error) ?? '')) throw storeFault(error);
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

  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }
}

/** deadlock_detected, serialization_failure, unique_violation: nothing happened, try again. */
const TRY_AGAIN: ReadonlySet<string> = new Set(['40P01', '40001', '23505']);

/**
 * Connection exceptions, refused logins, lost transactions, lack of resources, locks, shutdown,
 * time-outs and faults of the disk; a server that can only be read (a standby, after a fail-over);
 * and what still failed after all tries.
 */
const UNAVAILABLE = /^(08|25P0|28|40|53|55|57|58)|^(23505|25006|3D000)$/;

/** @returns the SQLSTATE of an error of the server; undefined for any other error */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined ? code : undefined;
}

/** Whether the statement did nothing because of what others did at the same time. */
function isTransient(error: unknown): boolean {
  return TRY_AGAIN.has(sqlState(error) ?? '');
}

/** Whether the connection is of no more use: the server did not answer, or ends it. */
export function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(08|57P)|^25P0/.test(state);
}

/**
 * The error for the store's callers. Without an answer of the server, nobody knows whether the
 * statement was carried out: `STORE_UNAVAILABLE` says so.
 *
 * The cause keeps code and text of the original and nothing else: other fields of it may hold
 * whole rows, or the address with its password.
 */
export function storeFault(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  const state = sqlState(error);
  const { code } = error as { code?: unknown };
  // Of several addresses of a host that were tried, the first.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message = String(first) } = first as Partial<Error>;
  const cause = new Error(typeof code === 'string' ? `${code}: ${message}` : message);
  const unavailable = state === undefined ? !isOurs(error) : UNAVAILABLE.test(state);
  return new CodedError(unavailable ? 'STORE_UNAVAILABLE' : 'INTERNAL', { cause });
}

/** A fault in our own code, which must not look like a lost connection. */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
