/**
 * What the operator of a service asks of its store, over all clients: what `falconry queue`,
 * `retry`, `erase` and `retention` need besides the tasks' own port.
 */
import type { Task } from './task.ts';

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

/** What is kept of a client. */
export interface Holdings {
  /** All of them. */
  readonly tasks: number;
  /** Those of them that are not final. */
  readonly unfinished: number;
  /** Files that the tasks name, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly apiKeys: number;
  /** Idempotency-Keys. */
  readonly answers: number;
  /** Whether the host gave it a name. */
  readonly named: boolean;
}

export interface Disowned {
  readonly apiKeys: number;
  /** Number of tasks that were cancelled. */
  readonly cancelled: number;
  /** Whether there may be more: a call does a part, so as not to hold the store for long. */
  readonly more: boolean;
}

/** A final task, and the keys of the files that its row still names. */
export interface EndedTask {
  readonly id: number;
  readonly blobs: readonly string[];
}

/** What the next sweep would do to the tasks of a client. */
export interface Ageing {
  readonly clientId: number;
  /** Tasks whose file or notification did not come in time: they would become expired. */
  readonly expiring: number;
  /** Final tasks that would be removed. */
  readonly removing: number;
  /** Bytes of the files of both. */
  readonly bytes: number;
  /** When the first and the last of those to be removed ended; null if there are none. */
  readonly oldestEnd: string | null;
  readonly newestEnd: string | null;
}

/** What the commands of an operator ask of a store, over all clients. */
export interface OperatorStore extends QuotaStore, SecretStore, CareStore {
  /** Tasks of all clients that are not final, in order of id; costs what there is of them. */
  unfinished(query: UnfinishedQuery): Promise<readonly Task[]>;
}

/**
 * An erasure is `disown` until there is no more, then `ended`, the deletion of those files, and
 * `removeEnded`, until nothing is left; then `forget`. Each row goes after its files, so whatever
 * interrupts it, it can be begun again and finds what is left.
 */
export interface CareStore {
  holdings(clientId: number): Promise<Holdings>;
  /**
   * Removes the API keys of a client, where the store keeps any, and cancels its tasks, which go on
   * naming their files: those still count for its `usage`.
   */
  disown(clientId: number): Promise<Disowned>;
  /** At most `limit` final tasks of a client, in order of their ids. */
  ended(clientId: number, limit: number): Promise<readonly EndedTask[]>;
  /** Removes those of the tasks that are final and this client's. @returns how many there were */
  removeEnded(clientId: number, ids: readonly number[]): Promise<number>;
  /**
   * Forgets the name, the Idempotency-Keys and the counters of a client, and its quota, where the
   * store keeps any. The name is free for a new client. May be called again.
   *
   * @returns false while it has tasks or API keys, which then stay as they are
   */
  forget(clientId: number): Promise<boolean>;

  /**
   * What a sweep with this retention would do now, by client, in order of their numbers.
   *
   * @param retentionMs null: finished tasks are kept
   */
  ageing(retentionMs: number | null): Promise<readonly Ageing[]>;
}

/** Most rows that a call of an erasure changes. */
export const ERASE_ROWS = 500;
