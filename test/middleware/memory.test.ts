import { describe, it } from 'vitest';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { storeContract } from '../../src/middleware/testing/index.ts';

storeContract({ describe, it }, 'memory', async (nowMs) => {
  const store = memoryStore({ nowMs });
  return { store, other: store, close: () => store.close() };
});
