/**
 * The checks of what a service would use here. Nothing is changed: the port and a file in the data
 * directory are opened, and closed again at once; a file in the bucket is written, and removed.
 */
import { once } from 'node:events';
import { access, constants, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { lowWaterMark } from '../../middleware/blobs/directory/directory.ts';
import { newInputKey } from '../../middleware/blobs/port/blobStore.ts';
import { type Settings, STORE_FILE } from '../../middleware/options/options.ts';
import { checkKey, keyPlace } from '../../middleware/signing/keyFile.ts';
import { SUSPECT_MS } from '../../middleware/stores/port/taskStore.ts';
import {
  sharedPlaces,
  sqliteOfHost,
  versionOf,
} from '../../middleware/stores/sqlite/sqliteFile.ts';
import { LAST_OLD_VERSION, SCHEMA_VERSION } from '../../middleware/stores/sqlite/sqliteSchema.ts';
import { isCodedError } from '../../shared/errors.ts';
import { binarySizeText, sizeText } from '../../wire/sizes.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { ServeSetting } from '../lib/settings.ts';
import { type Check, type Finding, fault, ok, warning } from './doctorChecks.ts';
import { isLoopback } from './observability.ts';
import { cannotListen } from './running.ts';
import { explained, makeBlobs, makeStore, showDatabase } from './stores.ts';

interface Subject extends Config<ServeSetting> {
  readonly settings: Settings;
  readonly env: Io['env'];
}

/** A check of the data directory, which is not used with a database. */
const here =
  (check: Check<Subject>): Check<Subject> =>
  (subject) =>
    subject.values.database === undefined ? check(subject) : [];

export const SERVE_CHECKS: readonly Check<Subject>[] = [
  checkConfigFile,
  ({ values }) => checkPort(values, 'port'),
  checkMetrics,
  checkPublicUrl,
  checkProxy,
  checkSigning,
  here(checkData),
  here(checkDisk),
  here(checkDatabase),
  checkSigningKey,
  checkSharedDatabase,
  checkBlobs,
  checkProcess,
];

async function checkConfigFile({ file, origins }: Subject): Promise<Finding[]> {
  const { source, secretFile } = origins.firstKey;
  if (file === null || source !== 'file' || secretFile !== undefined) return [];
  if (!(await isOpen(file))) return [];
  return [fault('config', `${file} holds a secret and can be read by others`, `chmod 600 ${file}`)];
}

/** Returns true if users other than its owner can read the file. */
const isOpen = async (path: string): Promise<boolean> =>
  process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0;

async function checkMetrics({ values }: Subject): Promise<Finding[]> {
  const { metricsPort: port, metricsHost: host } = values;
  if (port === undefined) return [];
  const found = await checkPort({ port, host }, 'metrics');
  if (isLoopback(host)) return [found];
  const message = `anyone who can reach ${host} can read the metrics`;
  return [found, warning('metrics', message, 'let only operators reach it')];
}

async function checkPort(
  { port, host }: Pick<Subject['values'], 'port' | 'host'>,
  check: 'port' | 'metrics',
): Promise<Finding> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const option = check === 'port' ? '--port' : '--metrics-port';
    const advice = `stop what listens there, or choose another ${option}`;
    return fault(check, cannotListen(host, port, error).message, advice);
  }
  await once(server.close(), 'close');
  return ok(check, port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
}

function checkPublicUrl({ settings: { publicUrl } }: Subject): Finding[] {
  if (publicUrl === undefined) return [];
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'http:' || isLoopback(hostname)) return [ok('publicUrl', publicUrl)];
  const advice = 'put a proxy with a certificate in front, and give its https address';
  return [warning('publicUrl', 'API keys travel in the clear over http', advice)];
}

function checkProxy({ values, settings: { trustProxy, publicUrl } }: Subject): Finding[] {
  if (trustProxy && publicUrl === undefined) {
    const level = isLoopback(values.host) ? warning : fault;
    const message =
      'trustProxy without publicUrl: anyone who reaches the port chooses the URLs in responses';
    const advice = 'give --public-url, and let only the proxy reach the port';
    return [level('trustProxy', message, advice)];
  }
  // The service itself has no https: a proxy must be in front of it.
  if (trustProxy || !publicUrl?.startsWith('https:')) return [];
  const message = 'https without trustProxy: limits by address count all callers as one, the proxy';
  const advice =
    'give --trust-proxy if the proxy sets X-Forwarded-For, and only it reaches the port';
  return [warning('trustProxy', message, advice)];
}

function checkSigning({ values, settings, env }: Subject): Finding {
  if (!settings.signing) return ok('signing', 'the signing endpoint is off');
  const advice = '--no-signing: you hold the secret key of everyone who signs there';
  if (env.NODE_ENV === 'production') {
    return fault('signing', 'the signing endpoint is for testing, but on in production', advice);
  }
  if (isLoopback(values.host)) return ok('signing', 'the signing endpoint is on, for testing');
  return warning('signing', 'the signing endpoint is for testing, but on', advice);
}

