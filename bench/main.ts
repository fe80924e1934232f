/**
 * `npm run bench -- <name> [--quick] [--native <path>]`: runs `bench/<name>.ts`.
 *
 * Each of those files exports `run(options)`; the last line it prints is JSON with every figure.
 */
import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Fewer rounds: for a quick look, not for reliable figures. */
  quick: boolean;
  /** A program to measure in the same run, if the benchmark supports one. */
  native?: string;
}

const directory = new URL('./', import.meta.url);
const names = readdirSync(directory)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, native: { type: 'string' } },
});
const [name = ''] = positionals;
const file = new URL(`./${name}.ts`, directory);
if (!names.includes(name) || !existsSync(file)) {
  console.error(
    `usage: npm run bench -- <name> [--quick] [--native <path>], name one of: ${names.join(', ')}`,
  );
  process.exitCode = 2;
} else {
  const module = (await import(file.href)) as { run(options: BenchOptions): Promise<void> };
  await module.run({
    quick: values.quick,
    ...(values.native !== undefined && { native: values.native }),
  });
}
