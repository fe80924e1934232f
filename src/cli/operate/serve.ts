/** `falconry serve`: the service on its own, with its embedded store or one that hosts share. */
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerHealth } from '../../middleware/http/health.ts';
import { hashApiKey } from '../../middleware/identity/apiKeys.ts';
import type { FalconService, ServiceOptions } from '../../middleware/index.ts';
import { type Settings, STORE_FILE } from '../../middleware/options/options.ts';
import { keyPlace } from '../../middleware/signing/keyFile.ts';
import type { ApiKeyStore } from '../../middleware/stores/port/taskStore.ts';
import { sqliteTableStore } from '../../middleware/stores/sqlite/sqliteTable.ts';
import { engineStandsBack } from '../../middleware/tasks/priority.ts';
import { keyLink } from '../../wire/pageConfig.ts';
import { type Command, EXIT, FILE_EXITS, UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { asIoFailure, SHOW } from '../lib/io.ts';
import { SERVE_SETTINGS, type ServeSetting } from '../lib/settings.ts';
import { loadFramework } from './drivers.ts';
import type { HttpServer, HttpServerOptions } from './httpServer.ts';
import { cannotListen, stopSignal } from './listening.ts';
import { openObservability } from './observability.ts';
import { resolveService, serverLimits, serviceOptions } from './serveConfig.ts';
import { type Opened, type SharedStores, withShared } from './sharedStores.ts';
import { type Ready, welcome } from './welcome.ts';

/** The `serve` command. */
export const command: Command = defineCommand({
  name: 'serve',
  summary: 'start the service',
  usage: ['[options]'],
  about: [
    'Starts the service with its embedded store: SQLite and files in one directory. The first ' +
      'start creates a signing key and an API key. The API key is written to the file ' +
      'first-api-key in the data directory, with mode 0600; it is printed instead with --show, ' +
      'or with --json unless standard output is a terminal.',
    'With --database and --blobs, any number of hosts serve the same tasks, and falconry worker ' +
      'works on them; run falconry migrate first. No API key is created then (falconry keys ' +
      'create --database does that), signing is off unless a signing key is named, and --data is ' +
      'not used. The packages pg and aws4fetch are needed. Credentials of the bucket are ' +
      'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or files named by these ' +
      'variables with _FILE, which are read again every 5 minutes.',
    'SIGTERM and SIGINT shut it down: it accepts no new work and lets running work finish; the ' +
      'rest continues at the next start. A second signal ends it at once. /healthz and /readyz, ' +
      'for load balancers, need no key; with --drain-delay, /readyz returns 503 for that long ' +
      'before connections are refused. The metrics port has them as well, and /metrics for ' +
      'Prometheus (package prom-client). With @opentelemetry/api and an SDK (node --import), ' +
      'requests and tasks have spans.',
    'Times are written as 90s, 15m, 1h or 30d, sizes as 500kB or 32MiB; bare numbers are seconds ' +
      'and bytes. PORT is used if FALCONRY_PORT is not set.',
  ],
  options: [SHOW],
  settings: SERVE_SETTINGS,
  examples: [
    'falconry serve',
    'falconry serve --host 0.0.0.0 --public-url https://falcon.example.com --no-signing',
    'falconry serve --data ./falcon-data --retention 90d --log json --log-level warn',
  ],
  more: [
    'falconry serve --metrics-port 9464 --access-log off',
    'falconry serve --database postgres://falconry@db/falconry --blobs s3://falconry/one/ ' +
      '--no-workers',
  ],
  exits: FILE_EXITS,
  execute,
});

/** An API key of the operator's own: fit for a header, and too long to guess. */
const FIRST_KEY = /^[\x21-\x7e]{32,512}$/;

async function execute(invocation: Invocation<ServeSetting>): Promise<number> {
  const { io } = invocation;
  const config = await invocation.config();
  const { firstKey } = config.values;
  const options = serviceOptions(config);
  resolveService(options);
  if (firstKey !== undefined && !FIRST_KEY.test(firstKey)) {
    throw new UsageError('the first key must be 32 to 512 printable characters without spaces');
  }
  return withShared(config, io, (opened) => serve(invocation, config, { options, ...opened }));
}

async function serve(
  { io, json, flag, report }: Invocation<ServeSetting>,
  { values }: Config<ServeSetting>,
  { options: given, shared, logger }: Opened & { readonly options: ServiceOptions },
): Promise<number> {
  const { port, host, grace, drainDelay, firstKey } = values;
  const options = { ...given, ...shared.options };
  const settings = resolveService(options);
  const { falconService, openHttpServer } = await loadFramework();
  const keepsHere = options.store === undefined || options.blobs === undefined;
  const dataDirectory = keepsHere ? settings.dataDirectory : null;
  const { threads } = settings;
  const observed = await openObservability({ ...values, dataDirectory, threads, logger });
  const service = falconService({ ...options, ...observed.options, logger });
  engineStandsBack();
  await observed.open(service, openHttpServer);
  const open = (fetch: HttpServerOptions['fetch']) => {
    const onRefused = (refused: object) => logger.warn('connections refused', { ...refused });
    const limits = serverLimits(values, settings);
    return openHttpServer({ fetch, port, host, ...limits, onRefused }).catch((error) => {
      throw cannotListen(host, port, error);
    });
  };
  const starting = async () => {
    if (firstKey !== undefined)
      await takeFirstKey(shared.store?.apiKeys ?? null, settings, firstKey);
    return startServing(service, open);
  };
  const server = await starting().catch(async (error) => {
    await observed.close();
    throw error;
  });
  const stopped = stopSignal();
  // A terminal has people before it; what is none may be a log that others read.
  const isShown = flag('show') || (json && io.stdout.isTTY !== true);
  const path = join(resolve(settings.dataDirectory), KEY_FILE);
  // Two hosts would make two keys.
  const making =
    shared.store === null ? makeFirstKey(service, isShown ? null : path) : Promise.resolve(NO_KEY);
  const first = await making.catch(async (error) => {
    await Promise.all([server.close(0), service.stop({ graceMs: 0 }), observed.close()]);
    throw error;
  });
  const ready = readyWith(values, settings, shared.shown, server.port);
  const ports = { port: server.port, metrics_port: observed.port };
  const mayLink = flag('show') && io.stdout.isTTY === true;
  report(...announcement({ ...ready, ...first }, ports, mayLink));

  const signal = await stopped;
  if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
  service.drain();
  await sleep(drainDelay);
  await Promise.all([server.close(grace), service.stop({ graceMs: grace })]);
  await observed.close();
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}

/**
 * The report of a service that is ready.
 *
 * @param mayLink whether a link to the page may hold the key
 */
function announcement(
  ready: Omit<Ready, 'link'>,
  ports: Readonly<Record<string, unknown>>,
  mayLink: boolean,
): [Readonly<Record<string, unknown>>, string] {
  const { address, dataDirectory: data, database, blobs, key, keyFile } = ready;
  const shown = keyFile === null ? key : null;
  const secret = { api_key: shown, api_key_file: keyFile };
  const link = mayLink && ready.ui && shown !== null ? keyLink(ready.base, shown) : null;
  return [
    { ok: true, address, ...ports, data, database, blobs, ...secret },
    welcome({ ...ready, link }),
  ];
}

/** What there is to say of a service that is ready. */
function readyWith(
  values: Config<ServeSetting>['values'],
  settings: Settings,
  { database, blobs }: SharedStores['shown'],
  port: number,
): Omit<Ready, 'key' | 'keyFile' | 'link'> {
  const { host } = values;
  const { serviceName, signing, ui, publicUrl } = settings;
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const dataDirectory = database === null ? resolve(settings.dataDirectory) : null;
  return {
    base: publicUrl ?? address,
    address,
    dataDirectory,
    database,
    blobs,
    serviceName,
    signingKey: signing ? resolve(keyPlace(settings).path) : null,
    ui,
  };
}

/** Starts the service behind a port; if the port cannot be opened, the service is stopped again. */
async function startServing(
  service: FalconService,
  open: (fetch: HttpServerOptions['fetch']) => Promise<HttpServer>,
): Promise<HttpServer> {
  await service.start();
  try {
    return await open(
      (request, env) => answerHealth(service, request) ?? service.app.fetch(request, env),
    );
  } catch (error) {
    await service.stop({ graceMs: 0 });
    throw error;
  }
}

/** Stores the operator's own key if the store has no keys. */
async function takeFirstKey(
  shared: ApiKeyStore | null,
  { dataDirectory, allowSharedDatabase: allowShared }: Settings,
  key: string,
): Promise<void> {
  const path = join(dataDirectory, STORE_FILE);
  const own = shared === null ? sqliteTableStore({ path, allowShared }) : null;
  const apiKeys = shared ?? own!.apiKeys;
  try {
    if ((await apiKeys.listApiKeys()).length > 0) return;
    await apiKeys.putApiKey({ sha256: hashApiKey(key), name: 'first' });
  } finally {
    await own?.close();
  }
}

/** Neither made nor written. */
const NO_KEY = { key: null, keyFile: null };

/** The file of the first API key, in the data directory. */
const KEY_FILE = 'first-api-key';

/**
 * The API key of a store that has none.
 *
 * @param path the file that it is written to, readable by its owner only; null to show it
 */
async function makeFirstKey(
  { apiKeys }: FalconService,
  path: string | null,
): Promise<Pick<Ready, 'key' | 'keyFile'>> {
  if ((await apiKeys.list()).length > 0) return NO_KEY;
  const { key } = await apiKeys.create({ name: 'first' });
  if (path === null) return { key, keyFile: null };
  try {
    // One that is there belongs to a store that is gone: this one had no key.
    await rm(path, { force: true });
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    return { key, keyFile: path };
  } catch (error) {
    // Nobody would ever know it.
    await apiKeys.revoke(hashApiKey(key));
    throw asIoFailure(`cannot write ${path}`, error);
  }
}
