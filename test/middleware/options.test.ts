import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { falconService, memoryStore } from '../../src/middleware/index.ts';
import { resolveOptions, type ServiceOptions } from '../../src/middleware/options/options.ts';

describe('options', () => {
  it('has the defaults of the wire contract', () => {
    const settings = resolveOptions();
    expect(settings).toMatchObject({
      serviceName: 'svc',
      maxSignatures: 1722,
      aggregateFormat: 'auto',
      maxDigestBytes: 4096,
      maxBodyBytes: 33_554_432,
      uploadUrlTtlMs: 3_600_000,
      signing: true,
      dataDirectory: '.falconry',
    });
  });

  it('does not sign in production unless asked to', () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      expect(resolveOptions().signing).toBe(false);
      expect(resolveOptions({ signing: true }).signing).toBe(true);
    } finally {
      if (before === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = before;
    }
  });

  const wrong: [string, unknown, typeof TypeError | typeof RangeError][] = [
    ['an unknown name', { servceName: 'x' }, TypeError],
    ['an unknown limit', { limits: { perSecond: 1 } }, TypeError],
    ['a number for a text', { serviceName: 5 }, TypeError],
    ['a text for a number', { maxSignatures: '5' }, TypeError],
    ['a text for a flag', { signing: 'yes' }, TypeError],
    ['a fraction', { threads: 1.5 }, TypeError],
    ['a format that is none', { aggregateFormat: 'zip' }, RangeError],
    ['salts that are none', { signingSalt: 'none' }, RangeError],
    ['too few threads', { threads: 0 }, RangeError],
    ['a slash in the service name', { serviceName: 'a/b' }, RangeError],
    ['an empty service name', { serviceName: '' }, RangeError],
    ['a path parameter as service name', { serviceName: ':id' }, RangeError],
    ['a wildcard as service name', { serviceName: '*' }, RangeError],
    ['the name of a page as service name', { serviceName: 'ui' }, RangeError],
    ['the version as service name', { serviceName: 'v1' }, RangeError],
    ['an origin with a path', { cors: ['https://app.example/'] }, RangeError],
    ['an origin that is none', { cors: ['app.example'] }, RangeError],
    ['no proxies', { trustProxy: 0 }, RangeError],
    ['half a proxy', { trustProxy: 1.5 }, TypeError],
    ['proxies as text', { trustProxy: '10.0.0.0/8' }, TypeError],
    ['an empty list of proxies', { trustProxy: [] }, RangeError],
    ...['10.0.0.0/33', '10.0.0.0/', '::/129', 'proxy.example', '10.0.0.0/8/8', '[::1]', ''].map(
      (network): [string, object, typeof RangeError] => [
        `"${network}" as a proxy`,
        { trustProxy: ['10.0.0.1', network] },
        RangeError,
      ],
    ),
    ['origins as one text', { cors: 'https://app.example' }, TypeError],
    ['a relative url', { publicUrl: '/falcon' }, RangeError],
    ['a url of another scheme', { publicUrl: 'ftp://x/' }, RangeError],
    ['a url with a query', { publicUrl: 'https://x/?a=1' }, RangeError],
    ['an empty data directory', { dataDirectory: '' }, RangeError],
    ['a store without verbs', { store: {} }, TypeError],
    ['a blob store that is null', { blobs: null }, TypeError],
    ['a hook that is no function', { authenticate: 'key' }, TypeError],
    ['one text for names', { authenticate: () => null, credentialHeaders: 'x-user' }, TypeError],
    ['no names of headers', { authenticate: () => null, credentialHeaders: [] }, RangeError],
    [
      'no name of a header',
      { authenticate: () => null, credentialHeaders: ['x user'] },
      RangeError,
    ],
    ['headers that nobody reads', { credentialHeaders: ['x-user'] }, TypeError],
    ['a logger without levels', { logger: { info() {} } }, TypeError],
    ['limits that are no object', { limits: 5 }, TypeError],
    ['a negative quota', { limits: { openTasks: -1 } }, RangeError],
    ['less memory than a body', { maxBufferedBytes: 2048 }, RangeError],
    [
      'memory that one client could fill',
      { maxBodyBytes: 4096, maxBufferedBytes: 8191 },
      RangeError,
    ],
    ['options that are no object', 'svc', TypeError],
  ];
  it.each(wrong)('refuses %s at construction', (_, options, kind) => {
    let thrown: unknown;
    try {
      falconService(options as ServiceOptions);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toMatch(/"options/);
  });

  it('needs authenticate when the store keeps no keys', () => {
    const { apiKeys: _, ...store } = memoryStore();
    expect(() => falconService({ store })).toThrow(/authenticate/);
    expect(() => falconService({ store, authenticate: () => null })).not.toThrow();
  });

  it('touches nothing before start, and answers 503 until then', async () => {
    const directory = `${tmpdir()}/falconry-none-${crypto.randomUUID()}`;
    const { app } = falconService({ dataDirectory: directory });
    const response = await app.request('/v1/svc/tasks', { headers: { authorization: 'x' } });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'NOT_STARTED', status: 503 });
    await expect(readdir(directory)).rejects.toThrow('ENOENT');
  });
});
