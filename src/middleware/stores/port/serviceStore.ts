/** The store of a service: its ports, of which only that for tasks is needed. */

import type { Task } from './task.ts';
import type { ApiKeyStore, TaskStore } from './taskStore.ts';

export interface ServiceStore {
  readonly tasks: TaskStore;
  /** Without it, the option `authenticate` is needed. */
  readonly apiKeys?: ApiKeyStore;
  /** Without it, all clients have the limits of the service. */
  readonly quotas?: QuotaStore;
  /** Without it, the secret of signed urls cannot be exchanged. */
  readonly secrets?: SecretStore;
}

/** A store of falconry: it has all ports, and what the commands of operators need. */
export interface CompleteStore extends Required<ServiceStore> {
  readonly tasks: TaskStore & OperatorStore;
  /** Opens all of it, as `tasks.open`. */
  open(): Promise<void>;
  /** Closes all of it, as `tasks.close`. */
  close(): Promise<void>;
}

export interface UnfinishedQuery {
  /** The most tasks to return, 1 or more. */
  readonly limit: number;
  /** Only tasks after this id. */
  readonly after?: number;
  /** Only tasks that were set aside (true), or only others (false). */
  readonly quarantined?: boolean;
}

/**
 * What a client may use instead of what the service allows every client. Whole numbers; what is
 * absent is as for all others.
 */
export interface ClientQuota {
  /** Unfinished tasks. */
  readonly openTasks?: number;
  /** Bytes of task files and result files. */
  readonly storedBytes?: number;
  /** In the long run, on each host. */
  readonly requestsPerSecond?: number;
}

/** The quotas of clients; a service reads them, so that a change is seen within seconds. */
export interface QuotaStore {
  /** @returns null if the client has none of its own */
  quota(clientId: number): Promise<ClientQuota | null>;
  /** All of them, in order of clients. */
  quotas(): Promise<readonly (ClientQuota & { readonly clientId: number })[]>;
  /**
   * Sets those limits that are given, and leaves the others; null removes all.
   *
   * @returns what the client has now
   */
  setQuota(clientId: number, quota: ClientQuota | null): Promise<ClientQuota | null>;
}

/** A secret that was in use until so many milliseconds ago. */
export interface RetiredSecret {
  readonly value: Uint8Array;
  readonly agoMs: number;
}

/** A secret with those that it replaced. */
export interface SecretRing {
  readonly current: Uint8Array;
  /** The last one first. */
  readonly retired: readonly RetiredSecret[];
}

/** How a secret of `TaskStore.secret` is exchanged. */
export interface SecretStore {
  /**
   * Makes a new secret under the name, also where there was none. Several at once lose none: each
   * finds the one before in the ring.
   *
   * @param options `forget`: forgets the old one, and all before it, else kept for 30 days
   */
  rotateSecret(name: string, options?: { readonly forget?: boolean }): Promise<void>;
  /** Reads only. @returns null if there is no secret under the name yet */
  secretRing(name: string): Promise<SecretRing | null>;
}

/** No url lives longer: timers cannot count more days. */
export const KEEP_RETIRED_MS = 30 * 86_400_000;

/** What the commands of an operator ask of a store, over all clients. */
export interface OperatorStore {
  /** Tasks of all clients that are not final, in order of id; costs what there is of them. */
  unfinished(query: UnfinishedQuery): Promise<readonly Task[]>;
}
