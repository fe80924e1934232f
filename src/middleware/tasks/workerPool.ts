/** Worker threads that run `taskWorker.ts`. */
import { CodedError } from '../../shared/errors.ts';
import { type StartThread, workerBeside } from '../../shared/threads/host.ts';
import { ThreadPool } from '../../shared/threads/pool.ts';
import { TASK_WORKER } from './taskWork.ts';

/** Heap of a thread: a base, plus this many times the largest task file. */
const HEAP_MB = 256;
const HEAP_FACTOR = 8;
const MIB = 1024 * 1024;

/** Returns the heap limit. A file that exhausts it kills its worker, not the process. */
export const heapFor = (maxFileBytes: number): number =>
  HEAP_MB + HEAP_FACTOR * Math.ceil(maxFileBytes / MIB);

/** Returns a pool of one thread, which starts with its first work. */
export function openWorker(heapMb: number, start?: StartThread): ThreadPool {
  return new ThreadPool({
    size: 1,
    name: TASK_WORKER,
    module: workerBeside(import.meta.url, 'taskWorker'),
    limits: { maxOldGenerationSizeMb: heapMb },
    maxRefusals: Number.POSITIVE_INFINITY,
    ...(start && { start }),
  });
}

/**
 * Waits until a worker runs: only then can a task be what ends it.
 *
 * @throws CodedError `OVERLOADED` if it cannot be started; the signal's reason
 */
export async function untilRunning(worker: ThreadPool, signal: AbortSignal): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', reject, { once: true });
      worker.ready().then(resolve, reject);
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new CodedError('OVERLOADED', { message: 'No worker could be started', cause });
  }
}
