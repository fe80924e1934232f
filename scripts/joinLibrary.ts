/**
 * Joins the library's files in `dist/`: hosts take about a millisecond to find and load each of
 * them, and the library has more than a hundred.
 *
 *   falcon/library.js, aggregate/library.js   all modules that start no threads
 *   falcon/index.js, aggregate/index.js,      the entries and the files of threads, on top of those
 *   falcon/verifyWorker.js, …
 *
 * The files of threads must not reach the code that starts threads: Vite refuses such a circle.
 * Modules that further entries import stay as files that pass on their part of `library.js`.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Files on top of the libraries, by their paths in `dist`. */
const TOPS = [
  'falcon/index.js',
  'aggregate/index.js',
  'falcon/verifyWorker.js',
  'aggregate/aggregateWorker.js',
];
const LIBRARIES = ['falcon/library.js', 'aggregate/library.js'] as const;
type Library = (typeof LIBRARIES)[number];

/** One class of errors for the whole package, the small entries included. */
const ERRORS = 'shared/errors.js';
/** The modules that start threads. */
const STARTERS = ['aggregate/threads.js', 'falcon/verifyPoolOptions.js'];

/** The modules that a module of `dist` imports. */
function importsOf(dist: string, path: string): string[] {
  const text = readFileSync(join(dist, path), 'utf8');
  return [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*['"](\.[^'"]+)['"]/g)].map(([, to]) =>
    posix.join(posix.dirname(path), to!),
  );
}

/** The library that holds each joined module, by the module's path. */
function librariesOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, Library> {
  const startsThreads = (path: string, seen = new Set<string>()): boolean => {
    if (STARTERS.includes(path)) return true;
    if (seen.has(path)) return false;
    seen.add(path);
    return (imports.get(path) ?? []).some((to) => startsThreads(to, seen));
  };
  const joined = new Map<string, Library>();
  const reach = (path: string): void => {
    for (const to of imports.get(path) ?? []) {
      if (joined.has(to) || to === ERRORS) continue;
      if (!startsThreads(to)) joined.set(to, LIBRARIES[to.startsWith('aggregate/') ? 1 : 0]);
      reach(to);
    }
  };
  for (const top of TOPS) reach(top);
  return joined;
}

/** The name under which a library exports a name of one of its modules. */
const exported = (path: string, name: string): string =>
  `${path.replace(/\.js$/, '').replaceAll(/\W/g, '_')}_${name}`;

/** Tables of the proof next to its WebAssembly: users' bundles compress better that way. */
const tablesFirst = (paths: readonly string[]): string[] => {
  const isTable = (path: string) => path.startsWith('aggregate/') && path.endsWith('.gen.js');
  return [...paths.filter(isTable), ...paths.filter((path) => !isTable(path))];
};

/** Where a file imports another one from. */
function specifier(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

/** The modules of `dist` while they are joined. */
interface Modules {
  readonly dist: string;
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** What each joined module exports. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly joined: ReadonlyMap<string, Library>;
  /** The file that holds each module, by the module's path. */
  readonly holders: Map<string, string>;
}

/** What a module exports, taken from its library. */
function passedOn({ names }: Modules, path: string, library: string): string {
  const list = names.get(path)!.map((name) => `${exported(path, name)} as ${name}`);
  return `export { ${list.join(', ')} } from '${library}';\n`;
}

/** What a library consists of. */
function sourceOf({ names, joined }: Modules, library: Library): string {
  const modules = [...joined.keys()].filter((path) => joined.get(path) === library);
  const lines = tablesFirst(modules).map((path) => {
    const list = names.get(path)!.map((name) => `${name} as ${exported(path, name)}`);
    return `export { ${list.join(', ')} } from '${specifier(library, path)}';`;
  });
  return lines.join('\n');
}

/** Leaves the modules of other files out of the file `output`. */
const elsewhere = (modules: Modules, output: string): Plugin => ({
  name: 'elsewhere',
  setup({ onResolve, onLoad }) {
    const { dist, joined } = modules;
    const outside = (to: string) => ({ path: specifier(output, to), external: true });
    onResolve({ filter: /^library:/ }, ({ path }) => outside(path.slice('library:'.length)));
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const to = relative(dist, join(resolveDir, path));
      if (to === ERRORS || (to !== output && TOPS.includes(to))) return outside(to);
      const library = joined.get(to);
      if (library === undefined || library === output) return undefined;
      return { path: to, namespace: 'passed-on' };
    });
    onLoad({ filter: /.*/, namespace: 'passed-on' }, ({ path }) => ({
      contents: passedOn(modules, path, `library:${joined.get(path)}`),
      resolveDir: dist,
    }));
  },
});

/** @returns the text of the file `output` */
async function bundle(modules: Modules, output: string, contents: string): Promise<string> {
  const { dist, imports, holders } = modules;
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: dirname(join(dist, output)) },
    absWorkingDir: dist,
    bundle: true,
    metafile: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    target: 'es2023',
    legalComments: 'none',
    // So that users' bundlers can leave out tables.
    pure: ['Object.freeze', 'Array.from'],
    logLevel: 'warning',
    plugins: [elsewhere(modules, output)],
  });
  for (const path of Object.keys(metafile.inputs)) {
    if (!imports.has(path)) continue;
    if (holders.has(path)) throw new Error(`${path} is in ${holders.get(path)} and ${output}`);
    holders.set(path, output);
  }
  return outputFiles[0]!.text;
}

async function readModules(dist: string): Promise<Modules> {
  const paths = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .sort();
  const imports = new Map(paths.map((path) => [path, importsOf(dist, path)]));
  const joined = librariesOf(imports);
  const names = new Map<string, string[]>();
  for (const path of joined.keys()) {
    names.set(path, Object.keys(await import(pathToFileURL(join(dist, path)).href)));
  }
  return { dist, imports, names, joined, holders: new Map() };
}

/** Joins the files of a folder that the compiler has written. */
export async function joinLibrary(dist: string): Promise<void> {
  const modules = await readModules(dist);
  const { imports, joined, holders } = modules;
  const made = new Map<string, string>();
  for (const library of LIBRARIES) {
    made.set(library, await bundle(modules, library, sourceOf(modules, library)));
  }
  for (const top of TOPS) {
    made.set(top, await bundle(modules, top, readFileSync(join(dist, top), 'utf8')));
  }
  for (const path of holders.keys()) rmSync(join(dist, path));
  for (const [path, text] of made) writeFileSync(join(dist, path), text);
  const rest = [...imports.keys()].filter((path) => !holders.has(path) && !made.has(path));
  for (const path of new Set(rest.flatMap((each) => imports.get(each)!))) {
    const library = joined.get(path);
    if (library === undefined) continue;
    writeFileSync(join(dist, path), passedOn(modules, path, specifier(path, library)));
  }
}

const [, script = '', folder] = process.argv;
if (script.endsWith('joinLibrary.ts') && folder !== undefined) await joinLibrary(resolve(folder));
