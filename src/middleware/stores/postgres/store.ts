/**
 * The port over PostgreSQL. Each verb is one statement, so that it costs one round trip and holds
 * its locks no longer than that.
 *
 *   submissions.ts   the verbs of clients, and Idempotency-Keys
 *   queue.ts         the verbs of workers
 *   reads.ts         reads
 *   upkeep.ts        the sweep
 *   clients.ts       API keys, client numbers, secrets, quotas
 *   ledger.ts        notification of listeners; hints.ts: of other processes
 *   database.ts      connections, and the meaning of their errors
 *   schema.ts        the tables; migrate.ts creates and updates them
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { readAddress, readSchema } from './address.ts';
import { apiKeys, names, quotas } from './clients.ts';
import { Database, DEFAULT_CONNECTIONS } from './database.ts';
import { Hints } from './hints.ts';
import { Ledger } from './ledger.ts';
import { queue } from './queue.ts';
import { reads } from './reads.ts';
import { answers, submissions } from './submissions.ts';
import { upkeep } from './upkeep.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database`. `?pooled=1` (or `?pgbouncer=true`) is for
   * poolers such as PgBouncer in transaction mode: statements have no names, are planned at every
   * use, and run in transactions that begin with the store's settings.
   */
  readonly url: string;
  /** Address past the pooler, for hints; without it, workers of a pooled store only poll. */
  readonly directUrl?: string;
  /** Where the tables are; default `falconry`. */
  readonly schema?: string;
  /** Maximum connections, plus one for hints; default 10. A worker alone needs 3. */
  readonly connections?: number;
}

/** Options for tests. */
export interface PostgresInternals {
  readonly nowMs?: () => number;
  readonly lookEveryMs?: number;
  readonly near?: boolean;
}

const NAMES: readonly string[] = ['url', 'directUrl', 'schema', 'connections'];

/** @throws TypeError, RangeError for options that are wrong; never with the address in it */
export function createStore(
  options: PostgresOptions,
  { nowMs, lookEveryMs = 1000, near = true }: PostgresInternals = {},
): CompleteStore {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option`);
  const { connections = DEFAULT_CONNECTIONS } = options;
  if (!Number.isSafeInteger(connections) || connections < 1) {
    throw new RangeError('"connections" must be a whole number, 1 or more');
  }
  const address = readAddress('url', options.url);
  const direct =
    options.directUrl === undefined ? null : readAddress('directUrl', options.directUrl);
  if (direct?.pooled) throw new TypeError('"directUrl" must be that of the server itself');
  const schema = readSchema(options.schema ?? 'falconry');
  const database = new Database({ address, schema, connections, nowMs });
  const listening = direct ?? (address.pooled ? null : address);
  const ledger = new Ledger(database, new Hints(database, listening));
  const questions = reads(database);
  const tasks: CompleteStore['tasks'] = {
    ...questions,
    ...submissions(ledger),
    ...queue(ledger, { lookEveryMs, near }),
    ...answers(database, questions.get),
    ...names(database),
    ...upkeep(ledger),
    watch: (listener) => ledger.watch(listener),
    open: () => database.checkVersion(),
    ping: () => database.ping(),
    close: () => ledger.close(),
  };
  return {
    tasks,
    parts: tasks,
    apiKeys: apiKeys(database),
    quotas: quotas(database),
    open: tasks.open,
    close: tasks.close,
  };
}
