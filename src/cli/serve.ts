/** `falconry serve`: the service alone, on its embedded store. */
import { join, resolve } from 'node:path';
import { falconService } from '../middleware/index.ts';
import { hashApiKey } from '../middleware/keys/apiKeys.ts';
import { STORE_FILE } from '../middleware/options.ts';
import { sqliteStore } from '../middleware/stores/sqlite.ts';
import { cannotListen } from './cannotListen.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { type HttpServer, openHttpServer } from './httpServer.ts';
import { createLogger } from './log.ts';
import { check } from './serveCheck.ts';
import {
  resolveService,
  SERVE_SETTINGS,
  type ServeSetting,
  serviceOptions,
  settingsHelp,
} from './serveConfig.ts';
import { welcome } from './welcome.ts';

const help = `Usage: falconry serve [options]

Starts the service on its embedded store (SQLite and files in one directory). The first start makes
an API key, shown once, and a signing key.

  --check           start nothing: explain the configuration, each value and where it comes from,
                    and look for faults (port, data, database, disk, addresses, clock, keys)
  --config FILE     configuration file (FALCONRY_CONFIG) [falconry.json, if there is one]
  --json            one line of JSON when it is ready; with --check, the findings as JSON
  -q, --quiet       say nothing on standard output
  -h, --help        this text

Each option below has a name in the environment and in the configuration file, a JSON object:
--public-url is FALCONRY_PUBLIC_URL and "publicUrl". The option goes before the environment, that
before the file, that before the default [in brackets]. A secret can also be in a file of its own:
--first-key-file, FALCONRY_FIRST_KEY_FILE, "firstKeyFile". Times are written 90s, 15m, 1h or 30d,
sizes 500kB or 32MiB; bare numbers are seconds and bytes. PORT is read after FALCONRY_PORT.

${settingsHelp()}
SIGTERM and SIGINT end it in order: no new work, time for what runs to end, and what has not ended
goes on at the next start. A second signal ends it at once.

Examples
  falconry serve
  falconry serve --check
  falconry serve --host 0.0.0.0 --public-url https://falcon.example.com --no-signing
  falconry serve --data ./falcon-data --retention 30d --log json --log-level warn

${exitHelp('invalid', 'usage', 'io')}`;

/** The `serve` command. */
export const command: Command = defineCommand({
  name: 'serve',
  summary: 'start the service on its embedded store',
  help,
  options: { check: { type: 'boolean' } },
  settings: SERVE_SETTINGS,
  execute,
});

/** What an API key of the operator's own must be: a header's value that cannot be guessed. */
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
    throw new UsageError('the first key must be 32 to 512 printable characters without blanks');
  }
  const logger = createLogger(io, logLevel, log);
  for (const warning of config.warnings) logger.warn(warning);

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
  if (!json) report({}, `\n${signal}: finishing what runs; once more ends it at once\n`);
  await Promise.all([server.close(grace), service.stop({ graceMs: grace })]);
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}

/** Puts the operator's own key into a store that has none. */
async function takeFirstKey(dataDirectory: string, key: string): Promise<void> {
  const store = sqliteStore({ path: join(dataDirectory, STORE_FILE) });
  try {
    if ((await store.listApiKeys()).length > 0) return;
    await store.putApiKey({ sha256: hashApiKey(key), name: 'first' });
  } finally {
    await store.close();
  }
}

/** The first signal asks; the second one, by the default of the system, ends the process. */
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
