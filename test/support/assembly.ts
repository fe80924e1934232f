/** Compiles entries of assembly/test/, so that tests reach functions the product does not export. */
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export type TestExports = Record<string, (...args: number[]) => number> & {
  memory: WebAssembly.Memory;
};

/**
 * @param entry file name in assembly/test/, without extension
 * @returns its exports and `at`, the address of an exported region
 */
export async function compileEntry(entry: string, module: 'plain' | 'relaxed') {
  const files = new Map<string, Uint8Array>();
  const { error, stderr } = await asc.main(
    [
      `assembly/test/${entry}.ts`,
      ...['--config', 'none', '--baseDir', ROOT, '--outFile', 'out.wasm'],
      ...['--runtime', 'stub', '--noAssert', '-O1', '--enable', 'simd'],
      ...(module === 'relaxed' ? ['--enable', 'relaxed-simd'] : []),
    ],
    {
      writeFile: (name: string, contents: Uint8Array | string) => {
        if (typeof contents !== 'string') files.set(name, contents);
      },
    },
  );
  const bytes = files.get('out.wasm');
  if (error || bytes === undefined) throw new Error(`asc: ${error?.message}\n${stderr}`);
  const instance = new WebAssembly.Instance(
    new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>),
  );
  const exports = instance.exports as unknown as TestExports;
  const at = (region: string) => (instance.exports[region] as WebAssembly.Global).value as number;
  return { exports, at };
}

export const BOTH_MODULES = ['plain', 'relaxed'] as const;
