/**
 * One bundler in every short run: esbuild bundles what the package holds, and Node runs it. The other bundlers, and browsers, are
 * in bundlers.long.test.ts.
 */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, installed, layOutPackage, project } from './project.ts';

const LONG = { timeout: 300_000 };
const PRINT = 'console.log(JSON.stringify(report));';
const FILES = {
  'plain.js': `import { job } from './job.js';\njob().then((report) => ${PRINT.slice(0, -1)});\n`,
  'main.js': `import { job } from './job.js';\nconst report = await job();\n${PRINT}\n`,
  'verifyWorker.js': "import 'falconry/verify-worker';\n",
  'aggregateWorker.js': "import 'falconry/aggregate-worker';\n",
};
const ENTRIES = ['main.js', 'verifyWorker.js', 'aggregateWorker.js'];

let folder: string;

beforeAll(async () => {
  folder = await project('short', FILES);
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'falconry'), { recursive: true });
  await layOutPackage(join(modules, 'falconry'));
  await symlink(join(installed(''), '../@noble'), join(modules, '@noble'));
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the bundle prints that esbuild makes of the entries. */
async function outcome(entries: readonly string[], args: readonly string[], file: string) {
  const all = [...entries, '--bundle', '--outdir=dist', ...args];
  await command(folder, installed('esbuild'), all);
  return JSON.parse(await command(folder, process.execPath, [join('dist', file)]));
}

test('esm, with the workers as entries: two threads', LONG, async () => {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const args = ['--format=esm', '--platform=node'];
  expect(await outcome(ENTRIES, args, 'main.js')).toEqual({
    falcon512: true,
    verifyPool: { threads: 2, correct: true },
    aggregate: { threads: 2, correct: true },
  });
});

test('cjs, which has no import.meta.url: the calling thread does the work', LONG, async () => {
  const args = ['--format=cjs', '--platform=node', '--out-extension:.js=.cjs'];
  expect(await outcome(['plain.js'], args, 'plain.cjs')).toEqual({
    falcon512: true,
    verifyPool: { threads: 0, correct: true },
    aggregate: { threads: 1, correct: true },
  });
});
