/** Every bundler, with the settings that its own documentation gives, and where its result runs. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { installed } from '../support/programs.ts';
import { inChromium, inFirefox } from './browsers.ts';
import { blockOf } from './outside.ts';
import { beside, command, project, webpackBuild } from './project.ts';
import type { JobReport } from './report.ts';
import { serveFolder } from './serve.ts';
import { inWorkerd } from './workerd.ts';

export interface Case {
  readonly bundler: string;
  readonly how: string;
  readonly host: 'Chromium' | 'Firefox' | 'Node' | 'itself' | 'workerd';
  run(): Promise<JobReport>;
}

const PAGE = '<!doctype html><title>job</title>';
const moduleScript = (file: string): string =>
  `${PAGE}<script type="module" src="${file}"></script>`;
const classicScript = (file: string): string => `${PAGE}<script src="${file}"></script>`;
const INTO_PAGE = "import { job } from './job.js';\nglobalThis.report = job();\n";
const TO_OUTPUT =
  "import { job } from './job.js';\njob().then((report) => console.log(JSON.stringify(report)));\n";

const WORKERS = {
  'verifyWorker.js': "import 'falconry/verify-worker';\n",
  'aggregateWorker.js': "import 'falconry/aggregate-worker';\n",
};
/**
 * The workers as entries of the names under which they are looked for beside a bundle of ES
 * modules.
 */
const BESIDE = { 'main.js': INTO_PAGE, ...WORKERS };
/** The same with their addresses, for bundles that do not know their own. */
const WITH_ADDRESSES = {
  'main.js': `import { job } from './job.js';
globalThis.report = job({
  verifyWorker: './verifyWorker.js',
  aggregateWorker: './aggregateWorker.js',
});
`,
  ...WORKERS,
};
const ENTRY = { 'main.js': INTO_PAGE };
const NODE_ENTRY = { 'main.js': TO_OUTPUT };
const BUN_ENTRIES = {
  'main.js': `import { job } from './job.js';
const report = await job({
  verifyWorker: new URL('./verifyWorker.js', import.meta.url),
  aggregateWorker: new URL('./aggregateWorker.js', import.meta.url),
});
console.log(JSON.stringify(report));
`,
  ...WORKERS,
};

async function served<T>(folder: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = await serveFolder(folder);
  try {
    return await use(server.url);
  } finally {
    await server.close();
  }
}

const inNode = async (folder: string, file: string) =>
  lastOf(await command(folder, process.execPath, [file]));

/** The folder of what was built, with the page of the project. */
async function withPage(folder: string): Promise<string> {
  await cp(join(folder, 'index.html'), join(folder, 'dist/index.html'));
  return join(folder, 'dist');
}

/** The report in the last line of an output. */
const lastOf = (output: string): JobReport => JSON.parse(output.trim().split('\n').at(-1)!);

// vite

async function viteBuild(name: string): Promise<string> {
  const folder = await project(name, {
    'main.js': INTO_PAGE,
    'index.html': moduleScript('/main.js'),
  });
  await command(folder, process.execPath, [beside('vite/bin/vite.js'), 'build']);
  return join(folder, 'dist');
}

async function viteDev(name: string): Promise<JobReport> {
  const folder = await project(name, {
    'main.js': INTO_PAGE,
    'index.html': moduleScript('/main.js'),
    'package.json': '{ "type": "module" }',
  });
  // Vite serves what is below the project's own folder.
  for (const name of ['falconry', '@noble']) {
    await cp(beside(name), join(folder, 'node_modules', name), { recursive: true });
  }
  const { createServer: createVite } = await import(beside('vite/dist/node/index.js'));
  const port = await freePort();
  const vite = await createVite({
    root: folder,
    logLevel: 'error',
    server: { port, host: '127.0.0.1' },
  });
  await vite.listen();
  try {
    return await inChromium(`http://127.0.0.1:${port}/`);
  } finally {
    await vite.close();
  }
}

// webpack

async function webpack(name: string, target: 'web' | 'node', main: string): Promise<string> {
  const folder = await project(name, {
    'main.js': main,
    'index.html': classicScript('/main.js'),
    // What webpack makes are scripts, for pages and for Node.
    'dist/package.json': '{ "type": "commonjs" }',
  });
  const output = { path: join(folder, 'dist'), filename: 'main.js' };
  await webpackBuild({ context: folder, entry: './main.js', target, output });
  return withPage(folder);
}

// rollup, rolldown

async function rollup(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = await project(name, { ...entries, 'index.html': moduleScript('/main.js') });
  const { rollup: bundle } = await import(beside('rollup/dist/es/rollup.js'));
  const { nodeResolve } = await import(beside('@rollup/plugin-node-resolve/dist/es/index.js'));
  const made = await bundle({
    input: Object.keys(entries).map((file) => join(folder, file)),
    plugins: [nodeResolve({ browser: true })],
  });
  await made.write({ dir: join(folder, 'dist'), format: 'esm' });
  await made.close();
  return withPage(folder);
}

