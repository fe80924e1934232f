/**
 * `GET /v1/ui`: a page to see the service with. Everything it loads comes from here, under a content security policy that
 * allows nothing else; it needs no right, since it knows nothing until somebody gives it an API key.
 *
 *   /v1/ui                    the html, revalidated at every visit
 *   /v1/ui/                   the same place with a slash too many: redirected, since the names below are relative
 *   /v1/ui/<name>.<hash>.<x>  script, worker, style, icon: never change under their names
 */
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { CodedError } from '../../errors.ts';
import { resultKey } from '../blobs/blobStore.ts';
import { contentSecurityPolicy, etagOf } from '../http/page.ts';
import type { Operation } from '../openapi/operation.ts';
import { z } from '../openapi/zod.ts';
import type { Settings } from '../options.ts';
import type { Deps, Route } from '../routes/route.ts';
import { ASSETS, type AssetName, TEMPLATE } from './assets.gen.ts';
import { renderPage } from './html.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';
const REVALIDATED = 'no-cache';

/** One file in the encodings that browsers ask for; each is made when it is first asked for. */
class Asset {
  readonly etag: string;
  readonly type: string;
  readonly #brotli: Uint8Array<ArrayBuffer>;
  #gzip: Uint8Array<ArrayBuffer> | undefined;
  #plain: Uint8Array<ArrayBuffer> | undefined;

  constructor(name: AssetName) {
    const { type, sha256, brotli } = ASSETS[name];
    this.type = type;
    this.etag = `"${sha256.slice(0, 32)}"`;
    this.#brotli = new Uint8Array(Buffer.from(brotli, 'base64'));
  }

  encoded(encoding: Encoding): Uint8Array<ArrayBuffer> {
    if (encoding === 'br') return this.#brotli;
    this.#plain ??= new Uint8Array(brotliDecompressSync(this.#brotli));
    if (encoding === 'identity') return this.#plain;
    this.#gzip ??= new Uint8Array(gzipSync(this.#plain, { level: 9 }));
    return this.#gzip;
  }
}

type Encoding = 'br' | 'gzip' | 'identity';

/** Routes of the page. */
export function uiRoutes({ settings }: Deps): Route[] {
  const assets = new Map<string, Asset>();
  const names = {} as Record<AssetName, string>;
  for (const name of Object.keys(ASSETS) as AssetName[]) {
    const { sha256, extension } = ASSETS[name];
    names[name] = `${name}.${sha256.slice(0, 12)}.${extension}`;
    assets.set(names[name], new Asset(name));
  }
  const html = () =>
    renderPage(TEMPLATE, names, {
      serviceName: settings.serviceName,
      signing: settings.signing,
      maxSignatures: settings.maxSignatures,
      maxDigestBytes: settings.maxDigestBytes,
      maxBodyBytes: settings.maxBodyBytes,
      servedUrls: settings.blobs === undefined || settings.blobs.urls === 'served',
      worker: `ui/${names.worker}`,
    });

  return [
    {
      method: 'GET',
      path: '/v1/ui',
      right: 'open',
      operation: OPERATION,
      async handle(c) {
        const body = new TextEncoder().encode(html());
        const policy = pagePolicy(await origins(settings));
        const headers = { ...SAFETY, 'content-security-policy': policy };
        return answer(
          c,
          { etag: etagOf(body), type: 'text/html; charset=utf-8' },
          REVALIDATED,
          headers,
          {
            identity: () => body,
          },
        );
      },
    },
    {
      method: 'GET',
      path: '/v1/ui/',
      right: 'open',
      handle: async () => new Response(null, { status: 308, headers: { location: '../ui' } }),
    },
    {
      method: 'GET',
      path: '/v1/ui/:file',
      right: 'open',
      async handle(c) {
        const asset = assets.get(c.req.param('file') ?? '');
        if (asset === undefined) throw new CodedError('NOT_FOUND');
        const headers = { ...SAFETY, 'content-security-policy': ASSET_POLICY };
        return answer(c, asset, IMMUTABLE, headers, {
          br: () => asset.encoded('br'),
          gzip: () => asset.encoded('gzip'),
          identity: () => asset.encoded('identity'),
        });
      },
    },
  ];
}

/** What every answer says: the type is what it says, nobody frames it, nobody else's page reads it. */
const SAFETY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Whom the page may speak to beside where it came from: the public address, and a store that signs urls of its own. */
async function origins({ publicUrl, blobs }: Settings): Promise<string[]> {
  const urls = publicUrl === undefined ? [] : [publicUrl];
  if (blobs?.urls === 'remote') {
    const options = { base: publicUrl ?? 'http://localhost', expiresAtMs: Date.now() };
    urls.push(await blobs.uploadUrl(1, options), await blobs.resultUrl(resultKey(1, 1), options));
  }
  return [...new Set(urls.map((url) => new URL(url).origin))];
}

/** Scripts and styles come from files of ours only, and no string ever becomes markup or script. */
function pagePolicy(others: readonly string[]): string {
  return contentSecurityPolicy([
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...others].join(' '),
    "worker-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types falconry',
  ]);
}

/** The worker has a policy of its own: it compiles WebAssembly and talks to nobody. */
const ASSET_POLICY = contentSecurityPolicy(["script-src 'self' 'wasm-unsafe-eval'"]);

const OPERATION: Operation = {
  id: 'getPage',
  tag: 'Documents',
  summary: 'A page to see the service with',
  description:
    'Sign, build a task, watch it and verify its result in a browser. It loads nothing from other hosts; whoever has an API key enters it there.',
  answers: {
    200: {
      description: 'The page',
      schema: z.string(),
      type: 'text/html',
      headers: ['ETag', 'Cache-Control', 'Content-Security-Policy'],
    },
    304: { description: 'The page has not changed', headers: ['ETag'] },
  },
  problems: [],
};

type Bodies = Partial<Record<Encoding, () => Uint8Array<ArrayBuffer>>>;

/** The file in the best encoding that is accepted and offered, or 304 when the caller has it. */
function answer(
  c: Context,
  { etag, type }: { readonly etag: string; readonly type: string },
  cacheControl: string,
  headers: Readonly<Record<string, string>>,
  bodies: Bodies,
): Response {
  const encoding = chooseEncoding(c.req.header('accept-encoding'), bodies);
  const all = { ...headers, etag, vary: 'accept-encoding', 'cache-control': cacheControl };
  if (hasEtag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: all });
  }
  const body = bodies[encoding]!();
  return new Response(body, {
    headers: {
      ...all,
      'content-type': type,
      'content-length': String(body.length),
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
  });
}

function chooseEncoding(accepted: string | undefined, bodies: Bodies): Encoding {
  const refused = /^0(\.0*)?$/;
  const named = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2);
    if (quality === undefined || !refused.test(quality)) named.add(name);
  }
  return (['br', 'gzip'] as const).find((name) => bodies[name] && named.has(name)) ?? 'identity';
}

/** Weak comparison, as `If-None-Match` has it. */
function hasEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((text) => {
    const tag = text.trim();
    return tag === '*' || tag.replace(/^W\//, '') === etag;
  });
}
