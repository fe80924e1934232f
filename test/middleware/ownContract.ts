/**
 * Everything that the service's own stores do: the public suites, and what only the service and its
 * commands ask.
 */
import { describe, it } from 'vitest';
import { type OpenStore, storeContract } from '../../src/testing/index.ts';
import { testsOn } from '../../src/testing/storeWorld.ts';
import { careContract } from './careContract.ts';
import type { FullStore } from './fullStore.ts';
import { keyContract } from './keyContract.ts';
import { webhookContract } from './webhookContract.ts';

export function ownContract(name: string, open: OpenStore<FullStore>): void {
  const runner = { describe, it };
  storeContract(runner, name, open);
  describe(`${name}: the contract of a store of the service`, () => {
    const test = testsOn(runner, open);
    careContract(test);
    keyContract(test);
    webhookContract(test);
  });
}
