/**
 * `GET /v1/ui`: a page for trying the service. It loads only files of the service, enforced by a
 * content security policy. It needs no authentication, since it shows nothing without an API key.
 *
 *   /v1/ui                    the HTML, revalidated at every visit
 *   /v1/ui/                   redirects to /v1/ui, to which the names of the files are relative
 *   /v1/ui/<name>.<hash>.<x>  script, worker, style, icon: immutable
 */
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { CONFIG_META, type PageConfig } from '../../wire/pageConfig.ts';
import { resultKey } from '../blobs/port/blobStore.ts';
import { contentSecurityPolicy, etagOf, type OpenHeaders, openAnswer } from '../http/page.ts';
import type { Settings } from '../options/options.ts';
import type { Deps, Route } from '../routes/route.ts';
import { ASSETS, type AssetName, TEMPLATE } from './assets.gen.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';

type Encoding = 'br' | 'gzip' | 'identity';

export function uiRoutes({ settings }: Deps): Route[] {
  const { assets, names } = servedAssets();
  const html = new TextEncoder().encode(renderPage(TEMPLATE, names, pageConfig(settings, names)));
  const bodies = { identity: () => html };
  const page: Asset = { etag: etagOf(html), type: 'text/html; charset=utf-8', bodies };
  return [
    {
      method: 'GET',
      path: '/v1/ui',
      right: 'open',
      async handle(c) {
        const policy = pagePolicy(await origins(settings));
        const headers = { 'cache-control': 'no-cache', 'content-security-policy': policy };
        return answer(c, page, headers);
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
        const headers = { 'cache-control': IMMUTABLE, 'content-security-policy': ASSET_POLICY };
        return answer(c, asset, headers);
      },
    },
  ];
}

/** A file, with a body for each encoding in which it is served. */
interface Asset {
  readonly etag: string;
  readonly type: string;
  readonly bodies: Readonly<Partial<Record<Encoding, () => Uint8Array<ArrayBuffer>>>>;
}

/** Returns a file in all encodings. Each is computed at its first request. */
function assetOf(name: AssetName): Asset {
  const { type, sha256, brotli } = ASSETS[name];
  const br = new Uint8Array(Buffer.from(brotli, 'base64'));
  const identity = once(() => new Uint8Array(brotliDecompressSync(br)));
  const gzip = once(() => new Uint8Array(gzipSync(identity(), { level: 9 })));
  return { etag: `"${sha256.slice(0, 32)}"`, type, bodies: { br: () => br, gzip, identity } };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

type Names = Readonly<Record<AssetName, string>>;

/** Returns the files by their names in urls, which contain a hash of the content. */
function servedAssets(): { assets: ReadonlyMap<string, Asset>; names: Names } {
  const assets = new Map<string, Asset>();
  const names = {} as Record<AssetName, string>;
  for (const name of Object.keys(ASSETS) as AssetName[]) {
    const { sha256, extension } = ASSETS[name];
    names[name] = `${name}.${sha256.slice(0, 12)}.${extension}`;
    assets.set(names[name], assetOf(name));
  }
  return { assets, names };
}

function pageConfig(settings: Settings, names: Names): PageConfig {
  const { serviceName, signing, maxSignatures, maxDigestBytes, maxBodyBytes, blobs } = settings;
  const limits = { maxSignatures, maxDigestBytes, maxBodyBytes };
  return {
    serviceName,
    signing,
    ownLogin: settings.authenticate !== undefined,
    ...limits,
    servedUrls: blobs?.uploads === undefined && blobs?.results === undefined,
    worker: `ui/${names.worker}`,
  };
}

/**
 * Returns the origins that the page may call besides its own: the public address, and the blob
 * store if clients access it directly.
 */
async function origins({ publicUrl, blobs }: Settings): Promise<string[]> {
  const urls = publicUrl === undefined ? [] : [publicUrl];
  const options = { expiresAtMs: Date.now() };
  if (blobs?.uploads) urls.push(await blobs.uploads.url(1, options));
  if (blobs?.results) urls.push(await blobs.results.url(resultKey(1, 1), options));
  return [...new Set(urls.map((url) => new URL(url).origin))];
}

/** Allows scripts and styles only from the service, and no markup or script from strings. */
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

/** The policy of the files, for the worker: it compiles WebAssembly and makes no requests. */
const ASSET_POLICY = contentSecurityPolicy(["script-src 'self' 'wasm-unsafe-eval'"]);

/** Returns the file in the best encoding that the client accepts. */
function answer(
  c: Context,
  { etag, type, bodies }: Asset,
  headers: Pick<OpenHeaders, 'cache-control' | 'content-security-policy'>,
): Response {
  return openAnswer(c, { ...headers, etag, vary: 'accept-encoding' }, () => {
    const encoding = chooseEncoding(c.req.header('accept-encoding'), bodies);
    const body = bodies[encoding]!();
    return {
      body,
      headers: {
        'content-type': type,
        'content-length': String(body.length),
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      },
    };
  });
}

function chooseEncoding(accepted: string | undefined, bodies: Asset['bodies']): Encoding {
  const refused = /^0(\.0*)?$/;
  const named = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2);
    if (quality === undefined || !refused.test(quality)) named.add(name);
  }
  return (['br', 'gzip'] as const).find((name) => bodies[name] && named.has(name)) ?? 'identity';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

/**
 * Fills in the placeholders of a template, `{{name}}`.
 *
 * @throws RangeError for an unknown placeholder
 */
export function renderPage(
  template: string,
  names: Readonly<Record<'app' | 'style' | 'icon', string>>,
  config: PageConfig,
): string {
  const values: Readonly<Record<string, string>> = {
    app: escapeHtml(`ui/${names.app}`),
    style: escapeHtml(`ui/${names.style}`),
    icon: escapeHtml(`ui/${names.icon}`),
    config: `<meta name="${CONFIG_META}" content="${escapeHtml(JSON.stringify(config))}">`,
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new RangeError(`nothing fills {{${name}}}`);
    return value;
  });
}
