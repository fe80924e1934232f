/** The service's own stores: each does what tasks, API keys, and operators need. */
import type { OperatorStore } from '../../src/middleware/stores/port/operatorStore.ts';
import type { ApiKeyStore, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import type { OpenedStore as Opened } from '../../src/middleware/testing/index.ts';

export type FullStore = TaskStore & ApiKeyStore & OperatorStore;
export type OpenedStore = Opened<FullStore>;
