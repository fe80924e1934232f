/**
 * Links of the pages. They are written for readers of the repository, as paths relative to the
 * file; in the site they lead to the page that the file became, else to a copy of the file.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { DOCS, MADE_PAGES, ROOT } from './places.ts';

/** The examples by name: each is a page with all of its code. */
export const EXAMPLES = globSync('examples/*/README.md', { cwd: ROOT })
  .map((path) => posix.basename(posix.dirname(path)))
  .toSorted();

/** Documents outside of docs/ that are pages of the site, and the names of those pages. */
export const GATHERED: Readonly<Record<string, string>> = {
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'vectors/README.md': 'vectors.md',
  'verifiers/python/README.md': 'rooms/python-verifier.md',
  'scripts/parameters/README.md': 'rooms/parameters.md',
  'test/reference/README.md': 'rooms/reference.md',
  'src/falcon/README.md': 'rooms/falcon.md',
  'src/aggregate/README.md': 'rooms/aggregate.md',
  'src/aggregate/proof/README.md': 'rooms/proof.md',
  'src/falcon/keys/README.md': 'rooms/keys.md',
  'src/falcon/compat/algorand/README.md': 'rooms/algorand.md',
  'src/falcon/profiles/README.md': 'rooms/profiles.md',
  'src/shared/threads/README.md': 'rooms/threads.md',
  'src/middleware/README.md': 'rooms/middleware.md',
  'src/client/README.md': 'rooms/client.md',
  'src/cli/README.md': 'rooms/cli.md',
  'src/middleware/testing/README.md': 'rooms/testing.md',
  'examples/README.md': 'examples/index.md',
  ...Object.fromEntries(
    EXAMPLES.map((name) => [`examples/${name}/README.md`, `examples/${name}.md`]),
  ),
};

/** Paths of the repository that stand for a page with another name. */
const OTHERS: Readonly<Record<string, string>> = {
  'README.md': 'start.md',
  'docs/decisions': 'decisions/index.md',
  docs: 'index.md',
};

/** The page that a path of the repository became; undefined if it is none. */
function pageOf(path: string): string | undefined {
  const page = OTHERS[path] ?? GATHERED[path] ?? GATHERED[posix.join(path, 'README.md')];
  if (page !== undefined) return page;
  if (!path.startsWith('docs/') || !path.endsWith('.md')) return undefined;
  const own = path.slice('docs/'.length);
  const made = join(MADE_PAGES, own);
  return existsSync(join(DOCS, own)) || existsSync(made) ? own : undefined;
}

/** What a link leads to, in the site. */
export type Target =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'page'; readonly href: string }
  /** A file of the repository, of which the site has a copy at this path. */
  | { readonly kind: 'file'; readonly href: string; readonly path: string }
  /** A path that does not exist: the link is left alone, so that it is reported. */
  | { readonly kind: 'missing' };

/**
 * Where a link of a document leads.
 *
 * @param origin the document's path in the repository
 * @param href what it says
 */
export function targetOf(origin: string, href: string): Target {
  if (/^[a-z][a-z+.-]*:|^#|^\//i.test(href)) return { kind: 'elsewhere' };
  const [, file = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(href)!;
  const path = posix.join(posix.dirname(origin), decodeURI(file)).replace(/\/$/, '');
  const page = pageOf(path);
  if (page !== undefined) return { kind: 'page', href: `/${page}${hash}` };
  const place = join(ROOT, path);
  if (path.startsWith('..') || !existsSync(place)) return { kind: 'missing' };
  // Of a folder there is a list.
  const copy = statSync(place).isDirectory() ? `${path}/index.txt` : `${path}.txt`;
  return { kind: 'file', href: `/files/${copy}`, path };
}

/** The repository's path of a page, of which VitePress gives the file as if it were in docs/. */
export function originOf(file: string): string {
  const page = relative(DOCS, file);
  const gathered = Object.entries(GATHERED).find(([, name]) => name === page);
  return gathered?.[0] ?? join('docs', page);
}

/** The links of a Markdown text outside of its code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '`code`');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, href]) => href!);
}

/** The files of the repository that documents link to. */
export function linkedFiles(origins: readonly string[]): string[] {
  const found = origins.flatMap((origin) =>
    linksOf(readFileSync(join(ROOT, origin), 'utf8')).flatMap((href) => {
      const target = targetOf(origin, href);
      return target.kind === 'file' ? [target.path] : [];
    }),
  );
  return [...new Set(found)].toSorted();
}
