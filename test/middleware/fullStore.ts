/** The service's own stores, which have all ports. */
import type { CompleteStore } from '../../src/middleware/stores/port/serviceStore.ts';
import type { OpenedStore as Opened } from '../../src/middleware/testing/index.ts';

export type OpenedStore = Opened<CompleteStore>;
