/** Paths below hosts: where a host has mounted the service, and spellings that pass its guards. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Hono } from 'hono';
import { describe, expect } from 'vitest';
import { openHttpServer } from '../../src/cli/operate/httpServer.ts';
import { publicFetch } from '../../src/cli/operate/serve.ts';
import { toFetchHandler, toNodeHandler } from '../../src/middleware/index.ts';
import { sendRaw } from '../middleware/rawHttp.ts';
import { expectProblem, serviceTest } from '../middleware/support.ts';
import { openServer } from '../support/openServer.ts';

const { it, http } = serviceTest({ workers: false, cors: '*' });

/** Spellings that a URL parser or a router takes for `/v1/ui`, or for a path without empty parts. */
const UNUSUAL = [
  ...['/v1/x/../ui', '/v1/./ui', '/v1/x/%2e%2e/ui', '/v1/x/.%2E/ui', '/v1/%2e/ui', '/v1/x/..\\ui'],
  ...[
    '/v1/%75i',
    '/v1/u%49',
    '/%76%31/ui',
    '/v1\\ui',
    '/v1//ui',
    '//v1/ui',
    '/v1/ui/..',
    '/v1/ui/.',
  ],
  ...['/v1/ui#', '/v1/ui#/../x', '/v1/ui?a#b', '/v1/%ui', '/v1/ui%', '/v1/ui%7'],
];
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST'];

const raw = async (port: number, target: string, method = 'GET', ...headers: string[]) => {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: falcon.test', ...headers, '', ''];
  return (await sendRaw(port, { parts: [lines.join('\r\n')], head: method === 'HEAD' }))!;
};

/** The Node adapter has backslashes as malformed. */
const statusOf = (target: string) => (target.includes('\\') ? 400 : 404);

/** What Express and Connect leave of a request below `/falcon`; below a pattern, a slash. */
const strip = (
  incoming: IncomingMessage & { originalUrl?: string },
  removed: RegExp | string = '/falcon',
  left = '',
) => {
  incoming.originalUrl = incoming.url!;
  incoming.url = incoming.url!.replace(removed, left);
};

describe('a path in an unusual spelling is a 404', () => {
  const falcon = () => toNodeHandler(http.service);
  it.each<[string, string, () => RequestListener]>([
    ['node:http', '', falcon],
    ['node:http with a mount path', '/falcon', () => toNodeHandler(http.service, MOUNT)],
    [
      'Express and Connect',
      '/falcon',
      () => (incoming, outgoing) => {
        strip(incoming);
        void falcon()(incoming, outgoing);
      },
    ],
    [
      'Express and Nest below a pattern',
      '/falcon',
      () => (incoming, outgoing) => {
        strip(incoming, /^[^?]*/, '/');
        void toNodeHandler(http.service, MOUNT)(incoming, outgoing);
      },
    ],
  ])('in %s', async (_, mount, listener) => {
    const { port, close } = await openServer(listener());
    try {
      expect((await raw(port, `${mount}/v1/ui`)).status).toBe(200);
      expect((await raw(port, `${mount}/v1/ui/`)).status).toBe(308);
      for (const target of [...UNUSUAL, `http://a${mount}/v1/ui`]) {
        const whole = target.startsWith('http') ? target : mount + target;
        expectProblem(await raw(port, whole), statusOf(target));
        for (const method of METHODS) {
          expect((await raw(port, whole, method)).status, whole).toBe(statusOf(target));
        }
      }
      // A rule of the host for `/v1/` does not see this one.
      expectProblem(await raw(port, '/elsewhere/../falcon/v1/ui'), 404, 'NOT_FOUND');
    } finally {
      await close();
    }
  });

  it('in falconry serve, health and the way to the page included', async () => {
    const fetch = publicFetch(http.service, { ui: true });
    const { port, close } = await openHttpServer({ fetch, port: 0, host: '127.0.0.1' });
    try {
      for (const path of ['/v1/ui', '/readyz', '/healthz', '/v1/svc/tasks?a=/../b//c%41']) {
        expect((await raw(port, path)).status).not.toBe(404);
      }
      const others = [
        '/x/../readyz',
        '/%72eadyz',
        '/./healthz',
        '//readyz',
        '/readyz#',
        '/.',
        '/x/..',
      ];
      for (const target of [...UNUSUAL, ...others]) {
        const accept = 'Accept: text/html';
        expect((await raw(port, target, 'GET', accept)).status, target).toBe(statusOf(target));
      }
      // HTTP has servers accept whole addresses; there is no host with rules for paths.
      const whole = await raw(port, 'http://other.test:1/v1/openapi.json');
      expect(whole.json.servers).toEqual([{ url: 'http://other.test:1' }]);
      expect((await raw(port, 'HTTP://other.test?x')).status).toBe(404);
      expect((await raw(port, 'http://other.test/v1/x/../ui')).status).toBe(404);
    } finally {
      await close(0);
    }
  });

  it('where only a URL arrives', async () => {
    const host = new Hono();
    host.route('/falcon', http.service.app);
    const below = toFetchHandler(http.service, MOUNT);
    for (const ask of [
      (url: string) => host.request(url),
      (url: string) => below(new Request(url)),
    ]) {
      expect((await ask('http://a/falcon/v1/ui')).status).toBe(200);
      for (const path of ['/v1/%75i', '/v1/u%69', '/%761/ui', '/v1//ui', '//v1/ui']) {
        expect((await ask(`http://a/falcon${path}`)).status, path).toBe(404);
      }
    }
    // Deno keeps the path as it arrived.
    const asArrived = new Request('http://a/v1/ui');
    Object.defineProperty(asArrived, 'url', { value: 'http://a/v1/x/../ui' });
    expect((await toFetchHandler(http.service)(asArrived)).status).toBe(404);
  });
});

