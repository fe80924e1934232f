/**
 * A small common interface to the host's threads: `node:worker_threads` if the host has it (Node,
 * Bun, Deno), else the global `Worker` (browsers). It is looked up at run time, so that browser
 * bundles contain no `node:` import.
 */
import type { HostUrl, HostWorker } from '../hostTypes.ts';

/** One thread. After `onLost` it makes no further callbacks. */
export interface HostThread {
  post(message: unknown, transfer: readonly ArrayBuffer[]): void;
  /** While held, the thread keeps the process alive; otherwise an idle thread lets it exit. */
  hold(held: boolean): void;
  /** Resolves when the thread has ended, as far as the host reports it. */
  terminate(): Promise<void>;
}

export interface HostThreadEvents {
  onMessage(message: unknown): void;
  /**
   * Called when the thread ended, could not start, or threw. It will not answer anything any more.
   */
  onLost(cause: unknown): void;
}

/** The module that a thread runs. */
export interface WorkerModule {
  /** @throws TypeError if its address is unknown, as in a bundle without `import.meta.url` */
  locate(): HostUrl;
  /**
   * Creates a global `Worker` of it, in a form that bundlers recognise; if absent, the address is
   * used.
   */
  readonly make?: (() => HostWorker) | undefined;
}

/** Memory limits of a thread, on hosts that support them (Node). */
export interface ThreadLimits {
  readonly maxOldGenerationSizeMb?: number;
}

/** The part of node:worker_threads that is used here. */
interface NodeThreads {
  Worker: new (
    url: HostUrl,
    options: { execArgv?: string[]; resourceLimits?: ThreadLimits },
  ) => {
    postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
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
    postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  } | null;
}

interface NodeHost {
  process?: {
    execArgv?: readonly string[];
    cwd?: () => string;
    getBuiltinModule?: (name: string) => unknown;
  };
  document?: { baseURI?: string };
  location?: { href?: string };
}

const host = globalThis as NodeHost;

function nodeThreads(): NodeThreads | undefined {
  return host.process?.getBuiltinModule?.('node:worker_threads') as NodeThreads | undefined;
}

/**
 * Returns the worker's module next to the module that asks for it: source or build, like that
 * module.
 *
 * @param base `import.meta.url` of the module that asks
 * @param name file name of the worker, without its extension
 * @param make `new Worker(new URL('./<name>.js', import.meta.url), { type: 'module' })`, written
 *   out so that bundlers recognise it; omitted by server-only code
 */
export function workerBeside(
  base: string | undefined,
  name: string,
  make?: () => HostWorker,
): WorkerModule {
  const isSource = base?.endsWith('.ts') === true;
  const file = `./${name}.${isSource ? 'ts' : 'js'}`;
  return { locate: () => new URL(file, base), make: isSource ? undefined : make };
}

/**
 * Returns the worker's module at an address from the caller: a URL, or a string that may be
 * relative. In browsers it is resolved against the document's base (in a worker, the worker's
 * script), as for `new Worker`; in Node, Deno and Bun, against the working directory.
 */
export function workerAt(address: string | HostUrl): WorkerModule {
  return { locate: () => (isUrl(address) ? address : resolveAddress(address)) };
}

/** @returns whether it is a URL, of any realm */
export const isUrl = (value: unknown): value is HostUrl => typeof Object(value).href === 'string';

/** Like `URL.parse`, which some supported browsers lack. */
export function parseUrl(text: string, base?: string): HostUrl | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

function resolveAddress(address: string): HostUrl {
  const url = /^[a-z]:[\\/]/i.test(address) ? undefined : parseUrl(address);
  if (url !== undefined) return url;
  if (nodeThreads() === undefined) {
    return new URL(address, host.document?.baseURI ?? host.location?.href);
  }
  const builtin = host.process!.getBuiltinModule!;
  const { resolve } = builtin('node:path') as { resolve(path: string): string };
  const { pathToFileURL } = builtin('node:url') as { pathToFileURL(path: string): HostUrl };
  return pathToFileURL(resolve(address));
}

