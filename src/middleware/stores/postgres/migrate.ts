/**
 * Brings a database up to the steps of schema.ts. One process at a time does it; the others wait,
 * and find it done. A lock on a table is waited for at most five seconds: behind a migration that
 * waits, every statement of the service would wait too.
 */
import pg from 'pg';
import { CodedError } from '../../../shared/errors.ts';
import { readAddress, readSchema } from './address.ts';
import { sqlState, storeFault } from './database.ts';
import { advisoryKey, LAST_OLD_STEP, STEPS, type Step } from './schema.ts';

export interface MigrateOptions {
  /** Where the tables are; default `falconry`. */
  readonly schema?: string;
  /** Only look. */
  readonly check?: boolean;
  /** Take the steps, but roll them back. */
  readonly dryRun?: boolean;
}

export interface Migration {
  /** The last step that the database had taken; 0 if it had taken none. */
  readonly from: number;
  /** The last step of this version. */
  readonly to: number;
  /** What was done, or would be done with `check` and `dryRun`. */
  readonly steps: readonly { readonly step: number; readonly about: string }[];
}

const OTHERS_MS = 120_000;
const LOCK_MS = 5000;
/** An index on a large table takes its time. */
const STEP_MS = 3_600_000;

/**
 * Takes the steps that the database lacks. The address must lead to the server itself, not to a
 * pooler.
 *
 * @throws TypeError for an address that is none
 * @throws CodedError `STORE_OUTDATED` if the tables were made before falconry 0.1.0, `STORE_NEWER`
 *   if a newer version has taken steps that this one cannot work with, `STORE_UNAVAILABLE` if the
 *   server does not answer, or if a lock does not become free
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<Migration> {
  return migrateBy(STEPS, url, options);
}

/** {@link migrate} with other steps, for tests. */
export async function migrateBy(
  all: readonly Step[],
  url: string,
  { schema = 'falconry', check = false, dryRun = false }: MigrateOptions = {},
): Promise<Migration> {
  const { config, pooled } = readAddress('url', url);
  if (pooled) throw new TypeError('"url" must be that of the server itself, not of a pooler');
  const s = readSchema(schema);
  const client = new pg.Client({ ...config, query_timeout: STEP_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`SET statement_timeout = 0`);
    if (!check) await takeTurn(client, s);
    const { step: from, reader } = await version(client, s);
    const to = LAST_OLD_STEP + all.length;
    if (reader > to) throw new CodedError('STORE_NEWER');
    if (from > 0 && from <= LAST_OLD_STEP) throw new CodedError('STORE_OUTDATED');
    const taken = Math.max(from, LAST_OLD_STEP);
    const missing = all
      .slice(taken - LAST_OLD_STEP)
      .map((step, i) => ({ step, number: taken + i + 1 }));
    if (!check && missing.length > 0) await take(client, s, missing, dryRun);
    const steps = missing.map(({ step, number }) => ({ step: number, about: step.about }));
    return { from, to, steps };
  } catch (error) {
    throw storeFault(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Waits for other migrations; the lock ends with the connection. */
async function takeTurn(client: pg.Client, s: string): Promise<void> {
  await client.query(`SET lock_timeout = ${OTHERS_MS}`);
  await client.query(`SELECT pg_advisory_lock(${advisoryKey(s, 'migrate')})`);
  await client.query(`SET lock_timeout = ${LOCK_MS}`);
}

/** The steps that the schema has taken; 0 if it is not there. */
async function version(client: pg.Client, s: string): Promise<{ step: number; reader: number }> {
  try {
    const { rows } = await client.query(
      `SELECT coalesce(max(step), 0) AS step, coalesce(max(oldest_reader), 0) AS reader
        FROM ${s}.migrations`,
    );
    return rows[0];
  } catch (error) {
    if (/^(42P01|3F000)$/.test(sqlState(error) ?? '')) return { step: 0, reader: 0 };
    throw error;
  }
}

interface Missing {
  readonly step: Step;
  readonly number: number;
}

async function take(
  client: pg.Client,
  s: string,
  missing: readonly Missing[],
  dryRun: boolean,
): Promise<void> {
  if (dryRun) await client.query('BEGIN');
  await makeRoom(client, s);
  for (const { step, number } of missing) {
    if (!dryRun) await client.query('BEGIN');
    for (const statement of step.statements(s)) await client.query(statement);
    await client.query(`INSERT INTO ${s}.migrations (step, oldest_reader) VALUES ($1, $2)`, [
      number,
      step.oldestReader,
    ]);
    if (!dryRun) await client.query('COMMIT');
  }
  if (dryRun) await client.query('ROLLBACK');
}

/** The schema, and the list of its steps. */
async function makeRoom(client: pg.Client, s: string): Promise<void> {
  // A role that may not create schemas can still be given one.
  const { rows } = await client.query('SELECT to_regnamespace($1) IS NOT NULL AS there', [s]);
  if (!rows[0].there) await client.query(`CREATE SCHEMA ${s}`);
  await client.query(`CREATE TABLE IF NOT EXISTS ${s}.migrations (
    step          integer     PRIMARY KEY,
    oldest_reader integer     NOT NULL,
    at            timestamptz NOT NULL DEFAULT now()
  )`);
}
