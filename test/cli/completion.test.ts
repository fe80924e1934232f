/** Completion, asked of a real bash. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/main.ts';
import { cleanEnvironment, falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

async function complete(...words: string[]): Promise<string[]> {
  const { code, out } = await falconryHere(['completion']);
  expect(code).toBe(0);
  const script = `${out}
    COMP_WORDS=(falconry ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _falconry; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = { cwd: folder.path, encoding: 'utf8', env: cleanEnvironment() } as const;
  return execFileSync('bash', ['-eu', '-c', script], options).split('\n').filter(Boolean);
}

it('knows every command', async () => {
  expect(await complete('')).toEqual(expect.arrayContaining(Object.keys(COMMANDS)));
  expect(await complete('ver')).toEqual(['verify', 'verify-aggregate']);
  expect(await complete('help', 'ke')).toEqual(['keys', 'keygen']);
});

it('knows every option, with its opposite', async () => {
  expect(await complete('serve', '--pub')).toEqual(['--public-url']);
  expect(await complete('serve', '--no-sign')).toEqual([
    '--no-signing',
    '--no-signing-key-per-client',
  ]);
  const { command } = await COMMANDS.aggregate!();
  const all = Object.keys(command.options).map((name) => `--${name}`);
  expect(await complete('aggregate', '--')).toEqual(expect.arrayContaining(all));
});

it('knows verbs, and files', async () => {
  expect(await complete('tasks', 'c')).toEqual(['cancel']);
  mkdirSync(join(folder.path, 'tasks-of-today'));
  writeFileSync(join(folder.path, 'task.json'), '');
  expect((await complete('verify', 'task')).toSorted()).toEqual(['task.json', 'tasks-of-today']);
});
