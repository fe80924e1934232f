/** What `falconry serve --check` looks at. Nothing is made or changed, but for a file that is gone at once. */
import { randomBytes } from 'node:crypto';
import { access, constants, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { falcon512 } from '../falcon/index.ts';
import type { Settings } from '../middleware/options.ts';
import { cannotListen } from './cannotListen.ts';
import { type Config, showBytes } from './config.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import type { ServeSetting } from './serveConfig.ts';
import { checkDatabase } from './serveDatabase.ts';

type Env = Readonly<Record<string, string | undefined>>;

const GIB = 2 ** 30;
const PATIENCE_MS = 5000;
const CLOCK_TOLERANCE_MS = 60_000;
/** Nothing of this program is older. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** Every finding, in the order in which a start would meet them. */
export async function findFaults(
  config: Config<ServeSetting>,
  settings: Settings,
  env: Env,
): Promise<Finding[]> {
  const data = await checkData(settings);
  return [
    ...(await checkConfigFile(config)),
    ok('runtime', `Node ${process.versions.node}, ${falcon512.module} SIMD`),
    ...(await checkAddresses(config, settings)),
    ...checkProxy(config, settings),
    ...checkSigning(config, settings, env),
    ...data,
    ...(await checkDisk(settings)),
    ...(await checkDatabase(settings, config.values.firstKey !== undefined)),
    ...checkMachine(settings),
  ];
}

async function checkConfigFile({ file, origins }: Config<ServeSetting>): Promise<Finding[]> {
  if (file === null) return [];
  const { source, secretFile } = origins.firstKey;
  const holdsSecret = source === 'file' && secretFile === undefined;
  if (holdsSecret && (await isOpen(file))) {
    return [
      fault('config', `${file} holds a secret and can be read by others`, `chmod 600 ${file}`),
    ];
  }
  return [ok('config', `${file} is valid`)];
}

/** Whether the file can be read by others than its owner. */
async function isOpen(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  return ((await stat(path)).mode & 0o077) !== 0;
}

/** The port, and whether the public address leads to it. */
async function checkAddresses(
  config: Config<ServeSetting>,
  settings: Settings,
): Promise<Finding[]> {
  const { port, host } = config.values;
  const nonce = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const known = request.url?.endsWith(nonce) === true;
    response.writeHead(known ? 200 : 503).end(known ? nonce.toUpperCase() : '');
  });
  const findings: Finding[] = [];
  let open = false;
  try {
    await listen(server, port, host);
    open = true;
    const what = port === 0 ? `any free port of ${host}` : `${host}:${port} is free`;
    findings.push(ok('port', what));
  } catch (error) {
    const advice = 'stop what listens there, or choose another --port';
    findings.push(fault('port', cannotListen(host, port, error).message, advice));
  }
  try {
    if (settings.publicUrl !== undefined) {
      findings.push(...(await checkPublicUrl(settings, open ? nonce : null)));
    }
  } finally {
    server.closeAllConnections();
    if (open) await new Promise((resolve) => server.close(resolve));
  }
  return findings;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

/** Asks the public address for a word that only our own port can answer. */
async function checkPublicUrl(settings: Settings, nonce: string | null): Promise<Finding[]> {
  const { publicUrl = '', serviceName } = settings;
  const findings: Finding[] = [];
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    const advice = 'put a proxy with a certificate in front, and give its https address';
    findings.push(warning('publicUrl', 'API keys travel in the clear over http', advice));
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${publicUrl}/v1/${serviceName}/${nonce ?? 'tasks'}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    text = await response.text();
  } catch (error) {
    const advice = 'check its name, its port, the proxy and the certificate';
    const message = `${publicUrl} cannot be reached: ${networkFault(error)}`;
    return [...findings, fault('publicUrl', message, advice)];
  }
  if (nonce !== null && text === nonce.toUpperCase()) {
    findings.push(ok('publicUrl', `${publicUrl} leads to this port`));
  } else if (nonce === null) {
    findings.push(ok('publicUrl', `${publicUrl} answers (${response.status})`));
  } else {
    const message = `${publicUrl} answers (${response.status}), but not from this port`;
    findings.push(warning('publicUrl', message, 'check where the proxy sends its requests'));
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  const apartMs = Math.abs(date - Date.now());
  if (apartMs > CLOCK_TOLERANCE_MS) {
    const message = `this clock and that of publicUrl are ${Math.round(apartMs / 1000)} s apart`;
    findings.push(warning('clock', message, 'signed urls end by the clock: set it by NTP'));
  }
  return findings;
}

