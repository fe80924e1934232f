/** The service's own stores: each does what tasks, API keys, operators and webhooks need. */
import type { OperatorStore } from '../../src/middleware/stores/port/operatorStore.ts';
import type { ApiKeyStore, TaskStore } from '../../src/middleware/stores/port/taskStore.ts';
import type { WebhookStore } from '../../src/middleware/stores/port/webhookStore.ts';
import type { OpenedStore as Opened } from '../../src/middleware/testing/index.ts';

export type FullStore = TaskStore & ApiKeyStore & OperatorStore & WebhookStore;
export type OpenedStore = Opened<FullStore>;
