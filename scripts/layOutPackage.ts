/**
 * Lays out what is published: `dist/`, and the documents with links that work wherever they are
 * shown. `node scripts/layOutPackage.ts FOLDER` takes the `dist/` that is built.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'SECURITY.md'];
/** Files that operators copy, at the same path as here. */
const DEPLOY = 'examples/deploy';

/** Where the files of a released version can be seen. */
export interface Home {
  /** The repository's page, such as `https://example.org/owner/name`. */
  readonly page: string;
  /** The version's tag. */
  readonly tag: string;
}

/** @throws Error if the manifest names no repository that can be linked to */
export function homeOf(manifest: string): Home {
  const { repository, version } = JSON.parse(manifest);
  const [, page] = /^git\+(https:\/\/.+?)(?:\.git)?$/.exec(repository?.url ?? '') ?? [];
  if (page === undefined) throw new Error('package.json: `repository` has no address by https');
  return { page, tag: `v${version}` };
}

/**
 * Returns the document with every link to a file of the repository made absolute, pictures
 * included.
 *
 * @param from the document's folder, if it is not the root; links within it stay relative
 * @throws Error for a link to a file that does not exist
 */
export function withAbsoluteLinks(markdown: string, { page, tag }: Home, from = ''): string {
  const absolute = (link: string, raw: boolean): string => {
    if (/^(#|[a-z]+:)/.test(link)) return link;
    const [file = '', fragment = ''] = link.split(/(?=#)/);
    const path = posix.join(from, file);
    const folder = statSync(join(root, path)).isDirectory();
    if (from !== '' && path.startsWith(`${from}/`)) return link;
    const kind = raw ? 'raw' : folder ? 'tree' : 'blob';
    return `${page}/${kind}/${tag}/${posix.normalize(path)}${fragment}`;
  };
  // Not in blocks of code.
  return markdown
    .split(/^(```.*?^```$)/ms)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part
            .replace(/(!?)(\[[^\]]*\])\(([^()\s]+)\)/g, (_, mark, text, link) => {
              return `${mark}${text}(${absolute(link, mark === '!')})`;
            })
            .replace(/\b(src|srcset)="([^"]+)"/g, (_, name, link) => {
              return `${name}="${absolute(link, true)}"`;
            }),
    )
    .join('');
}

/** The manifest without what only the repository uses: an installation would offer to run it. */
export function publishedManifest(manifest: string): string {
  const { scripts: _, devDependencies: __, ...published } = JSON.parse(manifest);
  return `${JSON.stringify(published, null, 2)}\n`;
}

/** Everything but `dist/`. */
export function layOutDocuments(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const manifest = readFileSync(`${root}package.json`, 'utf8');
  writeFileSync(join(folder, 'package.json'), publishedManifest(manifest));
  copyFileSync(`${root}LICENSE`, join(folder, 'LICENSE'));
  const home = homeOf(manifest);
  for (const name of DOCUMENTS) {
    const text = withAbsoluteLinks(readFileSync(root + name, 'utf8'), home);
    writeFileSync(join(folder, name), text);
  }
  cpSync(join(root, DEPLOY), join(folder, DEPLOY), { recursive: true });
  const readme = join(DEPLOY, 'README.md');
  const text = withAbsoluteLinks(readFileSync(join(root, readme), 'utf8'), home, DEPLOY);
  writeFileSync(join(folder, readme), text);
}

/** The whole package, from the `dist/` that was built. */
export function layOutPackage(folder: string): void {
  layOutDocuments(folder);
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: node scripts/layOutPackage.ts FOLDER\n');
    process.exitCode = 2;
  } else {
    layOutPackage(resolve(folder));
  }
}
