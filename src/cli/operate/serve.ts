/** `falconry serve`: the service on its own, with its embedded store or one that hosts share. */
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isPlainRequest } from '../../middleware/http/address.ts';
import { answerHealth } from '../../middleware/http/health.ts';
import { hashApiKey } from '../../middleware/identity/apiKeys.ts';
import type { FalconService } from '../../middleware/index.ts';
import { type Settings, STORE_FILE } from '../../middleware/options/options.ts';
import { SERVICE_OPTIONS } from '../../middleware/options/optionTable.ts';
import { keyPlace } from '../../middleware/signing/keyFile.ts';
import type { ApiKeyStore } from '../../middleware/stores/port/taskStore.ts';
import { sqliteTableStore } from '../../middleware/stores/sqlite/sqliteTable.ts';
import { engineStandsBack } from '../../middleware/tasks/priority.ts';
import { fallbackOf } from '../../shared/optionRows.ts';
import { keyLink } from '../../wire/pageConfig.ts';
import { type Command, FILE_EXITS, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { asIoFailure, SHOW } from '../lib/io.ts';
import { SERVE_SETTINGS, type ServeSetting } from '../lib/settings.ts';
import { runService } from './running.ts';
import { serverLimits, serviceOptions } from './serveConfig.ts';

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
    'falconry serve --metrics-port 9464 --log-level warn',
    'falconry serve --database postgres://falconry@db/falconry --blobs s3://falconry/one/ ' +
      '--no-workers',
  ],
  exits: FILE_EXITS,
  execute,
});

/** An API key that the operator chose: valid in a header, and too long to guess. */
const FIRST_KEY = /^[\x21-\x7e]{32,512}$/;

async function execute(invocation: Invocation<ServeSetting>): Promise<void> {
  const { io, json, flag } = invocation;
  const config = await invocation.config();
  const { values } = config;
  const { firstKey, drainDelay } = values;
  const options = serviceOptions(config);
  if (firstKey !== undefined && !FIRST_KEY.test(firstKey)) {
    throw new UsageError('the first key must be 32 to 512 printable characters without spaces');
  }
  return runService(invocation, config, options, {
    drainDelayMs: drainDelay,
    async start({ service, settings, shared, logger, open }) {
      engineStandsBack();
      const { host, port } = values;
      if (firstKey !== undefined) {
        await takeFirstKey(shared.store?.apiKeys ?? null, settings, firstKey);
      }
      await service.start();
      return open({
        fetch: publicFetch(service, settings),
        port,
        host,
        ...serverLimits(values, settings),
        onRefused: (refused) => logger.warn('connections refused', { ...refused }),
      });
    },
    async announce({ service, settings, shared }, ports) {
      // Standard output may be a log that others read, unless it is a terminal.
      const isTerminal = io.stdout.isTTY === true;
      const isShown = flag('show') || (json && !isTerminal);
      const path = join(resolve(settings.dataDirectory), KEY_FILE);
      // Two hosts would make two keys.
      const first =
        shared.store === null ? await makeFirstKey(service, isShown ? null : path) : NO_KEY;
      const { host } = values;
      const address = `http://${host.includes(':') ? `[${host}]` : host}:${ports.port}`;
      const { serviceName, signing, ui, publicUrl: base = address } = settings;
      const signingKey = signing ? resolve(keyPlace(settings).path) : null;
      const shown = first.keyFile === null ? first.key : null;
      const mayLink = flag('show') && isTerminal && ui && shown !== null;
      const link = mayLink ? keyLink(base, shown) : null;
      const { database, blobs } = shared.shown;
      const data = database === null ? resolve(settings.dataDirectory) : null;
      const place = { address, base, dataDirectory: data, database, blobs };
      const secret = { api_key: shown, api_key_file: first.keyFile };
      return [
        { ok: true, address, ...ports, data, database, blobs, ...secret },
        welcome({ ...place, ...first, serviceName, signingKey, ui, link }),
      ];
    },
  });
}

/**
 * Returns the app with what only the stand-alone server has: `/healthz` and `/readyz`, and a
 * redirect from `/` to the page for browsers.
 */
export function publicFetch(service: FalconService, { ui }: Pick<Settings, 'ui'>) {
  const answer = (request: Request) =>
    answerHealth(service, request) ?? (ui ? toPage(request) : null);
  // Proxies hide these paths, but may not see them in other spellings.
  return (request: Request, env: object): Response | Promise<Response> =>
    (!isOfApp(request) && isPlainRequest(request, env) ? answer(request) : null) ??
    service.app.fetch(request, env);
}

