/** Instances that stand ready: small ones always, large ones until the garbage collector runs. */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAggregatePool } from '../../../src/aggregate/index.ts';
import {
  holdInstances,
  keepInstance,
  takeInstance,
} from '../../../src/aggregate/proof/instances.ts';
import { bestModule, type Labrador } from '../../../src/aggregate/wasm.ts';
import { signedItems } from '../../reference/items.ts';
import { everyThread } from '../everyThread.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const MODULE = bestModule();
const LARGE_BYTES = 65 * 1024 * 1024;

/**
 * Lets one of at least so many bytes stand ready.
 *
 * @returns what does not keep it from the garbage collector
 */
function standing(bytes: number): WeakRef<Labrador> {
  const lab = takeInstance(MODULE, 'columns');
  lab.reserve(bytes);
  keepInstance(MODULE, 'columns', lab);
  return new WeakRef(lab);
}

/**
 * Whether it is still there after rounds of the garbage collector, between which nothing else
 * refers to it.
 */
async function survives(lab: WeakRef<Labrador>): Promise<boolean> {
  for (let round = 0; round < 5; round++) {
    await wait(5);
    gc();
  }
  return lab.deref() !== undefined;
}

/** Leaves no instance of one test to the next. */
afterEach(() => {
  takeInstance(MODULE, 'columns');
  takeInstance(MODULE, 'rest');
});

describe('one that stands ready', () => {
  test('small: stays, and is taken by one user', async () => {
    const lab = standing(0);
    expect(await survives(lab)).toBe(true);
    const taken = takeInstance(MODULE, 'columns');
    expect(taken).toBe(lab.deref());
    expect(takeInstance(MODULE, 'columns')).not.toBe(taken);
  });

  test('the parts do not take from each other', () => {
    const share = takeInstance(MODULE, 'columns');
    const rest = takeInstance(MODULE, 'rest');
    keepInstance(MODULE, 'rest', rest);
    keepInstance(MODULE, 'columns', share);
    expect(takeInstance(MODULE, 'rest')).toBe(rest);
    expect(takeInstance(MODULE, 'columns')).toBe(share);
  });

  test('large: goes with the garbage', async () => {
    expect(await survives(standing(LARGE_BYTES))).toBe(false);
  });

  test('large and held: stays until the last holder releases it, once each', async () => {
    const releases = [holdInstances(), holdInstances()] as const;
    const lab = standing(LARGE_BYTES);
    expect(await survives(lab)).toBe(true);
    releases[0]();
    releases[0]();
    expect(await survives(lab)).toBe(true);
    releases[1]();
    expect(await survives(lab)).toBe(false);
  });

  test('large and held later: stays from then on', async () => {
    const lab = standing(LARGE_BYTES);
    const release = holdInstances();
    expect(await survives(lab)).toBe(true);
    release();
    expect(await survives(lab)).toBe(false);
  });
});

describe('a pool', () => {
  const proof = { format: 'proof' } as const;

  test('makes its second proof in the memory of the first, and lets go of it when closed', async () => {
    const items = signedItems('falcon512', 16);
    const pool = createAggregatePool({ threads: 1 });
    const first = await pool.aggregate(items, proof);
    const lab = standing(LARGE_BYTES);
    const made = vi.spyOn(WebAssembly, 'Instance');
    expect(await survives(lab)).toBe(true);
    expect(await pool.aggregate(items, proof)).toEqual(first);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
    expect(await survives(lab)).toBe(true);
    await pool.close();
    expect(await survives(lab)).toBe(false);
  });

  test('the same in its other threads', async () => {
    const name = 'instances made in a thread';
    const worker = new URL('../../../src/aggregate/aggregateWorker.ts', import.meta.url).href;
    // Instances are large from the start, and told; after every message the garbage goes.
    const source = `
      import { parentPort } from 'node:worker_threads';
      import { runInNewContext } from 'node:vm';
      await import('${worker}');
      const gc = runInNewContext('gc');
      const channel = new BroadcastChannel('${name}');
      const { Instance } = WebAssembly;
      WebAssembly.Instance = function (module) {
        const instance = new Instance(module);
        if (!instance.exports.xofStart) return instance; // Falcon's
        instance.exports.memory.grow(${LARGE_BYTES / 65_536});
        channel.postMessage('made');
        return instance;
      };
      parentPort.on('message', () => gc());`;
    const workerUrl = `data:text/javascript,${encodeURIComponent(source)}`;
    let made = 0;
    const channel = new BroadcastChannel(name);
    channel.onmessage = () => {
      made++;
    };
    const items = signedItems('falcon512', 110);
    await using pool = everyThread({ threads: 2, workerUrl });
    const first = await pool.aggregate(items, proof);
    await vi.waitUntil(() => made > 0, { timeout: 100_000 });
    const before = made;
    for (let again = 0; again < 2; again++) {
      await wait(50);
      expect(await pool.aggregate(items, proof)).toEqual(first);
    }
    await wait(50);
    expect(made).toBe(before);
    channel.close();
  });

  test('that is never used, or closed twice, holds nothing', async () => {
    const unused = createAggregatePool({ threads: 1 });
    expect(await survives(standing(LARGE_BYTES))).toBe(false);
    await unused.close();
    await expect(unused.findInvalid([])).rejects.toMatchObject({ code: 'ABORTED' });
    const [one, other] = [createAggregatePool({ threads: 1 }), createAggregatePool({ threads: 1 })];
    await one.findInvalid([]);
    await other.findInvalid([]);
    await one.close();
    await one.close();
    const lab = standing(LARGE_BYTES);
    expect(await survives(lab)).toBe(true);
    await other.close();
    expect(await survives(lab)).toBe(false);
  });
});
