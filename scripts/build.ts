/**
 * Builds the package: WebAssembly modules, the bundle of the page, then `dist/` with JavaScript,
 * types and the bare modules.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: root, stdio: 'inherit' });

run(process.execPath, 'scripts/build-wasm.ts');
run(process.execPath, 'scripts/build-assets.ts');
rmSync(`${root}dist`, { recursive: true, force: true });
run(`${root}node_modules/.bin/tsc`, '-p', 'tsconfig.build.json');
for (const name of ['falcon', 'falcon.relaxed', 'labrador', 'labrador.relaxed']) {
  copyFileSync(`${root}build/${name}.wasm`, `${root}dist/${name}.wasm`);
}
copyFileSync(`${root}src/wasmModule.d.ts`, `${root}dist/wasmModule.d.ts`);
chmodSync(`${root}dist/cli/main.js`, 0o755);
