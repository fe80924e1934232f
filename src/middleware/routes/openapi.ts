/** `GET /v1/openapi.json`: the description of the interface, which needs no key. */
import { mountAddress } from '../http/address.ts';
import { openapiDocument } from '../http/openapi.ts';
import { contentSecurityPolicy, etagOf, openAnswer } from '../http/page.ts';
import type { Deps, Route } from './route.ts';

export function openapiRoute({ settings }: Deps): Route {
  let document: object | undefined;
  return {
    method: 'GET',
    path: '/v1/openapi.json',
    right: 'open',
    async handle(c) {
      // Made for the first request: most services are never asked for their document.
      document ??= openapiDocument(settings);
      const servers = [{ url: mountAddress(c, settings) }];
      const body = `${JSON.stringify({ ...document, servers })}\n`;
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
}
