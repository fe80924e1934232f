/**
 * Every example of the client's README runs as it stands against a real service, and prints what it
 * says.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';
import { serviceTest } from '../middleware/support.ts';
import { blocksOf, localised } from '../support/documentBlocks.ts';

const ROOT = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('src/client/README.md', ROOT), 'utf8');
const examples = blocksOf('src/client/README.md').filter(({ language }) => language === 'ts');

const { test, http } = serviceTest({ threads: 1 });
const folder = mkdtempSync(join(tmpdir(), 'falconry-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(examples.map(({ source }, i) => [i + 1, source] as const))(
  'example %i',
  async (i, source) => {
    const file = join(folder, `example${i}.ts`);
    writeFileSync(file, localised(source));
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      env: { ...process.env, FALCONRY_URL: http.address, FALCONRY_API_KEY: http.alice },
    });
    const said = [...source.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map((match) => match[1]!);
    expect(said.length).toBeGreaterThan(0);
    for (const text of said) expect(stdout.split('\n')).toContain(text);
  },
);

test('every method and every code is in it', async () => {
  const { createClient } = await import('../../src/client/index.ts');
  const client = createClient({ baseUrl: http.address });
  const internal = ['constructor', 'record', 'findCompleted', 'baseUrl'];
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(client));
  expect(examples.length).toBe(2);
  for (const name of methods.filter((each) => !internal.includes(each))) {
    expect(readme, name).toContain(`\`${name}(`);
  }
});
