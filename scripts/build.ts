/**
 * Builds the package: WebAssembly modules, the bundle of the page, then `dist/` with JavaScript,
 * types and the bare modules.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compilePackage } from './compilePackage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: root, stdio: 'inherit' });

run(process.execPath, 'scripts/build-wasm.ts');
run(process.execPath, 'scripts/build-assets.ts');
compilePackage(`${root}dist`);
