/**
 * The documentation site: `node scripts/docs.ts build` makes it in `build/site`,
 * `node scripts/docs.ts dev` serves it and shows changes of pages at once. Installs its programs
 * first (docs/package.json): they are apart, because they need an older TypeScript.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installPackages } from './installPackages.ts';

const docs = fileURLToPath(new URL('../docs', import.meta.url));
const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { cwd: docs, stdio: 'inherit' });
};

const [mode = 'build'] = process.argv.slice(2);
if (mode !== 'build' && mode !== 'dev')
  throw new Error('usage: node scripts/docs.ts [build | dev]');

await installPackages(docs);
run(process.execPath, '.vitepress/prepare.ts');
run(process.execPath, 'node_modules/vitepress/bin/vitepress.js', mode, '.');