async function checkSigningKey({ settings }: Subject): Promise<Finding[]> {
  if (!settings.signing) return [];
  try {
    const exists = await checkKey(keyPlace(settings));
    return [ok('signingKey', exists ? 'can be read' : 'none yet: the next start creates it')];
  } catch (error) {
    return [fault('signingKey', (error as Error).message)];
  }
}

async function checkData({ settings }: Subject): Promise<readonly Finding[]> {
  const { dataDirectory, signing, allowSharedDatabase } = settings;
  const path = resolve(dataDirectory);
  const found = await stat(path).catch(codeOf);
  if (found === 'ENOENT') return [await checkAbsentData(path)];
  if (typeof found !== 'object') return [fault('data', `${path} cannot be read (${found})`)];
  if (!found.isDirectory()) return [fault('data', `${path} is not a directory`)];
  const findings: Finding[] = [];
  const probe = join(path, `.check-${crypto.randomUUID()}`);
  try {
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await unlink(probe);
  } catch (error) {
    findings.push(fault('data', `${path} is not writable (${codeOf(error)})`));
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
    const message = `${secret} holds secrets and is open to others`;
    findings.push((secret === path ? level : fault)('data', message, `chmod go= ${secret}`));
  }
  return findings.length > 0 ? findings : [ok('data', `${path} is private and writable`)];
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

async function checkAbsentData(path: string): Promise<Finding> {
  const parent = await nearestFolder(path);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return ok('data', `${path} will be created at the first start`);
  } catch {
    return fault('data', `${path} cannot be created: no permission in ${parent}`);
  }
}

/** The folder itself, or the first one above it that exists. */
const nearestFolder = async (path: string): Promise<string> =>
  (await stat(path).catch(() => null)) ? path : nearestFolder(dirname(path));

async function checkDisk({ settings }: Subject): Promise<Finding> {
  const { dataDirectory, maxBodyBytes, minFreeBytes } = settings;
  const disk = await statfs(await nearestFolder(resolve(dataDirectory)));
  return diskFinding(disk.bavail * disk.bsize, maxBodyBytes, lowWaterMark(disk, minFreeBytes));
}

/** Compares the free bytes above the mark with task files of up to `maxBodyBytes`. */
export function diskFinding(freeBytes: number, maxBodyBytes: number, markBytes = 0): Finding {
  const message = `${binarySizeText(freeBytes)} free`;
  if (freeBytes < markBytes) {
    return fault('disk', `${message}: no task file is accepted`, 'free some space, or --min-free');
  }
  if (freeBytes - markBytes < 4 * maxBodyBytes) {
    return fault('disk', `${message}: not enough for four task files of the largest size`);
  }
  if (freeBytes < 2 * 2 ** 30) {
    return warning('disk', message, 'free some space, or shorten --retention');
  }
  return ok('disk', message);
}

/** A writer that holds the file longer than this is stuck. */
const LOCK_PATIENCE_MS = 1500;
/** Larger files take too long to read through. */
const MAX_CHECKED_BYTES = 256 * 2 ** 20;

/** Opens and reads the embedded store, and changes nothing. */
async function checkDatabase({ settings, values }: Subject): Promise<Finding[]> {
  const path = join(resolve(settings.dataDirectory), STORE_FILE);
  const givenKey = values.firstKey !== undefined;
  const found = await stat(path).catch(() => null);
  if (found === null || found.size === 0) {
    const key = givenKey ? 'stores the given API key' : 'makes an API key';
    const created = 'will be created at the first start';
    return [ok('database', created), ok('apiKeys', `the first start ${key}`)];
  }
  const version = versionOf(path);
  if (version > 0 && version <= LAST_OLD_VERSION) {
    const message = `${path} was made before falconry 0.1.0 and cannot be used`;
    return [fault('database', message, 'move it away, or choose another --data')];
  }
  let db: DatabaseSync | undefined;
  try {
    const sqlite = sqliteOfHost();
    db = new sqlite.DatabaseSync(path, { timeout: LOCK_PATIENCE_MS });
    return examineDatabase(db, path, found.size, givenKey);
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    const [what, advice] = SQLITE_FAULTS[errcode & 255] ?? [`cannot be used: ${message}`];
    return [fault('database', `${path} ${what}`, advice)];
  } finally {
    if (db?.isOpen) db.close();
  }
}

