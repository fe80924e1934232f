/** The links of a built site: which of them lead nowhere. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface LinkReport {
  readonly pages: number;
  readonly links: number;
  /** Links to other hosts; they are looked at, not followed. */
  readonly external: number;
  /** What is wrong, as `page: link`. */
  readonly broken: readonly string[];
}

interface Page {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
};
const decode = (text: string): string =>
  text.replaceAll(/&(?:amp|quot|#39|lt|gt);/g, (entity) => ENTITIES[entity]!);

function readPage(file: string): Page {
  const html = readFileSync(file, 'utf8').replaceAll(/<script\b[\s\S]*?<\/script>/g, '');
  const values = (name: string): string[] =>
    [...html.matchAll(new RegExp(`\\s(?:${name})="([^"]*)"`, 'g'))].map(([, v]) => decode(v!));
  return { ids: new Set(values('id')), links: values('href|src') };
}

/** Whether an address of another host is one: `https`, and a name with a dot. */
function isGoodAddress(link: string): boolean {
  if (!URL.canParse(link)) return false;
  const { protocol, hostname } = new URL(link);
  return protocol === 'https:' && /^[\w-]+(\.[\w-]+)+$/.test(hostname);
}

/**
 * Follows every link of every page within the site, to the page or file and to the anchor.
 *
 * @param base the path of the site at its host
 */
export function checkLinks(folder: string, base: string): LinkReport {
  const names = globSync('**/*.html', { cwd: folder });
  const pages = new Map(names.map((name) => [name, readPage(join(folder, name))]));
  const broken: string[] = [];
  let links = 0;
  let external = 0;

  const isBroken = (from: string, link: string): boolean => {
    if (/^(?:mailto|data):/.test(link)) return false;
    if (/^[a-z][a-z+.-]*:|^\/\//i.test(link)) {
      external++;
      return !isGoodAddress(link);
    }
    const [, path = '', hash = ''] = /^([^#?]*)[^#]*#?(.*)$/.exec(link)!;
    const whole = path === '' ? `${base}${from}` : posix.resolve(base, posix.dirname(from), path);
    const inSite = path.endsWith('/') ? `${whole}/`.replace('//', '/') : whole;
    if (!inSite.startsWith(base)) return true;
    const name = decodeURI(inSite.slice(base.length)).replace(/(^|\/)$/, '$1index.html');
    const page = pages.get(name);
    if (page === undefined) return !existsSync(join(folder, name));
    return hash !== '' && !page.ids.has(decodeURIComponent(hash));
  };

  for (const [from, page] of pages) {
    for (const link of page.links) {
      links++;
      if (isBroken(from, link)) broken.push(`${from}: ${link}`);
    }
  }
  return { pages: pages.size, links, external, broken };
}
