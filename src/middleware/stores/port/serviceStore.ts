/** The store of a service: its ports, of which only that for tasks is needed. */
import type { OperatorStore, QuotaStore, SecretStore } from './operatorStore.ts';
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
