import type { PostgresInternals, PostgresOptions } from '../../src/middleware/stores/postgres/store.ts';
import type { ApiKeyStore, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';

/** What the first version knew: no expiry, rotation or use of API keys, no blameless retries. */
export function createStore(
  options: PostgresOptions,
  internals?: PostgresInternals,
): TaskStore & Pick<ApiKeyStore, 'putApiKey' | 'findApiKey' | 'listApiKeys' | 'removeApiKey'>;
