/**
 * The documentation site: `node scripts/docs.ts build` makes it in `build/site`,
 * `node scripts/docs.ts dev` serves it and shows changes of pages at once. Installs its programs
 * first (docs/package.json): they are apart, because they need an older TypeScript.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('../docs', import.meta.url));
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: docs, stdio: 'inherit' });

const timeOf = (path: string): number =>
  statSync(join(docs, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const [mode = 'build'] = process.argv.slice(2);
if (mode !== 'build' && mode !== 'dev')
  throw new Error('usage: node scripts/docs.ts [build | dev]');

if (timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json')) {
  run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error');
}
run(process.execPath, '.vitepress/prepare.ts');
run(process.execPath, 'node_modules/vitepress/bin/vitepress.js', mode, '.');
