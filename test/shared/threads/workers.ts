/** The worker threads that this process starts, as tests see them. */
import { once } from 'node:events';
import workerThreads, { type WorkerOptions } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

const { Worker } = workerThreads;
type Worker = InstanceType<typeof Worker>;

/**
 * Records workers from now on, to the end of the test.
 *
 * @param instead gives the module to run in place of the one that is asked for
 * @returns every worker that this thread has started since, in order; also those that have ended
 */
export function watchWorkers(instead: (url: URL) => URL = (url) => url): readonly Worker[] {
  const workers: Worker[] = [];
  class Watched extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(instead(new URL(url)), options);
      workers.push(this);
    }
  }
  workerThreads.Worker = Watched;
  onTestFinished(() => {
    workerThreads.Worker = Worker;
  });
  return workers;
}

/** A module that is a string. */
export const moduleOf = (source: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(source)}`);

/** The module at `url`, with something done to it before its n-th message. */
export function ruined(url: string | URL, count: number, what: string): URL {
  return moduleOf(`import { parentPort } from 'node:worker_threads';
    let count = 0;
    parentPort.on('message', (message) => { if (++count === ${count}) { ${what} } });
    await import('${String(url)}');`);
}

/** Blocks a thread for good: no message is heard any more. */
export const BLOCK = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';

/**
 * A number that grows by one with every thread that this process starts, the threads of threads
 * included; asking takes one thread itself.
 */
export async function threadsSoFar(): Promise<number> {
  const probe = new Worker('', { eval: true });
  const { threadId } = probe;
  await once(probe, 'exit');
  return threadId;
}
