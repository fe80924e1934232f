/**
 * A worker for one attempt alone: a process of its own, or a thread of its own where there is none
 * to be had (a compiled program, a host that forbids processes). If it ends, the task has ended it.
 */
import { CodedError } from '../../shared/errors.ts';
import { type StartThread, startThread, workerBeside } from '../../shared/threads/host.ts';
import { ThreadPool } from '../../shared/threads/pool.ts';
import { startProcess } from './childProcess.ts';
import { TASK_WORKER } from './taskWork.ts';

const WAYS: readonly (readonly [module: string, start: StartThread])[] = [
  ['taskProcess', startProcess],
  ['taskWorker', startThread],
];

/** Lends workers of their own, one for each call of `lend`. */
export class Isolation {
  readonly #heapMb: number;
  readonly #lent = new Set<ThreadPool>();

  /** @param heapMb the most of memory that a worker's heap may take */
  constructor(heapMb: number) {
    this.#heapMb = heapMb;
  }

  /**
   * Starts a worker, which is ended afterwards.
   *
   * @throws CodedError `OVERLOADED` if no worker can be started: nothing was tried; the signal's
   *   reason if it is aborted before the worker runs
   */
  async lend<T>(signal: AbortSignal, use: (worker: ThreadPool) => Promise<T>): Promise<T> {
    let cause: unknown;
    for (const [module, start] of WAYS) {
      const worker = this.#open(module, start);
      try {
        cause = await readiness(worker, signal);
        signal.throwIfAborted();
        if (cause === undefined) return await use(worker);
      } finally {
        this.#lent.delete(worker);
        await worker.close();
      }
    }
    throw new CodedError('OVERLOADED', { message: 'No worker could be started', cause });
  }

  /** Ends the workers; what they work on is rejected with `ABORTED`. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#lent, (worker) => worker.close()));
  }

  #open(module: string, start: StartThread): ThreadPool {
    const worker = new ThreadPool({
      size: 1,
      name: TASK_WORKER,
      module: workerBeside(import.meta.url, module),
      limits: { maxOldGenerationSizeMb: this.#heapMb },
      start,
    });
    this.#lent.add(worker);
    return worker;
  }
}

/** Waits until the worker runs. @returns the reason why it does not, or undefined */
async function readiness(worker: ThreadPool, signal: AbortSignal): Promise<unknown> {
  const stop = () => void worker.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await worker.ready();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
