/**
 * Bundles the entries of the package that verify and do nothing else, `falconry/verify` and
 * `falconry/verify-aggregate`: the same sources, on the modules that hold the verifier's part. What
 * both need is in one file that both import.
 *
 *   node scripts/smallEntries.ts dist    after tsc, whose files for these entries it replaces
 */
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './generated.ts';

/** The entries, by their path in `src` and in `dist`. */
export const SMALL_ENTRIES: readonly string[] = ['falcon/verifyOnly', 'aggregate/verifyOnly'];

/**
 * Takes the verifier's modules. Falcon's has no relaxed build: it would gain little. Labrador's has
 * one, as edits.
 */
const verifyModules: Plugin = {
  name: 'verify-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(falcon|labrador)\.wasm\.gen\.ts$/ }, ({ path, resolveDir }) => {
      return { path: join(resolveDir, path.replace('.wasm.gen', '.verify.wasm.gen')) };
    });
    onResolve({ filter: /\/labrador\.relaxed\.wasm\.gen\.ts$/ }, ({ path, resolveDir }) => {
      return { path: join(resolveDir, path.replace('.relaxed', '.verify.relaxed')) };
    });
    onResolve({ filter: /\/falcon\.relaxed\.wasm\.gen\.ts$/ }, ({ path }) => {
      return { path, namespace: 'none' };
    });
    onLoad({ filter: /.*/, namespace: 'none' }, () => {
      return { contents: 'export const EDITS = undefined;' };
    });
  },
};

/** Codes of errors are told apart by their class, too: the whole package has one. */
const sharedErrors: Plugin = {
  name: 'shared-errors',
  setup({ onResolve }) {
    onResolve({ filter: /(^|\/)errors\.ts$/ }, () => ({
      path: '../shared/errors.js',
      external: true,
    }));
  },
};

/** Writes the entries to a folder that the package's other files are compiled to. */
export async function bundleSmallEntries(dist: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: SMALL_ENTRIES.map((entry) => `src/${entry}.ts`),
    outbase: 'src',
    outdir: dist,
    bundle: true,
    splitting: true,
    chunkNames: 'verify/[name]-[hash]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [verifyModules, sharedErrors],
  });
}

const [, script = '', folder] = process.argv;
if (script.endsWith('smallEntries.ts') && folder !== undefined) await bundleSmallEntries(folder);
