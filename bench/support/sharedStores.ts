/** PostgreSQL and a bucket for the servers that are measured, started here. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeAll, startServers } from '../../scripts/servers.ts';
import { bucketEnv } from '../../test/support/rgw.ts';

/**
 * Runs `measure` while `falconry serve` finds both in its environment, which it has from this
 * process.
 *
 * @throws Error that says what to install if one of them is missing
 */
export async function withSharedStores(measure: () => Promise<void>): Promise<void> {
  const open: (() => unknown)[] = [];
  try {
    const { database, rgw } = await startServers(open);
    Object.assign(process.env, { FALCONRY_DATABASE: database.url }, bucketEnv(rgw, 'bench/'));
    const script = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    await promisify(execFile)(process.execPath, [script, 'migrate']);
    const [about] = await database.query<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    console.log(`PostgreSQL ${about!.version}, files in Ceph RGW\n`);
    await measure();
  } finally {
    await closeAll(open);
  }
}
