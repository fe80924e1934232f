/** Where the site's sources are, where its generated parts go, and under which address it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeOf } from '../../scripts/layOutPackage.ts';

/** The project. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The pages that are written by hand. */
export const DOCS = join(ROOT, 'docs');
/** Everything that is made for the site before it is built. */
export const MADE = join(DOCS, 'build');
/** Pages that are made: they appear in the site as if they were in `docs/`. */
export const MADE_PAGES = join(MADE, 'pages');
/** Files that the site serves as they are. */
export const MADE_FILES = join(MADE, 'public');
/** The package as its users get it, which the playground imports. */
export const PACKAGE = join(MADE, 'package');
/** The site. */
export const SITE = join(ROOT, 'build/site');

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
const manifest = JSON.parse(text) as Manifest;

/** The repository, and the tag of the version that the site is about. */
export const HOME = homeOf(text);

/** The path of the site at its host, with a slash at both ends: `DOCS_BASE`, else the root. */
export const baseOf = (path = ''): string => `/${path}/`.replaceAll(/\/+/g, '/');

export const BASE = baseOf(process.env.DOCS_BASE);

/** An entry of the package that is a module. */
export interface Entry {
  /** What users import. */
  readonly name: string;
  /** Its file in `src/`. */
  readonly source: string;
  /** Its file in the package. */
  readonly built: string;
}

/** The entries of the package that are modules, in the order of its `exports`. */
export function entries(): Entry[] {
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    const file = typeof target === 'string' ? target : target.default;
    if (!file.startsWith('./dist/') || !file.endsWith('.js')) return [];
    const source = file.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return [{ name: `${manifest.name}${path.slice(1)}`, source, built: file.slice(2) }];
  });
}
