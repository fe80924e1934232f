/**
 * `npm run bench -- <name> [--quick] [--native <path>] [--soak <time>] [-- <options of serve>]`:
 * runs `bench/<name>.ts`.
 *
 * Each of those files exports `run(options)`; the last line it prints is JSON with every figure.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readNumber } from '../src/cli/settingText.ts';
import { duration } from '../src/middleware/optionRows.ts';

export interface BenchOptions {
  /** Fewer rounds: for a quick look, not for reliable figures. */
  quick: boolean;
  /** A program to measure in the same run, if the benchmark supports one. */
  native?: string;
  /** How long the service is watched under an even load. */
  soakMs?: number;
  /** Further options for `falconry serve`, in the benchmark of the service. */
  serve: readonly string[];
}

const USAGE =
  'usage: npm run bench -- <name> [--quick] [--native <path>] [--soak <time>] ' +
  '[-- <options of falconry serve>]';
const SOAK = duration('how long the service is watched', { min: 1000, fallback: 30_000 });

const directory = new URL('./', import.meta.url);
const names = readdirSync(directory)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length));

interface Asked {
  readonly name: string;
  readonly options: BenchOptions;
}

/** @throws Error that says what is wrong with the arguments */
function parse(): Asked {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      native: { type: 'string' },
      soak: { type: 'string' },
    },
  });
  const [name = '', ...serve] = positionals;
  if (!names.includes(name)) throw new Error(`name one of: ${names.join(', ')}`);
  if (serve.length > 0 && name !== 'service') throw new Error(`${name} takes no ${serve[0]}`);
  const { quick, native, soak } = values;
  const options: BenchOptions = {
    quick,
    serve,
    ...(soak !== undefined && { soakMs: readNumber('--soak', SOAK, soak) }),
    ...(native !== undefined && { native }),
  };
  return { name, options };
}

let asked: Asked | undefined;
try {
  asked = parse();
} catch (error) {
  console.error(`${(error as Error).message}\n${USAGE}`);
  process.exitCode = 2;
}
if (asked !== undefined) {
  const file = new URL(`./${asked.name}.ts`, directory);
  const module = (await import(file.href)) as { run(options: BenchOptions): Promise<void> };
  await module.run(asked.options);
}
