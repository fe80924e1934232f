/**
 * What the package's entries add to a page: bundled and minified, then compressed as a host does.
 * The README has them as a table, which `checkEntrySizes` compares; docs/bundlers.md has the files
 * of threads, which are minified and not compressed.
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
  ['falconry/integer', '{ falcon512 }', 80_000],
  ['falconry/aggregate', 'everything'],
  ['falconry/verify', 'everything', 45_700],
  ['falconry/verify', '{ falcon512 }', 38_000],
  ['falconry/verify-aggregate', 'everything', 101_500],
];
/** Another version of a dependency or compiler may change this much, in kB. */
const SLACK = 1;
const BEGIN = '<!-- sizes: npm run check:package -- --update-sizes -->\n';
const END = '<!-- end of sizes -->\n';

/** Files of threads, whose sizes the page of bundlers tells in round numbers. */
const THREAD_FILES = ['falconry/verify-worker', 'falconry/aggregate-worker'];
const PAGE = join(ROOT, 'docs/bundlers.md');
/** Bundlers differ by this much, in kB. */
const PAGE_SLACK = 10;

/** A program, bundled and minified. */
async function bundled(folder: string, contents: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
    write: false,
  });
  return outputFiles[0]!.contents;
}

/** Compressed bytes of a program with nothing but this import. */
async function bytesOf(folder: string, entry: string, imports: string): Promise<number> {
  const contents =
    imports === 'everything' ? `export * from '${entry}';` : `export ${imports} from '${entry}';`;
  return gzipSync(await bundled(folder, contents), { level: 9 }).length;
}

/** The sizes of the files of threads, against those of the page. */
async function checkThreadFiles(folder: string, update: boolean): Promise<void> {
  let page = readFileSync(PAGE, 'utf8');
  for (const entry of THREAD_FILES) {
    const { length } = await bundled(folder, `import '${entry}';`);
    const row = new RegExp(`(\\| \`${entry}\` \\| about )(\\d+)( kB \\|)`);
    const told = Number(row.exec(page)?.[2] ?? Number.NaN);
    if (!update && !(Math.abs(told - length / 1000) <= PAGE_SLACK)) {
      throw new Error(`docs/bundlers.md does not say that ${entry} has ${length} bytes`);
    }
    page = page.replace(row, `$1${Math.round(length / 10_000) * 10}$3`);
  }
  if (update) writeFileSync(PAGE, page);
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
  await checkThreadFiles(folder, update);
  if (update) writeFileSync(path, `${before}${BEGIN}${lines.join('\n')}\n${END}${after}`);
}
