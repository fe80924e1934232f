/**
 * Everything that runs behind the routes: the ports, which are opened at start; the runner; the
 * housekeeper, which expires tasks and deletes files; and the order in which they are closed.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../errors.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import { directoryBlobs } from './blobs/directory.ts';
import { storedKeyAuthentication } from './keys/apiKeys.ts';
import { callerFinder, type FindCaller } from './keys/callers.ts';
import { fileKeyStore } from './keys/keyStore.ts';
import { Signer } from './keys/signer.ts';
import { type Settings, STORE_FILE } from './options.ts';
import { sqliteStore } from './stores/sqlite.ts';
import type { ApiKeyStore, TaskNews, TaskStore } from './stores/taskStore.ts';
import { type Aggregator, createAggregator } from './tasks/aggregateTask.ts';
import { createRunner } from './tasks/runner.ts';

/** What routes may use while the service runs. */
export interface Ports {
  readonly store: TaskStore;
  readonly blobs: BlobStore;
  readonly apiKeys: ApiKeyStore | null;
  readonly signer: Signer | null;
  /** Verifies aggregates, and does the work of the runner. */
  readonly aggregator: Aggregator;
  /** Key that signs the urls which the service serves itself. */
  readonly urlSecret: Uint8Array;
  /** Key for the checksums of cursors. */
  readonly cursorSecret: Uint8Array;
  readonly authenticate: FindCaller;
}

const SWEEP_EVERY_MS = 30_000;
const CLEAN_EVERY_MS = 3_600_000;
/** A file that no task names yet may become the file of a task within this time. */
const ORPHAN_AGE_MS = 24 * 3_600_000;
const ANSWER_LIFE_MS = 24 * 3_600_000;

export class Runtime {
  readonly settings: Settings;
  #ports: Ports | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #active = 0;
  #onIdle: (() => void) | null = null;
  /** Undone in reverse order. */
  readonly #undo: ((graceMs: number) => unknown)[] = [];

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** @throws CodedError `NOT_STARTED` before start, `SHUTTING_DOWN` after stop */
  get ports(): Ports {
    if (!this.#ports) throw new CodedError(this.#stopping ? 'SHUTTING_DOWN' : 'NOT_STARTED');
    return this.#ports;
  }

  get stopping(): boolean {
    return this.#stopping !== null;
  }

  /**
   * Counts a request; the ports stay open until the returned function is called.
   *
   * @throws CodedError `SHUTTING_DOWN` after stop was called: only requests under way may finish
   */
  enter(): () => void {
    if (this.#stopping) throw new CodedError('SHUTTING_DOWN');
    this.#active++;
    return () => {
      if (--this.#active === 0) this.#onIdle?.();
    };
  }

  start(): Promise<void> {
    if (this.#stopping) return Promise.reject(new CodedError('SHUTTING_DOWN'));
    this.#starting ??= this.#open().catch(async (error) => {
      await this.#close(0);
      this.#starting = null;
      throw error;
    });
    return this.#starting;
  }

  /** New requests get a 503; running work may finish for `graceMs`, then it is given back. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= (async () => {
      await this.#starting?.catch(() => {});
      await this.#idle(graceMs);
      await this.#close(graceMs);
    })();
    return this.#stopping;
  }

  /** Waits until the requests under way are answered, or the time is up. */
  async #idle(graceMs: number): Promise<void> {
    if (this.#active === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
  }

  async #open(): Promise<void> {
    const { settings } = this;
    const { dataDirectory, logger, onEvent } = settings;
    const embedded = !settings.store || !settings.blobs || (!settings.keyStore && settings.signing);
    if (embedded) await mkdir(dataDirectory, { recursive: true, mode: 0o700 });

    const store = settings.store ?? this.#makeStore(join(dataDirectory, STORE_FILE));
    await store.open();
    const apiKeys = 'findApiKey' in store ? (store as TaskStore & ApiKeyStore) : null;
    const path = join(dataDirectory, 'files');
    const blobs = settings.blobs ?? directoryBlobs({ path, minFreeBytes: settings.minFreeBytes });
    const aggregator = this.#makeAggregator(blobs);
    const started = aggregator.start();
    started.catch(() => undefined);
    const signer = settings.signing ? await this.#openSigner() : null;
    const hook = settings.authenticate ?? storedKeyAuthentication(apiKeys!);
    const authenticate = callerFinder(hook, store);
    const urlSecret = await store.secret('urls');
    const cursorSecret = await store.secret('cursors');

    const tell = ({ id, own, ...news }: TaskNews) => {
      if (own) onEvent({ type: 'task', taskId: id, ...news });
    };
    this.#undo.push(store.watch(tell));
    await started;
    if (settings.workers) this.#startRunner(store, aggregator);
    this.#startHousekeeper(store, blobs);
    const secrets = { urlSecret, cursorSecret };
    this.#ports = { store, blobs, apiKeys, signer, aggregator, ...secrets, authenticate };
    logger.info('service started', { workers: settings.workers, threads: settings.threads });
  }

  #makeStore(path: string): TaskStore & ApiKeyStore {
    const store = sqliteStore({ path });
    this.#undo.push(() => store.close());
    return store;
  }

