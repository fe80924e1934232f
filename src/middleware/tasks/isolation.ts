/**
 * A separate worker for one attempt: a process, or a thread where processes are not available (a
 * compiled program, a host that forbids them). If it dies, the task has killed it.
 */
import { type StartThread, startThread, workerBeside } from '../../shared/threads/host.ts';
import { ThreadPool } from '../../shared/threads/pool.ts';
import { startProcess } from './childProcess.ts';
import { TASK_WORKER } from './taskWork.ts';
import { untilRunning } from './workerPool.ts';

const WAYS: readonly (readonly [module: string, start: StartThread])[] = [
  ['taskProcess', startProcess],
  ['taskWorker', startThread],
];

/** Lends workers, a new one for each call of `lend`. */
export class Isolation {
  readonly #heapMb: number;
  readonly #lent = new Set<ThreadPool>();

  /** @param heapMb maximum heap of a worker */
  constructor(heapMb: number) {
    this.#heapMb = heapMb;
  }

  /**
   * Starts a worker, and ends it afterwards.
   *
   * @throws CodedError `OVERLOADED` if no worker can be started; the signal's reason if it is
   *   aborted before the worker runs
   */
  async lend<T>(signal: AbortSignal, use: (worker: ThreadPool) => Promise<T>): Promise<T> {
    let fault: unknown;
    for (const [module, start] of WAYS) {
      const worker = this.#open(module, start);
      try {
        fault = await untilRunning(worker, signal).catch((error) => error);
        signal.throwIfAborted();
        if (fault === undefined) return await use(worker);
      } finally {
        this.#lent.delete(worker);
        await worker.close();
      }
    }
    throw fault;
  }

  /** Ends the workers; their work is rejected with `ABORTED`. */
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
