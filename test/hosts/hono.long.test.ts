/**
 * The package next to a host's own Hono: old ones, and none. It is laid out as npm does it, with
 * one Hono for the host, for falconry and for `@hono/node-server`.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed } from '../support/programs.ts';
import { projectFolder } from './recipes.ts';

const run = promisify(execFile);
let root: string;

/** Every use of the service in a Hono: routes of several types, and a batch from start to end. */
const HOST = `
import { falcon512 } from 'falconry';
import { createClient } from 'falconry/client';
import { falconService, toFetchHandler } from 'falconry/middleware';
import { Hono } from 'hono';

const service = falconService({ dataDirectory: './data' });
await service.start();
const host = new Hono();
host.route('/falcon', service.app);
host.mount('/mounted', toFetchHandler(service));
const typed = new Hono<{ Variables: { user: string } }>().basePath('/api');
typed.route('/falcon', service.app);
const chained = new Hono().get('/', (c) => c.text('home')).route('/falcon', service.app);
const statuses = [
  await host.request('/falcon/v1/openapi.json'),
  await host.request('/mounted/v1/openapi.json'),
  await typed.request('/api/falcon/v1/ui'),
  await chained.request('/falcon/v1/svc/tasks'),
].map(({ status }) => status);

const { key } = await service.apiKeys.create({ name: 'alice' });
const client = createClient({
  baseUrl: 'http://localhost/falcon',
  apiKey: key,
  fetch: async (input, init) => host.fetch(new Request(input, init)),
});
const { publicKey, secretKey } = falcon512.keygen();
const message = new TextEncoder().encode('below a host of its own');
const items = [{ publicKey, message, signature: falcon512.sign(message, secretKey) }];
const { process_id } = await client.submit(items);
await client.waitFor(process_id);
const { checked } = await client.result(process_id, { statements: items });
await service.stop();
console.log(JSON.stringify({ statuses, checked }));
`;

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
  files: ['host.ts'],
};

/** A folder with falconry, what it depends on, and the Hono of the host. */
async function install(hono: string | null): Promise<string> {
  const folder = join(root, `hono-${hono ?? 'none'}`);
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@hono'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  if (hono !== null) {
    await run('npm', ['install', '--no-audit', '--no-fund', `hono@${hono}`], { cwd: folder });
  }
  const ours = join(projectFolder, 'node_modules');
  // Those that import Hono are copied: a link would lead to the Hono of this project.
  await cp(join(root, 'falconry'), join(modules, 'falconry'), { recursive: true });
  if (hono !== null) {
    await cp(join(ours, '@hono/node-server'), join(modules, '@hono/node-server'), {
      recursive: true,
    });
  }
  const present = new Set(await readdir(modules));
  for (const name of ['@asteasolutions', '@noble', '@types', 'eventsource-parser', 'piscina']) {
    if (!present.has(name)) await symlink(join(ours, name), join(modules, name));
  }
  await writeFile(join(folder, 'host.ts'), HOST);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  return folder;
}

/** Lays such a folder out for the tests of a suite. */
function installedWith(hono: string | null): () => string {
  let folder = '';
  beforeAll(async () => {
    folder = await install(hono);
  });
  return () => folder;
}

const COMMAND = 'node_modules/falconry/dist/cli/main.js';

/** Runs it until it listens, then asks it to stop. */
async function serve(
  cwd: string,
  ...more: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const args = [COMMAND, 'serve', '--port', '0', '--data', 'served', '--log-level', 'warn'];
  const child = spawn(process.execPath, [...args, ...more], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (child.killed || !stdout.includes('Falconry is listening')) return;
    child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'falconry-hono-'));
  const dist = join(root, 'falconry/dist');
  await run(installed('tsc'), ['-p', 'tsconfig.build.json', '--outDir', dist], {
    cwd: projectFolder,
  });
  for (const name of ['falcon', 'falcon.relaxed', 'labrador', 'labrador.relaxed']) {
    await cp(join(projectFolder, `build/${name}.wasm`), join(dist, `${name}.wasm`));
  }
  await cp(join(projectFolder, 'package.json'), join(root, 'falconry/package.json'));
});

afterAll(async () => rm(root, { recursive: true, force: true }));