/**
 * Returns options that drop Node's flags, which threads inherit, if they include `--input-type` (as
 * for `node -e`): with it, a thread rejects every file.
 */
function inheritedFlags(): { execArgv?: string[] } {
  const flags = host.process?.execArgv ?? [];
  return flags.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
}

/** @returns the parallelism that the host reports; `otherwise` if it reports none */
export function hostParallelism(otherwise = 1): number {
  return Math.max(1, globalThis.navigator?.hardwareConcurrency ?? otherwise);
}

/** @returns whether the host has threads */
export function hasThreads(): boolean {
  return nodeThreads() !== undefined || typeof globalThis.Worker === 'function';
}

/** Starts a thread of the host or an equivalent. */
export type StartThread = typeof startThread;

/**
 * Starts a thread on an ES module.
 *
 * @throws the host's error if it has no threads or cannot start one
 */
export function startThread(
  module: WorkerModule,
  events: HostThreadEvents,
  limits?: ThreadLimits,
): HostThread {
  let lost = false;
  const receive = (message: unknown): void => {
    if (!lost) events.onMessage(message);
  };
  const lose = (cause: unknown): void => {
    if (lost) return;
    lost = true;
    events.onLost(cause);
  };
  const silence = (): void => {
    lost = true;
  };
  const node = nodeThreads();
  return node === undefined
    ? startWebWorker(module, { receive, lose, silence })
    : startNodeThread(node, module, { receive, lose, silence }, limits);
}

/** Handlers for the events of the host's thread. */
interface Ends {
  receive(message: unknown): void;
  lose(cause: unknown): void;
  silence(): void;
}

function startNodeThread(
  { Worker }: NodeThreads,
  module: WorkerModule,
  { receive, lose, silence }: Ends,
  resourceLimits: ThreadLimits | undefined,
): HostThread {
  const options = { ...inheritedFlags(), ...(resourceLimits && { resourceLimits }) };
  const worker = new Worker(module.locate(), options);
  worker.on('message', receive);
  worker.on('messageerror', lose);
  worker.on('error', lose);
  worker.on('exit', (code) => lose(new Error(`thread exited with code ${String(code)}`)));
  worker.unref();
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    hold: (held) => (held ? worker.ref() : worker.unref()),
    terminate: async () => {
      silence();
      await worker.terminate();
    },
  };
}

function startWebWorker(module: WorkerModule, { receive, lose, silence }: Ends): HostThread {
  const { make = () => new globalThis.Worker(module.locate(), { type: 'module' }) } = module;
  const worker = make();
  worker.onmessage = (event) => receive(event.data);
  worker.onmessageerror = lose;
  worker.onerror = (event) => {
    event.preventDefault();
    lose(new Error(event.message || 'the thread could not be loaded'));
    worker.terminate();
  };
  return {
    post: (message, transfer) => worker.postMessage(message, [...transfer]),
    hold: () => undefined,
    terminate: async () => {
      silence();
      worker.terminate();
    },
  };
}

/** A thread's connection to its creator. */
export interface OwnLine {
  post(message: unknown, transfer: readonly ArrayBuffer[]): void;
  /** Call once; `listener` receives every message from then on. */
  listen(listener: (message: unknown) => void): void;
}

/**
 * Returns the connection, for the module that a thread runs.
 *
 * @throws Error if it is not called in a thread
 */
export function ownLine(): OwnLine {
  const node = nodeThreads();
  if (node !== undefined) {
    const port = node.parentPort;
    if (port === null) throw new Error('this module runs in a worker thread only');
    return {
      post: (message, transfer) => port.postMessage(message, transfer),
      listen: (listener) => port.on('message', listener),
    };
  }
  const scope = globalThis as unknown as {
    onmessage: ((event: { data: unknown }) => void) | null;
    postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  };
  return {
    post: (message, transfer) => scope.postMessage(message, transfer),
    listen: (listener) => {
      scope.onmessage = (event) => listener(event.data);
    },
  };
}
