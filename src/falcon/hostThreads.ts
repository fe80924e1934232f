/**
 * The host's threads behind one small interface: `node:worker_threads` where the host lends it (Node, Bun, Deno), the
 * global `Worker` elsewhere (browsers). Found at run time, so that a browser bundle contains no `node:` import.
 */

/** One thread. After `onLost` it never calls back again. */
export interface HostThread {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  /** While held, the thread keeps the process alive; while not, an idle thread lets it exit. */
  hold(held: boolean): void;
  terminate(): void;
}

export interface HostThreadEvents {
  onMessage(message: unknown): void;
  /** The thread ended, could not start, or threw: nothing it was given will be answered. */
  onLost(cause: unknown): void;
}

/** The part of node:worker_threads that is used here. */
interface NodeThreads {
  Worker: new (
    url: URL,
    options: { execArgv?: string[] },
  ) => {
    postMessage(message: unknown, transfer: ArrayBuffer[]): void;
    on(
      event: 'message' | 'messageerror' | 'error' | 'exit',
      listener: (value: unknown) => void,
    ): void;
    ref(): void;
    unref(): void;
    terminate(): Promise<number>;
  };
  parentPort: {
    on(event: 'message', listener: (message: unknown) => void): void;
    postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  } | null;
  isMainThread: boolean;
}

interface NodeHost {
  process?: { execArgv?: readonly string[]; getBuiltinModule?: (name: string) => unknown };
}

function nodeThreads(): NodeThreads | undefined {
  const { process } = globalThis as NodeHost;
  return process?.getBuiltinModule?.('node:worker_threads') as NodeThreads | undefined;
}

/** Threads inherit Node's flags; with `--input-type` (of `node -e`) they would refuse to load any file. */
function threadOptions(): { execArgv?: string[] } {
  const flags = (globalThis as NodeHost).process?.execArgv ?? [];
  return flags.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
}

/** @returns how many threads the host says can run at once; 1 when it does not say. */
export function hostParallelism(): number {
  return Math.max(1, globalThis.navigator?.hardwareConcurrency ?? 1);
}

/** @returns whether this host has threads at all. */
export function hasThreads(): boolean {
  return nodeThreads() !== undefined || typeof globalThis.Worker === 'function';
}

/**
 * Starts a thread on an ES module.
 *
 * @param makeWorker makes a global `Worker` of it, in words that bundlers understand; left out: by the url
 * @throws Error of the host when it has no threads or refuses one
 */
export function startThread(
  url: URL,
  events: HostThreadEvents,
  makeWorker: () => Worker = () => new globalThis.Worker(url, { type: 'module' }),
): HostThread {
  let lost = false;
  const lose = (cause: unknown): void => {
    if (lost) return;
    lost = true;
    events.onLost(cause);
  };
  const receive = (message: unknown): void => {
    if (!lost) events.onMessage(message);
  };

  const node = nodeThreads();
  if (node !== undefined) {
    const worker = new node.Worker(url, threadOptions());
    worker.on('message', receive);
    worker.on('messageerror', lose);
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`thread exited with code ${String(code)}`)));
    worker.unref();
    return {
      post: (message, transfer) => worker.postMessage(message, transfer),
      hold: (held) => (held ? worker.ref() : worker.unref()),
      terminate: () => {
        lost = true;
        void worker.terminate();
      },
    };
  }

  const worker = makeWorker();
  worker.onmessage = (event) => receive(event.data);
  worker.onmessageerror = lose;
  worker.onerror = (event) => {
    event.preventDefault();
    lose(new Error(event.message || 'the thread could not be loaded'));
    worker.terminate();
  };
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    hold: () => undefined,
    terminate: () => {
      lost = true;
      worker.terminate();
    },
  };
}

/**
 * The other end, for the module a thread runs: answers every message through `reply`.
 *
 * @returns sends a message that answers none
 */
export function serveThread(
  handle: (message: unknown, reply: (answer: unknown, transfer: ArrayBuffer[]) => void) => void,
): (message: unknown) => void {
  const node = nodeThreads();
  if (node !== undefined) {
    const port = node.parentPort;
    if (port === null) throw new Error('this module runs in a worker thread only');
    port.on('message', (message) => {
      handle(message, (answer, transfer) => port.postMessage(answer, transfer));
    });
    return (message) => port.postMessage(message, []);
  }
  const scope = globalThis as unknown as {
    onmessage: ((event: { data: unknown }) => void) | null;
    postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  };
  scope.onmessage = (event) => {
    handle(event.data, (answer, transfer) => scope.postMessage(answer, transfer));
  };
  return (message) => scope.postMessage(message, []);
}
