/**
 * The suites that every store of the service passes, for hosts that write their own: run them with
 * any test runner, over the host's own store. They need Node (or `node:assert` of another runtime),
 * and no package. There is one for each port; `storeContract` is all but that of files.
 *
 * @example
 * ```ts
 * import { describe, it } from 'node:test'; // or vitest
 * import { taskStoreContract } from 'falconry/testing';
 *
 * taskStoreContract({ describe, it }, 'my store', async (nowMs) => {
 *   const store = { tasks: await openMyStore({ nowMs }) };
 *   return { store, other: store, close: () => store.tasks.close() };
 * });
 * ```
 */
export { blobContract, type OpenBlobs, type OpenedBlobs } from './blobContract.ts';
export {
  apiKeyStoreContract,
  operatorStoreContract,
  partStoreContract,
  quotaStoreContract,
  storeContract,
  taskStoreContract,
} from './storeContract.ts';
export type { OpenedStore, OpenStore, TestRunner } from './storeWorld.ts';
