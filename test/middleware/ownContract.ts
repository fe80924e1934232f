/**
 * Everything that the service's own stores do: the public suites, and what only the service and its
 * commands ask.
 */
import { afterEach, beforeEach, describe, it } from 'vitest';
import { type OpenStore, storeContract } from '../../src/testing/index.ts';
import { StoreWorld } from '../../src/testing/storeWorld.ts';
import { careContract } from './careContract.ts';
import type { FullStore } from './fullStore.ts';
import { keyContract } from './keyContract.ts';
import { webhookContract } from './webhookContract.ts';

export type FullWorld = StoreWorld<FullStore>;

export function ownContract(name: string, open: OpenStore<FullStore>): void {
  storeContract({ describe, it }, name, open);
  describe(`${name}: the contract of a store of the service`, () => {
    const world = worldOfEach(open);
    careContract(world);
    keyContract(world);
    webhookContract(world);
  });
}

/** The world of the test that runs: a new one for each. */
function worldOfEach(open: OpenStore<FullStore>): FullWorld {
  let world: FullWorld;
  beforeEach(async () => {
    world = await StoreWorld.open(open);
  });
  afterEach(() => world.close());
  return new Proxy({} as FullWorld, {
    get(_, name) {
      const value = Reflect.get(world, name, world);
      return typeof value === 'function' ? value.bind(world) : value;
    },
    set: (_, name, value) => Reflect.set(world, name, value, world),
  });
}
