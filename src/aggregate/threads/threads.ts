/** The threads of an aggregate: a pool that runs our worker, and the shares of a proof in it. */
import { CodedError } from '../../errors.ts';
import { type WorkerModule, workerBeside } from '../../threads/host.ts';
import { checkWorkerUrl } from '../../threads/options.ts';
import { ThreadPool } from '../../threads/pool.ts';
import type { Helper, StepInput, StepName, StepOutput } from '../proof/index.ts';
import { AGGREGATE_WORKER, packWork } from './work.ts';

/** Where bundlers find the threads' module. */
const beside = (): WorkerModule =>
  workerBeside(
    import.meta.url,
    'aggregateWorker',
    () => new Worker(new URL('./aggregateWorker.js', import.meta.url), { type: 'module' }),
  );

/**
 * The threads beside the calling one, which is one of `threads`.
 *
 * @throws TypeError, RangeError for a `workerUrl` that is no address
 */
export function openThreads(options: {
  readonly threads?: number;
  readonly workerUrl?: string | URL;
}): ThreadPool {
  const { threads = 1, workerUrl } = options;
  const module = checkWorkerUrl(workerUrl, beside());
  return new ThreadPool({ size: threads - 1, name: AGGREGATE_WORKER, module });
}

/** The shares of one proof, one in each thread of a pool. */
export interface ProofSession {
  readonly helpers: readonly Helper[];
  /** Ends the shares; steps that are not answered yet are rejected with `error`. */
  release(error?: CodedError): void;
}

export function openSession(pool: ThreadPool): ProofSession {
  const { id: proof, threads, release } = pool.session();
  const helpers = threads.map(
    (thread): Helper => ({
      run: <K extends StepName>(step: K, input: StepInput<K>) =>
        thread.call(packWork({ kind: 'step', proof, step, input })) as Promise<StepOutput<K>>,
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
