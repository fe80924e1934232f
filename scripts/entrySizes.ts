/**
 * What the package's entries add to a page: bundled and minified, then compressed as a host does.
 * The README has them as a table, which `checkEntrySizes` compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ROOT } from './generated.ts';

/** The entries of the table, and the most bytes that those made to be small may have. */
const ENTRIES: readonly (readonly [entry: string, imports: string, limit?: number])[] = [
  ['falconry', 'everything'],
  ['falconry', '{ falcon512 }'],
  ['falconry/aggregate', 'everything'],
  ['falconry/verify', 'everything', 45_000],
  ['falconry/verify', '{ falcon512 }', 38_000],
  ['falconry/verify-aggregate', 'everything', 90_000],
];
/** Another version of a dependency or compiler may change this much, in kB. */
const SLACK = 1;
const BEGIN = '<!-- sizes: npm run check:package -- --update-sizes -->\n';
const END = '<!-- end of sizes -->\n';

/** Compressed bytes of a program with nothing but this import. */
async function bytesOf(folder: string, entry: string, imports: string): Promise<number> {
  const contents =
    imports === 'everything' ? `export * from '${entry}';` : `export ${imports} from '${entry}';`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
    write: false,
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}

/**
 * @param folder where the package is installed
 * @param update writes the README's table instead of comparing it
 */
export async function checkEntrySizes(folder: string, update: boolean): Promise<void> {
  const path = join(ROOT, 'README.md');
  const readme = readFileSync(path, 'utf8');
  const [before = '', rest = ''] = readme.split(BEGIN);
  const [table = '', after = ''] = rest.split(END);
  if (rest === '' || after === '') throw new Error('README.md has no table of sizes');
  const lines = ['| import | bundled, minified, gzip |', '|---|---|'];
  for (const [entry, imports, limit] of ENTRIES) {
    const bytes = await bytesOf(folder, entry, imports);
    if (limit !== undefined && bytes > limit) {
      throw new Error(`${entry} has ${bytes} bytes, at most ${limit} are wanted`);
    }
    const name = imports === 'everything' ? `\`${entry}\`` : `\`${imports}\` of \`${entry}\``;
    const line = `| ${name} | ${Math.round(bytes / 1000)} kB |`;
    process.stdout.write(`${line}\n`);
    const found = table.split('\n').find((old) => old.startsWith(`| ${name} |`));
    const told = Number(/(\d+) kB/.exec(found ?? '')?.[1] ?? Number.NaN);
    if (!update && !(Math.abs(told - bytes / 1000) <= SLACK)) {
      throw new Error(`README.md does not say ${line}; --update-sizes writes the table`);
    }
    lines.push(line);
  }
  if (update) writeFileSync(path, `${before}${BEGIN}${lines.join('\n')}\n${END}${after}`);
}
