/** The suites of falconry/testing for the store, with two connections to one file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { quotaStoreContract, taskStoreContract } from 'falconry/testing';
import { SqlStore } from './store.ts';

async function open(nowMs: () => number) {
  const folder = await mkdtemp(join(tmpdir(), 'sql-store-'));
  const path = join(folder, 'tasks.sqlite');
  const [store, other] = [new SqlStore({ path, nowMs }), new SqlStore({ path, nowMs })];
  for (const each of [store, other]) await each.open();
  return {
    store: { tasks: store, quotas: store },
    other: { tasks: other, quotas: other },
    async close() {
      for (const each of [store, other]) await each.close();
      await rm(folder, { recursive: true });
    },
  };
}

taskStoreContract({ describe, it }, 'SQL', open);
quotaStoreContract({ describe, it }, 'SQL', open);
