/** The page's worker: a thread that starts with the first call, and anew after a failure. */
import { CodedError } from '../../../shared/errors.ts';
import { PoolThread } from '../../../shared/threads/thread.ts';
import { type CallName, type Calls, type Progress, WORKER_NAME } from './worker/protocol.ts';

/** The part of trusted types that is used here; TypeScript and some browsers lack them. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** Workers load slowly over slow connections. */
const HELLO_MS = 120_000;

export class WorkerClient {
  readonly #url: string;
  readonly #startWorker: () => Worker;
  #thread: PoolThread | undefined;

  /** @param url absolute url of the worker's script, on this origin */
  constructor(url: string) {
    const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
    // The only address that the page's policy accepts as a script.
    const policy = trustedTypes?.createPolicy('falconry', { createScriptURL: () => url });
    const trusted = policy?.createScriptURL(url) ?? url;
    this.#url = url;
    this.#startWorker = () => new Worker(trusted, { type: 'module', name: WORKER_NAME });
  }

  /** Calls the worker. Rejects with a CodedError, which is `ABORTED` if the work was stopped. */
  async call<Name extends CallName>(
    name: Name,
    take: Calls[Name]['take'],
    options: {
      readonly signal?: AbortSignal;
      readonly onProgress?: (progress: Progress) => void;
    } = {},
  ): Promise<Calls[Name]['give']> {
    const { signal, onProgress } = options;
    if (signal?.aborted) throw new CodedError('ABORTED');
    this.#thread ??= this.#start();
    const give = await this.#thread.call(
      { work: { name, take } },
      {
        ...(signal && { signal }),
        ...(onProgress && { onNews: (news) => onProgress(news as Progress) }),
      },
    );
    return give as Calls[Name]['give'];
  }

  #start(): PoolThread {
    return new PoolThread({
      name: WORKER_NAME,
      module: { locate: () => new URL(this.#url), make: this.#startWorker },
      helloMs: HELLO_MS,
      onLost: () => {
        this.#thread = undefined;
      },
    });
  }
}