const MOUNT = { mountPath: '/falcon' };

it.each(['/a//b', '/%61', '/a/%2E', '/a#b', '/a\\b', '/%'])('%s is no mount path', (mountPath) => {
  expect(() => toNodeHandler(http.service, { mountPath })).toThrow(RangeError);
});

/** The mount path in the URLs of a task, if a host leaves the request like this. */
async function mountOf(left: object, options = {}): Promise<string | number> {
  const handler = toNodeHandler(http.service, options);
  const server = createServer((incoming, outgoing) => {
    void handler(Object.assign(incoming, left), outgoing);
    // Koa puts the path back.
    incoming.url = '/elsewhere';
  });
  await new Promise<void>((open) => server.listen(0, '127.0.0.1', open));
  const { port } = server.address() as { port: number };
  try {
    const init = { method: 'POST', headers: { authorization: http.alice } };
    const answer = await fetch(`http://127.0.0.1:${port}/v1`, init);
    const { url = '', detail = '' } = (await answer.json()) as { url?: string; detail?: string };
    if (answer.status === 404 && detail.includes('mountPath')) return 'needs a mount path';
    return answer.status === 201 ? new URL(url).pathname.split('/v1/')[0]! : answer.status;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const TASK = '/v1/svc/aggsign/task';

describe('the mount path', () => {
  it.each([
    ['at the root', { url: TASK }, '', ''],
    [
      'below a prefix that the host removed',
      { url: TASK, originalUrl: `/falcon${TASK}` },
      '',
      '/falcon',
    ],
    [
      'below a prefix that is like the end of the path',
      { url: TASK, originalUrl: `/task${TASK}` },
      '',
      '/task',
    ],
    ['with a query', { url: `${TASK}?a=/v1/`, originalUrl: `/a%20b${TASK}?a=/v1/` }, '', '/a%20b'],
    ['below two prefixes', { url: `/b${TASK}`, originalUrl: `/a/b${TASK}` }, '/a/b', '/a/b'],
    [
      'below two prefixes, one given',
      { url: `/b${TASK}`, originalUrl: `/a/b${TASK}` },
      '/b',
      '/a/b',
    ],
    ['as given, though the host knows it', { url: TASK, originalUrl: `/b${TASK}` }, '/b', '/b'],
    ['as the host knows it', { url: TASK, originalUrl: `/c${TASK}` }, '/b', '/c'],
    ['in a path that was rewritten', { url: TASK, originalUrl: `/old${TASK}` }, '', '/old'],
    [
      'in a path that was replaced',
      { url: TASK, originalUrl: '/make', baseUrl: '/falcon' },
      '',
      '/falcon',
    ],
    [
      'below a pattern that took the whole path',
      { url: '/?a=1', originalUrl: `/falcon${TASK}?a=1`, baseUrl: `/falcon${TASK}` },
      '/falcon',
      '/falcon',
    ],
    ['of a route for the whole path', { url: `/falcon${TASK}` }, '/falcon', '/falcon'],
    ['unknown', { url: `/falcon${TASK}` }, '', 'needs a mount path'],
    ['unknown, with a pattern', { url: '/', originalUrl: `/a${TASK}` }, '', 'needs a mount path'],
    ['elsewhere', { url: TASK }, '/falcon', 404],
  ])('%s', async (_, left, mountPath, expected) => {
    expect(await mountOf(left, mountPath === '' ? {} : { mountPath })).toBe(expected);
  });

  it('is in URLs though Hono has removed it', async () => {
    const host = new Hono().mount('/falcon', toFetchHandler(http.service) as never);
    const env = { incoming: { url: `/falcon${TASK}?x` } };
    const init = { method: 'POST', headers: { authorization: http.alice } };
    const answer = await host.request(`/falcon${TASK}?x`, init, env);
    const { url } = (await answer.json()) as { url: string };
    expect(new URL(url).pathname).toMatch(/^\/falcon\/v1\//);
  });
});

it('leads browsers from the root of falconry serve to the page', async () => {
  const ask = (path: string, accept: string, ui = true, method = 'GET') =>
    publicFetch(http.service, { ui })(
      new Request(`http://a${path}`, { method, headers: { accept } }),
      {},
    );
  const html = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const redirect = await ask('/?x', html);
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'v1/ui']);
  expect((await ask('/', html, true, 'HEAD')).status).toBe(302);
  for (const other of [
    ask('/', '*/*'),
    ask('/', 'application/json'),
    ask('/', html, false),
    ask('/', html, true, 'POST'),
    ask('/x', html),
  ]) {
    expect((await other).status).toBe(404);
  }
});