const isOfApp = ({ url }: Request) => url.startsWith('/v1/', url.indexOf('/', 'https://'.length));

function toPage({ method, url, headers }: Request): Response | null {
  if (!['GET', 'HEAD'].includes(method) || new URL(url).pathname !== '/') return null;
  if (!/\btext\/html\b/i.test(headers.get('accept') ?? '')) return null;
  // Relative, since a proxy may add to the path.
  return new Response(null, { status: 302, headers: { location: 'v1/ui', vary: 'accept' } });
}

/** Stores the operator's own key if the store has no keys. */
async function takeFirstKey(shared: ApiKeyStore | null, settings: Settings, key: string) {
  const { dataDirectory, allowSharedDatabase: allowShared } = settings;
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

const NO_KEY = { key: null, keyFile: null };

const KEY_FILE = 'first-api-key';

/** Creates an API key in a store that has none, and writes it to a file unless `path` is null. */
async function makeFirstKey({ apiKeys }: FalconService, path: string | null) {
  if ((await apiKeys.list()).length > 0) return NO_KEY;
  const { key } = await apiKeys.create({ name: 'first' });
  if (path === null) return { key, keyFile: null };
  try {
    // An existing file belongs to an earlier store: this one had no key.
    await rm(path, { force: true });
    await writeFile(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    return { key, keyFile: path };
  } catch (error) {
    // The key is lost.
    await apiKeys.revoke(hashApiKey(key));
    throw asIoFailure(`cannot write ${path}`, error);
  }
}

type Names<Field extends string, Value> = Readonly<Record<Field, Value>>;

/**
 * The facts of a service that is ready: the address where it listens, the one where clients reach
 * it (`base`), and what else applies: the stores that hosts share, without passwords; the file of
 * the signing key; the API key that was just created, the file to which it was written instead of
 * shown, and a link to the page with the key, if it may be shown.
 */
export interface Ready
  extends Names<'address' | 'base' | 'serviceName', string>,
    Names<'dataDirectory' | 'database' | 'blobs' | 'signingKey', string | null>,
    Names<'key' | 'keyFile' | 'link', string | null> {
  readonly ui: boolean;
}

/** The text of a service that is ready; after a first start with the new key and next steps. */
export function welcome(ready: Ready): string {
  const { address, base, dataDirectory, database, blobs, signingKey, ui, key } = ready;
  const rows = [
    ['data', dataDirectory],
    ['database', database],
    ['files', blobs],
    ['page', ui ? `${base}/v1/ui` : null],
    ['signing', signingKey && `${signingKey} (for testing)`],
  ] as const;
  const lines = rows.flatMap(([name, value]) =>
    value === null ? [] : `  ${name.padEnd(8)} ${value}`,
  );
  const place = dataDirectory === null ? '--database URL' : `--data ${dataDirectory}`;
  const more = ['', `More API keys: falconry keys create --name NAME ${place}`, ''];
  const rest = key === null ? more : nextSteps(ready, key);
  return [`Falconry is listening on ${address}`, ...lines, ...rest].join('\n');
}

/** Commands to copy: earlier lines set each variable and make each file. */
function nextSteps({ base, serviceName, signingKey, keyFile, link }: Ready, key: string): string[] {
  const created = 'This first start created an API key';
  const isUsual = serviceName === fallbackOf(SERVICE_OPTIONS.serviceName);
  const name = isUsual ? [] : [`  export FALCONRY_SERVICE_NAME=${serviceName}`];
  const page = link === null ? [] : ['Open the page with this key:', '', `  ${link}`, ''];
  return [
    '',
    keyFile ? `${created}, in ${keyFile} (mode 0600).` : `${created}. It is shown only once:`,
    '',
    `  export FALCONRY_API_KEY=${keyFile === null ? key : `$(cat ${keyFile})`}`,
    `  export FALCONRY_URL=${base}`,
    ...name,
    '',
    ...page,
    'Next steps:',
    '',
    ...(signingKey === null ? [] : [SIGN_STEP]),
    `  # sign with a key of your own, and have the signature aggregated
  falconry keygen -o key.json
  echo hello > message.txt
  falconry sign --key key.json message.txt -o task.json
  falconry submit task.json -o result.json

  # list your tasks
  curl -s $FALCONRY_URL/v1/${serviceName}/tasks -H "Authorization: $FALCONRY_API_KEY"
`,
  ];
}

const SIGN_STEP = `  # sign a message, in hex
  curl -s $FALCONRY_URL/v1/falcon/sign -H "Authorization: $FALCONRY_API_KEY" \\
    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}'
`;