function networkFault(error: unknown): string {
  if ((error as Error).name === 'TimeoutError') return `no answer within ${PATIENCE_MS / 1000} s`;
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

const isLoopback = (host: string) => /^(127\.|localhost$|\[?::1\]?$)/.test(host);

function checkProxy(config: Config<ServeSetting>, { trustProxy, publicUrl }: Settings): Finding[] {
  if (!trustProxy || publicUrl !== undefined) return [];
  const advice = 'give --public-url, and let nobody but the proxy reach the port';
  const message =
    'trustProxy without publicUrl: whoever reaches the port chooses the urls in answers';
  const level = isLoopback(config.values.host) ? warning : fault;
  return [level('trustProxy', message, advice)];
}

function checkSigning(config: Config<ServeSetting>, settings: Settings, env: Env): Finding[] {
  if (!settings.signing) return [ok('signing', 'the signing endpoint is off')];
  const advice = '--no-signing: whoever signs there gives his keys into your hands';
  if (env.NODE_ENV === 'production') {
    return [
      fault('signing', 'the signing endpoint, which is for testing, is on in production', advice),
    ];
  }
  if (!isLoopback(config.values.host)) {
    return [warning('signing', 'the signing endpoint, which is for testing, is on', advice)];
  }
  return [ok('signing', 'the signing endpoint is on, for testing')];
}

async function checkData({ dataDirectory, signing }: Settings): Promise<Finding[]> {
  const path = resolve(dataDirectory);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return [fault('data', `${path} cannot be read (${found.code})`)];
    const parent = await nearestFolder(path);
    const may = await access(parent, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    if (may) return [ok('data', `${path} will be made at the first start`)];
    return [fault('data', `${path} cannot be made: no permission in ${parent}`)];
  }
  if (!found.isDirectory()) return [fault('data', `${path} is not a directory`)];
  const findings: Finding[] = [];
  const probe = join(path, `.check-${randomBytes(8).toString('hex')}`);
  try {
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await unlink(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    findings.push(fault('data', `${path} cannot be written to (${code})`));
  }
  const secrets = [path, join(path, 'falconry.sqlite'), join(path, 'keys')];
  if (signing) secrets.push(join(path, 'keys', 'signing.json'));
  for (const secret of secrets) {
    if (!(await isOpen(secret).catch(() => false))) continue;
    const advice = `chmod go= ${secret}`;
    findings.push(fault('data', `${secret} holds secrets and is open to others`, advice));
  }
  return findings.length > 0 ? findings : [ok('data', `${path} is private and can be written to`)];
}

/** The folder itself, or the first one above that exists. */
async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (await stat(at).catch(() => null)) return at;
  }
}

async function checkDisk({ dataDirectory, maxBodyBytes }: Settings): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(await nearestFolder(resolve(dataDirectory)));
  return [diskFinding(bavail * bsize, maxBodyBytes)];
}

/** What so many free bytes mean to a service that takes files so long. */
export function diskFinding(freeBytes: number, maxBodyBytes: number): Finding {
  const message = `${(freeBytes / GIB).toFixed(1)} GiB free`;
  if (freeBytes < 4 * maxBodyBytes)
    return fault('disk', `${message}: no room for a few task files`);
  if (freeBytes < 2 * GIB) return warning('disk', message, 'give it room, or set --retention');
  return ok('disk', message);
}

function checkMachine({ threads, workers, maxBufferedBytes }: Settings): Finding[] {
  const cores = availableParallelism();
  const findings: Finding[] = [];
  if (workers && threads > cores) {
    const message = `${threads} threads on ${cores} processors take time from each other and from requests`;
    findings.push(warning('threads', message, `--threads ${Math.max(1, cores - 1)}`));
  } else findings.push(ok('threads', `${threads} of ${cores} processors`));
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  if (maxBufferedBytes > memory / 2) {
    const message = `${showBytes(maxBufferedBytes)} of bodies at once are more than half of the memory`;
    findings.push(warning('memory', message, 'lower --max-buffered'));
  } else findings.push(ok('memory', `${(memory / GIB).toFixed(1)} GiB`));
  if (process.getuid?.() === 0) {
    findings.push(warning('user', 'it runs as root', 'give it a user of its own'));
  }
  if (Date.now() < EPOCH_MS) {
    const message = `the clock says ${new Date().toISOString().slice(0, 10)}`;
    findings.push(fault('clock', message, 'set it by NTP'));
  }
  return findings;
}
