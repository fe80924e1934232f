/**
 * `npm run bench -- <name> [--quick] [--native <path>] [--soak <time>]
 *   [--scaled] [--blobs] [-- <options of serve>]`: runs `bench/<name>.ts`.
 *
 * Each of those files exports `run(options)`; the last line it prints is JSON with every figure.
 */
import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readNumber } from '../src/cli/lib/settingText.ts';
import { duration } from '../src/shared/optionRows.ts';

export interface BenchOptions {
  /** Fewer rounds: for a quick look, not for reliable figures. */
  quick: boolean;
  /** A program to measure in the same run, if the benchmark supports one. */
  native?: string;
  /** How long the service is watched under an even load. */
  soakMs?: number;
  /** Further options for `falconry serve`, in the benchmark of the service. */
  serve: readonly string[];
  /** Measure the service over PostgreSQL and a bucket that are started for it. */
  scaled: boolean;
  /** Measure with a bucket as well, if the benchmark can. */
  blobs: boolean;
}

const USAGE =
  'usage: npm run bench -- <name> [--quick] [--native <path>] [--soak <time>] ' +
  '[--scaled] [--blobs] [-- <options of falconry serve>]';
const SOAK = duration('how long the service is watched', { min: 1000, fallback: 30_000 });

const directory = new URL('./', import.meta.url);
const names = readdirSync(directory)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    native: { type: 'string' },
    soak: { type: 'string' },
    scaled: { type: 'boolean', default: false },
    blobs: { type: 'boolean', default: false },
  },
});
const [name = '', ...serve] = positionals;
const file = new URL(`./${name}.ts`, directory);
if (!names.includes(name) || !existsSync(file)) {
  console.error(`${USAGE}, name one of: ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  const module = (await import(file.href)) as { run(options: BenchOptions): Promise<void> };
  await module.run({
    quick: values.quick,
    serve,
    ...(values.soak !== undefined && { soakMs: readNumber('--soak', SOAK, values.soak) }),
    scaled: values.scaled,
    blobs: values.blobs,
    ...(values.native !== undefined && { native: values.native }),
  });
}
