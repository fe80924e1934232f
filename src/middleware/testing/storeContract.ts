/**
 * What every task store must do: one suite, run over each of them. A host's own store may do
 * without most ports; the part for each can run by itself.
 */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { isFinal, TASK_STATES } from '../../wire/taskStates.ts';
import type { CompleteStore, ServiceStore, UnfinishedQuery } from '../stores/port/serviceStore.ts';
import { clientContract } from './clientContract.ts';
import { keyContract } from './keyContract.ts';
import { partContract } from './partContract.ts';
import { queueContract } from './queueContract.ts';
import type { TestRunner } from './storeWorld.ts';
import {
  type DeclareTest,
  HOUR_MS,
  matches,
  type OpenStore,
  testsOn,
  type WithPort,
} from './storeWorld.ts';

function quotaContract(test: DeclareTest<WithPort<'quotas'>>): void {
  test('keeps quotas of clients, each limit by itself', async (w) => {
    const [{ quotas }, { quotas: other }] = [w.ports, w.otherPorts];
    strictEqual(await quotas.quota(3), null);
    const first = { openTasks: 0, storedBytes: 2 ** 40 };
    deepStrictEqual(await quotas.setQuota(3, first), first);
    const both = { openTasks: 5, storedBytes: 2 ** 40, requestsPerSecond: 9 };
    deepStrictEqual(await other.setQuota(3, { openTasks: 5, requestsPerSecond: 9 }), both);
    deepStrictEqual(await quotas.quota(3), both);
    await quotas.setQuota(1, { requestsPerSecond: 1 });
    deepStrictEqual(await other.quotas(), [
      { clientId: 1, requestsPerSecond: 1 },
      { clientId: 3, ...both },
    ]);
  });

  test('removes a quota, any number of times', async (w) => {
    const [{ quotas }, { quotas: other }] = [w.ports, w.otherPorts];
    await quotas.setQuota(1, { openTasks: 1 });
    await quotas.setQuota(3, { openTasks: 3 });
    strictEqual(await quotas.setQuota(3, null), null);
    strictEqual(await quotas.setQuota(3, null), null);
    strictEqual(await other.quota(3), null);
    deepStrictEqual(await quotas.quotas(), [{ clientId: 1, openTasks: 1 }]);
  });
}

function operatorContract(test: DeclareTest<Pick<CompleteStore, 'tasks'>>): void {
  test('lists the unfinished tasks of all clients in pages, and those set aside', async (w) => {
    deepStrictEqual(await w.store.unfinished({ limit: 10 }), []);
    const error = { code: 'THREAD_LOST', message: 'm' } as const;
    const aside: number[] = [];
    for (const clientId of [2, 3]) {
      const { id } = await w.addClaimed({ clientId });
      await w.store.setAside(id, 1, error);
      aside.push(id);
    }
    const retried = await w.addClaimed({ clientId: 4 });
    await w.store.fail(retried.id, 1, error, { delayMs: 12 * HOUR_MS });
    const open = [retried.id];
    // What expires takes others along, and what waits would be claimed: first and last.
    const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
    for (const state of ['expired', ...order, 'waiting'] as const) {
      const { id } = await w.addIn(state);
      if (!isFinal(state)) open.push(id);
    }
    const all = [...aside, ...open];
    const ids = async (query: Partial<UnfinishedQuery>, limit = 99) =>
      (await w.other.unfinished({ limit, ...query })).map(({ id }) => id);
    strictEqual(open.length, 6);
    deepStrictEqual(await ids({}), all);
    deepStrictEqual(await ids({ quarantined: true }), aside);
    deepStrictEqual(await ids({ quarantined: false }), all.slice(2));
    deepStrictEqual(await ids({}, 3), all.slice(0, 3));
    deepStrictEqual(await ids({ after: all[2]! }, 3), all.slice(3, 6));
    deepStrictEqual(await ids({ after: aside[0]!, quarantined: true }), [aside[1]]);
    const [first] = await w.other.unfinished({ limit: 1 });
    deepStrictEqual(first, await w.known(aside[0]!));
    matches(first, { quarantined: true, error, clientId: 2 });
    await w.store.putBack(aside[0]!);
    deepStrictEqual(await ids({ quarantined: true }), [aside[1]]);
    deepStrictEqual(await ids({}), all);
  });
}

/**
 * The whole suite, for a store that does what the service's own stores do.
 *
 * @param name of the store, for the titles
 * @param open gives each test a store of its own
 */
export function storeContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<CompleteStore>,
): void {
  taskStoreContract(runner, name, open);
  partStoreContract(runner, name, open);
  apiKeyStoreContract(runner, name, open);
  quotaStoreContract(runner, name, open);
  operatorStoreContract(runner, name, open);
}

/** Declares tests under a title, over stores of their own. */
function suite<Store extends Pick<ServiceStore, 'tasks'>>(
  runner: TestRunner,
  title: string,
  open: OpenStore<Store>,
  ...contracts: readonly ((test: DeclareTest<Store>) => void)[]
): void {
  runner.describe(title, () => {
    const test = testsOn(runner, open);
    for (const contract of contracts) contract(test);
  });
}

/** The port `TaskStore`: what clients do, and the queue for workers. */
export function taskStoreContract(runner: TestRunner, name: string, open: OpenStore): void {
  suite(runner, `${name}: the contract of a task store`, open, clientContract, queueContract);
}

/** The port `PartStore`, and what that for tasks does with parts. */
export function partStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<WithPort<'parts'>>,
): void {
  suite(runner, `${name}: the contract of a store of parts`, open, partContract);
}

/** The port `ApiKeyStore`, beside that for tasks. */
export function apiKeyStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<WithPort<'apiKeys'>>,
): void {
  suite(runner, `${name}: the contract of a store of API keys`, open, keyContract);
}

/** The port `QuotaStore`, beside that for tasks. */
export function quotaStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<WithPort<'quotas'>>,
): void {
  suite(runner, `${name}: the contract of a store of quotas`, open, quotaContract);
}

/** Of the port `OperatorStore`, on a store of tasks: what `falconry queue` and `retry` ask. */
export function operatorStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<Pick<CompleteStore, 'tasks'>>,
): void {
  suite(runner, `${name}: the contract of a store for its operator`, open, operatorContract);
}
