/** `jsr.json` offers the sources of what `package.json` offers compiled; Deno reads it as JSR would. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DENO } from './support/hostCommands.ts';

const ROOT = new URL('../', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'));
const npm = read('package.json') as {
  name: string;
  version: string;
  license: string;
  exports: Record<string, string | { default: string }>;
};
const jsr = read('jsr.json') as typeof npm & { exports: Record<string, string> };

test('name, version and licence are the same', () => {
  expect(jsr.name).toMatch(new RegExp(`^@[a-z-]+/${npm.name}$`));
  expect(jsr.version).toBe(npm.version);
  expect(jsr.license).toBe(npm.license);
});

test('so are the entries, but for the bare modules and package.json, which JSR does not take', () => {
  const expected: Record<string, string> = {};
  for (const [entry, target] of Object.entries(npm.exports)) {
    const file = typeof target === 'string' ? target : target.default;
    if (/\.(wasm|json)$/.test(file)) continue;
    expected[entry] = file.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts');
  }
  expect(Object.keys(expected).length).toBeGreaterThan(12);
  expect(jsr.exports).toEqual(expected);
  for (const file of Object.values(jsr.exports)) expect(existsSync(new URL(file, ROOT))).toBe(true);
});

test('a rehearsal takes the entries and the generated files, and no command line', async () => {
  const args = 'publish --dry-run --allow-dirty --no-check --allow-slow-types --config jsr.json';
  const { stdout, stderr } = await promisify(execFile)(DENO, args.split(' '), {
    cwd: fileURLToPath(ROOT),
    env: { ...process.env, NO_COLOR: '1' },
  });
  const files = [...`${stdout}${stderr}`.matchAll(/^ +file:\/\/(\S+) \(/gm)].map(([, path]) =>
    path!.slice(fileURLToPath(ROOT).length),
  );
  for (const file of Object.values(jsr.exports)) expect(files).toContain(file.slice(2));
  expect(files).toContain('src/falcon/falcon.wasm.gen.ts');
  expect(files.filter((file) => /^(src\/cli|test|node_modules|build)\//.test(file))).toEqual([]);
});
