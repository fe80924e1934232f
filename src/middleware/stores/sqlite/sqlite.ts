/**
 * The store in an SQLite file, on its own thread, so that neither commits nor a locked file block
 * the event loop of the service. sqliteTable.ts does the work. Short reads are done on the calling
 * thread, by a connection of its own: they take a fraction of the time of a message, and never wait
 * for a commit.
 *
 * A call that cannot be done in time, because another process holds the file, is rejected with
 * `STORE_UNAVAILABLE`. So are the calls of a thread that dies; their outcome is unknown. The next
 * call starts another thread.
 */
import { setImmediate } from 'node:timers';
import { CodedError } from '../../../shared/errors.ts';
import { type HostThread, startThread, workerBeside } from '../../../shared/threads/host.ts';
import { errorOf } from '../../../shared/threads/messages.ts';
import { noWorker } from '../../../shared/threads/noWorker.ts';
import { type Deferred, deferred, withTimeout } from '../../../shared/wait.ts';
import { Listeners } from '../port/parts.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import type { ListQuery } from '../port/taskStore.ts';
import { PATIENCE_MS } from './sqliteFile.ts';
import { type SqliteReader, sqliteReader } from './sqliteTable.ts';
import {
  type Call,
  type FromThread,
  fileOf,
  type PortName,
  STORE_WORKER,
  type StoreSettings,
  type ToThread,
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
    const verbs = Object.entries(VERBS[name]).map(([verb, how]) => [
      verb,
      (...args: unknown[]) => thread[how](name, verb, args),
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
  return { tasks, parts: tasks, apiKeys, quotas, open: tasks.open, close: tasks.close };
}

/** The verbs that the thread performs as they are; `read`: here, if possible. */
const VERBS = {
  tasks: {
    put: 'call',
    putPart: 'call',
    get: 'read',
    parts: 'call',
    list: 'read',
    unfinished: 'call',
    usage: 'read',
    depth: 'call',
    upload: 'call',
    notify: 'call',
    renew: 'call',
    cancel: 'call',
    remove: 'call',
    claim: 'call',
    extend: 'call',
    extendAll: 'call',
    finish: 'call',
    fail: 'call',
    remake: 'call',
    release: 'call',
    setAside: 'call',
    putBack: 'call',
    sweep: 'call',
    suspectClock: 'call',
    acceptClock: 'call',
    referenced: 'call',
    beginAnswer: 'call',
    extendAnswer: 'call',
    abandonAnswer: 'call',
    secret: 'call',
    clientNamed: 'call',
    open: 'call',
  },
  apiKeys: {
    putApiKey: 'call',
    findApiKey: 'read',
    listApiKeys: 'call',
    removeApiKey: 'call',
    rotateApiKey: 'call',
    markApiKeysUsed: 'call',
  },
  quotas: { quota: 'read', quotas: 'call', setQuota: 'call' },
} as const satisfies {
  readonly [Port in PortName]: Readonly<
    Record<Exclude<Verb<Port>, 'ping' | 'close'>, 'call' | 'read'>
  >;
};

const PING_MS = 1000;
/** Between two looks at calls without an answer. */
const LOOK_MS = 1000;
/** A thread that has not said hello by then never will. */
const HELLO_MS = 20_000;
const WARN_EVERY_MS = 1000;
/** After a slow read here, such as from a busy disk, the other thread reads for a while. */
const SLOW_MS = 20;
const AVOID_MS = 1000;

interface Pending extends Call, Deferred<unknown> {
  readonly sinceMs: number;
  /** Found late once: a busy event loop may only not have read the answer. */
  late: boolean;
}

class StoreThread {
  readonly #options: SqliteOptions;
  readonly #limitMs: number;
  readonly listeners = new Listeners();
  /** Calls without an answer, oldest first; those in `#outbox` have not been sent. */
  readonly #pending = new Map<number, Pending>();
  #outbox: Call[] = [];
  #thread: HostThread | null = null;
  #running = false;
  #sending = false;
  #nextId = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #helloTimer: ReturnType<typeof setTimeout> | undefined;
  #closing: Promise<void> | null = null;
  /** Open while the thread has the file open. */
  #reader: SqliteReader | null = null;
  /** The thread may have changed something since the last read. */
  #isBehind = false;
  #slowUntilMs = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(options: SqliteOptions) {
    this.#options = options;
    // The thread keeps its own limit; this one is for a disk that does not answer at all.
    this.#limitMs = 2 * (options.patienceMs ?? PATIENCE_MS);
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

  /** Reads on this thread, if it can be done at once. */
  async read(port: PortName, verb: string, args: readonly unknown[]): Promise<unknown> {
    const reader = this.#reader;
    const startMs = performance.now();
    if (reader !== null && startMs >= this.#slowUntilMs && isShort(verb, args)) {
      try {
        reader.begin(this.#isBehind);
        this.#isBehind = false;
        const answer = (reader[port] as unknown as Verbs)[verb]!(...args);
        const endMs = performance.now();
        if (endMs - startMs > SLOW_MS) this.#slowUntilMs = endMs + AVOID_MS;
        return await answer;
      } catch {
        // The other thread waits for locks, and reports what is wrong.
      }
    }
    return this.call(port, verb, args);
  }

  /** At once, since clocks begin with it. */
  #openReader(): void {
    if (this.#reader !== null || this.#closing) return;
    try {
      this.#reader = sqliteReader(fileOf(this.#options));
    } catch {
      // The next answer of the thread tries again.
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
    await this.#reader?.close();
    // Nothing is lost with a thread that has died: what it had was refused.
    if (this.#thread) await this.#ask('tasks', 'close', []).catch(() => {});
    this.listeners.clear();
    clearTimeout(this.#helloTimer);
    await this.#thread?.terminate();
    this.#thread = null;
  }

  #ask(port: PortName, verb: string, args: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++;
    const call = { id, port, verb, args };
    const pending = { ...call, ...deferred<unknown>(), sinceMs: performance.now(), late: false };
    this.#pending.set(id, pending);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
    this.#outbox.push(call);
    if (this.#thread === null) this.#start();
    else if (this.#running) this.#sendSoon();
    this.#hold();
    return pending.promise;
  }

  /** Alone at once; while there are more calls, together with what comes in this turn. */
  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    const send = () => {
      this.#sending = false;
      this.#send();
    };
    if (this.#pending.size > 1) setImmediate(send);
    else queueMicrotask(send);
  }

  #send(): void {
    if (!this.#running || this.#outbox.length === 0) return;
    const calls = this.#outbox;
    this.#outbox = [];
    try {
      this.#post({ calls });
    } catch (cause) {
      // What cannot be sent fails alone.
      for (const call of calls) this.#sendAlone(call, cause);
    }
  }

  #sendAlone(call: Call, cause: unknown): void {
    try {
      this.#post({ calls: [call] });
    } catch {
      this.#settle(call.id)?.reject(new CodedError('INTERNAL', { cause }));
    }
  }

  #post(message: ToThread): void {
    this.#thread?.post(message, []);
  }

  #hold(): void {
    this.#thread?.hold(this.#pending.size > 0);
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#hold();
    return pending;
  }

  #start(): void {
    const events = {
      onMessage: (message: unknown) => this.#receive(message as FromThread),
      onLost: (cause: unknown) => this.#lose(cause),
    };
    try {
      this.#thread = startThread(workerBeside(import.meta.url, 'sqliteWorker'), events);
    } catch (cause) {
      this.#lose(cause);
      return;
    }
    this.#helloTimer = setTimeout(() => this.#giveUp('the thread did not say hello'), HELLO_MS);
    this.#helloTimer.unref();
  }

  /** Ends a thread that is not ours to use. */
  #giveUp(why: string): void {
    void this.#thread?.terminate();
    this.#lose(new Error(why));
  }

  /** Refuses what the thread had; what it was not sent goes to the next one. */
  #lose(cause: unknown): void {
    const wasRunning = this.#running;
    clearTimeout(this.#helloTimer);
    // Before another thread opens the file.
    void this.#reader?.close();
    this.#reader = null;
    this.#thread = null;
    this.#running = false;
    const kept = new Set(wasRunning ? this.#outbox.map(({ id }) => id) : []);
    const error = wasRunning
      ? new CodedError('STORE_UNAVAILABLE', { cause })
      : noWorker('The thread of the store', cause);
    if (!wasRunning) this.#outbox = [];
    for (const id of this.#pending.keys()) {
      if (!kept.has(id)) this.#settle(id)?.reject(error);
    }
    if (this.#outbox.length > 0) this.#start();
  }

  #receive(message: FromThread): void {
    if ('hello' in message) {
      clearTimeout(this.#helloTimer);
      if (message.hello !== STORE_WORKER) {
        this.#giveUp(`the thread runs "${message.hello}" instead of "${STORE_WORKER}"`);
        return;
      }
      this.#running = true;
      const { onTrouble, ...settings } = this.#options;
      this.#post({ open: settings });
      this.#send();
      return;
    }
    this.#isBehind = true;
    this.listeners.tell(message.news);
    for (const answer of message.answers) {
      const pending = this.#settle(answer.id);
      if (!('fault' in answer)) this.#openReader();
      if ('fault' in answer) pending?.reject(errorOf(answer.fault));
      else pending?.resolve(answer.value);
    }
  }

  /** Refuses calls that the thread has had for too long. Opening may take its time: it migrates. */
  #look(): void {
    if (!this.#running) return;
    const beforeMs = performance.now() - this.#limitMs;
    for (const pending of this.#pending.values()) {
      if (pending.verb === 'open' || pending.sinceMs > beforeMs) return;
      if (pending.late) this.#settle(pending.id)?.reject(unavailable('no answer from the disk'));
      pending.late = true;
    }
  }

  #warn(verb: string, error: CodedError): void {
    if (error.code !== 'STORE_UNAVAILABLE' && error.code !== 'STORAGE_FULL') return;
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = nowMs;
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    this.#options.onTrouble?.(error.message, { verb, code: error.code, cause });
  }
}

type Verbs = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

/** A list of more rows would delay other work of the process. */
const isShort = (verb: string, [query]: readonly unknown[]): boolean =>
  verb !== 'list' || (query as ListQuery).limit <= 20;

const unavailable = (why: string) => new CodedError('STORE_UNAVAILABLE', { cause: new Error(why) });
