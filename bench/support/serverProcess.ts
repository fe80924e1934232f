/** A server in its own process: starts it, reads its memory, ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ServerProcess {
  readonly address: string;
  /** Resident bytes now, and the maximum since `resetPeak`. Linux only. */
  memory(): { readonly nowBytes: number; readonly peakBytes: number };
  resetPeak(): void;
  stop(): Promise<void>;
}

/** `falconry serve` as it is, without limits per client. */
export interface FalconryProcess extends ServerProcess {
  readonly apiKey: string;
}

const UNLIMITED = ['--requests-per-second', '1000000000', '--burst', '1000000000'];
const MANY = ['--open-tasks', '1000000000', '--stored-bytes', '1000GiB'];
const LIMITS = [...UNLIMITED, ...MANY, '--event-streams', '1000000'];

/**
 * @param more further options of `falconry serve`: those of the measurement, then those of the
 *   caller of the benchmark, which may name other stores than the embedded ones
 */
export async function startFalconry(
  dataDirectory: string,
  more: readonly string[] = [],
): Promise<FalconryProcess> {
  const apiKey = randomBytes(32).toString('base64url');
  const script = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const args = ['serve', '--json', '--port', '0', '--data', dataDirectory, '--log-level', 'error'];
  const server = await start([script, ...args, ...LIMITS, '--signing', ...more], {
    FALCONRY_FIRST_KEY: apiKey,
  });
  return { ...server, apiKey };
}

export function startPlainHono(): Promise<ServerProcess> {
  return start([fileURLToPath(new URL('./plainHono.ts', import.meta.url))], {});
}

/** Ready when it has printed one line of JSON with its address. */
async function start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = await firstLine(child);
  const proc = `/proc/${child.pid}`;
  return {
    address,
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

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\n')) resolve(JSON.parse(text.split('\n')[0]!).address);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
