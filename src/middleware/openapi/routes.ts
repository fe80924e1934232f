/**
 * `/v1/openapi.json` and `/v1/docs`: the document, and the document as a page. Neither needs a key.
 */
import { readFileSync } from 'node:fs';
import type { Context } from 'hono';
import { mountAddress } from '../http/address.ts';
import { inlineHash, pageAnswer } from '../http/page.ts';
import type { Deps, Route } from '../routes/route.ts';
import { DOCS_STYLE, docsPage } from './docsPage.ts';
import { escapeHtml } from './docsText.ts';
import { type Document, openapiDocument } from './document.ts';

/** A placeholder for the address of the mount point, which depends on the request. */
const ADDRESS = 'https://address.invalid';

/**
 * The two routes.
 *
 * @param routes the others; these two are in the document as well
 */
export function documentRoutes(
  { settings, operations: known }: Deps,
  routes: readonly Route[],
): Route[] {
  const made = once((): Document => {
    const about = { serviceName: settings.serviceName, address: ADDRESS, version: version() };
    return openapiDocument([...routes, ...own], about);
  });
  const json = once(() => `${JSON.stringify(made())}\n`);
  const html = once(() => docsPage(made(), settings.ui));
  const addressed = (c: Context, text: string, write: (address: string) => string): string =>
    text.replaceAll(ADDRESS, write(mountAddress(c, settings)));

  const own: Route[] = [
    {
      method: 'GET',
      path: '/v1/openapi.json',
      right: 'open',
      operation: known.getDocument,
      handle: async (c) =>
        pageAnswer(c, {
          type: 'application/json',
          body: addressed(c, json(), (address) => JSON.stringify(address).slice(1, -1)),
        }),
    },
    {
      method: 'GET',
      path: '/v1/docs',
      right: 'open',
      operation: known.getDocumentation,
      handle: async (c) =>
        pageAnswer(c, {
          type: 'text/html; charset=utf-8',
          body: addressed(c, html(), (address) => escapeHtml(address.replaceAll("'", '%27'))),
          policy: [`style-src ${inlineHash(DOCS_STYLE)}`, 'img-src data:'],
        }),
    },
  ];
  return own;
}

/** Made at the first call: most services are never asked for their document. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The version of this package; package.json is above both `src` and `dist`. */
function version(): string {
  try {
    const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    return String((JSON.parse(text) as { version: unknown }).version);
  } catch {
    // Bundled into a host.
    return '0.0.0';
  }
}
