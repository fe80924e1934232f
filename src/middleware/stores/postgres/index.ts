/**
 * `falconry/postgres`: tasks, queue and API keys in PostgreSQL 15 or newer, for a service on any
 * number of hosts. Needs the package `pg`, which only this entry loads.
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
 * @returns a store in the database, which connects at `open`. Only {@link migrate} changes the
 *   schema
 * @throws TypeError, RangeError for wrong options
 */
export function postgresStore(options: PostgresOptions): CompleteStore {
  return createStore(options);
}
