/** The packed package as Yarn's PnP and pnpm install it: the library, the command, the service. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packLibrary } from '../bundlers/project.ts';
import { skipLoudly } from '../support/postgres.ts';
import { packageFolders } from '../support/programs.ts';
import { newFolder, writeFiles } from './project.ts';

const folder = newFolder();
let tarball: string;
beforeAll(async () => {
  mkdirSync(join(folder, 'package'));
  tarball = await packLibrary(join(folder, 'package'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = fileURLToPath(new URL('../../package.json', import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(manifest, 'utf8'));
const FRAMEWORK = Object.fromEntries(
  ['hono', '@hono/node-server'].map((name) => [name, devDependencies[name] as string]),
);

const LIBRARY = `
import { falcon512 } from 'falconry';
const { publicKey, secretKey } = falcon512.keygen();
const signature = falcon512.sign(publicKey, secretKey);
console.log(falcon512.verify(signature, publicKey, publicKey));
`;
const CLIENT = `
import { falcon512 } from 'falconry';
import { createClient } from 'falconry/client';
const [baseUrl, apiKey] = process.argv.slice(2);
const { publicKey, secretKey } = falcon512.keygen();
const message = Uint8Array.of(1);
const items = [{ publicKey, message, signature: falcon512.sign(message, secretKey) }];
const client = createClient({ baseUrl, apiKey });
const task = await client.waitFor(await client.submit(items));
const { checked } = await client.result(task.process_id, { statements: items });
console.log(checked);
`;

interface Manager {
  readonly name: string;
  readonly script: string | undefined;
  readonly install: readonly string[];
  /** Arguments ahead of the program and its arguments. */
  readonly exec: readonly string[];
  /** What an installation of this kind has. */
  readonly mark: string;
}

const scriptOf = (name: string, path: string): string | undefined => {
  const [found] = packageFolders(name);
  return found && join(found, path);
};
const MANAGERS: readonly Manager[] = [
  {
    name: 'Yarn with PnP',
    script: scriptOf('@yarnpkg/cli-dist', 'bin/yarn.js'),
    install: ['install'],
    exec: [],
    mark: '.pnp.cjs',
  },
  {
    name: 'pnpm',
    script: scriptOf('pnpm', 'bin/pnpm.mjs'),
    install: ['install', '--ignore-scripts', '--no-frozen-lockfile'],
    exec: ['exec'],
    mark: 'node_modules/.pnpm',
  },
];
const ENVIRONMENT = {
  ...process.env,
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_GLOBAL_CACHE: 'false',
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  // What the test runner sets for itself.
  NODE_OPTIONS: '',
};

describe.each(MANAGERS)('$name', ({ name, script, install, exec, mark }) => {
  if (script === undefined) {
    skipLoudly(name, 'test/package.json');
    return;
  }
  const app = join(folder, name.replaceAll(' ', '-'));
  const options = { cwd: app, env: ENVIRONMENT, timeout: 200_000 };
  const run = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], options);
    return stdout;
  };
  const installApp = async (packages: Readonly<Record<string, string>>) => {
    const dependencies = { falconry: `file:${tarball}`, ...packages };
    const json = { name: 'app', private: true, type: 'module', dependencies };
    const files = { 'package.json': JSON.stringify(json), 'library.mjs': LIBRARY };
    writeFiles(app, {
      ...files,
      'client.mjs': CLIENT,
      ...(!existsSync(app) && { 'yarn.lock': '' }),
    });
    await run(...install);
  };

  test('the library and the command', async () => {
    await installApp({});
    expect(existsSync(join(app, mark))).toBe(true);
    expect(await run(...exec, 'node', 'library.mjs')).toContain('true');
    await run(...exec, 'falconry', 'keygen', '-o', 'key.json');
    expect(JSON.parse(readFileSync(join(app, 'key.json'), 'utf8'))).toHaveProperty('secret_key');
    const refused = await run(...exec, 'falconry', 'serve').catch((error) => error.stderr);
    expect(refused).toContain('npm install hono @hono/node-server');
  });

  test('the service', async () => {
    await installApp(FRAMEWORK);
    const args = [script, ...exec, 'falconry', 'serve', '--port', '0'];
    const metrics = run(...args.slice(1), '--metrics-port', '0').catch((error) => error.stderr);
    expect(await metrics).toContain('metrics need the package prom-client');
    const server = spawn(process.execPath, args, { ...options, detached: true });
    try {
      const address = await addressOf(server);
      const key = readFileSync(join(app, '.falconry/first-api-key'), 'utf8').trim();
      expect(await run(...exec, 'node', 'client.mjs', address, key)).toContain('true');
    } finally {
      const ended = once(server, 'exit');
      process.kill(-server.pid!, 'SIGTERM');
      await ended;
    }
  });
});

/** Waits until the service prints where it listens. */
async function addressOf(server: ChildProcess): Promise<string> {
  let said = '';
  for (const stream of [server.stdout!, server.stderr!]) {
    stream.on('data', (data) => {
      said += data;
      server.emit('said');
    });
  }
  server.once('exit', () => server.emit('said'));
  for (;;) {
    const [address] = /http:\/\/[\w.:]+(?=\S*\s)/.exec(said) ?? [];
    if (address !== undefined && said.includes('service started')) return address;
    if (server.exitCode !== null) throw new Error(said);
    await once(server, 'said');
  }
}
