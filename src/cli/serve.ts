/** `falconry serve`: the service alone, on its embedded store. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { falconService, type Logger, type ServiceOptions } from '../middleware/index.ts';
import { type Command, type Io, UsageError } from './command.ts';
import { type HttpServer, openHttpServer } from './httpServer.ts';

const HELP = `Usage: falconry serve [options]

Starts the service on its embedded store (SQLite and files in one directory). The first start makes
an API key, shown once, and a signing key.

Options (environment variable; default):
  --port N            (FALCONRY_PORT, PORT; 8787) 0 takes any free port
  --host ADDRESS      (FALCONRY_HOST; 127.0.0.1) 0.0.0.0 listens on every address
  --data DIRECTORY    (FALCONRY_DATA; .falconry)
  --public-url URL    (FALCONRY_PUBLIC_URL) address that clients use, when it is not ours
  --trust-proxy       (FALCONRY_TRUST_PROXY=1) believe X-Forwarded-Proto and -Host
  --service-name NAME (FALCONRY_SERVICE_NAME; svc) the service's segment in every path
  --threads N         (FALCONRY_THREADS; processors - 1) worker threads
  --signing           (FALCONRY_SIGNING=1) offer the signing endpoint, also in production
  --no-signing        (FALCONRY_SIGNING=0) do not offer it
  --max-signatures N  (FALCONRY_MAX_SIGNATURES; 1722) most signatures of a batch
  --grace SECONDS     (FALCONRY_GRACE; 10) time for running work to end at shutdown
  --log-level LEVEL   (FALCONRY_LOG_LEVEL; info) debug, info, warn, error or silent;
                      one JSON object a line on standard error

SIGTERM and SIGINT end it in order: accepted work is kept and goes on at the next start.

Examples:
  falconry serve
  falconry serve --port 80 --host 0.0.0.0 --public-url https://falcon.example.com
  falconry serve --data /var/lib/falconry --no-signing --log-level warn
`;

export const command: Command = {
  name: 'serve',
  summary: 'Start the service on its embedded store',
  help: HELP,
  options: {},
  async run(args, io) {
    const config = readConfig(args, io.env);
    const service = falconService(config.service(logger(config.logLevel, io)));
    await service.start();
    let server: HttpServer;
    try {
      server = await openHttpServer({
        fetch: service.app.fetch,
        port: config.port,
        host: config.host,
      });
    } catch (error) {
      await service.stop({ graceMs: 0 });
      throw error;
    }
    const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
    const first = (await service.apiKeys.list()).length === 0;
    const key = first ? (await service.apiKeys.create({ name: 'first' })).key : null;
    io.stdout.write(welcome(config, config.publicUrl ?? address, address, key));
    const signal = await stopSignal();
    io.stdout.write(`\n${signal}: finishing what runs\n`);
    const graceMs = config.graceSeconds * 1000;
    await Promise.all([server.close(graceMs), service.stop({ graceMs })]);
    io.stdout.write('Stopped.\n');
    return 0;
  },
};

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

type Config = ReturnType<typeof readConfig>;

function readConfig(args: readonly string[], env: Io['env']) {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      data: { type: 'string' },
      'public-url': { type: 'string' },
      'trust-proxy': { type: 'boolean' },
      'service-name': { type: 'string' },
      threads: { type: 'string' },
      signing: { type: 'boolean' },
      'max-signatures': { type: 'string' },
      grace: { type: 'string' },
      'log-level': { type: 'string' },
    },
  });
  const text = (name: keyof typeof values): string | undefined => {
    const value = values[name] ?? env[envName(name)];
    return value === undefined || value === '' ? undefined : String(value);
  };
  const integer = (name: keyof typeof values, max: number): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    if (/^\d{1,9}$/.test(given) && Number(given) <= max) return Number(given);
    throw new UsageError(
      `--${name} (${envName(name)}) must be a number up to ${max}, not "${given}"`,
    );
  };
  const flag = (name: keyof typeof values): boolean | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    if (/^(1|true|yes|on)$/i.test(given)) return true;
    if (/^(0|false|no|off)$/i.test(given)) return false;
    throw new UsageError(`${envName(name)} must be 1 or 0, not "${given}"`);
  };
  const logLevel = text('log-level') ?? 'info';
  if (!isLevel(logLevel)) {
    throw new UsageError(`--log-level must be one of ${LEVELS.join(', ')}, not "${logLevel}"`);
  }
  const publicUrl = text('public-url');
  const given = {
    dataDirectory: text('data'),
    publicUrl,
    trustProxy: flag('trust-proxy'),
    serviceName: text('service-name'),
    threads: integer('threads', 256),
    signing: flag('signing'),
    maxSignatures: integer('max-signatures', 8192),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    port: integer('port', 65_535) ?? portOf(env) ?? 8787,
    host: text('host') ?? '127.0.0.1',
    graceSeconds: integer('grace', 86_400) ?? 10,
    logLevel,
    publicUrl: publicUrl?.replace(/\/+$/, ''),
    serviceName: given.serviceName ?? 'svc',
    dataDirectory: resolve(given.dataDirectory ?? '.falconry'),
    signing: given.signing ?? env.NODE_ENV !== 'production',
    service: (log: Logger): ServiceOptions => ({ ...Object.fromEntries(set), logger: log }),
  };
}

const envName = (option: string) => `FALCONRY_${option.toUpperCase().replaceAll('-', '_')}`;

function portOf(env: Io['env']): number | undefined {
  return env.PORT && /^\d{1,5}$/.test(env.PORT) ? Number(env.PORT) : undefined;
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type Level = (typeof LEVELS)[number];
const isLevel = (text: string): text is Level => LEVELS.includes(text as Level);

/** One JSON object a line, for machines; people read it with jq. */
function logger(level: Level, io: Io): Logger {
  const write = (name: Level) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return;
    const line = { time: new Date().toISOString(), level: name, message, ...fields };
    io.stderr.write(`${JSON.stringify(line)}\n`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function welcome(config: Config, base: string, address: string, key: string | null): string {
  const { dataDirectory, serviceName, signing } = config;
  const service = `${base}/v1/${serviceName}`;
  const lines = [`Falconry serves on ${address}`, `  data     ${dataDirectory}`];
  if (signing)
    lines.push(`  signing  with ${join(dataDirectory, 'keys', 'signing.json')} (for testing)`);
  if (key === null) {
    lines.push('', `More API keys: falconry keys create --name NAME --data ${dataDirectory}`, '');
    return lines.join('\n');
  }
  lines.push(
    '',
    'This first start made an API key. It is shown only now:',
    '',
    `  export FALCONRY_KEY=${key}`,
    '',
    'What to do next:',
    '',
  );
  if (signing) {
    lines.push(
      '  # sign a message (hex)',
      `  curl -s ${base}/v1/falcon/sign -H "Authorization: $FALCONRY_KEY" \\`,
      `    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}'`,
      '',
      '  # aggregate it: a batch of one',
      `  curl -s ${base}/v1/falcon/sign -H "Authorization: $FALCONRY_KEY" \\`,
      `    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}' | sed 's/.*/{"data":[&]}/' |`,
      `  curl -s ${service}/aggsign -H "Authorization: $FALCONRY_KEY" \\`,
      `    -H 'Content-Type: application/json' -d @-`,
      '',
    );
  }
  lines.push(
    '  # up to 1722 signatures in a file: get a url, PUT the file there, notify',
    `  curl -s -X POST ${service}/aggsign/task -H "Authorization: $FALCONRY_KEY"`,
    `  curl -s -X PUT "$URL" -H 'Content-Type: application/json' -T task.json`,
    `  curl -s -X POST ${service}/aggsign/notify/$PROCESS_ID -H "Authorization: $FALCONRY_KEY"`,
    '',
    '  # see your tasks, and follow their result_path',
    `  curl -s ${service}/tasks -H "Authorization: $FALCONRY_KEY"`,
    '',
  );
  return lines.join('\n');
}
