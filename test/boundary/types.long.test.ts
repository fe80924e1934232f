/** The oldest TypeScript that the types support, as docs/start.md states it, and later ones. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile, layOut } from './typed.ts';

const folder = mkdtempSync(join(tmpdir(), 'falconry-types-'));
beforeAll(() => layOut(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SMALLEST = '5.7.2';
const BEFORE = '5.6.3';

/** @returns the path of a compiler, fetched by npm; tried three times */
async function typescript(version: string): Promise<string> {
  const own = join(folder, `typescript-${version}`);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `typescript@${version}`];
  for (let attempt = 1; ; attempt++) {
    try {
      await promisify(execFile)('npm', args, { cwd: own });
      return join(own, 'node_modules/typescript/bin/tsc');
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

test('the guide names it', () => {
  const guide = readFileSync(new URL('../../docs/start.md', import.meta.url), 'utf8');
  expect(guide).toContain(`TypeScript ${SMALLEST.replace(/\.\d+$/, '')}`);
});

test.each([SMALLEST, '5.8.3', '5.9.3'])('TypeScript %s', async (version) => {
  const tsc = await typescript(version);
  for (const resolution of ['bundler', 'nodenext']) {
    expect(await compile(tsc, folder, resolution)).toBe('');
  }
});

test(`TypeScript ${BEFORE} is too old: it is the smallest`, async () => {
  const said = await compile(await typescript(BEFORE), folder, 'bundler');
  expect(said).toContain("Type 'Uint8Array' is not generic");
});
