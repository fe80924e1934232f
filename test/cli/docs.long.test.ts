/** docs/cli.md says what the commands really do. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cliDocument } from '../../scripts/cli-docs.ts';
import { MAIN } from './cli.ts';

const ROOT = new URL('../../', import.meta.url);

it('docs/cli.md is current: node scripts/cli-docs.ts', async () => {
  expect(readFileSync(new URL('docs/cli.md', ROOT), 'utf8')).toBe(await cliDocument());
});

it('falconry help <command> is falconry <command> --help', () => {
  const started = spawnSync(process.execPath, [MAIN, 'help', 'keygen'], { encoding: 'utf8' });
  expect(started.stdout).toMatch(/^Usage: falconry keygen/);
});
