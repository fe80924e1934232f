/** `GET /v1/openapi.json`: the description of the interface, which needs no key. */
import { readFileSync } from 'node:fs';
import { concat } from '../../shared/bytes.ts';
import { mountAddress } from '../http/address.ts';
import { OPENAPI } from '../http/openapi.gen.ts';
import { contentSecurityPolicy, etagOf, openAnswer } from '../http/page.ts';
import { maxStatements } from './aggsign.ts';
import type { Deps, Route } from './route.ts';

export function openapiRoute({ settings }: Deps): Route {
  let parts: Parts | undefined;
  return {
    method: 'GET',
    path: '/v1/openapi.json',
    right: 'open',
    async handle(c) {
      // Made at the first request, since most services never get one. Anyone may send any host, so
      // nothing else may depend on the address.
      parts ??= openapiParts(settings);
      const [before, after, etag] = parts;
      const servers = JSON.stringify([{ url: mountAddress(c, settings) }]);
      const headers = {
        etag: etagOf(etag + servers),
        'cache-control': 'no-cache',
        'content-security-policy': contentSecurityPolicy(),
      };
      return openAnswer(c, headers, () => {
        const headers = { 'content-type': 'application/json' };
        return { body: concat(before, UTF8.encode(servers), after), headers };
      });
    },
  };
}

/** The service as the document describes it. */
interface DescribedService {
  readonly serviceName: string;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  /** Whether the page at `/v1/ui` is served. */
  readonly ui: boolean;
}

/** The parts of `openapi.json` that are changed. */
interface Document {
  readonly info: { title: string; version: string };
  paths: Record<string, unknown>;
  readonly components: {
    readonly schemas: {
      readonly Digest: { maxLength: number };
      readonly TaskFile: List;
      readonly AggregateRequest: { readonly properties: { readonly data: List } };
      readonly VerifyRequest: { readonly properties: { readonly statements: List } };
    };
  };
}

interface List {
  maxItems: number;
}

/** The document before and after the value of `servers`, and an ETag of both. */
type Parts = readonly [before: Uint8Array, after: Uint8Array, etag: string];

const UTF8 = new TextEncoder();

function openapiParts(service: DescribedService): Parts {
  const text = `${JSON.stringify({ ...openapiDocument(service), servers: null })}\n`;
  const [before, after] = text.split('"servers":null') as [string, string];
  // As bytes: hosts convert a text again for each answer, for milliseconds.
  return [UTF8.encode(`${before}"servers":`), UTF8.encode(after), etagOf(text)];
}

/** Returns the document of a service; `servers` is left to the caller. */
function openapiDocument(service: DescribedService): object {
  const { serviceName, maxSignatures, maxDigestBytes, ui } = service;
  const document: Document = JSON.parse(OPENAPI);
  const { info, components } = document;
  info.title = `falconry (${serviceName})`;
  info.version = version();
  const { Digest, TaskFile, AggregateRequest, VerifyRequest } = components.schemas;
  for (const list of [TaskFile, AggregateRequest.properties.data]) list.maxItems = maxSignatures;
  VerifyRequest.properties.statements.maxItems = maxStatements(maxSignatures);
  // In hex, with the prefix.
  Digest.maxLength = 2 + 2 * maxDigestBytes;
  const paths = Object.entries(document.paths)
    .filter(([path]) => ui || path !== '/v1/ui')
    .map(([path, item]) => [path.replace(/^\/v1\/svc\//, `/v1/${serviceName}/`), item]);
  document.paths = Object.fromEntries(paths);
  return document;
}

/** Returns the version of this package; package.json is above both `src` and `dist`. */
function version(): string {
  try {
    const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    return String((JSON.parse(text) as { version: unknown }).version);
  } catch {
    // Bundled into a host.
    return '0.0.0';
  }
}
