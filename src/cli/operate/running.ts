/** The life cycle that `falconry serve` and `falconry worker` share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FalconService, Logger, ServiceOptions } from '../../middleware/index.ts';
import type { Settings } from '../../middleware/options/options.ts';
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { isCodedError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/wait.ts';
import { IoFailure } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { Invocation } from '../lib/define.ts';
import type { HttpServer, openHttpServer } from './httpServer.ts';
import { createLogger, openObservability } from './observability.ts';
import { resolveService, type WorkerSetting } from './serveConfig.ts';
import { load, openShared, type SharedStores } from './stores.ts';

type Open = typeof openHttpServer;

interface Prepared {
  readonly service: FalconService;
  readonly settings: Settings;
  readonly shared: SharedStores;
  readonly logger: Logger;
  /** @throws IoFailure if the port cannot be opened */
  readonly open: Open;
}

const NEEDED =
  'the service needs the packages hono (4.7 or newer) and @hono/node-server: ' +
  'npm install hono @hono/node-server';

/** Also fails if Hono is too old for the other package. */
const loadFramework = () =>
  load(['hono', '@hono/node-server'], NEEDED, async () => {
    const { falconService } = await import('../../middleware/index.ts');
    return { falconService, ...(await import('./httpServer.ts')) };
  });

interface Role {
  /** Most connections to the database; absent: as many as the store takes. */
  readonly connections?: number;
  /** At shutdown, the time between refusing to be ready and closing the port. */
  readonly drainDelayMs: number;
  /** Starts the service. @returns its HTTP server, if it has one */
  start(prepared: Prepared): Promise<HttpServer | null>;
  /** @returns the report of a service that has started */
  announce(
    prepared: Prepared,
    ports: { readonly port: number; readonly metrics_port: number | null },
  ): Promise<[facts: Readonly<Record<string, unknown>>, text: string]>;
}

/**
 * Runs a service until a signal ends it.
 *
 * @throws UsageError, IoFailure if it cannot start; everything that was opened is closed again
 */
export async function runService<N extends WorkerSetting>(
  { io, json, report }: Invocation<N>,
  { values, warnings }: Pick<Config<WorkerSetting>, 'values' | 'warnings'>,
  options: ServiceOptions,
  role: Role,
): Promise<void> {
  // Mistakes in the settings come before anything is opened.
  resolveService(options);
  const logger = createLogger(io, values.logLevel, values.log);
  for (const warning of warnings) logger.warn(warning);
  const shared = await openShared(values, io.env, role.connections);
  const closing: (() => Promise<unknown>)[] = [async () => shared.store?.close()];
  try {
    const { store, blobs } = shared;
    const all = { ...options, ...(store && { store }), ...(blobs && { blobs }) };
    const settings = resolveService(all);
    const dataDirectory = store && blobs ? null : settings.dataDirectory;
    const { falconService, openHttpServer } = await loadFramework();
    const open: Open = (how) =>
      openHttpServer(how).catch((error) => {
        throw cannotListen(how.host, how.port, error);
      });
    const observed = await openObservability({
      ...values,
      dataDirectory,
      threads: settings.threads,
      logger,
    });
    closing.push(() => observed.close());
    const service = falconService({ ...all, ...observed.options, logger });
    await observed.open(service, open);
    let server: HttpServer | null = null;
    let graceMs = 0;
    closing.push(async () => {
      const stopped = Promise.all([server?.close(graceMs), service.stop({ graceMs })]);
      await withTimeout(stopped, graceMs, () => LATE).catch(async (error) => {
        if (error !== LATE) throw error;
        if (store !== null) await closeIfGone(store);
        await stopped;
      });
    });
    const prepared = { service, settings, shared, logger, open };
    server = await role.start(prepared);
    const stopped = stopSignal();
    const ports = { port: server?.port ?? 0, metrics_port: observed.port() };
    report(...(await role.announce(prepared, ports)));
    const signal = await stopped;
    if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
    service.drain();
    await sleep(role.drainDelayMs);
    graceMs = values.grace;
  } finally {
    for (const close of closing.reverse()) await close();
  }
  if (!json) report({}, 'Stopped.\n');
}

const LATE = new Error('the service takes longer to stop than its work may');

/** Closes a store that does not answer, so that no step of the shutdown waits for it. */
async function closeIfGone(store: CompleteStore): Promise<void> {
  await store.tasks.ping().catch(async (error) => {
    if (isCodedError(error) && error.code === 'STORE_UNAVAILABLE') await store.close();
  });
}

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is listening there',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'unknown host name',
};

export function cannotListen(host: string, port: number, error: unknown): IoFailure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = code in LISTEN_FAULTS ? `${LISTEN_FAULTS[code]} (${code})` : message;
  return new IoFailure(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}

/** The first signal shuts down; the second, by the system's default, ends the process. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    const signals = ['SIGTERM', 'SIGINT'] as const;
    const onSignal = (signal: NodeJS.Signals) => {
      for (const name of signals) process.off(name, onSignal);
      done(signal);
    };
    for (const name of signals) process.on(name, onSignal);
  });
}
