/**
 * What every task store must do: one suite, run over each of them. A host's own store may do
 * without most ports; the part for each can run by itself.
 */
import type { CompleteStore, ServiceStore } from '../stores/port/serviceStore.ts';
import { clientContract } from './clientContract.ts';
import { keyContract } from './keyContract.ts';
import { operatorContract } from './operatorContract.ts';
import { queueContract } from './queueContract.ts';
import { quotaContract } from './quotaContract.ts';
import type { TestRunner } from './runner.ts';
import { secretContract } from './secretContract.ts';
import { type DeclareTest, type OpenStore, testsOn } from './storeWorld.ts';

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
  apiKeyStoreContract(runner, name, open);
  quotaStoreContract(runner, name, open);
  secretStoreContract(runner, name, open);
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

/** The port `ApiKeyStore`, beside that for tasks. */
export function apiKeyStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<Pick<CompleteStore, 'tasks' | 'apiKeys'>>,
): void {
  suite(runner, `${name}: the contract of a store of API keys`, open, keyContract);
}

/** The port `QuotaStore`, beside that for tasks. */
export function quotaStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<Pick<CompleteStore, 'tasks' | 'quotas'>>,
): void {
  suite(runner, `${name}: the contract of a store of quotas`, open, quotaContract);
}

/** The port `SecretStore`, beside that for tasks. */
export function secretStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<Pick<CompleteStore, 'tasks' | 'secrets'>>,
): void {
  suite(runner, `${name}: the contract of a store of secrets`, open, secretContract);
}

/** Of the port `OperatorStore`, on a store of tasks: what `falconry queue` and `retry` ask. */
export function operatorStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<Pick<CompleteStore, 'tasks'>>,
): void {
  suite(runner, `${name}: the contract of a store for its operator`, open, operatorContract);
}
