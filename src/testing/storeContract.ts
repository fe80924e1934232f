/**
 * What every task store must do: one suite, run over each of them. A host's own store may keep
 * neither API keys nor answer the operator's commands; each part can run by itself.
 */
import type { OperatorStore } from '../middleware/stores/operatorStore.ts';
import type { ApiKeyStore, TaskStore } from '../middleware/stores/taskStore.ts';
import { clientContract } from './clientContract.ts';
import { keyContract } from './keyContract.ts';
import { operatorContract } from './operatorContract.ts';
import { queueContract } from './queueContract.ts';
import type { TestRunner } from './runner.ts';
import { type OpenStore, testsOn } from './storeWorld.ts';

/**
 * The whole suite, for a store that does what the service's own stores do.
 *
 * @param name of the store, for the titles
 * @param open gives each test a store of its own
 */
export function storeContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<TaskStore & ApiKeyStore & Pick<OperatorStore, 'unfinished'>>,
): void {
  taskStoreContract(runner, name, open);
  apiKeyStoreContract(runner, name, open);
  operatorStoreContract(runner, name, open);
}

/** The port `TaskStore`: what clients do, and the queue for workers. */
export function taskStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<TaskStore>,
): void {
  runner.describe(`${name}: the contract of a task store`, () => {
    const test = testsOn(runner, open);
    clientContract(test);
    queueContract(test);
  });
}

/** The port `ApiKeyStore`, on a store of tasks. */
export function apiKeyStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<TaskStore & ApiKeyStore>,
): void {
  runner.describe(`${name}: the contract of a store of API keys`, () => {
    keyContract(testsOn(runner, open));
  });
}

/** Of the port `OperatorStore`, on a store of tasks: what `falconry queue` and `retry` ask. */
export function operatorStoreContract(
  runner: TestRunner,
  name: string,
  open: OpenStore<TaskStore & Pick<OperatorStore, 'unfinished'>>,
): void {
  runner.describe(`${name}: the contract of a store for its operator`, () => {
    operatorContract(testsOn(runner, open));
  });
}
