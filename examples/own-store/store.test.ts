/** The suites of falconry/testing for both stores. */
import { describe, it } from 'node:test';
import { blobContract, taskStoreContract } from 'falconry/testing';
import { type Files, mapBlobs } from './files.ts';
import { mapStore } from './store.ts';

taskStoreContract({ describe, it }, 'own store', async (nowMs) => {
  const store = { tasks: mapStore(nowMs) };
  // `other` is a second connection to the same rows, if the store has connections.
  return { store, other: store, close: () => store.tasks.close() };
});

blobContract({ describe, it }, 'own files', async (nowMs) => {
  const files: Files = new Map();
  const [blobs, again] = [mapBlobs(files, nowMs), mapBlobs(files, nowMs)];
  return { blobs, again, close: async () => {} };
});
