/** What every store must do that keeps quotas of single clients. See `storeContract.ts`. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { QuotaStore } from '../stores/port/operatorStore.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import type { DeclareTest } from './storeWorld.ts';

/** Declares the tests. */
export function quotaContract(test: DeclareTest<TaskStore & QuotaStore>): void {
  test('keeps quotas of clients, each limit by itself', async (w) => {
    strictEqual(await w.store.quota(3), null);
    const first = { openTasks: 0, storedBytes: 2 ** 40 };
    deepStrictEqual(await w.store.setQuota(3, first), first);
    const both = { openTasks: 5, storedBytes: 2 ** 40, requestsPerSecond: 9 };
    deepStrictEqual(await w.other.setQuota(3, { openTasks: 5, requestsPerSecond: 9 }), both);
    deepStrictEqual(await w.store.quota(3), both);
    await w.store.setQuota(1, { requestsPerSecond: 1 });
    deepStrictEqual(await w.other.quotas(), [
      { clientId: 1, requestsPerSecond: 1 },
      { clientId: 3, ...both },
    ]);
  });

  test('removes a quota, any number of times', async (w) => {
    await w.store.setQuota(1, { openTasks: 1 });
    await w.store.setQuota(3, { openTasks: 3 });
    strictEqual(await w.store.setQuota(3, null), null);
    strictEqual(await w.store.setQuota(3, null), null);
    strictEqual(await w.other.quota(3), null);
    deepStrictEqual(await w.store.quotas(), [{ clientId: 1, openTasks: 1 }]);
  });
}
