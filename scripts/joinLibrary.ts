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
  'aggregate/threads/aggregateWorker.js',
];
const LIBRARIES = ['falcon/library.js', 'aggregate/library.js'] as const;
type Library = (typeof LIBRARIES)[number];

/** One class of errors for the whole package, the small entries included. */
const ERRORS = 'shared/errors.js';
/** This module becomes a part of aggregate/index.js, one folder above. */
const MOVED = { path: 'aggregate/threads/threads.js', name: 'aggregateWorker' };

/** The modules that a module of `dist` imports. */
function importsOf(dist: string, path: string): string[] {
  const text = readFileSync(join(dist, path), 'utf8');
  return [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g)].map(([, to]) =>
    posix.join(posix.dirname(path), to!),
  );
}

/** The library that holds each joined module, by the module's path. */
function librariesOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, Library> {
  const startsThreads = (path: string, seen = new Set<string>()): boolean => {
    if (path === MOVED.path || path === 'falcon/verifyPoolOptions.js') return true;
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

/** Joins the files of a folder that the compiler has written. */
export async function joinLibrary(dist: string): Promise<void> {
  const paths = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .sort();
  const imports = new Map(paths.map((path) => [path, importsOf(dist, path)]));
  const joined = librariesOf(imports);
  const names = new Map<string, string[]>();
  for (const path of joined.keys()) {
    names.set(path, Object.keys(await import(pathToFileURL(join(dist, path)).href)));
  }

  /** What a module exports, taken from its library. */
  const passedOn = (path: string, library: string): string => {
    const list = names.get(path)!.map((name) => `${exported(path, name)} as ${name}`);
    return `export { ${list.join(', ')} } from '${library}';\n`;
  };
  const outside = (from: string, to: string): { path: string; external: true } => {
    const path = posix.relative(posix.dirname(from), to);
    return { path: path.startsWith('.') ? path : `./${path}`, external: true };
  };
  /** The modules of other libraries, for the file `output`. */
  const elsewhere = (output: string): Plugin => ({
    name: 'elsewhere',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^library:/ }, ({ path }) => outside(output, path.slice(8)));
      onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const to = relative(dist, join(resolveDir, path));
        if (to === ERRORS || (to !== output && TOPS.includes(to))) return outside(output, to);
        const library = joined.get(to);
        if (library === undefined || library === output) return undefined;
        return { path: to, namespace: 'passed-on' };
      });
      onLoad({ filter: /.*/, namespace: 'passed-on' }, ({ path }) => ({
        contents: passedOn(path, `library:${joined.get(path)}`),
        resolveDir: dist,
      }));
      onLoad({ filter: /threads\.js$/ }, ({ path }) => {
        if (relative(dist, path) !== MOVED.path) return undefined;
        const text = readFileSync(path, 'utf8');
        const moved = text
          .replace(`'${MOVED.name}'`, `'threads/${MOVED.name}'`)
          .replace(`'./${MOVED.name}.js'`, `'./threads/${MOVED.name}.js'`);
        if (moved.length !== text.length + 16) throw new Error(`${path}: no ${MOVED.name}`);
        return { contents: moved };
      });
    },
  });
  /** The file that holds each module, by the module's path. */
  const holders = new Map<string, string>();
  const bundle = async (output: string, contents: string): Promise<string> => {
    const { outputFiles, metafile } = await build({
      metafile: true,
      stdin: { contents, resolveDir: dirname(join(dist, output)) },
      absWorkingDir: dist,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      packages: 'external',
      target: 'es2023',
      legalComments: 'none',
      // So that users' bundlers can leave out tables.
      pure: ['Object.freeze', 'Array.from'],
      logLevel: 'warning',
      plugins: [elsewhere(output)],
    });
    for (const path of Object.keys(metafile.inputs)) {
      if (!imports.has(path)) continue;
      if (holders.has(path)) throw new Error(`${path} is in ${holders.get(path)} and ${output}`);
      holders.set(path, output);
    }
    return outputFiles[0]!.text;
  };

  const made = new Map<string, string>();
  for (const library of LIBRARIES) {
    const modules = [...joined.keys()].filter((path) => joined.get(path) === library);
    const lines = tablesFirst(modules).map((path) => {
      const list = names.get(path)!.map((name) => `${name} as ${exported(path, name)}`);
      return `export { ${list.join(', ')} } from '${outside(library, path).path}';`;
    });
    made.set(library, await bundle(library, lines.join('\n')));
  }
  for (const top of TOPS) {
    made.set(top, await bundle(top, readFileSync(join(dist, top), 'utf8')));
  }
  for (const path of holders.keys()) rmSync(join(dist, path));
  for (const [path, text] of made) writeFileSync(join(dist, path), text);
  const rest = paths.filter((path) => !holders.has(path) && !made.has(path));
  for (const path of new Set(rest.flatMap((each) => imports.get(each)!))) {
    const library = joined.get(path);
    if (library === undefined) continue;
    writeFileSync(join(dist, path), passedOn(path, outside(path, library).path));
  }
}

const [, script = '', folder] = process.argv;
if (script.endsWith('joinLibrary.ts') && folder !== undefined) await joinLibrary(resolve(folder));
