/**
 * The threads of an aggregate: a pool that runs the aggregate worker, the number of threads
 * worthwhile for a job, and the shares of a proof in them.
 */

import { CodedError } from '../shared/errors.ts';
import type { HostUrl } from '../shared/hostTypes.ts';
import { hostParallelism, type WorkerModule, workerBeside } from '../shared/threads/host.ts';
import { checkWorkerUrl, ThreadPool } from '../shared/threads/pool.ts';
import type { Helper, StepInput, StepName, StepOutput } from './proof/index.ts';
import { type Statement, setOfPublicKey } from './statement.ts';
import { AGGREGATE_WORKER, packWork } from './work.ts';

/** Returns the worker module's location, in a form that bundlers recognise. */
const beside = (): WorkerModule =>
  workerBeside(
    import.meta.url,
    'aggregateWorker',
    () => new Worker(new URL('./aggregateWorker.js', import.meta.url), { type: 'module' }),
  );

/**
 * The work on one Falcon-512 signature that threads can share, in milliseconds on one machine; one
 * of Falcon-1024 costs twice as much.
 */
const COST_MS = { check: 0.04, prove: 0.75, verify: 0.3 } as const;
export type Divisible = keyof typeof COST_MS;

/** Approximate cost of starting a thread and dividing the work, in milliseconds. */
const LEAST_MS = 70;

/** Threads in addition to the calling one. */
export class AggregateThreads extends ThreadPool {
  /** Bytes of transformed keys that each thread, including the calling one, may keep. */
  readonly keyBytes: number;
  readonly #leastMs: number;

  /**
   * @param settings.leastMs minimum work that justifies a thread; defaults to the cost of starting
   *   one
   */
  constructor(settings: {
    readonly size: number;
    readonly workerUrl?: string | HostUrl | undefined;
    /** bytes of transformed keys to keep, over all threads; default 0 */
    readonly keyCacheBytes?: number | undefined;
    readonly leastMs?: number;
  }) {
    const { size, workerUrl, keyCacheBytes = 0, leastMs = LEAST_MS } = settings;
    super({ size, name: AGGREGATE_WORKER, module: checkWorkerUrl(workerUrl, beside()) });
    this.keyBytes = Math.floor(keyCacheBytes / (size + 1));
    this.#leastMs = leastMs;
  }

  /** The number of threads that this work justifies. */
  helpersFor(
    statements: readonly Pick<Statement, 'publicKey'>[],
    ...kinds: readonly Divisible[]
  ): number {
    const units = statements.reduce((sum, { publicKey }) => {
      return sum + (setOfPublicKey(publicKey) === 'falcon1024' ? 2 : 1);
    }, 0);
    const cost = kinds.reduce((sum, kind) => sum + units * COST_MS[kind], 0);
    return Math.max(0, Math.min(this.size, Math.floor(cost / this.#leastMs) - 1));
  }
}

/**
 * Opens the threads in addition to the calling one, which is one of `threads`. Their number is
 * limited by the host's concurrency: more would only cost memory.
 *
 * @throws TypeError, RangeError for an invalid `workerUrl`
 */
export function openThreads(options: {
  readonly threads?: number;
  readonly workerUrl?: string | HostUrl;
  readonly keyCacheBytes?: number;
}): AggregateThreads {
  const { threads = 1, workerUrl, keyCacheBytes } = options;
  const size = Math.min(threads, hostParallelism(threads)) - 1;
  return new AggregateThreads({ size, workerUrl, keyCacheBytes });
}

/** The shares of one proof, one in each thread of a pool. */
export interface ProofSession {
  readonly helpers: readonly Helper[];
  /** Ends the shares; pending steps are rejected with `error`. */
  release(error?: CodedError): void;
}

/** @param count maximum number of threads that take part */
export function openSession(pool: AggregateThreads, count: number): ProofSession {
  const { keyBytes } = pool;
  const { id: proof, threads, release } = pool.session(count);
  const helpers = threads.map(
    (thread): Helper => ({
      run: <K extends StepName>(step: K, input: StepInput<K>) =>
        thread.call(packWork({ kind: 'step', keyBytes, proof, step, input })) as Promise<
          StepOutput<K>
        >,
      get memoryBytes() {
        return thread.memoryBytes;
      },
    }),
  );
  return {
    helpers,
    release: (error = new CodedError('ABORTED')) =>
      release(packWork({ kind: 'release', proof }), error),
  };
}