function examineDatabase(db: DatabaseSync, path: string, bytes: number, givenKey: boolean) {
  const read = (query: string) => Object.values(db.prepare(query).get()!)[0];
  const version = Number(read('PRAGMA user_version'));
  if (version > SCHEMA_VERSION) {
    const versions = `its schema is ${version}, ours ${SCHEMA_VERSION}`;
    const message = `${path} was written by a newer version (${versions})`;
    return [fault('database', message, STORE_ADVICE.STORE_NEWER)];
  }
  // Takes the writers' lock, as the service must, and releases it.
  db.exec('BEGIN IMMEDIATE');
  db.exec('ROLLBACK');
  const verdict = bytes <= MAX_CHECKED_BYTES ? read('PRAGMA quick_check(1)') : 'ok';
  if (verdict !== 'ok') {
    return [fault('database', `${path} is damaged: ${verdict}`, 'restore it from a backup')];
  }
  if (version === 0) return [ok('database', 'is empty at the next start')];
  const message =
    version < SCHEMA_VERSION
      ? `schema ${version} becomes ${SCHEMA_VERSION} at the next start`
      : `schema ${version}, ${sizeText(bytes)}`;
  const count = Number(read('SELECT count(*) FROM api_keys'));
  const none = 'none in the store: the next start makes one and writes it to first-api-key';
  const advice = 'falconry keys create, or --first-key-file';
  const keys = keysFinding('the store', count, givenKey) ?? warning('apiKeys', none, advice);
  const kept = Number(read(`SELECT max(number) FROM last_numbers WHERE name = 'clock'`));
  return [ok('database', message), ...clockFindings(kept > 0 ? Date.now() - kept : 0), keys];
}

/** @param aheadMs distance of the clock from the last time that the store has kept */
function clockFindings(aheadMs: number): Finding[] {
  if (aheadMs <= SUSPECT_MS) return [];
  const days = `${Math.floor(aheadMs / SUSPECT_MS)} days`;
  const message = `the clock is ${days} ahead of the store: nothing expires, nothing is removed`;
  return [warning('clock', message, 'set it, or if it is right: falconry doctor --accept-clock')];
}

/** Null if there are no API keys, and none is given. */
function keysFinding(where: string, count: number, isGiven: boolean): Finding | null {
  if (count > 0) return ok('apiKeys', `${count} in ${where}`);
  return isGiven ? ok('apiKeys', `none in ${where}: the next start stores the given one`) : null;
}

/** Result codes of SQLite, without their extensions. */
const SQLITE_FAULTS: Readonly<Record<number, readonly [what: string, advice: string]>> = {
  5: ['is locked by another process', 'find that process (fuser), or wait until it ends'],
  6: ['is locked', 'wait until the other process ends'],
  8: ['is not writable', 'check its owner and permissions'],
  11: ['is damaged', 'restore it from a backup'],
  14: ['cannot be opened', 'check its owner and permissions'],
  26: ['is not a database', 'move it away, or choose another --data'],
};

function checkProcess({ settings: { threads, workers } }: Subject): Finding[] {
  const processors = availableParallelism();
  const message = `${threads} threads compete for ${processors} processors, and so do requests`;
  const found =
    workers && threads > processors
      ? warning('threads', message, `--threads ${Math.max(1, processors - 1)}`)
      : ok('threads', `${threads} on ${processors} processors`);
  if (process.getuid?.() !== 0) return [found];
  return [found, warning('user', 'the service runs as root', 'run it as a user of its own')];
}

/** Errors of the driver are faults. */
async function guarded(check: string, ask: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await ask();
  } catch (error) {
    const failure = explained(error);
    if (!(failure instanceof IoFailure || failure instanceof UsageError)) throw error;
    return [fault(check, failure.message, STORE_ADVICE[isCodedError(error) ? error.code : ''])];
  }
}

const STORE_ADVICE: Readonly<Record<string, string>> = {
  STORE_OLDER: 'falconry migrate',
  STORE_OUTDATED: 'name another database, or remove its schema "falconry"',
  STORE_NEWER: 'run the newer version',
};

async function checkSharedDatabase({ values }: Subject): Promise<Finding[]> {
  const { database, firstKey } = values;
  if (database === undefined) return [];
  return guarded('database', async () => {
    const store = await makeStore(values, 1);
    try {
      await store.open();
      await store.tasks.ping();
      const fits = ok('database', `${await showDatabase(database)} answers, and its schema fits`);
      const count = (await store.apiKeys.listApiKeys()).length;
      const none = warning(
        'apiKeys',
        'none in the database',
        'falconry keys create --database URL',
      );
      const keys = keysFinding('the database', count, firstKey !== undefined) ?? none;
      const suspect = await store.tasks.suspectClock();
      const { examine } = await import('../../middleware/stores/postgres/examine.ts');
      const examined = (await examine(database)).map(({ fatal, message }) =>
        (fatal ? fault : warning)('database', message),
      );
      return [fits, ...examined, ...clockFindings(suspect?.aheadMs ?? 0), keys];
    } finally {
      await store.close();
    }
  });
}

async function checkBlobs({ values, env }: Subject): Promise<Finding[]> {
  const { blobs } = values;
  if (blobs === undefined) return [];
  return guarded('blobs', async () => {
    const store = await makeBlobs(values, env);
    await store.ping();
    // A policy may allow less than the service needs. The file has a fresh name, and is removed.
    const key = newInputKey();
    await store.put(key, new Uint8Array(1), { maxBytes: 1 });
    await store.read({ key }, 1);
    await store.delete(key);
    const seconds = Math.round((store.clockSkewMs ?? 0) / 1000);
    const clocks = seconds === 0 ? '' : `; its clock differs by ${seconds} s`;
    return [ok('blobs', `${blobs} answers${clocks}`)];
  });
}
