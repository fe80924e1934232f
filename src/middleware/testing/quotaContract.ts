/** What every store must do that keeps quotas of single clients. See `storeContract.ts`. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { CompleteStore } from '../stores/port/serviceStore.ts';
import type { DeclareTest } from './storeWorld.ts';

/** Declares the tests. */
export function quotaContract(test: DeclareTest<Pick<CompleteStore, 'tasks' | 'quotas'>>): void {
  test('keeps quotas of clients, each limit by itself', async (w) => {
    strictEqual(await w.ports.quotas.quota(3), null);
    const first = { openTasks: 0, storedBytes: 2 ** 40 };
    deepStrictEqual(await w.ports.quotas.setQuota(3, first), first);
    const both = { openTasks: 5, storedBytes: 2 ** 40, requestsPerSecond: 9 };
    deepStrictEqual(
      await w.otherPorts.quotas.setQuota(3, { openTasks: 5, requestsPerSecond: 9 }),
      both,
    );
    deepStrictEqual(await w.ports.quotas.quota(3), both);
    await w.ports.quotas.setQuota(1, { requestsPerSecond: 1 });
    deepStrictEqual(await w.otherPorts.quotas.quotas(), [
      { clientId: 1, requestsPerSecond: 1 },
      { clientId: 3, ...both },
    ]);
  });

  test('removes a quota, any number of times', async (w) => {
    await w.ports.quotas.setQuota(1, { openTasks: 1 });
    await w.ports.quotas.setQuota(3, { openTasks: 3 });
    strictEqual(await w.ports.quotas.setQuota(3, null), null);
    strictEqual(await w.ports.quotas.setQuota(3, null), null);
    strictEqual(await w.otherPorts.quotas.quota(3), null);
    deepStrictEqual(await w.ports.quotas.quotas(), [{ clientId: 1, openTasks: 1 }]);
  });
}
