/**
 * The running uploads of this process: one per task, and a maximum per client. A later upload to a
 * task replaces the running one, since a client whose connection broke retries long before the
 * server notices (docs/decisions/0025).
 */
import { CodedError } from '../../shared/errors.ts';
import { deferred } from '../../shared/wait.ts';
import { ProblemError } from '../http/problems.ts';

/** The right to receive the file of a task, until `end`. */
export interface Turn {
  /** Aborted when a later upload replaces this one; its reason is the problem to answer with. */
  readonly signal: AbortSignal;
  /** True if an earlier upload had to end first: the task may have changed. */
  readonly waited: boolean;
  end(): void;
}

interface Running {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export class UploadTurns {
  readonly #perClient: number;
  readonly #clients = new Map<number, Map<number, Running>>();

  constructor(perClient: number) {
    this.#perClient = perClient;
  }

  /**
   * Stops the running upload to the same task, if there is one, and waits until it has ended.
   *
   * @throws CodedError `TOO_MANY_UPLOADS` if the client uploads to too many other tasks;
   *   ProblemError `CONFLICT` if yet another upload to the task came in the meantime
   */
  async take(clientId: number, taskId: number): Promise<Turn> {
    const tasks = this.#clients.get(clientId) ?? new Map<number, Running>();
    const earlier = tasks.get(taskId);
    if (earlier === undefined && tasks.size >= this.#perClient) {
      throw new CodedError('TOO_MANY_UPLOADS');
    }
    const controller = new AbortController();
    const { promise: ended, resolve } = deferred<void>();
    const own = { controller, ended };
    tasks.set(taskId, own);
    this.#clients.set(clientId, tasks);
    const end = () => {
      resolve();
      if (tasks.get(taskId) !== own) return;
      tasks.delete(taskId);
      if (tasks.size === 0) this.#clients.delete(clientId);
    };
    if (earlier !== undefined) {
      earlier.controller.abort(superseded());
      await earlier.ended;
      if (controller.signal.aborted) {
        end();
        throw controller.signal.reason;
      }
    }
    return { signal: controller.signal, waited: earlier !== undefined, end };
  }
}

const superseded = () =>
  new ProblemError('CONFLICT', {
    message: 'A later upload to this task took the place of this one',
  });
