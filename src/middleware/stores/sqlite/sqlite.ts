/**
 * The store in an SQLite file, on its own thread, so that neither the disk nor a locked file blocks
 * the event loop of the service. sqliteTable.ts does the work.
 *
 * A call that cannot be done in time, because another process holds the file, is rejected with
 * `STORE_UNAVAILABLE`. So are the calls of a thread that dies; their outcome is unknown. The next
 * call starts another thread.
 */
import { setImmediate } from 'node:timers';
import { CodedError } from '../../../shared/errors.ts';
import { workerBeside } from '../../../shared/threads/host.ts';
import { errorOf } from '../../../shared/threads/messages.ts';
import { noWorker } from '../../../shared/threads/noWorker.ts';
import { ThreadPool } from '../../../shared/threads/pool.ts';
import { type Deferred, deferred, withTimeout } from '../../../shared/wait.ts';
import { Listeners } from '../port/parts.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import { PATIENCE_MS } from './sqliteFile.ts';
import {
  type Call,
  type Calls,
  type Outcomes,
  type PortName,
  STORE_WORKER,
  type StoreSettings,
  type Verb,
} from './sqliteWork.ts';

export interface SqliteOptions extends StoreSettings {
  /** Called when the store could not do something in time, at most once a second. */
  readonly onTrouble?: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Returns a store in the file. The thread starts, and the file is opened, with the first verb. */
export function sqliteStore(options: SqliteOptions): CompleteStore {
  const thread = new StoreThread(options);
  const port = <Port extends PortName>(name: Port) => {
    const verbs = Object.keys(VERBS[name]).map((verb) => [
      verb,
      (...args: unknown[]) => thread.call(name, verb, args),
    ]);
    return Object.fromEntries(verbs) as Pick<
      CompleteStore[Port],
      keyof (typeof VERBS)[Port] & keyof CompleteStore[Port]
    >;
  };
  const tasks: CompleteStore['tasks'] = {
    ...port('tasks'),
    watch: (listener) => thread.listeners.add(listener),
    ping: () => thread.ping(),
    close: () => thread.close(),
  };
  const [apiKeys, quotas] = [port('apiKeys'), port('quotas')];
  return { tasks, apiKeys, quotas, open: tasks.open, close: tasks.close };
}

/** The verbs that the thread performs as they are. */
const VERBS = {
  tasks: {
    put: true,
    get: true,
    list: true,
    unfinished: true,
    usage: true,
    depth: true,
    upload: true,
    notify: true,
    renew: true,
    cancel: true,
    remove: true,
    claim: true,
    extend: true,
    extendAll: true,
    finish: true,
    fail: true,
    release: true,
    setAside: true,
    putBack: true,
    sweep: true,
    referenced: true,
    beginAnswer: true,
    extendAnswer: true,
    abandonAnswer: true,
    secret: true,
    clientNamed: true,
    open: true,
  },
  apiKeys: {
    putApiKey: true,
    findApiKey: true,
    listApiKeys: true,
    removeApiKey: true,
    rotateApiKey: true,
    markApiKeysUsed: true,
  },
  quotas: { quota: true, quotas: true, setQuota: true },
} as const satisfies {
  readonly [Port in PortName]: Readonly<Record<Exclude<Verb<Port>, 'ping' | 'close'>, true>>;
};

const PING_MS = 1000;
const WARN_EVERY_MS = 1000;

interface Sent extends Omit<Deferred<unknown>, 'promise'> {
  readonly call: Call;
}

class StoreThread {
  readonly #settings: StoreSettings;
  readonly #onTrouble: SqliteOptions['onTrouble'];
  readonly #limitMs: number;
  readonly listeners = new Listeners();
  readonly #pool = new ThreadPool({
    size: 1,
    name: STORE_WORKER,
    module: workerBeside(import.meta.url, 'sqliteWorker'),
  });
  /** Calls that are sent together: those of one turn of the event loop, while others are sent. */
  readonly #outbox: Sent[] = [];
  /** Number of messages without their last answer. */
  #sent = 0;
  #closing: Promise<void> | null = null;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor({ onTrouble, ...settings }: SqliteOptions) {
    this.#settings = settings;
    this.#onTrouble = onTrouble;
    // The thread keeps its own limit; this one is for a disk that does not answer at all.
    this.#limitMs = 2 * (settings.patienceMs ?? PATIENCE_MS);
  }

  async call(port: PortName, verb: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closing) throw unavailable('the store was closed');
    try {
      return await this.#ask(port, verb, args);
    } catch (error) {
      this.#warn(verb, error as CodedError);
      throw error;
    }
  }

  async ping(): Promise<void> {
    const late = () => unavailable('no answer within a second');
    await withTimeout(this.call('tasks', 'ping', []), PING_MS, late);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    // Without a thread and calls for it there is nothing to close.
    const isOpen = this.#pool.hasThread || this.#sent + this.#outbox.length > 0;
    if (isOpen) await this.#ask('tasks', 'close', []).catch(() => {});
    this.listeners.clear();
    await this.#pool.close();
  }

  #ask(port: PortName, verb: string, args: readonly unknown[]): Promise<unknown> {
    const { promise, ...settle } = deferred<unknown>();
    this.#outbox.push({ call: { port, verb, args }, ...settle });
    if (this.#outbox.length === 1) {
      const send = () => void this.#send(this.#outbox.splice(0));
      if (this.#sent > 0) setImmediate(send);
      else queueMicrotask(send);
    }
    // Opening has no limit, since it may migrate the file.
    if (verb === 'open') return promise;
    return withTimeout(promise, this.#limitMs, () => unavailable('no answer from the disk'));
  }

  async #send(batch: readonly Sent[]): Promise<void> {
    const receive = (told: unknown) => this.#receive(batch, told as Outcomes);
    const work: Calls = { settings: this.#settings, calls: batch.map(({ call }) => call) };
    let last: unknown;
    this.#sent++;
    try {
      await this.#ready();
      last = await this.#pool.call({ work }, { onNews: receive });
    } catch (error) {
      // A call that cannot be sent fails alone.
      const { code } = error as CodedError;
      const again = code === 'INTERNAL' && batch.length > 1;
      for (const each of batch) {
        if (again) void this.#send([each]);
        else each.reject(code === 'THREAD_LOST' ? lost(error) : error);
      }
      return;
    } finally {
      this.#sent--;
    }
    receive(last);
  }

  async #ready(): Promise<void> {
    if (this.#pool.running > 0) return;
    try {
      await this.#pool.ready();
    } catch (cause) {
      throw noWorker('The thread of the store', cause);
    }
  }

  #receive(batch: readonly Sent[], { outcomes, news }: Outcomes): void {
    this.listeners.tell(news);
    for (const outcome of outcomes) {
      const { resolve, reject } = batch[outcome.index]!;
      if ('fault' in outcome) reject(errorOf(outcome.fault));
      else resolve(outcome.value);
    }
  }

  #warn(verb: string, error: CodedError): void {
    if (error.code !== 'STORE_UNAVAILABLE' && error.code !== 'STORAGE_FULL') return;
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = nowMs;
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    this.#onTrouble?.(error.message, { verb, code: error.code, cause });
  }
}

const lost = (cause: unknown) => new CodedError('STORE_UNAVAILABLE', { cause });
const unavailable = (why: string) => lost(new Error(why));
