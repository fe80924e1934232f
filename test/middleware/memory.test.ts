import { memoryStore } from '../../src/middleware/stores/memory.ts';
import { storeContract } from './storeContract.ts';

storeContract('memory', async (nowMs) => {
  const store = memoryStore({ nowMs });
  return { store, other: store, close: () => store.close() };
});
