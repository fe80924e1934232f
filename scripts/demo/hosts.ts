/**
 * The service of the demo as it runs on several hosts, here on one machine: PostgreSQL, an S3
 * server that checks signatures, one process that serves, and three that work. All are started
 * here, and end with the demo.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bucketEnv } from '../../test/support/rgw.ts';
import { type Closers, closeAll, startServers } from '../servers.ts';
import type { Place, PlaceOptions } from './embedded.ts';
import { progress } from './terminal.ts';

const WORKERS = 3;

/** @throws Error that says what to install if a server is missing */
export async function openHosts({ count, format, signing }: PlaceOptions): Promise<Place> {
  const open: Closers = [];
  const close = () => closeAll(open);
  try {
    const { database, rgw } = await startServers(open);
    progress('PostgreSQL').done(`its socket is in ${database.folder}`);
    progress('S3 (Ceph RGW)').done(`${rgw.endpoint}, bucket ${rgw.bucket}`);
    const hosts = new Commands({
      ...process.env,
      FALCONRY_DATABASE: database.url,
      FALCONRY_LOG_LEVEL: 'warn',
      FALCONRY_MAX_SIGNATURES: String(count),
      ...bucketEnv(rgw, 'demo/'),
    });
    open.push(() => hosts.end());
    await hosts.run('migrate');
    const { key } = await hosts.run('keys', 'create', '--name', 'demo');
    const keys = await mkdtemp(join(tmpdir(), 'falconry-demo-'));
    open.push(() => rm(keys, { recursive: true }));
    const threads = ['--threads', String(availableParallelism())];
    const keyFile = join(keys, 'key.json');
    await hosts.run('keygen', '-o', keyFile);
    const salts = [
      '--signing',
      '--signing-key-file',
      keyFile,
      '--signing-salt',
      signing.salt ?? 'random',
    ];
    const serve = ['serve', '--port', '0', '--no-workers', '--threads', '1', ...salts];
    const work = ['worker', ...threads, '--aggregate-format', format, '--metrics-port', '0'];
    const [serving, ...working] = await Promise.all([
      hosts.start(...serve),
      ...Array.from({ length: WORKERS }, () => hosts.start(...work)),
    ]);
    progress('falconry serve').done(`one process on ${serving.address}`);
    progress('falconry worker').done(`${WORKERS} processes`);
    return {
      base: serving.address as string,
      key: key as string,
      where: 'PostgreSQL and S3',
      worker: () => whoWorked(working.map(({ metrics_port }) => metrics_port as number)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Facts = Readonly<Record<string, unknown>>;

/** Runs the command line; what a command says is its line of JSON. */
class Commands {
  readonly #env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Runs a command to its end. */
  async run(...args: string[]): Promise<Facts> {
    const { child, said } = this.#spawn(args);
    const ended = once(child, 'close');
    const facts = await said;
    await ended;
    return facts;
  }

  /** Starts a server, and waits until it is ready. */
  async start(...args: string[]): Promise<Facts> {
    const { child, said } = this.#spawn(args);
    this.#children.push(child);
    return said;
  }

  #spawn(args: readonly string[]) {
    const script = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const child = spawn(process.execPath, [script, ...args, '--json'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = new Promise<Facts>((resolve, reject) => {
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        const [line, ...rest] = text.split('\n');
        if (rest.length === 0) return;
        const facts = JSON.parse(line!) as Facts;
        if (facts.ok === true) resolve(facts);
        else reject(new Error(`falconry ${args[0]}: ${facts.message}`));
      });
      child.on('error', reject);
      child.on('close', (code) => reject(new Error(`falconry ${args[0]} ended with ${code}`)));
    });
    return { child, said };
  }

  async end(): Promise<void> {
    const ends = this.#children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    });
    await Promise.all(ends);
  }
}

async function whoWorked(ports: readonly number[]): Promise<string | null> {
  const counts = await Promise.all(
    ports.map(async (port) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/^falconry_attempts_total\{outcome="completed"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    }),
  );
  return `worker ${counts.findIndex((count) => count > 0) + 1} of ${ports.length}`;
}
