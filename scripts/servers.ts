/**
 * The servers that the hosts of a service share, for scripts that run several hosts on this
 * machine: PostgreSQL, and an S3 server that checks signatures.
 */
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startNewestPostgres } from '../test/support/postgres.ts';
import { missingRgw, type Rgw, startRgw } from '../test/support/rgw.ts';
import { endRgw, newRgwFolder } from '../test/support/rgwFolder.ts';
import { installPackages } from './installPackages.ts';

/** What is open, in the order in which it was opened. */
export type Closers = (() => unknown)[];

/** Closes what is open, the last first, also where something does not close. */
export async function closeAll(open: Closers): Promise<void> {
  for (let close = open.pop(); close; close = open.pop()) {
    try {
      await close();
    } catch {
      // The others are to be closed all the same.
    }
  }
}

/**
 * @param settings of PostgreSQL
 * @throws Error that says what to install if a server is missing, before either is started
 */
export async function startServers(
  open: Closers,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly database: PostgresServer; readonly rgw: Rgw }> {
  const missing = missingRgw();
  if (missing !== null) throw new Error(`an S3 server is needed: ${missing}`);
  await installPackages(fileURLToPath(new URL('../test', import.meta.url)));
  const database = await startNewestPostgres(settings);
  if (database === null) {
    throw new Error('PostgreSQL is needed, from the packages of test/package.json (Linux on x64)');
  }
  open.push(() => database.stop());
  const folder = newRgwFolder();
  open.push(() => endRgw(folder));
  return { database, rgw: await startRgw(folder) };
}
