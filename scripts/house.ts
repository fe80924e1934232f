/**
 * Measures the project against the limits that keep it small:
 *
 *   node scripts/house.ts            prints the table; exit code 1 if a limit is exceeded
 *   node scripts/house.ts --arrows   also lists which room imports which
 *
 * Raising a limit needs a decision (docs/decisions/) that says what the reader gets for it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The upper limits, in the units of the table. Decision 30 raised those of src and test. */
export const LIMITS = {
  'lines in src': 56_500,
  'files in src': 400,
  'lines in test': 90_500,
  'words in docs': 68_200,
  'words in docs/operating.md': 4000,
  'lines in README.md': 150,
  decisions: 30,
  'rooms in src': 16,
  'arrows between rooms': 45,
  'folders that import each other': 0,
  'packages that users install': 3,
} as const;

export type Measure = keyof typeof LIMITS;

/** Files under version control below a folder; generated files are not. */
function tracked(folder: string): string[] {
  const listed = execFileSync('git', ['ls-files', folder], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const linesOf = (text: string): number => text.split('\n').length - 1;
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const IMPORT = /^(?:import|export)\b(?:[^'";]*?\bfrom)?\s*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm;

/** The imports of the files of `src`, as pairs of paths. */
export function importsOf(paths: readonly string[]): [from: string, to: string][] {
  return paths.flatMap((path) => {
    const text = read(path).replaceAll(/\/\*[\s\S]*?\*\//g, '');
    return [...text.matchAll(IMPORT)].map(([, a, b]): [string, string] => [
      path,
      join(dirname(path), (a ?? b)!),
    ]);
  });
}

/** The distinct pairs of places that differ, where `place` maps a file to its place. */
function arrows(imports: readonly [string, string][], place: (path: string) => string): string[] {
  const pairs = imports.map(([from, to]) => [place(from), place(to)] as const);
  return [...new Set(pairs.filter(([a, b]) => a !== b).map((pair) => pair.join(' > ')))].sort();
}

/** A folder of `src`, or a file directly in it. */
const roomOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** Parts of one piece of work: the prover's and the verifier's folders have rules of their own. */
const WHOLE = /^src\/(aggregate|shared|middleware\/page\/browser|middleware\/stores\/\w+)(?=\/)/;

/** Entries that gather folders, beside their room; types that everything imports. */
const SINGLE = ['src/falcon/verifyOnly.ts', 'src/falcon/integer.ts', 'src/middleware/events.ts'];

/** The folder of a file, at any depth; the files in `SINGLE` count as folders. */
const folderOf = (path: string): string =>
  SINGLE.includes(path) ? path : (WHOLE.exec(path)?.[0] ?? dirname(path));

/** Pairs of folders that import each other, such as `src/a > src/b`. */
export function twoWayPairs(imports: readonly [string, string][]): string[] {
  const all = new Set(arrows(imports, folderOf));
  return [...all].filter((arrow) => {
    const [from, to] = arrow.split(' > ');
    return from! < to! && all.has(`${to} > ${from}`);
  });
}

/** What everybody installs: the runtime dependencies, theirs, and the package itself. */
function installedPackages(): number {
  const lock = JSON.parse(read('package-lock.json')).packages as Record<
    string,
    { dependencies?: Record<string, string> }
  >;
  const found = new Set(['']);
  for (const path of found) {
    for (const name of Object.keys(lock[path]?.dependencies ?? {}))
      found.add(`node_modules/${name}`);
  }
  return found.size;
}

/** Measures everything that has a limit. */
export function measureHouse(): Record<Measure, number> {
  const src = tracked('src');
  const code = src.filter((path) => path.endsWith('.ts'));
  const imports = importsOf(code);
  const docs = tracked('docs').filter((path) => path.endsWith('.md'));
  const test = tracked('test').filter((path) => /\.(c|m)?(ts|js|py|sh)$/.test(path));
  return {
    'lines in src': sum(code.map((path) => linesOf(read(path)))),
    'files in src': src.length,
    'lines in test': sum(test.map((path) => linesOf(read(path)))),
    'words in docs': sum(docs.map((path) => wordsOf(read(path)))),
    'words in docs/operating.md': wordsOf(read('docs/operating.md')),
    'lines in README.md': linesOf(read('README.md')),
    decisions: docs.filter((path) => path.startsWith('docs/decisions/')).length,
    'rooms in src': new Set(code.map(roomOf)).size,
    'arrows between rooms': arrows(imports, roomOf).length,
    'folders that import each other': twoWayPairs(imports).length,
    'packages that users install': installedPackages(),
  };
}

/** Bytes of the files below a folder. */
function bytesBelow(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return sum(files.map((entry) => statSync(join(entry.parentPath, entry.name)).size));
}

function print(): void {
  const values = measureHouse();
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = values[name as Measure];
    const verdict = value > limit ? '  too many' : '';
    process.stdout.write(
      `${name.padEnd(34)} ${String(value).padStart(7)} of ${String(limit).padStart(6)}${verdict}\n`,
    );
    if (value > limit) process.exitCode = 1;
  }
  const modules = join(ROOT, 'node_modules');
  if (existsSync(modules)) {
    const megabytes = Math.round(bytesBelow(modules) / 1e6);
    process.stdout.write(`node_modules of this checkout: ${megabytes} MB\n`);
  }
  const imports = importsOf(tracked('src').filter((path) => path.endsWith('.ts')));
  for (const pair of twoWayPairs(imports)) process.stdout.write(`both ways: ${pair}\n`);
  if (process.argv.includes('--arrows')) {
    process.stdout.write(`${arrows(imports, roomOf).join('\n')}\n`);
  }
}

if (import.meta.main) print();
