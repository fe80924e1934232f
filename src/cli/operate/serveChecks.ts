/**
 * The checks of what a service would use here. Nothing is changed: the port and a file in the data
 * directory are opened, and closed again at once.
 */

import { access, constants, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { lowWaterMark } from '../../middleware/blobs/directory/directory.ts';
import { type Settings, STORE_FILE } from '../../middleware/options/options.ts';
import { checkKey, keyPlace } from '../../middleware/signing/keyFile.ts';
import { sharedPlaces } from '../../middleware/stores/sqlite/sqliteFile.ts';
import { isCodedError } from '../../shared/errors.ts';
import { binarySizeText } from '../../wire/sizes.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { ServeSetting } from '../lib/settings.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import { cannotListen } from './listening.ts';
import { checkDatabase } from './serveDatabase.ts';
import {
  explained,
  makeBlobs,
  makeStore,
  type SharedValues,
  showDatabase,
} from './sharedStores.ts';

type Env = Readonly<Record<string, string | undefined>>;

const GIB = 2 ** 30;

/** Returns the findings about a service with these settings. */
export async function checkServer(
  config: Config<ServeSetting>,
  settings: Settings,
  env: Env,
): Promise<Finding[]> {
  const { values } = config;
  const data =
    values.database === undefined
      ? [
          ...(await checkData(settings)),
          ...(await checkDisk(settings)),
          ...(await checkDatabase(settings, values.firstKey !== undefined)),
        ]
      : [];
  return [
    ...(await checkConfigFile(config)),
    ...(await checkPort(values, 'port')),
    ...(await checkMetrics(config)),
    ...checkPublicUrl(settings),
    ...checkProxy(config, settings),
    ...checkSigning(config, settings, env),
    ...data,
    ...(await checkSigningKey(settings)),
    ...(await checkShared(values, env)),
    ...checkProcess(settings),
  ];
}

async function checkConfigFile({ file, origins }: Config<ServeSetting>): Promise<Finding[]> {
  if (file === null) return [];
  const { source, secretFile } = origins.firstKey;
  if (source === 'file' && secretFile === undefined && (await isOpen(file))) {
    return [
      fault('config', `${file} holds a secret and can be read by others`, `chmod 600 ${file}`),
    ];
  }
  return [];
}

/** Whether the file can be read by others than its owner. */
async function isOpen(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  return ((await stat(path)).mode & 0o077) !== 0;
}

/** The metrics port has no keys. */
async function checkMetrics({ values }: Config<ServeSetting>): Promise<Finding[]> {
  const { metricsPort: port, metricsHost: host } = values;
  if (port === undefined) return [];
  const open = `everybody who reaches ${host} can read the metrics`;
  const seen = isLoopback(host) ? [] : [warning('metrics', open, 'let only operators reach it')];
  return [...(await checkPort({ port, host }, 'metrics')), ...seen];
}

/** Whether the service could listen on a port now. */
async function checkPort(
  { port, host }: { readonly port: number; readonly host: string },
  check: 'port' | 'metrics',
): Promise<Finding[]> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    const option = check === 'port' ? '--port' : '--metrics-port';
    const advice = `stop what listens there, or choose another ${option}`;
    return [fault(check, cannotListen(host, port, error).message, advice)];
  }
  await new Promise((resolve) => server.close(resolve));
  return [ok(check, port === 0 ? `any free port of ${host}` : `${host}:${port} is free`)];
}

function checkPublicUrl({ publicUrl }: Settings): Finding[] {
  if (publicUrl === undefined) return [];
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'http:' || isLoopback(hostname)) return [ok('publicUrl', publicUrl)];
  const advice = 'put a proxy with a certificate in front, and give its https address';
  return [warning('publicUrl', 'API keys travel in the clear over http', advice)];
}

const isLoopback = (host: string) => /^(127\.|localhost$|\[?::1\]?$)/.test(host);

function checkProxy(config: Config<ServeSetting>, { trustProxy, publicUrl }: Settings): Finding[] {
  if (!trustProxy) return publicUrl?.startsWith('https:') ? [untrustedProxy()] : [];
  if (publicUrl !== undefined) return [];
  const advice = 'give --public-url, and let only the proxy reach the port';
  const message =
    'trustProxy without publicUrl: whoever reaches the port chooses the URLs in answers';
  const level = isLoopback(config.values.host) ? warning : fault;
  return [level('trustProxy', message, advice)];
}

/** The service itself speaks no https: something stands before it. */
const untrustedProxy = (): Finding =>
  warning(
    'trustProxy',
    'https without trustProxy: limits by address count all callers as one, the proxy',
    'give --trust-proxy if the proxy sets X-Forwarded-For, and only it reaches the port',
  );

function checkSigning(config: Config<ServeSetting>, settings: Settings, env: Env): Finding[] {
  if (!settings.signing) return [ok('signing', 'the signing endpoint is off')];
  const advice = '--no-signing: you hold the secret key of everyone who signs there';
  if (env.NODE_ENV === 'production') {
    return [fault('signing', 'the signing endpoint is for testing, but on in production', advice)];
  }
  if (!isLoopback(config.values.host)) {
    return [warning('signing', 'the signing endpoint is for testing, but on', advice)];
  }
  return [ok('signing', 'the signing endpoint is on, for testing')];
}

/** Whether the signing key can be read; nothing without signing. */
async function checkSigningKey(settings: Settings): Promise<Finding[]> {
  if (!settings.signing) return [];
  try {
    const exists = await checkKey(keyPlace(settings));
    return [ok('signingKey', exists ? 'can be read' : 'none yet: the next start creates it')];
  } catch (error) {
    return [fault('signingKey', (error as Error).message)];
  }
}

