/**
 * Everything that the service's own stores do: the public suites, and in how large parts they do
 * it.
 */
import { describe, expect, it } from 'vitest';
import { ERASE_ROWS } from '../../src/middleware/stores/port/operatorStore.ts';
import { type OpenStore, storeContract } from '../../src/middleware/testing/index.ts';
import { testsOn } from '../../src/middleware/testing/storeWorld.ts';
import type { FullStore } from './fullStore.ts';

export function ownContract(name: string, open: OpenStore<FullStore>): void {
  const runner = { describe, it };
  storeContract(runner, name, open);
  describe(`${name}: the contract of a store of the service`, () => {
    testsOn(runner, open)('disowns and removes a part at a time', async (w) => {
      for (let i = 0; i < ERASE_ROWS + 3; i++) await w.add();
      expect(await w.store.disown(1)).toEqual({ apiKeys: 0, cancelled: ERASE_ROWS, more: true });
      expect(await w.store.forget(1)).toBe(false);
      expect(await w.store.disown(1)).toEqual({ apiKeys: 0, cancelled: 3, more: false });
      const first = await w.store.ended(1, ERASE_ROWS);
      expect(first.length).toBe(ERASE_ROWS);
      const removed = first.map(({ id }) => id);
      expect(await w.store.removeEnded(1, removed)).toBe(ERASE_ROWS);
      expect((await w.store.ended(1, ERASE_ROWS)).length).toBe(3);
    });
  });
}
