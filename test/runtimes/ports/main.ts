/**
 * The contract suites of the embedded ports, SQLite and the directory; the outcome as one line of
 * JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryBlobs } from '../../../src/middleware/blobs/directory/directory.ts';
import { blobContract, storeContract } from '../../../src/middleware/testing/index.ts';
import { openSqlite } from '../../middleware/openSqlite.ts';
import { plainRunner } from './plainRunner.ts';

const runner = plainRunner();

storeContract(runner, 'SQLite', openSqlite);

blobContract(runner, 'directory', async (nowMs) => {
  const path = await mkdtemp(join(tmpdir(), 'falconry-blobs-'));
  const options = { path: join(path, 'files'), secret: async () => new Uint8Array(32), nowMs };
  return {
    blobs: directoryBlobs(options),
    again: directoryBlobs(options),
    close: () => rm(path, { recursive: true }),
  };
});

console.log(JSON.stringify(await runner.runAll()));