  async #openSigner(): Promise<Signer> {
    const { keyStore, dataDirectory, signingKeyPerClient, signingSalt } = this.settings;
    const keys = keyStore ?? fileKeyStore({ directory: join(dataDirectory, 'keys') });
    const signer = new Signer(keys, signingKeyPerClient, signingSalt);
    this.#undo.push(() => signer.close());
    await signer.prepare();
    return signer;
  }

  #makeAggregator(blobs: BlobStore): Aggregator {
    const { threads, aggregateFormat, maxSignatures, maxDigestBytes, maxBodyBytes } = this.settings;
    const aggregator = createAggregator({
      blobs,
      maxSignatures,
      maxDigestBytes,
      maxInputBytes: maxBodyBytes,
      threads,
      format: aggregateFormat,
    });
    this.#undo.push(() => aggregator.close());
    return aggregator;
  }

  #startRunner(store: TaskStore, aggregator: Aggregator): void {
    const { threads, leaseMs, logger } = this.settings;
    const runner = createRunner({
      store,
      handler: aggregator.handler,
      threads,
      leaseMs,
      onEvent: (event) => logger.debug('runner', { ...event }),
    });
    this.#undo.push((graceMs) => runner.stop({ graceMs }));
    runner.start();
  }

  #startHousekeeper(store: TaskStore, blobs: BlobStore): void {
    const { retentionMs, logger } = this.settings;
    let running: Promise<void> | null = null;
    let cleanedAtMs = 0;
    const round = async () => {
      for (let more = true; more && !this.#stopping; ) {
        const swept = await store.sweep({
          answerMs: ANSWER_LIFE_MS,
          ...(retentionMs !== null && { retentionMs }),
        });
        for (const key of swept.blobs) await blobs.delete(key);
        for (const id of swept.expired) await blobs.uploads?.discard(id);
        more = swept.more;
      }
      if (performance.now() - cleanedAtMs > CLEAN_EVERY_MS || cleanedAtMs === 0) {
        cleanedAtMs = performance.now();
        const referenced = (keys: readonly string[]) => store.referenced(keys);
        await blobs.clean({ olderThanMs: ORPHAN_AGE_MS, referenced });
      }
    };
    const tick = () => {
      running ??= round()
        .catch((error) => logger.error('housekeeping failed', { error: describe(error) }))
        .finally(() => {
          running = null;
        });
    };
    // Looks more often if urls live only for a short time.
    const everyMs = Math.min(SWEEP_EVERY_MS, Math.max(500, this.settings.uploadUrlTtlMs / 2));
    const timer = setInterval(tick, everyMs);
    timer.unref();
    tick();
    this.#undo.push(async () => {
      clearInterval(timer);
      await running;
    });
  }

  async #close(graceMs: number): Promise<void> {
    this.#ports = null;
    for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) {
      try {
        await undo(graceMs);
      } catch (error) {
        this.settings.logger.error('closing failed', { error: describe(error) });
      }
    }
  }
}

/** An error as a field of the log. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${describe(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
