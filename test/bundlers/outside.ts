/** The service in bundles of servers that leave the package out, by the settings of the page. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Block, blocksOf } from '../support/documentBlocks.ts';
import { installed } from '../support/programs.ts';
import { beside, command, project, webpackBuild } from './project.ts';

const SERVER = `import { falconService } from 'falconry/middleware';

const service = falconService({ dataDirectory: './data', threads: 1 });
await service.start();
console.log((await service.apiKeys.create({ name: 'bundled' })).clientId);
await service.stop();
`;

/** The block of docs/bundlers.md that begins so. */
export function blockOf(start: string): Block {
  const found = blocksOf('docs/bundlers.md').filter(({ source }) => source.startsWith(start));
  if (found.length !== 1) throw new Error(`docs/bundlers.md has ${found.length} blocks: ${start}`);
  return found[0]!;
}

/** The words of the command in the page that begins with this program. */
function wordsOf(program: string): string[] {
  const blocks = blocksOf('docs/bundlers.md').filter(({ language }) => language === 'sh');
  const lines = blocks.flatMap(({ source }) => source.split('\n'));
  const line = lines.find((each) => each.startsWith(`${program} `) && each.includes('external'));
  if (line === undefined) throw new Error(`docs/bundlers.md has no command of ${program}`);
  return line.split(' ').slice(1);
}

/** A project with the server, and what makes `dist/server.js` an ES module or a script. */
const serverProject = (name: string, type: 'module' | 'commonjs', files = {}) =>
  project(name, {
    'server.js': SERVER,
    'package.json': '{ "type": "module" }',
    'dist/package.json': `{ "type": "${type}" }`,
    ...files,
  });

async function byRollup(program: string, name: string): Promise<string> {
  const config = `${name}.config.js`;
  const folder = await serverProject(`outside-${name}`, 'module', {
    [config]: blockOf('// rollup.config.js, rolldown.config.js').source,
  });
  await command(folder, process.execPath, [program, '--config', config]);
  return folder;
}

async function byWebpack(): Promise<string> {
  const folder = await serverProject('outside-webpack', 'commonjs');
  const place = join(folder, 'webpack.config.js');
  await writeFile(place, blockOf('// webpack.config.js').source);
  const { default: config } = await import(place);
  const output = { path: join(folder, 'dist'), filename: 'server.js' };
  await webpackBuild({ context: folder, entry: './server.js', output, ...config });
  return folder;
}

async function byCommand(program: 'esbuild' | 'bun'): Promise<string> {
  const folder = await serverProject(`outside-${program}`, 'module');
  await command(folder, installed(program), wordsOf(program));
  return folder;
}

async function byVite(): Promise<string> {
  const folder = await serverProject('outside-vite', 'module');
  const args = ['build', '--ssr', 'server.js', '--emptyOutDir', 'false'];
  await command(folder, process.execPath, [beside('vite/bin/vite.js'), ...args]);
  return folder;
}

/** Each bundler, and what makes `dist/server.js` with it; @returns the folder around it */
export const OUTSIDE: readonly (readonly [bundler: string, build: () => Promise<string>])[] = [
  ['rollup', () => byRollup(beside('rollup/dist/bin/rollup'), 'rollup')],
  ['rolldown', () => byRollup(installed('rolldown'), 'rolldown')],
  ['webpack', byWebpack],
  ['esbuild', () => byCommand('esbuild')],
  ['bun', () => byCommand('bun')],
  ['vite', byVite],
];
