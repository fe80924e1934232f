/**
 * Compiles entries of assembly/test/, so that tests reach functions the product does not export.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow, hashOfFiles } from '../../scripts/generated.ts';
import type { ModuleName } from '../../src/falcon/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs asc on files of this project.
 *
 * @param patch is given every source by its path and returns what is to be compiled
 * @returns what it writes, by name
 */
export async function compile(
  args: readonly string[],
  patch?: (path: string, source: string) => string,
): Promise<Map<string, Uint8Array | string>> {
  const files = new Map<string, Uint8Array | string>();
  // it takes a second to load, and most callers find what they need in the folder below
  const { default: asc } = await import('assemblyscript/asc');
  const { error, stderr } = await asc.main([...args, '--baseDir', ROOT], {
    writeFile: (name: string, contents: Uint8Array | string) => void files.set(name, contents),
    ...(patch && {
      readFile(name: string, baseDir: string) {
        const path = resolve(baseDir, name);
        return existsSync(path) ? patch(relative(ROOT, path), readFileSync(path, 'utf8')) : null;
      },
    }),
  });
  if (error) throw new Error(`asc: ${error.message}\n${stderr}`);
  return files;
}

export type TestExports = Record<string, (...args: number[]) => number> & {
  memory: WebAssembly.Memory;
};

/** The folder where a mutation run (scripts/mutants) puts the entries that it has compiled. */
const COMPILED = process.env.COMPILED_ENTRIES;
/** The folder of what was compiled before, by the hash of all that it is made of. */
const KEPT = join(ROOT, 'build/test-entries');

/** Files that asc writes, compiled unless they are kept from before. */
async function compiledOnce(args: readonly string[], names: readonly string[]) {
  const inputs = [...filesBelow('assembly'), 'asconfig.json', 'package-lock.json'];
  const made = hashOfFiles(inputs, args.join(' '));
  const paths = names.map((name) => join(KEPT, `${made}.${name}`));
  if (!paths.every((path) => existsSync(path))) {
    const files = await compile(args);
    mkdirSync(KEPT, { recursive: true });
    for (const [i, path] of paths.entries()) {
      writeFileSync(`${path}.${process.pid}`, files.get(names[i]!)!);
      renameSync(`${path}.${process.pid}`, path);
    }
  }
  return paths.map((path) => new Uint8Array(readFileSync(path)));
}

/** An entry of assembly/test/. */
async function compiledEntry(entry: string, module: ModuleName) {
  const given = COMPILED && join(COMPILED, `${entry}.${module}.wasm`);
  if (given && existsSync(given)) return new Uint8Array(readFileSync(given));
  return (await compiledOnce(entryArguments(entry, module), ['out.wasm']))[0]!;
}

/** asc's arguments for a file of assembly/test/, named without extension. */
export const entryArguments = (entry: string, module: ModuleName): string[] => [
  `assembly/test/${entry}.ts`,
  ...['--config', 'none', '--outFile', 'out.wasm'],
  ...['--runtime', 'stub', '--noAssert', '-O1', '--enable', 'simd'],
  ...(module === 'relaxed' ? ['--enable', 'relaxed-simd'] : []),
  ...(module === 'integer' ? ['--use', 'REAL_ON_INTEGERS=1'] : []),
];

/**
 * @param entry file name in assembly/test/, without extension
 * @param patch as for `compile`
 * @returns its exports and `at`, the address of an exported region
 */
export async function compileEntry(
  entry: string,
  module: ModuleName,
  patch?: (path: string, source: string) => string,
) {
  const bytes = patch
    ? ((await compile(entryArguments(entry, module), patch)).get(
        'out.wasm',
      ) as Uint8Array<ArrayBuffer>)
    : await compiledEntry(entry, module);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const exports = instance.exports as unknown as TestExports;
  const at = (region: string) => (instance.exports[region] as WebAssembly.Global).value as number;
  return { exports, at };
}

/**
 * @param target of asconfig.json; the code is that of the product, names and source map are added
 * @param patch is given every source by its path and returns what is to be compiled
 */
export async function compileDebug(
  entry: string,
  target: string,
  patch?: (path: string, source: string) => string,
): Promise<{ bytes: Uint8Array; map: { sources: string[]; mappings: string } }> {
  const args = [entry, '--target', target, '--debug', '--sourceMap', '--outFile', 'out.wasm'];
  const names = ['out.wasm', 'out.wasm.map'];
  const files = patch && (await compile(args, patch));
  const [bytes, map] = files
    ? names.map((name) => files.get(name)!)
    : await compiledOnce(args, names);
  const text = typeof map === 'string' ? map : new TextDecoder().decode(map);
  return { bytes: bytes as Uint8Array, map: JSON.parse(text) };
}

export const BOTH_MODULES = ['plain', 'relaxed'] as const;
