/** What `falconry` says on a Node that is too old: the file that npm installs as the command. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/lib/command.ts';
import { fact } from '../support/facts.ts';
import { skipLoudly } from '../support/postgres.ts';
import { cleanEnvironment, temporaryFolder } from './cli.ts';

const ROOT = new URL('../../', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
const wanted: string = manifest.engines.node.replace('>=', '');
const source = fileURLToPath(new URL('src/cli/falconry.cjs', ROOT));

const folder = temporaryFolder();
const command = join(folder.path, 'dist/cli/falconry.cjs');

beforeAll(() => {
  mkdirSync(join(folder.path, 'dist/cli'), { recursive: true });
  copyFileSync(source, command);
});

/** A package with another demand, and a main.js that tells that it was started. */
function demand(node: string): void {
  writeFileSync(
    join(folder.path, 'package.json'),
    JSON.stringify({ type: 'module', engines: { node: `>=${node}` } }),
  );
  const text = "export function start() { console.log('started', process.argv.slice(2)); }\n";
  writeFileSync(join(folder.path, 'dist/cli/main.js'), text);
}

const run = (node: string, ...args: string[]) => {
  const env = cleanEnvironment();
  const { status, stdout, stderr } = spawnSync(node, [command, ...args], { encoding: 'utf8', env });
  return { status, stdout, stderr };
};

const versionOf = (node: string) =>
  execFileSync(node, ['-p', 'process.versions.node'], {
    encoding: 'utf8',
    env: cleanEnvironment(),
  }).trim();

/** The first one of the machine that is older than 22, outside of the project. */
function oldNode(): string | undefined {
  return [...process.env.PATH!.split(delimiter), '/usr/bin', '/usr/local/bin']
    .map((place) => join(place, 'node'))
    .filter((path) => !path.includes('node_modules') && existsSync(path))
    .find((path) => Number(versionOf(path).split('.')[0]) < 22);
}

it('is the command of the package, and demands what the package demands', () => {
  expect(manifest.bin.falconry).toBe('./dist/cli/falconry.cjs');
  expect(wanted).toMatch(/^\d+\.\d+$/);
});

it('has nothing that a Node of before 2015 could not read', () => {
  const text = readFileSync(source, 'utf8');
  const code = (target: string) => transformSync(text, { target }).code;
  expect(code('es5')).toBe(code('esnext'));
  expect(() => transformSync('const a = 1;', { target: 'es5' })).toThrow(/const/);
});

describe('on this Node', () => {
  it.each(['22.13', '0.10', process.versions.node])('a demand of %s is met', (version) => {
    demand(version);
    const { status, stdout, stderr } = run(process.execPath, 'sign', '--json');
    expect([status, stdout, stderr]).toEqual([0, "started [ 'sign', '--json' ]\n", '']);
  });

  it.each([
    '999.0',
    process.versions.node.replace(/^(\d+)\.(\d+).*/, (_, a, b) => `${a}.${Number(b) + 1}`),
    process.versions.node.replace(/\d+$/, (c) => String(Number(c) + 1)),
  ])('a demand of %s is not', (version) => {
    demand(version);
    const { status, stdout, stderr } = run(process.execPath, 'sign');
    expect([status, stdout]).toEqual([EXIT.usage, '']);
    expect(stderr).toContain(
      `falconry: falconry needs Node ${version} or newer; this is Node ${process.versions.node} (`,
    );
  });
});

describe('on an old Node', () => {
  const node = oldNode();
  if (node === undefined) {
    skipLoudly('an old Node is told what is needed', 'Node 20 or older, if that is on the PATH');
    return;
  }

  beforeAll(() => demand(wanted));

  it('one line says what is needed and what is there', (context) => {
    const version = versionOf(node);
    const { status, stdout, stderr } = run(node, 'serve');
    expect([status, stdout]).toEqual([EXIT.usage, '']);
    const path = realpathSync(node);
    expect(stderr).toBe(
      `falconry: falconry needs Node ${wanted} or newer; this is Node ${version} (${path})\n` +
        'Try: https://nodejs.org\n',
    );
    fact(context, 'command line', `Node ${version} is told that Node ${wanted} is needed`);
  });

  it('with --json it is a line of JSON', () => {
    const { status, stdout, stderr } = run(node, 'verify', 'task.json', '--json');
    expect([status, stderr]).toEqual([EXIT.usage, '']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'USAGE' });
  });
});
