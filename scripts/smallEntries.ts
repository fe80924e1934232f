/**
 * Bundles the entries of the package that have modules of their own: `falconry/verify` and
 * `falconry/verify-aggregate`, the same sources on the modules that hold the verifier's part, and
 * `falconry/integer`. What the first two need is in one file that both import.
 *
 *   node scripts/smallEntries.ts dist    after tsc, whose files for these entries it replaces
 */
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin, type PluginBuild } from 'esbuild';
import { ROOT } from './generated.ts';

/** The entries that verify, by their path in `src` and in `dist`. */
export const SMALL_ENTRIES: readonly string[] = ['falcon/verifyOnly', 'aggregate/verifyOnly'];
const INTEGER_ENTRY = 'falcon/integer';

/** Leaves out the relaxed build of Falcon's module. */
function withoutRelaxed({ onResolve, onLoad }: Pick<PluginBuild, 'onResolve' | 'onLoad'>): void {
  onResolve({ filter: /\/falcon\.relaxed\.wasm\.gen\.ts$/ }, ({ path }) => {
    return { path, namespace: 'none' };
  });
  onLoad({ filter: /.*/, namespace: 'none' }, () => {
    return { contents: 'export const EDITS = undefined;' };
  });
}

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
    withoutRelaxed({ onResolve, onLoad });
  },
};

/** Without floating point there is one build, under every name. */
const integerModule: Plugin = {
  name: 'integer-module',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/falcon\.wasm\.gen\.ts$/ }, ({ path, resolveDir }) => {
      return { path: join(resolveDir, path.replace('.wasm.gen', '.integer.wasm.gen')) };
    });
    withoutRelaxed({ onResolve, onLoad });
  },
};

/** What the whole package has once: errors and keys are told apart by their class, too. */
const shared = (file: RegExp, path: string): Plugin => ({
  name: `shared ${path}`,
  setup({ onResolve }) {
    onResolve({ filter: file }, () => ({ path, external: true }));
  },
});
const sharedErrors = shared(/(^|\/)errors\.ts$/, '../shared/errors.js');
const sharedKeys = shared(/^\.{1,2}\/keys\.ts$/, './keys.js');

/** Writes the entries to a folder that the package's other files are compiled to. */
export async function bundleSmallEntries(dist: string): Promise<void> {
  const bundle = (entries: readonly string[], options: BuildOptions) =>
    build({
      absWorkingDir: ROOT,
      entryPoints: entries.map((entry) => `src/${entry}.ts`),
      outbase: 'src',
      outdir: dist,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      legalComments: 'none',
      logLevel: 'warning',
      ...options,
    });
  await bundle(SMALL_ENTRIES, {
    splitting: true,
    chunkNames: 'verify/[name]-[hash]',
    plugins: [verifyModules, sharedErrors],
  });
  await bundle([INTEGER_ENTRY], {
    plugins: [integerModule, sharedErrors, sharedKeys],
  });
}

const [, script = '', folder] = process.argv;
if (script.endsWith('smallEntries.ts') && folder !== undefined) await bundleSmallEntries(folder);
