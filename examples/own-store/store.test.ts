/** The suites of the library over both stores: write them first, and the stores until they pass. */
import { describe, it } from 'node:test';
import { blobContract, taskStoreContract } from 'falconry/testing';
import { type Files, mapBlobs } from './files.ts';
import { mapStore } from './store.ts';

taskStoreContract({ describe, it }, 'own store', async (nowMs) => {
  const store = mapStore(nowMs);
  // `other` is a second connection to the same rows, where a store has connections.
  return { store, other: store, close: () => store.close() };
});

blobContract({ describe, it }, 'own files', async (nowMs) => {
  const files: Files = new Map();
  const [blobs, again] = [mapBlobs(files, nowMs), mapBlobs(files, nowMs)];
  return { blobs, again, close: async () => {} };
});
