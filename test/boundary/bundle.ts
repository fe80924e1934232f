/** The library as one script, for hosts that have no modules. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * @param entry file in src/
 * @returns the text of a script; an iife assigns what the entry exports to `falconry`
 */
export async function bundle(entry: string, format: 'iife' | 'cjs' | 'esm'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../src/${entry}`, import.meta.url))],
    bundle: true,
    write: false,
    format,
    globalName: 'falconry',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}
