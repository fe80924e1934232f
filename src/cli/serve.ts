/** `falconry serve`: the service on its own, with its embedded store. */
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FalconService } from '../middleware/index.ts';
import { hashApiKey } from '../middleware/keys/apiKeys.ts';
import { type Settings, STORE_FILE } from '../middleware/options.ts';
import { sqliteTableStore } from '../middleware/stores/sqliteTable.ts';
import { cannotListen } from './cannotListen.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { loadFramework } from './framework.ts';
import type { HttpServer } from './httpServer.ts';
import { asIoFailure } from './io.ts';
import { createLogger } from './log.ts';
import { check } from './serveCheck.ts';
import { resolveService, serviceOptions, settingsHelp } from './serveConfig.ts';
import { SERVE_SETTINGS, type ServeSetting } from './settings.ts';
import { type Ready, welcome } from './welcome.ts';

const help = `Usage: falconry serve [options]

Starts the service with its embedded store (SQLite and files in one directory). The first start
creates a signing key and an API key, which is shown once on a terminal, and in the line of --json;
else it is written to the file first-api-key in the data directory, with mode 0600.

  --check           do not start: explain the configuration, with the origin of each value, and look
                    for problems with ports, addresses, data, disk, database, keys and threads
  --config <file>   configuration file (FALCONRY_CONFIG) [falconry.json, if there is one]
  --json            print one line of JSON when ready; with --check, the findings as JSON
  -q, --quiet       print nothing on standard output
  -h, --help        this text

Each option below can also be set in the environment and in the configuration file, a JSON object:
--public-url is FALCONRY_PUBLIC_URL and "publicUrl". Options take precedence over the environment,
the environment over the file, and the file over the defaults [in brackets]. A secret can also be in
a file of its own: --first-key-file, FALCONRY_FIRST_KEY_FILE, "firstKeyFile". Times are written as
90s, 15m, 1h or 30d, sizes as 500kB or 32MiB; bare numbers are seconds and bytes. PORT is used if
FALCONRY_PORT is not set.

${settingsHelp()}
SIGTERM and SIGINT shut it down: it takes no new work and lets running work finish; what is left
continues at the next start. A second signal ends it at once.

Examples
  falconry serve
  falconry serve --check
  falconry serve --host 0.0.0.0 --public-url https://falcon.example.com --no-signing
  falconry serve --data ./falcon-data --retention 30d --log json --log-level warn

${exitHelp('invalid', 'usage', 'io')}`;

/** The `serve` command. */
export const command: Command = defineCommand({
  name: 'serve',
  summary: 'start the service with its embedded store',
  help,
  options: { check: FLAG },
  settings: SERVE_SETTINGS,
  execute,
});

/** An API key of the operator's own: fit for a header, and too long to guess. */
const FIRST_KEY = /^[\x21-\x7e]{32,512}$/;

async function execute(invocation: Invocation<ServeSetting>): Promise<number> {
  const { io, positionals, flag, json, report } = invocation;
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
  if (flag('check')) return check(invocation);
  const config = await invocation.config();
  const { port, host, grace, log, logLevel = 'info', firstKey } = config.values;
  const options = serviceOptions(config);
  const settings = resolveService(options);
  if (firstKey !== undefined && !FIRST_KEY.test(firstKey)) {
    throw new UsageError('the first key must be 32 to 512 printable characters without spaces');
  }
  const logger = createLogger(io, logLevel, log);
  for (const warning of config.warnings) logger.warn(warning);

  const { falconService, openHttpServer } = await loadFramework();
  const service = falconService({ ...options, logger });
  if (firstKey !== undefined) await takeFirstKey(settings, firstKey);
  await service.start();
  let server: HttpServer;
  try {
    server = await openHttpServer({ fetch: service.app.fetch, port, host });
  } catch (error) {
    await service.stop({ graceMs: 0 });
    throw cannotListen(host, port, error);
  }
  const stopped = stopSignal();
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
  const dataDirectory = resolve(settings.dataDirectory);
  // What is not a terminal may be a log that others read.
  const isShown = json || io.stdout.isTTY === true;
  const first = await makeFirstKey(service, isShown ? null : join(dataDirectory, KEY_FILE)).catch(
    async (error) => {
      await Promise.all([server.close(0), service.stop({ graceMs: 0 })]);
      throw error;
    },
  );
  const { serviceName, signing, ui, publicUrl } = settings;
  const ready = {
    base: publicUrl ?? address,
    address,
    dataDirectory,
    serviceName,
    signing,
    ui,
    ...first,
  };
  const facts = { ok: true, address, port: server.port, data: dataDirectory, api_key: first.key };
  report(facts, welcome(ready));

  const signal = await stopped;
  if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
  await Promise.all([server.close(grace), service.stop({ graceMs: grace })]);
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}

/** Stores the operator's own key if the store has no keys. */
async function takeFirstKey(settings: Settings, key: string): Promise<void> {
  const { dataDirectory, allowSharedDatabase: allowShared } = settings;
  const store = sqliteTableStore({ path: join(dataDirectory, STORE_FILE), allowShared });
  try {
    if ((await store.listApiKeys()).length > 0) return;
    await store.putApiKey({ sha256: hashApiKey(key), name: 'first' });
  } finally {
    await store.close();
  }
}

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
  if ((await apiKeys.list()).length > 0) return { key: null, keyFile: null };
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
