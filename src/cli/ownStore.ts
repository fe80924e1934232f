/** The store of a service, for commands of its operator; the service may be running. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_FILE } from '../middleware/options.ts';
import type { OperatorStore } from '../middleware/stores/operatorStore.ts';
import { sqliteStore } from '../middleware/stores/sqlite.ts';
import type { ApiKeyStore, TaskStore } from '../middleware/stores/taskStore.ts';
import { IoFailure } from './command.ts';
import type { Invocation } from './define.ts';

export type OwnStore = TaskStore & ApiKeyStore & OperatorStore;

/**
 * Opens the store in the data directory, and closes it afterwards.
 *
 * @param mayBeNew whether to create it if there is none
 * @throws IoFailure if there is none
 */
export async function withStore<T>(
  { config }: Pick<Invocation<'data'>, 'config'>,
  { mayBeNew }: { readonly mayBeNew: boolean },
  use: (store: OwnStore) => Promise<T>,
): Promise<T> {
  const { values } = await config();
  const path = join(values.data, STORE_FILE);
  if (!mayBeNew && !existsSync(path)) throw new IoFailure(`there is no store at ${path}`);
  const store = sqliteStore({ path });
  try {
    await store.open();
    return await use(store);
  } finally {
    await store.close();
  }
}
