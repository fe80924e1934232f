/**
 * Visitors of a demonstration: each is a client of its own, with a key that ends after an hour and
 * narrow quotas. Once its key has ended, housekeeping erases all that is kept of it.
 *
 * What tells a visitor from other clients is the name of its keys, in the store: so visitors are
 * known after a restart, and to other hosts. No other key can be given that name.
 */
import { isFinal } from '../wire/taskStates.ts';
import type { BlobStore } from './blobs/port/blobStore.ts';
import { eraseClient, removeEnded } from './erasure.ts';
import { createDemonstrationKey, isDemonstration } from './identity/apiKeys.ts';
import { ProblemError } from './problems.ts';
import {
  type CareStore,
  type ClientQuota,
  ERASE_ROWS,
  type QuotaStore,
} from './stores/port/operatorStore.ts';
import type { ApiKeyRecord, ApiKeyStore, TaskStore } from './stores/port/taskStore.ts';

/** What a store must do for a demonstration. */
export type VisitedStore = TaskStore & ApiKeyStore & QuotaStore & CareStore;

/** Its methods beyond those of every store. */
export const VISITED_METHODS = [
  'putApiKey',
  'listApiKeys',
  'setQuota',
  'disown',
  'ended',
  'removeEnded',
  'forget',
] as const satisfies readonly (keyof VisitedStore)[];

/** The life of a visitor's key. */
export const VISIT_MS = 3_600_000;
/** Most visitors at once, with those that are yet to be erased. */
export const MAX_VISITORS = 100;
/** What a visitor may use. */
export const VISITOR_QUOTA = {
  openTasks: 4,
  storedBytes: 16 * 1024 * 1024,
  requestsPerSecond: 10,
} as const satisfies ClientQuota;

/** Housekeeping looks this often. */
const ERASED_WITHIN_MS = 30_000;
/** The longest time to wait that is told, since the store's clock may have been set. */
const MAX_WAIT_MS = VISIT_MS + ERASED_WITHIN_MS;

export interface Visit {
  readonly key: string;
  readonly clientId: number;
  readonly expiresAt: string;
}

/** Lets visitors in, one after the other, so that they are counted. */
export class Visitors {
  readonly #store: VisitedStore;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: VisitedStore) {
    this.#store = store;
  }

  /** @throws ProblemError `OVERLOADED` with the seconds to wait if there are too many */
  enter(): Promise<Visit> {
    const entered = this.#last.then(() => this.#enter());
    this.#last = entered.catch(() => {});
    return entered;
  }

  async #enter(): Promise<Visit> {
    const there = (await this.#store.listApiKeys()).filter(isDemonstration);
    if (there.length >= MAX_VISITORS) throw tooMany(there);
    const { key, record } = await createDemonstrationKey(this.#store, VISIT_MS);
    const { clientId, expiresAt } = record;
    // Before anybody knows the key.
    await this.#store.setQuota(clientId, VISITOR_QUOTA);
    return { key, clientId, expiresAt: expiresAt! };
  }
}

function tooMany(there: readonly ApiKeyRecord[]): ProblemError {
  const ends = there.flatMap(({ expiresAt }) => (expiresAt === null ? [] : Date.parse(expiresAt)));
  const waitMs = Math.max(0, Math.min(...ends) - Date.now()) + ERASED_WITHIN_MS;
  const seconds = Math.ceil(Math.min(waitMs, MAX_WAIT_MS) / 1000);
  return new ProblemError('OVERLOADED', {
    message: 'There are too many visitors at the moment',
    headers: { 'retry-after': String(seconds) },
  });
}

/**
 * Erases the visitors whose keys have all ended. Who was given another key by the operator is no
 * visitor any more.
 *
 * @returns the number of those that are left; rejects, after all of them, with the first fault
 */
export async function eraseVisitors(store: VisitedStore, blobs: BlobStore): Promise<number> {
  const keys = new Map<number, ApiKeyRecord[]>();
  for (const key of await store.listApiKeys()) {
    keys.set(key.clientId, [...(keys.get(key.clientId) ?? []), key]);
  }
  let left = 0;
  const faults: unknown[] = [];
  for (const [clientId, own] of keys) {
    if (!own.every(isDemonstration)) continue;
    if (!own.every(({ expired }) => expired)) left++;
    // One that cannot be erased now must not keep the others.
    else await eraseVisitor(store, blobs, clientId).catch((error) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
  return left;
}

/** The key goes last: it is what tells whose the rest is, should this be interrupted. */
async function eraseVisitor(
  store: VisitedStore,
  blobs: BlobStore,
  clientId: number,
): Promise<void> {
  for (;;) {
    const { tasks } = await store.list({ clientId, limit: ERASE_ROWS });
    if (tasks.length === 0) break;
    for (const { id, state } of tasks) {
      if (isFinal(state)) continue;
      const cancelled = await store.cancel(id, clientId);
      if (!cancelled.ok) continue;
      for (const key of cancelled.blobs) await blobs.delete(key);
    }
    await removeEnded(store, blobs, clientId);
  }
  await store.setQuota(clientId, null);
  await eraseClient(store, blobs, clientId);
}
