/**
 * `falconry/postgres`: tasks, queue and API keys in PostgreSQL 15 or newer, for a service on any
 * number of hosts. It needs the package `pg`, which nothing else of falconry loads.
 *
 * @example
 * ```ts
 * await migrate(url);
 * const service = falconService({ store: postgresStore({ url }), … });
 * ```
 */
import type { CompleteStore } from '../port/serviceStore.ts';
import { createStore, type PostgresOptions } from './store.ts';

export { type MigrateOptions, type Migration, migrate } from './migrate.ts';
export type { PostgresOptions };

/**
 * @returns a store in the database, which connects at `open`. It never changes the schema: that is
 *   for {@link migrate}
 * @throws TypeError, RangeError for wrong options
 */
export function postgresStore(options: PostgresOptions): CompleteStore {
  return createStore(options);
}
