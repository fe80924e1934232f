import type { PostgresInternals, PostgresOptions } from '../../src/middleware/postgres/store.ts';
import type { ApiKeyStore, TaskStore } from '../../src/middleware/stores/taskStore.ts';

/** What the first version knew: no expiry, rotation or use of API keys, no blameless retries. */
export function createStore(
  options: PostgresOptions,
  internals?: PostgresInternals,
): TaskStore & Pick<ApiKeyStore, 'putApiKey' | 'findApiKey' | 'listApiKeys' | 'removeApiKey'>;
