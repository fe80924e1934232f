/** Removes all that is kept of a client: rows go after their files, so a crash leaves the rows. */
import type { BlobStore } from './blobs/port/blobStore.ts';
import { type CareStore, ERASE_ROWS, type Holdings } from './stores/port/operatorStore.ts';

export type Erased = Pick<Holdings, 'tasks' | 'unfinished' | 'files' | 'apiKeys'>;

/**
 * Removes all of a client from store and files, its API keys first, so that nothing new comes.
 * Called again after a crash, it finds what is left.
 *
 * @returns what this call has removed; `unfinished`: tasks that it cancelled
 */
export async function eraseClient(
  store: CareStore,
  blobs: BlobStore,
  clientId: number,
): Promise<Erased> {
  const erased = { tasks: 0, unfinished: 0, files: 0, apiKeys: 0 };
  // A request that was let in before its key was gone may still add a task.
  do {
    for (let more = true; more; ) {
      const disowned = await store.disown(clientId);
      erased.apiKeys += disowned.apiKeys;
      erased.unfinished += disowned.cancelled;
      more = disowned.more;
    }
    const removed = await removeEnded(store, blobs, clientId);
    erased.tasks += removed.tasks;
    erased.files += removed.files;
  } while (!(await store.forget(clientId)));
  return erased;
}

/** Removes the final tasks of a client with their files. */
async function removeEnded(
  store: Pick<CareStore, 'ended' | 'removeEnded'>,
  blobs: BlobStore,
  clientId: number,
): Promise<Pick<Erased, 'tasks' | 'files'>> {
  const removed = { tasks: 0, files: 0 };
  for (;;) {
    const ended = await store.ended(clientId, ERASE_ROWS);
    if (ended.length === 0) return removed;
    for (const { id, blobs: keys } of ended) {
      for (const key of keys) await blobs.delete(key);
      await blobs.uploads?.discard(id);
      removed.files += keys.length;
    }
    const ids = ended.map(({ id }) => id);
    removed.tasks += await store.removeEnded(clientId, ids);
  }
}
