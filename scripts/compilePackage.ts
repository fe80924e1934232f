/**
 * Builds the package's `dist/`: JavaScript, the library's joined into a few files, the types that
 * users can import, and the WebAssembly modules.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const MODULES = [
  ...['falcon', 'falcon.relaxed', 'falcon.integer', 'falcon.verify'],
  ...['labrador', 'labrador.relaxed', 'labrador.verify'],
];

/** Compiles the sources; their generated parts must exist. */
export function compilePackage(dist: string): void {
  rmSync(dist, { recursive: true, force: true });
  const compiler = join(root, 'node_modules/.bin/tsc');
  // `npm run types` checks them.
  const args = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist];
  execFileSync(compiler, args, { cwd: root, stdio: 'inherit' });
  for (const name of ['smallEntries', 'joinLibrary']) {
    const bundler = join(root, `scripts/${name}.ts`);
    execFileSync(process.execPath, [bundler, dist], { cwd: root, stdio: 'inherit' });
  }
  for (const name of MODULES) {
    copyFileSync(join(root, `build/${name}.wasm`), join(dist, `${name}.wasm`));
  }
  // The small entries hold them already.
  const held = ['falcon/falcon.integer', 'falcon/falcon.verify', 'aggregate/labrador.verify'];
  for (const name of [...held, 'aggregate/labrador.verify.relaxed']) {
    rmSync(join(dist, `${name}.wasm.gen.js`), { force: true });
  }
  copyFileSync(join(root, 'src/shared/wasmModule.d.ts'), join(dist, 'wasmModule.d.ts'));
  copyFileSync(join(root, 'src/cli/falconry.cjs'), join(dist, 'cli/falconry.cjs'));
  chmodSync(join(dist, 'cli/falconry.cjs'), 0o755);
  removeUnreachableTypes(dist);
}

/**
 * Removes declarations that users cannot reach: `exports` in package.json does not expose them, and
 * no exposed declaration refers to them.
 */
function removeUnreachableTypes(dist: string): void {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types?: string }>;
  };
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    const text = readFileSync(path, 'utf8');
    // The compiler quotes the imports that it writes itself, import("./x.ts"), in its own way.
    for (const [, to = ''] of text.matchAll(/\b(?:from|import) ?\(?['"](\.[^'"]+)\.[jt]s['"]/g)) {
      visit(join(dirname(path), `${to}.d.ts`));
    }
  };
  for (const entry of Object.values(exports)) {
    const types = typeof entry === 'string' ? undefined : entry.types;
    if (types !== undefined) visit(join(dist, types.replace(/^\.\/dist\//, '')));
  }
  if (reached.size === 0) throw new Error('package.json exports no types');
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const path = join(dist, name);
    if (name.endsWith('.d.ts') && !reached.has(path)) rmSync(path);
  }
}
