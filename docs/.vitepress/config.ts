/** The site: `npm run docs` builds it, `npm run docs:dev` shows it while its pages are written. */
import { join } from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { originOf, targetOf } from './links.ts';
import { BASE, entries, HOME, MADE_FILES, PACKAGE, SITE } from './places.ts';
import { searchOptions } from './search.ts';
import { sidebar } from './sidebar.ts';

/** The anchor of a heading as GitHub makes it: links of documents are for readers there, too. */
const slugify = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Leads the links of a page to pages of the site and copies of files. */
function leadLinks(md: MarkdownRenderer): void {
  const render = md.renderer.rules.link_open!;
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index]!;
    const target = targetOf(originOf(env.path), token.attrGet('href') ?? '');
    if (target.kind === 'page') token.attrSet('href', target.href);
    if (target.kind !== 'file') return render(tokens, index, options, env, self);
    token.attrSet('href', `${BASE}${target.href.slice(1)}`);
    // The router of the pages leaves it to the browser.
    token.attrSet('target', '_self');
    return self.renderToken(tokens, index, options);
  };
}

export default defineConfig({
  lang: 'en',
  title: 'Falconry',
  description:
    'Falcon signatures in WebAssembly, proofs that aggregate them, and a service for both',
  base: BASE,
  outDir: SITE,
  cacheDir: 'build/cache',
  srcExclude: ['build/package/**'],
  rewrites: (id) => id.replace(/^build\/pages\//, ''),
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    // An address in a sentence is often that of an example.
    linkify: false,
    anchor: { slugify },
    toc: { slugify },
    // Braces are those of formulas.
    attrs: { disable: true },
    languages: [{ name: 'capnp', scopeName: 'source.capnp', patterns: [], repository: {} }],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: leadLinks,
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    logo: '/icon.svg',
    nav: [
      { text: 'Guide', link: '/start' },
      { text: 'Playground', link: '/playground' },
      { text: 'Operating', link: '/operating' },
      { text: 'Soundness', link: '/soundness' },
      { text: 'Examples', link: '/examples/' },
      { text: 'API', link: '/api/' },
      { text: 'HTTP', link: '/http' },
      { text: 'Source', link: HOME.page },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    footer: { message: 'MIT licence. Nobody has audited this code.' },
  },
  vite: {
    publicDir: MADE_FILES,
    resolve: {
      alias: entries().map(({ name, built }) => ({
        find: new RegExp(`^${name}$`),
        replacement: join(PACKAGE, built),
      })),
    },
    worker: { format: 'es' },
    // The modules of WebAssembly are in the scripts, and are loaded by one page alone.
    build: { chunkSizeWarningLimit: 2000 },
  },
});
