import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TableStoreOptions } from '../../src/middleware/stores/rules/tableStore.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import type { OpenedStore } from './fullStore.ts';

type Store = OpenedStore['store'];
type Clocks = Required<TableStoreOptions>;

/** A file of SQLite opened twice, in a folder that does not exist before and is removed after. */
async function openTwice(open: (path: string) => Store): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-sqlite-'));
  const path = join(folder, 'deep', 'tasks.sqlite');
  const store = open(path);
  const other = open(path);
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

/** On this thread. */
export function openSqlite(nowMs: () => number, wallMs = nowMs): Promise<OpenedStore> {
  return openTwice((path) => sqliteTableStore({ path, nowMs, wallMs }));
}

/** Each on a thread of its own. */
export function openThreads(nowMs: () => number, wallMs = nowMs): Promise<OpenedStore> {
  return openTwice((path) => threadedStore(path, { nowMs, wallMs }));
}

/** A store on a thread of its own that follows clocks of this thread. */
export function threadedStore(path: string, { nowMs, wallMs }: Clocks): Store {
  const clocks = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT);
  const times = new Float64Array(clocks);
  const set = () => times.set([nowMs(), wallMs()]);
  set();
  const store = sqliteStore({ path, clocks });
  // The clocks are read before each verb: no test changes them while one runs.
  const timed = <Port extends object>(port: Port): Port => {
    const verbs = Object.entries(port).map(([name, verb]) => [
      name,
      (...args: unknown[]) => {
        set();
        return (verb as (...args: unknown[]) => unknown)(...args);
      },
    ]);
    return Object.fromEntries(verbs) as Port;
  };
  const { apiKeys, quotas, parts, ...whole } = store;
  return {
    ...whole,
    tasks: timed(store.tasks),
    apiKeys: timed(apiKeys),
    quotas: timed(quotas),
    parts: timed(parts),
  };
}
