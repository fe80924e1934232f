import { createStore, type PostgresInternals } from '../../src/middleware/stores/postgres/store.ts';
import type { PostgresServer } from '../support/postgres.ts';
import type { OpenedStore } from './fullStore.ts';

/**
 * A new schema opened by two stores, at this address of the server. Every claim looks for ended
 * leases, so that the clock of the test decides alone.
 */
export async function openPostgres(
  server: PostgresServer,
  internals: PostgresInternals,
  url = server.url,
): Promise<OpenedStore> {
  const schema = await server.newSchema();
  const open = () => createStore({ url, schema, connections: 3 }, { lookEveryMs: 0, ...internals });
  const [store, other] = [open(), open()];
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await server.query(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}
