/**
 * What the operator of a service asks of its store, over all clients: what `falconry queue` and
 * `falconry retry` need besides the tasks' own port.
 */
import type { Task } from '../task.ts';

export interface UnfinishedQuery {
  /** The most tasks to return, 1 or more. */
  readonly limit: number;
  /** Only tasks after this id. */
  readonly after?: number;
  /** Only tasks that were set aside (true), or only others (false). */
  readonly quarantined?: boolean;
}

export interface OperatorStore {
  /** Tasks of all clients that are not final, in order of id; costs what there is of them. */
  unfinished(query: UnfinishedQuery): Promise<readonly Task[]>;
}
