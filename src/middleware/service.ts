/**
 * The service behind the routes: opens the ports, starts the runner and the housekeeper, and closes
 * everything in reverse order.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../shared/errors.ts';
import { withTimeout } from '../shared/wait.ts';
import { directoryBlobs } from './blobs/directory/directory.ts';
import type { BlobStore } from './blobs/port/blobStore.ts';
import { errorText, type PortCall } from './events.ts';
import { ClientLimits } from './http/clientLimits.ts';
import { HealthWatch, type ServiceState } from './http/health.ts';
import { Tracer } from './http/tracing.ts';
import { KeyUses, storedKeyAuthentication } from './identity/apiKeys.ts';
import { type Authenticate, callerFinder } from './identity/callers.ts';
import { type Settings, STORE_FILE } from './options/options.ts';
import type { Backend, Ports } from './routes/route.ts';
import { checkKey, KeyFileSigner, keyPlace } from './signing/keyFile.ts';
import { VerifiedSigner } from './signing/signer.ts';
import type { ServiceStore } from './stores/port/serviceStore.ts';
import type { ApiKeyStore, PartStore, TaskNews, TaskStore } from './stores/port/taskStore.ts';
import { sqliteStore } from './stores/sqlite/sqlite.ts';
import { timedPort } from './stores/timedPort.ts';
import { type Aggregator, createAggregator } from './tasks/aggregateTask.ts';
import { BatchReader } from './tasks/batchReader.ts';
import { startHousekeeper } from './tasks/housekeeper.ts';
import { createRunner, type Runner } from './tasks/runner.ts';
import { workLog } from './tasks/workLog.ts';

export class Runtime implements Backend {
  readonly settings: Settings;
  /** Null without the option `tracing`. */
  readonly tracer: Tracer | null;
  readonly health: HealthWatch;
  #ports: Ports | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #draining = false;
  #runner: Runner | null = null;
  #active = 0;
  #onIdle: (() => void) | null = null;
  /** Steps that undo the start, in its order. */
  readonly #undo: ((graceMs: number) => unknown)[] = [];

  constructor(settings: Settings) {
    this.settings = settings;
    this.tracer = settings.tracing === undefined ? null : new Tracer(settings.tracing);
    this.health = new HealthWatch(this);
  }

  /** @throws CodedError `NOT_STARTED` before start, `SHUTTING_DOWN` after stop */
  get ports(): Ports {
    if (!this.#ports) throw new CodedError(this.#stopping ? 'SHUTTING_DOWN' : 'NOT_STARTED');
    return this.#ports;
  }

  get stopping(): boolean {
    return this.#stopping !== null;
  }

  get state(): ServiceState {
    if (this.#draining || this.#stopping) return 'draining';
    return this.#ports ? 'running' : 'starting';
  }

  /** Number of tasks that this process works on. */
  get running(): number {
    return this.#runner?.running ?? 0;
  }

  /** Sets the state to `draining`; requests are served until `stop`. */
  drain(): void {
    this.#draining = true;
  }

  /**
   * Counts a request; the ports stay open until the returned function is called.
   *
   * @throws CodedError `SHUTTING_DOWN` after `stop` was called
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

  /** New requests get a 503; running work may finish for `graceMs`, then returns to the queue. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= (async () => {
      await this.#starting?.catch(() => {});
      await this.#idle(graceMs);
      await this.#close(graceMs);
    })();
    return this.#stopping;
  }

  /** Waits until running requests are answered, or the time is up. */
  async #idle(graceMs: number): Promise<void> {
    if (this.#active === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    await withTimeout(idle, graceMs, () => undefined).catch(() => {});
  }

  async #open(): Promise<void> {
    const { settings } = this;
    const { dataDirectory, logger, onEvent } = settings;
    // An unusable key file is rejected before anything is created.
    if (settings.signing && !settings.signer) await checkKey(keyPlace(settings));
    if (!settings.store || !settings.blobs)
      await mkdir(dataDirectory, { recursive: true, mode: 0o700 });

    const ownStore = settings.store ?? this.#makeStore(join(dataDirectory, STORE_FILE));
    const { tasks: store, parts = null, apiKeys = null, quotas } = this.#timedStore(ownStore);
    await store.open();
    const path = join(dataDirectory, 'files');
    const ownBlobs =
      settings.blobs ?? directoryBlobs({ path, minFreeBytes: settings.minFreeBytes });
    const blobs = this.#timed('blobs', ownBlobs);
    const aggregator = this.#makeAggregator(blobs);
    const started = aggregator.start();
    started.catch(() => undefined);
    const signer = settings.signing ? await this.#openSigner() : null;
    const authenticate = callerFinder(settings.authenticate ?? this.#byKey(apiKeys!), store);
    const urlSecret = await store.secret('urls');
    const limits = new ClientLimits(quotas, settings.limits);
    const cursorSecret = await store.secret('cursors');

    const tell = ({ id, own, isPart, ...news }: TaskNews) => {
      if (isPart) return;
      if (own) onEvent({ type: 'task', taskId: id, ...news });
      else onEvent({ type: 'hint', state: news.state });
    };
    this.#undo.push(store.watch(tell));
    await started;
    if (settings.workers) this.#startRunner(store, parts, aggregator);
    if (settings.housekeeping) {
      const isStopping = () => this.stopping;
      this.#undo.push(startHousekeeper({ ...settings, store: store, blobs, isStopping }));
    }
    const reader = new BatchReader({ maxBodyBytes: settings.maxBodyBytes });
    this.#undo.push(() => reader.close());
    const known = { reader, urlSecret, limits, cursorSecret, authenticate };
    this.#ports = { store, parts, blobs, apiKeys, signer, aggregator, ...known };
    logger.info('service started', { workers: settings.workers, threads: settings.threads });
  }

  #timed<Port extends object>(name: PortCall['port'], port: Port): Port {
    const { onPortCall } = this.settings;
    return onPortCall === undefined ? port : timedPort(port, name, onPortCall);
  }

  /** Times each port of the store separately, so that calls are reported by verb alone. */
  #timedStore({ tasks, parts, apiKeys, quotas }: ServiceStore): ServiceStore {
    return {
      tasks: this.#timed('store', tasks),
      ...(parts && { parts: this.#timed('store', parts) }),
      ...(apiKeys && { apiKeys: this.#timed('store', apiKeys) }),
      ...(quotas && { quotas: this.#timed('store', quotas) }),
    };
  }

  #makeStore(path: string): ServiceStore {
    const { allowSharedDatabase: allowShared, logger } = this.settings;
    const onTrouble = (message: string, fields: object) => logger.warn(message, { ...fields });
    const store = sqliteStore({ path, allowShared, onTrouble });
    this.#undo.push(() => store.close());
    return store;
  }

  #byKey(apiKeys: ApiKeyStore): Authenticate {
    const uses = new KeyUses(apiKeys, this.settings.logger);
    this.#undo.push(() => uses.close());
    return storedKeyAuthentication(apiKeys, (sha256) => uses.note(sha256));
  }

  async #openSigner(): Promise<VerifiedSigner> {
    const { signer, signingSet, signingSalt: salt, arithmetic } = this.settings;
    if (signer !== undefined) return new VerifiedSigner(signer, signingSet);
    const own = await KeyFileSigner.open(keyPlace(this.settings), { salt, arithmetic });
    this.#undo.push(() => own.close());
    return new VerifiedSigner(own, signingSet);
  }

  #makeAggregator(blobs: BlobStore): Aggregator {
    const { threads, aggregateFormat, maxSignatures, maxDigestBytes, maxBodyBytes } = this.settings;
    const aggregator = createAggregator({
      blobs,
      maxSignatures,
      maxDigestBytes,
      maxFileBytes: maxBodyBytes,
      threads,
      format: aggregateFormat,
    });
    this.#undo.push(() => aggregator.close());
    return aggregator;
  }

  #startRunner(store: TaskStore, parts: PartStore | null, aggregator: Aggregator): void {
    const { threads, parallelTasks, leaseMs, logger, onEvent } = this.settings;
    const { tracer } = this;
    const log = workLog(logger);
    const runner = createRunner({
      store,
      parts,
      handler: aggregator.handler,
      threads,
      concurrency: parallelTasks,
      leaseMs,
      onEvent(event) {
        log(event);
        tracer?.note(event);
        onEvent({ type: 'work', event });
      },
      ...(tracer !== null && { around: (task, attempt) => tracer.attempt(task, attempt) }),
    });
    this.#undo.push((graceMs) => runner.stop({ graceMs }));
    this.#runner = runner;
    runner.start();
  }

  async #close(graceMs: number): Promise<void> {
    this.#ports = null;
    for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) {
      try {
        await undo(graceMs);
      } catch (error) {
        this.settings.logger.error('closing failed', { error: errorText(error) });
      }
    }
  }
}
