/** The page as HTTP sees it: headers, caching, encodings, places where it is mounted. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { falconService } from '../../../src/middleware/index.ts';
import { ASSETS, type AssetName, TEMPLATE } from '../../../src/middleware/page/assets.gen.ts';
import { renderPage } from '../../../src/middleware/page/route.ts';
import { fact } from '../../support/facts.ts';

const service = falconService({ dataDirectory: 'never-started' });
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.app.request(path, { method, headers });

/** Names of the assets, as the html has them. */
let html: string;
let names: Record<string, string>;
beforeAll(async () => {
  html = await (await get('/v1/ui')).text();
  names = Object.fromEntries(
    [...html.matchAll(/ui\/((\w+)\.[0-9a-f]{12}\.\w+)/g)].map(([, name, asset]) => [asset, name]),
  ) as Record<string, string>;
});

describe('the html', () => {
  test('comes with a policy that allows our own files and nothing else', async () => {
    const answer = await get('/v1/ui');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = new Map(
      answer.headers
        .get('content-security-policy')!
        .split('; ')
        .map((entry) => [entry.split(' ')[0]!, entry.split(' ').slice(1).join(' ')]),
    );
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': "'none'",
      'script-src': "'self' 'wasm-unsafe-eval'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self'",
      'worker-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': 'falconry',
    });
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('the policy is the documented one', async () => {
    const guide = readFileSync(new URL('../../../docs/bundlers.md', import.meta.url), 'utf8');
    const [, block = ''] = /### The page of the service[^`]*`[^`]*`[^`]*```text\n([^`]*)/.exec(
      guide,
    )!;
    const policy = (await get('/v1/ui')).headers.get('content-security-policy');
    expect(block.trim().replaceAll(/\s+/g, ' ')).toBe(`Content-Security-Policy: ${policy}`);
  });

  test('holds no script, no style, and no address of another host', () => {
    expect(html).not.toMatch(/<style|style=|\son\w+=|javascript:|https?:\/\/|\/\//);
    expect([...html.matchAll(/<script\b[^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual(['']);
    expect(Object.keys(names).sort()).toEqual(['app', 'icon', 'style', 'worker']);
  });

  test('is revalidated by its ETag', async () => {
    const first = await get('/v1/ui');
    const etag = first.headers.get('etag')!;
    expect(first.headers.get('cache-control')).toBe('no-cache');
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/v1/ui', { 'if-none-match': given });
      expect(again.status, given).toBe(304);
      expect(await again.text()).toBe('');
      expect(again.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect((await get('/v1/ui', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('whatever the configuration holds stays text', () => {
    const page = renderPage(TEMPLATE, { app: 'a"><b', style: 's', icon: 'i' }, {
      serviceName: `"'><script>alert(1)</script>&`,
    } as never);
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('a"><b');
    const [, content] = /<meta name="falconry-config" content="([^"]*)">/.exec(page)!;
    expect(content).toContain('&quot;&#39;');
    expect(() => renderPage('{{nothing}}', { app: '', style: '', icon: '' }, {} as never)).toThrow(
      RangeError,
    );
  });

  test('a slash too many leads back, whatever it is mounted below', async () => {
    const answer = await get('/v1/ui/');
    expect(answer.status).toBe(308);
    const location = answer.headers.get('location')!;
    expect(new URL(location, 'http://host/some/where/v1/ui/').pathname).toBe('/some/where/v1/ui');
    const options = await get('/v1/ui/', {}, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });
});

describe('the assets', () => {
  test.each(['app', 'worker', 'style', 'icon'] as const)('%s in every encoding', async (name) => {
    const { sha256, type, bytes } = ASSETS[name];
    const decoders = {
      br: brotliDecompressSync,
      gzip: gunzipSync,
      identity: (data: Uint8Array) => data,
    };
    for (const [encoding, decode] of Object.entries(decoders)) {
      const answer = await get(`/v1/ui/${names[name]}`, { 'accept-encoding': encoding });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe(type);
      expect(answer.headers.get('content-encoding')).toBe(
        encoding === 'identity' ? null : encoding,
      );
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.headers.get('vary')).toBe('accept-encoding');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      const raw = new Uint8Array(await answer.arrayBuffer());
      expect(answer.headers.get('content-length')).toBe(String(raw.length));
      const data = decode(raw);
      expect(data.length).toBe(bytes);
      expect(createHash('sha256').update(data).digest('hex')).toBe(sha256);
    }
  });

  test('the encoding is what is accepted', async () => {
    const cases: Record<string, string | null> = {
      '': null,
      'gzip, deflate, br, zstd': 'br',
      'gzip;q=1.0, br;q=0': 'gzip',
      'br;q=0.000': null,
      GZIP: 'gzip',
      'deflate, identity': null,
    };
    for (const [accepted, expected] of Object.entries(cases)) {
      const answer = await get(`/v1/ui/${names.style}`, { 'accept-encoding': accepted });
      expect(answer.headers.get('content-encoding'), accepted).toBe(expected);
    }
  });

  test('are known by their ETag, and by no other name', async () => {
    const answer = await get(`/v1/ui/${names.app}`);
    const etag = answer.headers.get('etag')!;
    expect((await get(`/v1/ui/${names.app}`, { 'if-none-match': etag })).status).toBe(304);
    for (const wrong of ['app.js', 'app.000000000000.js', '..%2fapp.js', 'constructor', 'a/b']) {
      const missing = await get(`/v1/ui/${wrong}`);
      expect(missing.status, wrong).toBe(404);
      expect(missing.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test('the page is small, and the library comes only when it is needed', (context) => {
    const size = (name: AssetName) => ASSETS[name].brotliBytes;
    const page = size('app') + size('style') + size('icon');
    expect(page).toBeLessThan(40_000);
    expect(size('worker')).toBeLessThan(250_000);
    fact(
      context,
      'the page at /v1/ui',
      `${page} bytes to open (brotli), ${size('worker')} more for the worker with its WebAssembly`,
    );
  });

  test('the bundle is that of the sources, and comes out the same again', () => {
    const path = fileURLToPath(
      new URL('../../../src/middleware/page/assets.gen.ts', import.meta.url),
    );
    const script = fileURLToPath(new URL('../../../scripts/build-assets.ts', import.meta.url));
    const before = readFileSync(path, 'utf8');
    const made = execFileSync(process.execPath, [script, '--print'], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(made === before).toBe(true);
  });
});

describe('where and whether it is there', () => {
  test('below any mount path and under any service name', async () => {
    const named = falconService({ dataDirectory: 'never-started', serviceName: 'quantum' });
    const host = new Hono();
    host.route('/some/where', named.app);
    const answer = await host.request('/some/where/v1/ui');
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('&quot;serviceName&quot;:&quot;quantum&quot;');
    // Everything is named relative to where the page is.
    for (const [, target] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      expect(target).toMatch(/^(ui\/|#)/);
    }
    expect((await host.request(`/some/where/v1/ui/${names.app}`)).status).toBe(200);
  });

  test('a public address elsewhere may be spoken to', async () => {
    const options = { dataDirectory: 'never-started', publicUrl: 'https://falcon.example/base' };
    const answer = await falconService(options).app.request('/v1/ui');
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain("connect-src 'self' https://falcon.example;");
  });

  test('switched off it is not there', async () => {
    const without = falconService({ dataDirectory: 'never-started', ui: false });
    for (const path of ['/v1/ui', '/v1/ui/', `/v1/ui/${names.app}`]) {
      expect((await without.app.request(path)).status, path).toBe(404);
    }
  });

  test('only GET and HEAD', async () => {
    const answer = await get('/v1/ui', {}, 'POST');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('GET');
  });
});

afterAll(() => service.stop());