// 4.0 is the oldest that the package allows; 4.7 is the oldest for `serve` and `toNodeHandler`.
describe.each(['4.0.0', '4.6.0', '4.7.0', '4.12.0', '4.13.0'])('next to Hono %s', (version) => {
  const folder = installedWith(version);

  it('compiles in a host', async () => {
    const { stdout } = await run(installed('tsc'), ['-p', 'tsconfig.json'], { cwd: folder() });
    expect(stdout).toBe('');
  });

  it('works in a host', async () => {
    const { stdout } = await run(process.execPath, ['host.ts'], { cwd: folder() });
    expect(JSON.parse(stdout)).toEqual({ statuses: [200, 200, 200, 401], checked: true });
  });

  it('serves on its own, or says what it needs', async () => {
    const { code, stdout, stderr } = await serve(folder());
    if (Number(version.split('.')[1]) >= 7) {
      expect(stdout).toContain('Falconry is listening on http://127.0.0.1:');
      expect(code, stderr).toBe(0);
      const metrics = await serve(folder(), '--metrics-port', '0');
      expect(metrics).toEqual({ code: 3, stdout: '', stderr: METRICS_NEEDED });
    } else {
      expect(stderr).toBe(NEEDED);
      expect(code).toBe(3);
    }
  });
});

const METRICS_NEEDED =
  'falconry serve: metrics need the package prom-client: npm install prom-client@15\n';
const NEEDED =
  'falconry serve: the service needs the packages hono (4.7 or newer) and @hono/node-server: ' +
  'npm install hono @hono/node-server\n';

describe('without the packages of databases and buckets', () => {
  const folder = installedWith('4.13.0');

  const refused = async (...args: string[]) => {
    const database = ['--database', 'postgres://nobody@localhost/none'];
    const env = { ...process.env, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    const ran = run(process.execPath, [COMMAND, ...args, ...database], { cwd: folder(), env });
    return ran.then(
      () => null,
      ({ code, stderr }) => [code, stderr],
    );
  };

  it.each(['serve', 'worker'])('falconry %s names that of the bucket', async (verb) => {
    const message = 'a bucket needs the package aws4fetch: npm install aws4fetch';
    const found = await refused(verb, '--blobs', 's3://bucket/');
    expect(found).toEqual([3, `falconry ${verb}: ${message}\n`]);
  });

  it.each(['keys list', 'queue', 'retry --all', 'migrate'])('falconry %s', async (words) => {
    const message = 'a database needs the package pg: npm install pg';
    const [verb, ...rest] = words.split(' ');
    const found = await refused(verb!, ...rest);
    expect(found).toEqual([3, `falconry ${verb}: ${message}\n`]);
  });
});

describe('without Hono', () => {
  const folder = installedWith(null);

  it('serve names the packages', async () => {
    expect(await serve(folder())).toEqual({ code: 3, stdout: '', stderr: NEEDED });
  });

  it('the import of the service names the package', async () => {
    const program = `import('falconry/middleware').catch((error) => console.log(error.message))`;
    const { stdout } = await run(process.execPath, ['-e', program], { cwd: folder() });
    expect(stdout).toMatch(/^Cannot find package 'hono' imported from .*\/npmInstallHono\.js\n$/);
  });

  it.each(['--help', 'serve --help', 'doctor --data checked --port 0', 'keygen -o key.json'])(
    'falconry %s needs none',
    async (words) => {
      const args = [COMMAND, ...words.split(' ')];
      await expect(run(process.execPath, args, { cwd: folder() })).resolves.toBeTruthy();
    },
  );

  it('the commands for keys, signatures and aggregates need none', async () => {
    await writeFile(join(folder(), 'message'), 'without a framework');
    for (const words of [
      'keygen -o signer.json',
      'sign message --key signer.json -o task.json',
      'verify task.json',
      'aggregate task.json -o out.json',
      'verify-aggregate out.json task.json',
    ]) {
      const ran = run(process.execPath, [COMMAND, ...words.split(' ')], { cwd: folder() });
      await expect(ran, words).resolves.toBeTruthy();
    }
    for (const verb of ['submit', 'tasks', 'keys', 'quota']) {
      const ran = run(process.execPath, [COMMAND, verb, '--help'], { cwd: folder() });
      await expect(ran, verb).resolves.toBeTruthy();
    }
  });

  it('the library and the client need none', async () => {
    const program = `await import('falconry'); await import('falconry/client'); console.log('both')`;
    const args = ['--input-type=module', '-e', program];
    expect((await run(process.execPath, args, { cwd: folder() })).stdout).toBe('both\n');
  });
});
