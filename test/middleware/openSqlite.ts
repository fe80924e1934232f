import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../src/middleware/stores/sqlite.ts';
import type { OpenedStore } from './storeWorld.ts';

/** A file of SQLite opened twice, in a folder that does not exist before and is removed after. */
export async function openSqlite(nowMs: () => number): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-sqlite-'));
  const path = join(folder, 'deep', 'tasks.sqlite');
  const store = sqliteStore({ path, nowMs });
  const other = sqliteStore({ path, nowMs });
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await rm(folder, { recursive: true });
    },
  };
}
