/** PostgreSQL and a bucket for the servers that are measured, started here. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeAll, startServers } from '../../scripts/servers.ts';
import { bucketEnv } from '../../test/support/rgw.ts';

/**
 * Runs `measure` while `falconry serve` finds both in its environment, which it has from this
 * process. Files go through the service, so that the same requests are measured as with the
 * embedded store.
 *
 * @throws Error that says what to install if one of them is missing
 */
export async function withSharedStores(measure: () => Promise<void>): Promise<void> {
  const open: (() => unknown)[] = [];
  try {
    const { database, rgw } = await startServers(open);
    const keys = await mkdtemp(join(tmpdir(), 'falconry-bench-keys-'));
    open.push(() => rm(keys, { recursive: true }));
    const keyFile = join(keys, 'key.json');
    Object.assign(process.env, bucketEnv(rgw, 'bench/'), {
      FALCONRY_DATABASE: database.url,
      FALCONRY_SIGNING_KEY_FILE: keyFile,
      FALCONRY_UPLOADS: 'through',
      FALCONRY_RESULTS: 'through',
    });
    const script = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const run = promisify(execFile);
    await run(process.execPath, [script, 'keygen', '-o', keyFile]);
    await run(process.execPath, [script, 'migrate']);
    const [about] = await database.query<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    console.log(`PostgreSQL ${about!.version}, files in Ceph RGW\n`);
    await measure();
  } finally {
    await closeAll(open);
  }
}
