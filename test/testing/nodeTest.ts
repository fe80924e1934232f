/** A host's tests of its own store, as `node --test` runs them; with a fault if one is named. */
import { describe, it } from 'node:test';
import { blobContract, taskStoreContract } from '../../src/testing/index.ts';
import { type Files, mapBlobs } from './mapBlobs.ts';
import { mapStore, type StoreFault } from './mapStore.ts';

const fault = process.env.STORE_FAULT as StoreFault | undefined;

taskStoreContract({ describe, it }, 'own store', async (nowMs) => {
  const store = mapStore(nowMs, fault);
  return { store, other: store, close: () => store.close() };
});

blobContract({ describe, it }, 'own files', async (nowMs) => {
  const files: Files = new Map();
  const [blobs, again] = [mapBlobs(files, nowMs), mapBlobs(files, nowMs)];
  return { blobs, again, close: async () => {} };
});
