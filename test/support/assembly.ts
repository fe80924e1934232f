/**
 * Compiles entries of assembly/test/, so that tests reach functions the product does not export.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs asc on files of this project. */
async function compile(
  args: readonly string[],
  patch?: (path: string, source: string) => string,
): Promise<Map<string, Uint8Array | string>> {
  const files = new Map<string, Uint8Array | string>();
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

/**
 * @param entry file name in assembly/test/, without extension
 * @returns its exports and `at`, the address of an exported region
 */
export async function compileEntry(entry: string, module: 'plain' | 'relaxed') {
  const files = await compile([
    `assembly/test/${entry}.ts`,
    ...['--config', 'none', '--outFile', 'out.wasm'],
    ...['--runtime', 'stub', '--noAssert', '-O1', '--enable', 'simd'],
    ...(module === 'relaxed' ? ['--enable', 'relaxed-simd'] : []),
  ]);
  const bytes = files.get('out.wasm') as Uint8Array<ArrayBuffer>;
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
  const files = await compile(
    [entry, '--target', target, '--debug', '--sourceMap', '--outFile', 'out.wasm'],
    patch,
  );
  return {
    bytes: files.get('out.wasm') as Uint8Array,
    map: JSON.parse(files.get('out.wasm.map') as string),
  };
}

export const BOTH_MODULES = ['plain', 'relaxed'] as const;