/** Whether the data directory can be written to, and is private. */
export async function checkData(
  settings: Pick<Settings, 'dataDirectory' | 'signing' | 'allowSharedDatabase'>,
): Promise<Finding[]> {
  const { dataDirectory, signing, allowSharedDatabase } = settings;
  const path = resolve(dataDirectory);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return [fault('data', `${path} cannot be read (${found.code})`)];
    const parent = await nearestFolder(path);
    const may = await access(parent, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    if (may) return [ok('data', `${path} will be created at the first start`)];
    return [fault('data', `${path} cannot be created: no permission in ${parent}`)];
  }
  if (!found.isDirectory()) return [fault('data', `${path} is not a directory`)];
  const findings: Finding[] = [];
  const probe = join(path, `.check-${crypto.randomUUID()}`);
  try {
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await unlink(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    findings.push(fault('data', `${path} is not writable (${code})`));
  }
  const level = allowSharedDatabase ? warning : fault;
  const shared = sharedPlaces(join(path, STORE_FILE));
  for (const { path: place, what, command } of shared) {
    findings.push(level('data', `${place} ${what}`, command));
  }
  const secrets = [path, join(path, 'keys'), join(path, 'keys', 'signing.json')];
  for (const secret of signing ? secrets : secrets.slice(0, 2)) {
    if (shared.some((place) => place.path === secret)) continue;
    if (!(await isOpen(secret).catch(() => false))) continue;
    const severity = secret === path ? level : fault;
    const advice = `chmod go= ${secret}`;
    findings.push(severity('data', `${secret} holds secrets and is open to others`, advice));
  }
  return findings.length > 0 ? findings : [ok('data', `${path} is private and writable`)];
}

/** The folder itself, or the first one above that exists. */
async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (await stat(at).catch(() => null)) return at;
  }
}

async function checkDisk({
  dataDirectory,
  maxBodyBytes,
  minFreeBytes,
}: Settings): Promise<Finding[]> {
  const disk = await statfs(await nearestFolder(resolve(dataDirectory)));
  const markBytes = lowWaterMark(disk, minFreeBytes);
  return [diskFinding(disk.bavail * disk.bsize, maxBodyBytes, markBytes)];
}

/** Whether the free bytes above the mark are enough for task files of up to `maxBodyBytes`. */
export function diskFinding(freeBytes: number, maxBodyBytes: number, markBytes = 0): Finding {
  const message = `${binarySizeText(freeBytes)} free`;
  if (freeBytes < markBytes) {
    return fault('disk', `${message}: no task file is accepted`, 'free some space, or --min-free');
  }
  if (freeBytes - markBytes < 4 * maxBodyBytes)
    return fault('disk', `${message}: not enough for four task files of the largest size`);
  if (freeBytes < 2 * GIB)
    return warning('disk', message, 'free some space, or shorten --retention');
  return ok('disk', message);
}

function checkProcess({ threads, workers }: Settings): Finding[] {
  const processors = availableParallelism();
  const findings: Finding[] = [];
  if (workers && threads > processors) {
    const message = `${threads} threads compete for ${processors} processors, and so do requests`;
    findings.push(warning('threads', message, `--threads ${Math.max(1, processors - 1)}`));
  } else findings.push(ok('threads', `${threads} on ${processors} processors`));
  if (process.getuid?.() === 0) {
    findings.push(warning('user', 'the service runs as root', 'give it a user of its own'));
  }
  return findings;
}

type Values = SharedValues & { readonly firstKey: string | undefined };

/** Nothing without `--database` and `--blobs`. */
export async function checkShared(values: Values, env: Io['env']): Promise<Finding[]> {
  const { database, blobs } = values;
  const [ofDatabase, ofBlobs] = await Promise.all([
    database === undefined ? [] : guarded('database', () => askDatabase(values, database)),
    blobs === undefined ? [] : guarded('blobs', () => askBlobs(values, blobs, env)),
  ]);
  return [...ofDatabase, ...ofBlobs];
}

/** What the drivers refuse, as a finding. */
async function guarded(check: string, ask: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await ask();
  } catch (error) {
    const told = explained(error);
    if (!(told instanceof IoFailure || told instanceof UsageError)) throw error;
    const { code } = isCodedError(error) ? error : { code: '' };
    return [fault(check, told.message, ADVICE[code])];
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  STORE_OLDER: 'falconry migrate',
  STORE_OUTDATED: 'name another database, or remove its schema "falconry"',
  STORE_NEWER: 'run the newer version',
};

async function askDatabase(values: Values, database: string): Promise<Finding[]> {
  const store = await makeStore(values, 1);
  try {
    await store.open();
    await store.tasks.ping();
    const fits = ok('database', `${await showDatabase(database)} answers, and its schema fits`);
    const count = (await store.apiKeys.listApiKeys()).length;
    if (count > 0) return [fits, ok('apiKeys', `${count} in the database`)];
    const none = 'none in the database';
    if (values.firstKey !== undefined) {
      return [fits, ok('apiKeys', `${none}: the next start stores the given one`)];
    }
    return [fits, warning('apiKeys', none, 'falconry keys create --database URL')];
  } finally {
    await store.close();
  }
}

async function askBlobs(values: Values, blobs: string, env: Io['env']): Promise<Finding[]> {
  const store = await makeBlobs(values, env);
  await store.ping();
  const seconds = Math.round((store.clockSkewMs ?? 0) / 1000);
  const clocks = seconds === 0 ? '' : `; its clock differs by ${seconds} s`;
  return [ok('blobs', `${blobs} answers${clocks}`)];
}
