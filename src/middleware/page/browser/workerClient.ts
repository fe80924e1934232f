/** Calls the worker: starts it on demand, and turns messages into promises. */
import {
  type CallName,
  type Calls,
  type Progress,
  type Reply,
  type Request,
  WORKER_NAME,
} from './worker/protocol.ts';

/** Options of a call. */
export interface CallHooks {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** An error in the worker; `code` is that of an error of the library. */
export class WorkerFault extends Error {
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super(message);
    this.name = 'WorkerFault';
    this.code = code;
  }
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: WorkerFault) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The part of trusted types that is used here; TypeScript and some browsers lack them. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The client of the page's worker. */
export class WorkerClient {
  readonly #url: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** @param url absolute url of the worker's script, on this origin */
  constructor(url: string) {
    this.#url = url;
  }

  /** Calls the worker. Rejects with WorkerFault. */
  call<Name extends CallName>(
    name: Name,
    take: Calls[Name]['take'],
    { signal, onProgress }: CallHooks = {},
  ): Promise<Calls[Name]['give']> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new WorkerFault('Stopped', 'ABORTED'));
      const worker = (this.#worker ??= this.#start());
      const cancel = () => worker.postMessage({ id, cancel: true } satisfies Request);
      signal?.addEventListener('abort', cancel, { once: true });
      const done = () => {
        signal?.removeEventListener('abort', cancel);
        this.#pending.delete(id);
      };
      this.#pending.set(id, {
        resolve: (value) => {
          done();
          resolve(value);
        },
        reject: (error) => {
          done();
          reject(error);
        },
        onProgress,
      });
      worker.postMessage({ id, call: name, take } satisfies Request);
    });
  }

  #start(): Worker {
    const worker = new Worker(trusted(this.#url), { type: 'module', name: WORKER_NAME });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#receive(data);
    const lose = () => {
      worker.terminate();
      this.#worker = undefined;
      const fault = new WorkerFault('The worker of the page could not be loaded, or failed', null);
      for (const pending of [...this.#pending.values()]) pending.reject(fault);
    };
    worker.onerror = lose;
    worker.onmessageerror = lose;
    return worker;
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if ('progress' in reply) pending.onProgress?.(reply.progress);
    else if ('error' in reply) {
      pending.reject(new WorkerFault(reply.error.message, reply.error.code));
    } else pending.resolve(reply.give as never);
  }
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** The url of the worker, the only one that the page's policy accepts as a script. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('falconry', { createScriptURL: () => url });
  return policy?.createScriptURL(url) ?? url;
}
