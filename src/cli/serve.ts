/** `falconry serve`: the service on its own, with its embedded store. */
import { join, resolve } from 'node:path';
import { hashApiKey } from '../middleware/keys/apiKeys.ts';
import { STORE_FILE } from '../middleware/options.ts';
import { sqliteStore } from '../middleware/stores/sqlite.ts';
import { cannotListen } from './cannotListen.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { loadFramework } from './framework.ts';
import type { HttpServer } from './httpServer.ts';
import { createLogger } from './log.ts';
import { check } from './serveCheck.ts';
import { resolveService, serviceOptions, settingsHelp } from './serveConfig.ts';
import { SERVE_SETTINGS, type ServeSetting } from './settings.ts';
import { welcome } from './welcome.ts';

const help = `Usage: falconry serve [options]

Starts the service with its embedded store (SQLite and files in one directory). The first start
creates a signing key and an API key, which is shown once.

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
  falconry serve --data ./falcon-data --retention 90d --log json --log-level warn

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
  if (firstKey !== undefined) await takeFirstKey(settings.dataDirectory, firstKey);
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
  const first = (await service.apiKeys.list()).length === 0;
  const key = first ? (await service.apiKeys.create({ name: 'first' })).key : null;
  const dataDirectory = resolve(settings.dataDirectory);
  const { serviceName, signing, ui, publicUrl } = settings;
  const ready = {
    base: publicUrl ?? address,
    address,
    dataDirectory,
    serviceName,
    signing,
    ui,
    key,
  };
  const facts = { ok: true, address, port: server.port, data: dataDirectory, api_key: key };
  report(facts, welcome(ready));

  const signal = await stopped;
  if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
  await Promise.all([server.close(grace), service.stop({ graceMs: grace })]);
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}

/** Stores the operator's own key if the store has no keys. */
async function takeFirstKey(dataDirectory: string, key: string): Promise<void> {
  const store = sqliteStore({ path: join(dataDirectory, STORE_FILE) });
  try {
    if ((await store.listApiKeys()).length > 0) return;
    await store.putApiKey({ sha256: hashApiKey(key), name: 'first' });
  } finally {
    await store.close();
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
