/**
 * The threads of an aggregate: a pool that runs our worker, how many of its threads some work is
 * worth, and the shares of a proof in them.
 */
import { CodedError } from '../../shared/errors.ts';
import { hostParallelism, type WorkerModule, workerBeside } from '../../shared/threads/host.ts';
import { checkWorkerUrl } from '../../shared/threads/options.ts';
import { ThreadPool } from '../../shared/threads/pool.ts';
import type { Helper, StepInput, StepName, StepOutput } from '../proof/index.ts';
import { type Statement, setOfPublicKey } from '../statement.ts';
import { AGGREGATE_WORKER, packWork } from './work.ts';

/** Where bundlers find the threads' module. */
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

/** Starting a thread, and dividing the work, costs about as much as this. Milliseconds. */
const LEAST_MS = 70;

/** Threads beside the calling one. */
export class AggregateThreads extends ThreadPool {
  /** Bytes that each thread, the calling one included, may keep transformed keys in. */
  readonly keyBytes: number;
  readonly #leastMs: number;

  /** @param settings.leastMs less work is not worth a thread; by default what one costs */
  constructor(settings: {
    readonly size: number;
    readonly workerUrl?: string | URL | undefined;
    /** bytes of transformed keys to keep, in all threads together; default 0 */
    readonly keyCacheBytes?: number | undefined;
    readonly leastMs?: number;
  }) {
    const { size, workerUrl, keyCacheBytes = 0, leastMs = LEAST_MS } = settings;
    super({ size, name: AGGREGATE_WORKER, module: checkWorkerUrl(workerUrl, beside()) });
    this.keyBytes = Math.floor(keyCacheBytes / (size + 1));
    this.#leastMs = leastMs;
  }

  /** How many threads this work is worth. */
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
 * The threads beside the calling one, which is one of `threads`. There are no more than the host
 * says can run at once: others would only cost memory.
 *
 * @throws TypeError, RangeError for a `workerUrl` that is no address
 */
export function openThreads(options: {
  readonly threads?: number;
  readonly workerUrl?: string | URL;
  readonly keyCacheBytes?: number;
}): AggregateThreads {
  const { threads = 1, workerUrl, keyCacheBytes } = options;
  const size = Math.min(threads, hostParallelism(threads)) - 1;
  return new AggregateThreads({ size, workerUrl, keyCacheBytes });
}

/** The shares of one proof, one in each thread of a pool. */
export interface ProofSession {
  readonly helpers: readonly Helper[];
  /** Ends the shares; steps that are not answered yet are rejected with `error`. */
  release(error?: CodedError): void;
}

/** @param count how many threads take part, at most */
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
