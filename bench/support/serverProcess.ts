/** A server in its own process: starts it, reads its memory, ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HOST_ENV } from '../../scripts/hostSettings.ts';
import type { S3Options } from '../../src/middleware/blobs/s3/index.ts';

export interface ServerProcess {
  readonly address: string;
  readonly pid: number;
  /** Resident bytes now, and the maximum since `resetPeak`. Linux only. */
  memory(): { readonly nowBytes: number; readonly peakBytes: number };
  resetPeak(): void;
  stop(): Promise<void>;
}

/** `falconry serve` as it is, without limits per client. */
export interface FalconryProcess extends ServerProcess {
  readonly apiKey: string;
}

/** The service over a bucket, with a key for each client. */
export interface BucketProcess extends ServerProcess {
  readonly apiKeys: readonly string[];
}

/** The same for every server: those that share a store take the key of the first one. */
const API_KEY = randomBytes(32).toString('base64url');

const UNLIMITED = ['--requests-per-second', '1000000000'];
const MANY = ['--open-tasks', '1000000000', '--stored-bytes', '1000GiB'];
const STREAMS = ['--event-streams', '1000000', '--parallel-uploads', '100000'];
/** All of them come from one address, as from a proxy: it has no limit of its own. */
const CONNECTIONS = ['--max-connections', '100000', '--trust-proxy'];
const LIMITS = [...UNLIMITED, ...MANY, ...STREAMS, ...CONNECTIONS];
/** Those of every client, as they are by default. */
export const COMMON_LIMITS = CONNECTIONS;

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const SERVE = ['serve', '--json', '--log-level', 'error', '--signing'];

/**
 * @param more further options of `falconry serve`: those of the measurement, then those of the
 *   caller of the benchmark, which may name other stores than the embedded ones
 */
export const startFalconry = (
  dataDirectory: string,
  more: readonly string[] = [],
  limits: readonly string[] = LIMITS,
): Promise<FalconryProcess> => startServe([MAIN], dataDirectory, [...limits, ...more]);

/** The same in several processes. @param program starts them: the number, then their arguments */
export const startClustered = (
  program: string,
  processes: number,
  dataDirectory: string,
): Promise<FalconryProcess> => startServe([program, String(processes)], dataDirectory, LIMITS);

async function startServe(
  command: readonly string[],
  dataDirectory: string,
  options: readonly string[],
): Promise<FalconryProcess> {
  const args = [...command, ...SERVE, '--port', '0', '--data', dataDirectory, ...options];
  return { ...(await start(args, { FALCONRY_FIRST_KEY: API_KEY })), apiKey: API_KEY };
}

/** @param processes how many serve, behind another one that accepts; default: a single process */
export function startPlainHono(processes = 0): Promise<ServerProcess> {
  const program = fileURLToPath(new URL('./plainHono.ts', import.meta.url));
  return start([program, String(processes)], {});
}

/** The service over a bucket through which its clients send; see `bucketServer.ts`. */
export function startBucketService(
  dataDirectory: string,
  clients: number,
  bucket: S3Options,
): Promise<BucketProcess> {
  const script = fileURLToPath(new URL('./bucketServer.ts', import.meta.url));
  return start<BucketProcess>([script, dataDirectory, String(clients)], {
    BENCH_BUCKET: JSON.stringify(bucket),
  });
}

/** Ready when it has printed one line of JSON, with its address at least. */
async function start<Said extends { readonly address: string }>(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ServerProcess & Said> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...HOST_ENV, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await firstLine<Said>(child);
  const proc = `/proc/${child.pid}`;
  return {
    ...said,
    pid: child.pid!,
    memory() {
      const text = readFileSync(`${proc}/status`, 'utf8');
      const bytes = (name: string) =>
        1024 * Number(new RegExp(`${name}:\\s*(\\d+)`).exec(text)![1]);
      return { nowBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
    },
    resetPeak: () => writeFileSync(`${proc}/clear_refs`, '5'),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
        setTimeout(() => child.kill('SIGKILL'), 5000).unref();
      }),
  };
}

function firstLine<Said>(child: ChildProcess): Promise<Said> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.includes('\n')) return;
      const said = JSON.parse(text.split('\n')[0]!) as Said & { ok?: boolean; message?: string };
      if (said.ok === false) reject(new Error(`the server does not start: ${said.message}`));
      else resolve(said);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
