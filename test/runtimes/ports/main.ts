/**
 * The contract suites of the embedded ports, SQLite and the directory; the outcome as one line of
 * JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryBlobs } from '../../../src/middleware/blobs/directory.ts';
import { sqliteStore } from '../../../src/middleware/stores/sqlite.ts';
import { blobContract } from '../../middleware/blobContract.ts';
import { storeContract } from '../../middleware/storeContract.ts';
import { runAll } from './plainRunner.ts';

storeContract('SQLite', async (nowMs) => {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-sqlite-'));
  const path = join(folder, 'tasks.sqlite');
  const [store, other] = [sqliteStore({ path, nowMs }), sqliteStore({ path, nowMs })];
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await rm(folder, { recursive: true });
    },
  };
});

blobContract('directory', async (nowMs) => {
  const path = await mkdtemp(join(tmpdir(), 'falconry-blobs-'));
  const options = { path: join(path, 'files'), secret: async () => new Uint8Array(32), nowMs };
  return {
    blobs: directoryBlobs(options),
    again: directoryBlobs(options),
    close: () => rm(path, { recursive: true }),
  };
});

console.log(JSON.stringify(await runAll()));