async function rolldown(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = await project(name, { ...entries, 'index.html': moduleScript('/main.js') });
  const { rolldown: bundle } = await import('rolldown');
  const made = await bundle({
    cwd: folder,
    input: Object.keys(entries).map((file) => `./${file}`),
    platform: 'browser',
  });
  await made.write({ dir: join(folder, 'dist'), format: 'esm' });
  await made.close();
  return withPage(folder);
}

/** By its command, with the configuration that docs/bundlers.md shows. */
async function byConfiguration(name: 'rollup' | 'rolldown'): Promise<string> {
  const { source } = blockOf('// rollup.config.js\n');
  const own = name === 'rollup' ? source : source.replace(/^import.*\n|^ *plugins:.*\n/gm, '');
  const folder = await project(`${name}-entries`, {
    ...ENTRY,
    'index.html': moduleScript('/main.js'),
    'package.json': '{ "type": "module" }',
    [`${name}.config.js`]: own,
  });
  const program = name === 'rollup' ? beside('rollup/dist/bin/rollup') : installed('rolldown');
  await command(folder, process.execPath, [program, '--config', `${name}.config.js`]);
  return withPage(folder);
}

// esbuild

type Format = 'esm' | 'iife' | 'cjs';

async function esbuild(
  name: string,
  format: Format,
  entries: Readonly<Record<string, string>>,
): Promise<string> {
  const script = format === 'esm' ? moduleScript : classicScript;
  const folder = await project(name, { ...entries, 'index.html': script('/main.js') });
  const platform = format === 'cjs' ? 'node' : 'browser';
  const extension = format === 'cjs' ? ['--out-extension:.js=.cjs'] : [];
  const args = ['--bundle', `--format=${format}`, `--platform=${platform}`, '--outdir=dist'];
  const files = Object.keys(entries).map((file) => `./${file}`);
  await command(folder, installed('esbuild'), [...files, ...args, ...extension]);
  return withPage(folder);
}

// bun

/** The executable runs in a folder that holds nothing of its sources. */
async function bunCompile(
  name: string,
  entries: Readonly<Record<string, string>>,
): Promise<JobReport> {
  const folder = await project(name, entries);
  const files = Object.keys(entries).map((file) => `./${file}`);
  const args = ['build', '--compile', ...files, '--outfile', 'out/job'];
  await command(folder, installed('bun'), args);
  return lastOf(await command(join(folder, 'out'), './job', []));
}

/** A case of a page in Chromium. */
const inPage = (bundler: string, how: string, build: () => Promise<string>): Case => ({
  bundler,
  how,
  host: 'Chromium',
  run: async () => served(await build(), inChromium),
});

/** A case of a script in Node. */
const inScript = (
  bundler: string,
  how: string,
  script: string,
  build: () => Promise<string>,
): Case => ({ bundler, how, host: 'Node', run: async () => inNode(await build(), script) });

/** A case of an executable that Bun makes. */
const inItself = (how: string, run: Case['run']): Case => ({
  ...{ bundler: 'bun', how, host: 'itself', run },
});

/** All but Next, whose three answers come of one build. */
export const CASES: readonly Case[] = [
  inPage('vite', 'build', () => viteBuild('vite')),
  {
    bundler: 'vite',
    how: 'build',
    host: 'Firefox',
    run: () => viteBuild('vite-firefox').then((folder) => served(folder, inFirefox)),
  },
  {
    bundler: 'vite',
    how: 'dev server',
    host: 'Chromium',
    run: () => viteDev('vite-dev'),
  },
  inPage('webpack', "`target: 'web'`", () => webpack('webpack', 'web', INTO_PAGE)),
  inScript('webpack', "`target: 'node'`", 'main.js', () =>
    webpack('webpack-node', 'node', TO_OUTPUT),
  ),
  inPage('rollup', 'esm', () => rollup('rollup', ENTRY)),
  inPage('rollup', 'esm, workers as entries', () => byConfiguration('rollup')),
  inPage('rolldown', 'esm', () => rolldown('rolldown', ENTRY)),
  inPage('rolldown', 'esm, workers as entries', () => byConfiguration('rolldown')),
  inPage('esbuild', 'esm', () => esbuild('esbuild-esm', 'esm', ENTRY)),
  inPage('esbuild', 'esm, workers as entries', () => esbuild('esbuild-entries', 'esm', BESIDE)),
  inPage('esbuild', 'iife', () => esbuild('esbuild-iife', 'iife', ENTRY)),
  inPage('esbuild', 'iife, workers as entries, `workerUrl`', () =>
    esbuild('esbuild-iife-entries', 'iife', WITH_ADDRESSES),
  ),
  inScript('esbuild', 'cjs', 'main.cjs', () => esbuild('esbuild-cjs', 'cjs', NODE_ENTRY)),
  inItself('`build --compile`', () => bunCompile('bun', NODE_ENTRY)),
  inItself('`build --compile`, workers as entries, `workerUrl`', () =>
    bunCompile('bun-entries', BUN_ENTRIES),
  ),
  { bundler: 'workerd', how: 'bundled by rolldown', host: 'workerd', run: inWorkerd },
];
