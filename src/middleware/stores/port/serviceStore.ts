/** The store of a service: its ports, of which only `tasks` is required. */
import type { Task } from './task.ts';
import type { ApiKeyStore, PartStore, SuspectClock, TaskStore } from './taskStore.ts';

export interface ServiceStore {
  readonly tasks: TaskStore;
  /** Without it, the service has no tasks with parts. */
  readonly parts?: PartStore;
  /** Without it, the service needs the option `authenticate`. */
  readonly apiKeys?: ApiKeyStore;
  /** Without it, all clients have the limits of the service. */
  readonly quotas?: QuotaStore;
}

/** A store of falconry, with all ports, including those for operators' commands. */
export interface CompleteStore extends Required<ServiceStore> {
  readonly tasks: TaskStore & PartStore & OperatorStore;
  /** Opens all of it, as `tasks.open`. */
  open(): Promise<void>;
  /** Closes all of it, as `tasks.close`. */
  close(): Promise<void>;
}

export interface UnfinishedQuery {
  /** Maximum number of tasks, 1 or more. */
  readonly limit: number;
  /** Only tasks after this id. */
  readonly after?: number;
  /** Only tasks that were set aside (true), or only others (false). */
  readonly quarantined?: boolean;
}

/**
 * Limits of a client that replace those of the service. Whole numbers; for absent ones, the
 * service's limits apply.
 */
export interface ClientQuota {
  /** Unfinished tasks. */
  readonly openTasks?: number;
  /** Bytes of task files and result files. */
  readonly storedBytes?: number;
  /** Sustained rate, per host. */
  readonly requestsPerSecond?: number;
}

/** The quotas of clients. A service applies changes within seconds. */
export interface QuotaStore {
  /** @returns null if the client has no quota */
  quota(clientId: number): Promise<ClientQuota | null>;
  /** Returns all quotas, in order of clients. */
  quotas(): Promise<readonly (ClientQuota & { readonly clientId: number })[]>;
  /**
   * Sets the given limits, and keeps the others; null removes all.
   *
   * @returns the client's quota after the change
   */
  setQuota(clientId: number, quota: ClientQuota | null): Promise<ClientQuota | null>;
}

/** Queries of operators' commands, over all clients. */
export interface OperatorStore {
  /** Returns unfinished tasks of all clients, in order of id. Finished ones cost nothing. */
  unfinished(query: UnfinishedQuery): Promise<readonly Task[]>;
  /** @returns null unless the clock is suspect */
  suspectClock(): Promise<SuspectClock | null>;
  /** Believes the clock from now on. @returns null if it was not suspect */
  acceptClock(): Promise<SuspectClock | null>;
}
