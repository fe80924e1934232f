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
const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { cwd: docs, stdio: 'inherit' });
};

const timeOf = (path: string): number =>
  statSync(join(docs, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const [mode = 'build'] = process.argv.slice(2);
if (mode !== 'build' && mode !== 'dev')
  throw new Error('usage: node scripts/docs.ts [build | dev]');

/** Also where NODE_ENV says that only what runs is wanted; registries fail from time to time. */
function install(): void {
  for (let tried = 1; ; tried++) {
    try {
      run('npm', 'install', '--no-save', '--include=dev', '--loglevel=error');
      return;
    } catch (error) {
      if (tried === 3) throw error;
    }
  }
}

if (timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json')) install();
run(process.execPath, '.vitepress/prepare.ts');
run(process.execPath, 'node_modules/vitepress/bin/vitepress.js', mode, '.');
