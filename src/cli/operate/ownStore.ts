/** The store of a service, for commands of its operator; the service may be running. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_FILE } from '../../middleware/options/options.ts';
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { sqliteTableStore } from '../../middleware/stores/sqlite/sqliteTable.ts';
import { integer } from '../../shared/optionRows.ts';
import { IoFailure } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { Invocation } from '../lib/define.ts';
import { explained, makeStore } from './sharedStores.ts';

/** The settings that say where the store is. */
export const STORE_SETTINGS = ['data', 'allowShared', 'database'] as const;
export type StoreSetting = (typeof STORE_SETTINGS)[number];

/** The number of a client. */
export const CLIENT = integer('client');

/**
 * Opens the database, or else the store in the data directory, and closes it afterwards.
 *
 * @param mayBeNew whether to create the one in the directory if there is none
 * @throws IoFailure if there is none, or if the database cannot be used
 */
export async function withStore<T>(
  { config }: Pick<Invocation<StoreSetting>, 'config'>,
  { mayBeNew }: { readonly mayBeNew: boolean },
  use: (store: CompleteStore) => Promise<T>,
): Promise<T> {
  const { values } = await config();
  const store =
    values.database === undefined ? ownStore(values, mayBeNew) : await makeStore(values);
  try {
    await store.open().catch((error) => {
      throw values.database === undefined ? error : explained(error);
    });
    return await use(store);
  } finally {
    await store.close();
  }
}

function ownStore(
  { data, allowShared }: Config<StoreSetting>['values'],
  mayBeNew: boolean,
): CompleteStore {
  const path = join(data, STORE_FILE);
  if (!mayBeNew && !existsSync(path)) throw new IoFailure(`there is no store at ${path}`);
  return sqliteTableStore({ path, allowShared });
}
