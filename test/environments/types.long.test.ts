/**
 * The declarations, internal ones included, compile in projects without the DOM's types, with the
 * oldest TypeScript and this project's, in every way of resolving modules. The values of every host
 * are accepted.
 */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compilePackage } from '../../scripts/compilePackage.ts';
import { packageFolders } from '../support/programs.ts';

const manifest = fileURLToPath(new URL('../../package.json', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'falconry-environments-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COMPILERS = ['typescript-5.7', 'typescript'];
const RESOLUTIONS = ['node16', 'nodenext', 'bundler'];
/** Entries that are about Node, and need its types. */
const OF_NODE = ['./middleware'];
const DEPENDENCIES = ['@noble/hashes', 'eventsource-parser'];

const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  exports: Record<string, string | { types: string }>;
};
const entries = Object.keys(exports).filter((name) => typeof exports[name] !== 'string');

const importAll = (names: readonly string[]): string =>
  names
    .map((name, i) => `import * as e${i} from 'falconry${name.slice(1)}'; export { e${i} };`)
    .join('\n');

/** What a user passes that comes from the host. */
const USE = `
import {
  aggregate, createAggregatePool, createVerifyPool, falcon512, useFalconModule,
} from 'falconry';
import { createClient } from 'falconry/client';
import wasm from 'falconry/falcon.wasm';
import type { BlobStore } from 'falconry/s3';
declare const store: BlobStore;
const { publicKey, secretKey } = falcon512.keygen();
useFalconModule(wasm);
const pieces = (async function* () { yield publicKey; })();
await falcon512.signStream(pieces, secretKey);
`;
const USE_HOST = `${USE}
const { signal } = new AbortController();
const workerUrl = new URL('https://example.org/worker.js');
await aggregate([], { signal, workerUrl });
await createAggregatePool({ workerUrl }).aggregate([], { signal });
await createVerifyPool({ workerUrl }).verifyBatch([], { signal });
const stream: ReadableStream<Uint8Array> = new ReadableStream();
await falcon512.signStream(stream, secretKey);
// @ts-expect-error a stream of something else
await falcon512.signStream(0 as unknown as ReadableStream<string>, secretKey);
const client = createClient({
  baseUrl: workerUrl,
  signal,
  fetch: async (url, init) => fetch(url, { ...init, redirect: 'error' }),
});
await client.submit(new Blob([]), { signal });
await store.put('task-1', stream, { maxBytes: 9, signal });
const { body } = (await store.get({ key: 'task-1', tag: '' }))!;
await falcon512.signStream(body, secretKey);
`;
// The types of Workers are not found: their classes are no variables of the global object.
const USE_STREAM = `${USE_HOST}new Response(body);\n`;
/** A host that TypeScript knows nothing of. */
const USE_BARE = `${USE}
interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
declare const signal: Signal;
await aggregate([], { signal });
await createVerifyPool().verifyBatch([], { signal });
createClient({ baseUrl: 'https://example.org', signal });
createAggregatePool();
// @ts-expect-error no signal at all
await aggregate([], { signal: 'now' });
await store.delete('task-1');
`;

function link(into: string, name: string): void {
  const path = join(into, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(packageFolders(name)[0]!, path);
}

/** A project with the package's declarations, and these packages and files. */
function layOut(name: string, packages: readonly string[], files: Record<string, string>): string {
  const project = join(folder, name);
  for (const each of [...DEPENDENCIES, ...packages]) link(project, each);
  mkdirSync(join(project, 'node_modules/falconry'));
  symlinkSync(join(folder, 'dist'), join(project, 'node_modules/falconry/dist'));
  symlinkSync(manifest, join(project, 'node_modules/falconry/package.json'));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  return project;
}

/** What the compiler says about all files of a project: nothing when all is well. */
async function compile(
  compiler: string,
  project: string,
  resolution: string,
  types: readonly string[],
  lib: readonly string[] = ['ES2022'],
): Promise<string> {
  const compilerOptions = {
    target: 'es2022',
    lib,
    types,
    module: resolution === 'bundler' ? 'esnext' : resolution,
    moduleResolution: resolution,
    // The packages are linked, and their own packages are not those of this repository.
    preserveSymlinks: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  const config = join(project, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(packageFolders(compiler)[0]!, 'bin/tsc');
  return promisify(execFile)(process.execPath, [tsc, '-p', config], { cwd: project }).then(
    ({ stdout }) => stdout,
    // Bun's types fit one version of Node's types only.
    (error) => error.stdout?.replace(/^node_modules\/bun-types\/.*\n/gm, '') ?? String(error),
  );
}

beforeAll(() => compilePackage(join(folder, 'dist')));

test('the inside of the prover and of the modules is not declared', () => {
  const names = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
  const inside = /(aggregate\/proof\/|aggregate\/threads|wasm\.gen).*\.d\.ts$/;
  expect(names.filter((name) => inside.test(name))).toEqual([]);
});

describe.each(COMPILERS)('%s', (compiler) => {
  test('without any types of a host', async () => {
    const bare = entries.filter((name) => !OF_NODE.includes(name));
    expect(bare.length).toBeGreaterThan(20);
    const files = { 'all.ts': importAll(bare), 'use.ts': USE_BARE };
    const project = layOut(`bare-${compiler}`, [], files);
    for (const resolution of RESOLUTIONS) {
      expect(await compile(compiler, project, resolution, []), resolution).toBe('');
    }
  });

  test.each<[string, string, string[]]>([
    ['Node', 'node', ['@types/node', 'undici-types', 'hono']],
    ['Bun', 'bun', ['@types/bun', 'bun-types', '@types/node', 'undici-types', 'hono']],
  ])('with the types of %s', async (_, types, packages) => {
    const files = { 'all.ts': importAll(entries), 'use.ts': USE_STREAM };
    const project = layOut(`${types}-${compiler}`, packages, files);
    for (const resolution of types === 'node' ? RESOLUTIONS : ['bundler']) {
      expect(await compile(compiler, project, resolution, [types]), resolution).toBe('');
    }
  });

  test.each<[string, string[], string[], string[]]>([
    ['the DOM', [], [], ['ES2022', 'DOM', 'DOM.Iterable']],
    ['workers of browsers', [], [], ['ES2022', 'WebWorker']],
    ['Workers', ['@cloudflare/workers-types'], ['@cloudflare/workers-types'], ['ES2022']],
  ])('with the types of %s', async (name, packages, types, lib) => {
    const bare = entries.filter((entry) => !OF_NODE.includes(entry));
    const use = name === 'Workers' ? USE_HOST : USE_STREAM;
    const files = { 'all.ts': importAll(bare), 'use.ts': use };
    const project = layOut(`${name.replaceAll(' ', '-')}-${compiler}`, packages, files);
    expect(await compile(compiler, project, 'bundler', types, lib)).toBe('');
  });
});
