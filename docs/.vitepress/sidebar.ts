/** The order of the pages. A page that does not exist is left out. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { apiPage, documented } from './api.ts';
import { EXAMPLES } from './links.ts';
import { DOCS, MADE_PAGES } from './places.ts';

/** Titles where the page's own is too long, or has another form. */
const SECTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Guide: {
    start: 'Start',
    library: 'The library',
    aggregation: 'Aggregation',
    service: 'The service',
    playground: 'Playground',
    keys: 'Keys',
    profiles: 'Profiles',
    bundlers: 'Bundlers',
  },
  Moving: {},
  Running: {
    hosts: 'In your server',
    operating: 'Operating',
    cli: 'Command line',
    'rooms/client': 'The client',
    requests: 'Requests and options',
    http: 'HTTP interface',
    'rooms/testing': 'Stores of your own',
  },
  Examples: { 'examples/index': 'All examples' },
  Trust: {
    security: 'Security',
    stability: 'Stability',
    soundness: 'Soundness',
    protocol: 'The proof, byte by byte',
    'bundle-format': 'The bundle, byte by byte',
    vectors: 'Vectors for other implementations',
    references: 'References',
  },
  'The project': {
    changelog: 'Changelog',
    contributing: 'Contributing',
    releasing: 'Releasing',
    'decisions/index': 'Decisions',
  },
};

/** The file of a page, if there is one. */
function fileOf(page: string): string | undefined {
  return [DOCS, MADE_PAGES].map((folder) => join(folder, `${page}.md`)).find(existsSync);
}

const titleOf = (page: string): string =>
  /^# (.*)$/m.exec(readFileSync(fileOf(page)!, 'utf8'))?.[1]?.replaceAll('`', '') ?? basename(page);

const link = (page: string, text = titleOf(page)): DefaultTheme.SidebarItem => ({
  text,
  link: `/${page.replace(/(^|\/)index$/, '$1')}`,
});

const inFolder = (pattern: string): string[] =>
  globSync(pattern, { cwd: DOCS })
    .map((name) => name.replace(/\.md$/, ''))
    .toSorted();

/** The sidebars, from the files that there are: of the site, of the decisions, of the API. */
export function sidebar(): DefaultTheme.SidebarMulti {
  const groups = Object.entries(SECTIONS).map(([text, pages]) => ({
    text,
    items: Object.entries(pages)
      .filter(([page]) => fileOf(page) !== undefined)
      .map(([page, title]) => link(page, title)),
  }));
  const moving = groups.find(({ text }) => text === 'Moving')!;
  moving.items.push(...inFolder('moving/*.md').map((page) => link(page)));
  const examples = groups.find(({ text }) => text === 'Examples')!;
  examples.items.push(...EXAMPLES.map((name) => link(`examples/${name}`)));
  const site = groups.filter(({ items }) => items.length > 0);
  const decisions = inFolder('decisions/[0-9]*.md').map((page) => link(page));
  const api = documented().map(({ name }) => link(apiPage(name), name));
  return {
    '/decisions/': [{ text: 'Decisions', link: '/decisions/', items: decisions }, ...site],
    '/api/': [{ text: 'API', link: '/api/', items: api }, ...site],
    '/': [...site, { text: 'API', items: [link('api/index', 'Reference')] }],
  };
}
