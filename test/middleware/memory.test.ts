import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { ownContract } from './ownContract.ts';

ownContract('memory', async (nowMs) => {
  const store = memoryStore({ nowMs });
  return { store, other: store, close: () => store.close() };
});
