/**
 * Applies the steps of schema.ts to a database. One process at a time does it; others wait. A lock
 * on a table is awaited for at most five seconds, since all statements of the service would queue
 * behind it.
 */
import type pg from 'pg';
import { CodedError } from '../../../shared/errors.ts';
import { readAddress, readSchema } from './address.ts';
import { checkServer, sqlState, withLine } from './database.ts';
import { advisoryKey, LAST_OLD_STEP, STEPS, type Step } from './schema.ts';

export interface MigrateOptions {
  /** Where the tables are; default `falconry`. */
  readonly schema?: string;
  /** Changes nothing. */
  readonly check?: boolean;
  /** Takes the steps, and rolls them back. */
  readonly dryRun?: boolean;
}

export interface Migration {
  /** Last step that the database had taken; 0 if none. */
  readonly from: number;
  /** Last step of this release. */
  readonly to: number;
  /** Steps that were taken, or would be with `check` and `dryRun`. */
  readonly steps: readonly { readonly step: number; readonly about: string }[];
}

const OTHERS_MS = 120_000;
const LOCK_MS = 5000;
/** Creating an index on a large table is slow. */
const STEP_MS = 3_600_000;

/**
 * Takes the missing steps. The address must be that of the server itself, not of a pooler.
 *
 * @throws TypeError for a malformed address
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
  const address = readAddress('url', url);
  if (address.pooled)
    throw new TypeError('"url" must be that of the server itself, not of a pooler');
  const s = readSchema(schema);
  const config = { ...address.config, query_timeout: STEP_MS };
  return withLine(config, 'give that of the server itself', async (client) => {
    await checkServer(client, address);
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
  });
}

/** Waits for other migrations. The lock ends with the connection. */
async function takeTurn(client: pg.Client, s: string): Promise<void> {
  await client.query(`SET lock_timeout = ${OTHERS_MS}`);
  await client.query(`SELECT pg_advisory_lock(${advisoryKey(s, 'migrate')})`);
  await client.query(`SET lock_timeout = ${LOCK_MS}`);
}

/** Returns the last step of the schema; 0 if there is none. */
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

/** Creates the schema, and the list of its steps. */
async function makeRoom(client: pg.Client, s: string): Promise<void> {
  // A role without the right to create schemas may still own one.
  const { rows } = await client.query('SELECT to_regnamespace($1) IS NOT NULL AS there', [s]);
  if (!rows[0].there) await client.query(`CREATE SCHEMA ${s}`);
  await client.query(`CREATE TABLE IF NOT EXISTS ${s}.migrations (
    step          integer     PRIMARY KEY,
    oldest_reader integer     NOT NULL,
    at            timestamptz NOT NULL DEFAULT now()
  )`);
}
