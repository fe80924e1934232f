/**
 * `/v1/openapi.json`: the description of the interface. It needs no key.
 */
import { readFileSync } from 'node:fs';
import { mountAddress } from '../http/address.ts';
import { contentSecurityPolicy, etagOf, openAnswer } from '../http/page.ts';
import type { Deps, Route } from '../routes/route.ts';
import { openapiDocument } from './document.ts';

/** A placeholder for the address of the mount point, which depends on the request. */
const ADDRESS = 'https://address.invalid';

/**
 * The route.
 *
 * @param routes the others; this one is in the document as well
 */
export function documentRoute(
  { settings, operations: known }: Deps,
  routes: readonly Route[],
): Route {
  const json = once(() => {
    const about = { serviceName: settings.serviceName, address: ADDRESS, version: version() };
    return `${JSON.stringify(openapiDocument([...routes, own], about))}\n`;
  });
  const own: Route = {
    method: 'GET',
    path: '/v1/openapi.json',
    right: 'open',
    operation: known.getDocument,
    async handle(c) {
      const address = JSON.stringify(mountAddress(c, settings)).slice(1, -1);
      const body = json().replaceAll(ADDRESS, () => address);
      const headers = {
        etag: etagOf(body),
        'cache-control': 'no-cache',
        'content-security-policy': contentSecurityPolicy(),
      };
      return openAnswer(c, headers, () => {
        return { body, headers: { 'content-type': 'application/json' } };
      });
    },
  };
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
