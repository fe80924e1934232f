/**
 * The adapters at their edges: mount paths, bodies that the host has read, the host's own hooks and
 * headers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { type FastifyServerOptions, fastify } from 'fastify';
import { createServer as createVite } from 'vite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import {
  type FalconService,
  falconService,
  toFastifyPlugin,
  toFetchHandler,
  toNodeHandler,
} from '../../src/middleware/index.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { sendRaw } from '../middleware/rawHttp.ts';
import { recordedLog } from '../middleware/support.ts';
import { fixedItems } from '../runtimes/check.ts';
import { openServer } from '../support/openServer.ts';
import { walk } from './walk.ts';

const GLOBALS = [Request, Response];

let directory: string;
let service: FalconService;
let alice: string;
const { lines: logged, logger } = recordedLog();

// Without a server of ours, which would put classes of its own in the place of the globals.
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'falconry-adapters-'));
  service = falconService({ dataDirectory: directory, logger });
  await service.start();
  alice = (await service.apiKeys.create({ name: 'alice' })).key;
});
afterAll(async () => {
  await service.stop({ graceMs: 0 });
  await rm(directory, { recursive: true, force: true });
});

const JSON_TYPE = { 'content-type': 'application/json' };

async function expressHost(
  before?: RequestHandler,
  onError?: ErrorRequestHandler,
): Promise<string> {
  const app = express();
  if (before !== undefined) app.use(before);
  if (onError !== undefined) app.use(onError);
  app.use('/:tenant/falcon', toNodeHandler(service));
  const server = await openServer(app);
  onTestFinished(server.close);
  return `${server.address}/a%20b/falcon`;
}

const post = (url: string, body?: unknown, headers: Record<string, string> = JSON_TYPE) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: alice, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

describe('toFetchHandler', () => {
  test.each([
    ['nothing', {}, ''],
    ['a slash', { mountPath: '/' }, ''],
    ['a path', { mountPath: '/a/b' }, '/a/b'],
    ['a slash at the end', { mountPath: '/a/b/' }, '/a/b'],
    ['a path with escapes', { mountPath: '/a%20b' }, '/a%20b'],
    ['a path like our own', { mountPath: '/v1/svc' }, '/v1/svc'],
  ])('mounts below %s', async (_, options, path) => {
    const handle = toFetchHandler(service, options);
    const ask = (url: string, init: RequestInit = {}) =>
      handle(new Request(url, { headers: { authorization: alice }, ...init }));
    const init = { method: 'POST', headers: { authorization: alice } };
    const created = await ask(`https://host:8443${path}/v1/svc/aggsign/task?x=/v1/`, init);
    expect(created.status).toBe(201);
    const { process_id, url } = (await created.json()) as { process_id: number; url: string };
    expect(url.startsWith(`https://host:8443${path}/v1/svc/uploads/${process_id}?`)).toBe(true);
    expect((await ask(`https://host:8443${path}/v1/svc/tasks/${process_id}`)).status).toBe(200);
    const upload = { method: 'PUT', headers: JSON_TYPE, body: '[]' };
    expect((await handle(new Request(url, upload))).status).toBe(200);
    for (const outside of ['/', `${path || '/'}x/v1/svc/tasks`, `/x${path}/v1/svc/tasks`]) {
      const answer = await ask(`https://host:8443${outside}`);
      expect(answer.status, outside).toBe(404);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test.each([
    ['no slash', { mountPath: 'falcon' }, RangeError],
    ['a query', { mountPath: '/falcon?a' }, RangeError],
    ['a step up', { mountPath: '/a/../b' }, RangeError],
    ['an address', { mountPath: 'https://host/falcon' }, RangeError],
    ['a number', { mountPath: 7 }, TypeError],
    ['an unknown option', { mount: '/falcon' }, TypeError],
  ])('refuses %s', (_, options, error) => {
    expect(() => toFetchHandler(service, options as never)).toThrow(error);
    expect(() => toNodeHandler(service, options as never)).toThrow(error);
  });
});

describe('toNodeHandler', () => {
  test('takes a mount path that is another at each request', async () => {
    const base = await expressHost();
    const created = await post(`${base}/v1/svc/aggsign/task`);
    const { url } = (await created.json()) as { url: string };
    expect(url.startsWith(`${base}/v1/svc/uploads/`)).toBe(true);
    expect(created.headers.get('location')).toContain(`${base}/v1/svc/tasks/`);
    const other = await post(`${base.replace('a%20b', 'c')}/v1/svc/aggsign/task`);
    expect(((await other.json()) as { url: string }).url).toContain('/c/falcon/v1/');
  });

  test('keeps headers that the host has set', async () => {
    const base = await expressHost((_request, response, next) => {
      response.setHeader('x-host', 'express');
      next();
    });
    expect((await fetch(`${base}/v1/svc/tasks`)).headers.get('x-host')).toBe('express');
  });

  test('answers what cannot be a request', async () => {
    const { address, close } = await openServer(toNodeHandler(service));
    onTestFinished(close);
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.end('GET /v1/svc/tasks HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('MALFORMED_REQUEST');
  });

  test('leaves the globals of its process alone', () => {
    toNodeHandler(service);
    expect(Request).toBe(GLOBALS[0]);
    expect(Response).toBe(GLOBALS[1]);
  });
});

test('compression() of Express does not hold events back', async () => {
  const base = await expressHost(load('compression')({ threshold: 0 }));
  const created = (await (await post(`${base}/v1/svc/aggsign/task`)).json()) as {
    process_id: number;
  };
  const url = `${base}/v1/svc/tasks/${created.process_id}/events`;
  const headers = { authorization: alice, 'accept-encoding': 'gzip' };
  const answer = await fetch(url, { headers });
  const { value } = await answer.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  expect(value).toContain('wait for task file upload');
});

describe('a body that the host has read', { timeout: 300_000 }, () => {
  const items = fixedItems(falcon512, 3);

  /** Signs, and takes a task to its end, behind what has read the bodies. */
  async function flow(base: string): Promise<string> {
    const signed = await post(`${base}/v1/falcon/sign`, { digest: '0xAB' });
    expect(await signed.json()).toMatchObject({ digest: '0xab' });
    const created = await post(`${base}/v1/svc/aggsign/task`, {});
    const { process_id, url } = (await created.json()) as { process_id: number; url: string };
    const body = JSON.stringify(items.map(toTriple));
    const uploaded = await fetch(url, { method: 'PUT', headers: JSON_TYPE, body });
    expect(await uploaded.json()).toMatchObject({ process_id, bytes: body.length });
    const notified = await post(`${base}/v1/svc/aggsign/notify/${process_id}`);
    expect(notified.status).toBe(202);
    for (;;) {
      const answer = await fetch(`${base}/v1/svc/tasks/${process_id}`, {
        headers: { authorization: alice },
      });
      const { status } = (await answer.json()) as { status: string };
      if (/^(completed|failed)$/.test(status)) return status;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const keepRawBody: RequestHandler = (request, _response, next) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      Object.assign(request, { rawBody: Buffer.concat(chunks).toString() });
      next();
    });
  };

  test.each<[string, RequestHandler]>([
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: () => true })],
    ['express.raw()', express.raw({ type: () => true })],
    ['a rawBody', keepRawBody],
  ])('%s', async (_, parser) => {
    expect(await flow(await expressHost(parser))).toBe('completed');
  });

  /** A walk through every endpoint, twice. */
  async function asEver() {
    const plain = await openServer(toNodeHandler(service));
    onTestFinished(plain.close);
    const keys = async () => ({
      alice: (await service.apiKeys.create({ name: 'a' })).key,
      bob: (await service.apiKeys.create({ name: 'b' })).key,
    });
    const reference = await walk({ ...(await keys()), base: plain.address });
    const base = await expressHost(express.json({ limit: '32mb' }), refuseShortly);
    const steps = await walk({ ...(await keys()), base, ownAnswers: /^text\/plain/ });
    expect(steps.length).toBe(reference.length);
    const others = steps
      .filter((step, i) => withoutClient(step) !== withoutClient(reference[i]!))
      .map((step) => step.split('\n').slice(2).join(' '));
    // Malformed, of another charset, too large: that is between the parser and the sender.
    const refused = others.filter((answer) =>
      /^4(00|13|15) .* refused by the parser$/.test(answer),
    );
    expect(refused.length).toBeGreaterThan(5);
    // And of two equal names the parser has left the last.
    const passed = others.filter((answer) => !refused.includes(answer));
    expect(passed).toEqual([expect.stringMatching(/^200 .*"digest": "0x01"/)]);
  }
  test('all that a wide express.json() does not refuse itself is answered as ever', asEver);

  test('is missed loudly where nothing is left of it', async () => {
    const base = await expressHost((request, _response, next) => {
      request.resume().on('end', next);
    });
    logged.length = 0;
    const answer = await post(`${base}/v1/falcon/sign`, { digest: '0x00' });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      code: 'BODY_CONSUMED',
      detail: 'The host read the body: mount the service before body parsers',
    });
    expect(logged.join()).toContain('mount the service before body parsers');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    // What has no body is not harmed.
    expect((await post(`${base}/v1/svc/aggsign/task`)).status).toBe(201);
  });
});

describe('toFastifyPlugin', () => {
  test('lets the hooks of the host run, and keeps their headers', async () => {
    const host = fastify();
    onTestFinished(() => host.close());
    host.addHook('preHandler', async (request, reply) => {
      reply.header('x-host', 'fastify');
      if (request.headers['x-guest'] !== 'yes') await reply.code(403).send({ host: 'no' });
    });
    await host.register(toFastifyPlugin(service), { prefix: '/falcon' });
    const base = `${await host.listen({ port: 0, host: '127.0.0.1' })}/falcon`;
    const refused = await post(`${base}/v1/svc/aggsign/task`);
    expect([refused.status, await refused.json()]).toEqual([403, { host: 'no' }]);
    const nonsense = { 'content-type': 'nonsense' };
    expect((await post(`${base}/v1/svc/aggsign/task`, {}, nonsense)).status).toBe(403);
    for (const type of ['nonsense', ';', '', 'a/b/c', 'a b/c; d=e', '/', 'application/json,']) {
      const guest = { 'content-type': type, 'x-guest': 'yes' };
      const malformed = await post(`${base}/v1/svc/aggsign/verify`, {}, guest);
      const { status, headers } = malformed;
      expect([status, headers.get('x-host')], type).toEqual([415, 'fastify']);
      expect(await malformed.json()).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    }
    const created = await post(`${base}/v1/svc/aggsign/task`, undefined, { 'x-guest': 'yes' });
    expect([created.status, created.headers.get('x-host')]).toEqual([201, 'fastify']);
  });

  test('leaves errors and parsers of the host to the host', async () => {
    const host = fastify();
    onTestFinished(() => host.close());
    host.addHook('onRequest', async (request) => {
      if (request.headers['x-guest'] === 'no') throw new Error('not today');
    });
    host.post('/own', async (request) => ({ got: request.body }));
    await host.register(toFastifyPlugin(service), { prefix: '/falcon' });
    const address = await host.listen({ port: 0, host: '127.0.0.1' });
    const own = await post(`${address}/own`, { a: 1 });
    expect(await own.json()).toEqual({ got: { a: 1 } });
    const failed = await post(`${address}/falcon/v1/svc/aggsign/task`, {}, { 'x-guest': 'no' });
    expect([failed.status, ((await failed.json()) as { message: string }).message]).toEqual([
      500,
      'not today',
    ]);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: frameworks without types
type Framework = any;
const load: (name: string) => Framework = createRequire(import.meta.url);
const handler = () => toNodeHandler(service);

/** Every way in which a host mounts the service: its listener, and where the service is then. */
const MOUNTS: Record<string, [base: string, listener: () => Framework]> = {
  Connect: ['/falcon', () => load('connect')().use('/falcon', handler())],
  'Connect, nested': [
    '/api/falcon',
    () => load('connect')().use('/api', load('connect')().use('/falcon', handler())),
  ],
  'Connect, rewritten': [
    '/old',
    () =>
      load('connect')()
        .use((request: Framework, _: Framework, next: Framework) => {
          request.url = request.url.replace('/old', '/falcon');
          next();
        })
        .use('/falcon', handler()),
  ],
  'Koa, the whole path': [
    '/falcon',
    () => koa((ctx) => toNodeHandler(service, { mountPath: '/falcon' })(ctx.req, ctx.res)),
  ],
  'Koa with koa-mount': [
    '/falcon',
    () =>
      koa(
        load('koa-mount')('/falcon', (ctx: Framework) => {
          ctx.req.originalUrl = ctx.originalUrl;
          return handler()(ctx.req, ctx.res);
        }),
      ),
  ],
  Polka: ['/falcon', () => load('polka')().use('/falcon', handler()).handler],
  Nest: ['/falcon', nest((app) => app.use('/falcon', handler()))],
  'Nest, a global prefix': [
    '/api/falcon',
    nest((app) => app.setGlobalPrefix('api').use('/api/falcon', handler())),
  ],
  'Nest, a controller with a version': [
    '/v1/falcon',
    nest((app) => app.enableVersioning(), { controllers: [nestController] }),
  ],
  'Nest, middleware': ['/falcon', nest(() => {}, { middleware: 'falcon/*path' })],
  'Nest on Fastify': [
    '/api/falcon',
    nest((app) => app.register(toFastifyPlugin(service), { prefix: '/api/falcon' }), {
      adapter: 'fastify',
    }),
  ],
  'Nest on Fastify, as in Express': [
    '/falcon',
    nest((app) => app.use('/falcon', handler()), { adapter: 'fastify' }),
  ],
  ...expressMounts('Express 5', express, '/*splat'),
  ...expressMounts('Express 4', load('express-4'), '/*'),
};

function koa(middleware: (ctx: Framework) => unknown) {
  const app = new (load('koa'))();
  app.use((ctx: Framework, next: Framework) => {
    ctx.respond = false;
    return next();
  });
  return app.use(middleware).callback();
}

interface NestOptions {
  readonly adapter?: 'express' | 'fastify';
  readonly controllers?: (() => Framework)[];
  /** The routes for which the service is middleware. */
  readonly middleware?: string;
}

/** An application of Nest, whose decorators are called as functions. */
function nest(set: (app: Framework) => unknown, options: NestOptions = {}) {
  return async () => {
    const { adapter = 'express', controllers = [], middleware } = options;
    const falcon = toNodeHandler(service, { mountPath: '/falcon' });
    class Application {
      configure(consumer: Framework) {
        if (middleware !== undefined) consumer.apply(falcon).forRoutes(middleware);
      }
    }
    load('@nestjs/common').Module({ controllers: controllers.map((make) => make()) })(Application);
    const { ExpressAdapter, FastifyAdapter } = load(`@nestjs/platform-${adapter}`);
    const app = await load('@nestjs/core').NestFactory.create(
      Application,
      new (ExpressAdapter ?? FastifyAdapter)(),
      { logger: false, bodyParser: false },
    );
    onTestFinished(() => app.close());
    await set(app);
    await app.init();
    const inner = app.getHttpAdapter().getInstance();
    if (adapter === 'express') return inner;
    await inner.ready();
    return inner.routing;
  };
}

/** A controller of version 1, which Nest puts in front of the path. */
function nestController() {
  const { All, Controller, Req, Res } = load('@nestjs/common');
  const falcon = toNodeHandler(service, { mountPath: '/v1/falcon' });
  class Falcon {
    all(request: Framework, response: Framework) {
      return falcon(request, response);
    }
  }
  const { prototype } = Falcon;
  Req()(prototype, 'all', 0);
  Res()(prototype, 'all', 1);
  All('*path')(prototype, 'all', Object.getOwnPropertyDescriptor(prototype, 'all'));
  Controller({ path: 'falcon', version: '1' })(Falcon);
  return Falcon;
}

function expressMounts(name: string, make: Framework, rest: string): typeof MOUNTS {
  const use = (path: Framework, inner: () => Framework) => () => make().use(path, inner());
  const given = (mountPath: string) => () => toNodeHandler(service, { mountPath });
  const strict = () => make.Router({ mergeParams: true, strict: true, caseSensitive: true });
  const all = (inner: () => Framework) => () => make().all(`/falcon${rest}`, inner());
  return {
    [name]: ['/falcon', use('/falcon', handler)],
    [`${name}, in another case`]: ['/FALCON', use('/falcon', handler)],
    [`${name}, with a slash`]: ['/falcon', use('/falcon/', handler)],
    [`${name}, one of several`]: ['/b', use(['/a', '/b'], handler)],
    [`${name}, a pattern`]: ['/falcon', use(/^\/fal[a-z]+/, handler)],
    [`${name}, a router with parameters`]: [
      '/t/tasks/falcon',
      use('/t/:tenant', () => strict().use('/falcon', handler())),
    ],
    [`${name}, an application in it`]: ['/a/falcon', use('/a', use('/falcon', handler))],
    [`${name}, a route`]: ['/falcon', all(given('/falcon'))],
    [`${name}, below a given path`]: ['/api/falcon', use('/api', given('/api/falcon'))],
    [`${name}, a given path below`]: ['/api/falcon', use('/api', given('/falcon'))],
  };
}

const UNUSUAL = ['/v1//ui', '/v1/x/../ui', '/v1/x/%2e%2e/ui', '/v1/%75i', '/../falcon/v1/ui'];

/** Creates a task and uploads its file, at the URL of the answer; passes no guard of the host. */
async function isMounted(address: string, base: string, unusual = UNUSUAL): Promise<void> {
  const created = await post(`${address}${base}/v1/svc/aggsign/task`);
  expect(created.status, await created.clone().text()).toBe(201);
  const { url } = (await created.json()) as { url: string };
  expect(url.startsWith(`${address}${base}/v1/svc/uploads/`), url).toBe(true);
  const uploaded = await fetch(url, { method: 'PUT', headers: JSON_TYPE, body: '[]' });
  expect(uploaded.status).toBe(200);
  for (const path of unusual) {
    const head = `GET ${base}${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const answer = await sendRaw(Number(new URL(address).port), { parts: [head] });
    expect(answer?.status, path).toBe(404);
  }
}

describe('is mounted in', () => {
  test.each(Object.entries(MOUNTS))('%s', async (_, [base, listener]) => {
    const server = await openServer(await listener());
    onTestFinished(server.close);
    await isMounted(server.address, base);
  });

  test.each<[string, FastifyServerOptions, string, string]>([
    ['at the root', {}, '', ''],
    ['with a slash', {}, '/falcon/', '/falcon'],
    ['with parameters', {}, '/:tenant/falcon', '/a%20b/falcon'],
    ['with other letters', {}, '/fälcon', '/f%C3%A4lcon'],
    ['in another case', { routerOptions: { caseSensitive: false } }, '/falcon', '/FALCON'],
    ['with slashes', { routerOptions: { ignoreTrailingSlash: true } }, '/falcon', '/falcon'],
    ['renamed', { rewriteUrl: ({ url }) => url!.replace('/old', '/falcon') }, '/falcon', '/old'],
    ['cut', { rewriteUrl: ({ url }) => url!.replace('/api', '') }, '/falcon', '/api/falcon'],
  ])('Fastify, %s', async (_, options, prefix, base) => {
    const host = fastify(options);
    onTestFinished(() => host.close());
    await host.register(toFastifyPlugin(service), { prefix });
    await isMounted(await host.listen({ port: 0, host: '127.0.0.1' }), base);
  });

  test('h3, which resolves dot segments before its own rules see them', async () => {
    const { H3 } = await import('h3');
    const { toNodeHandler: toListener } = await import('h3/node');
    const falcon = toFetchHandler(service, { mountPath: '/falcon' });
    const env = ({ ip }: { ip?: string | undefined }) => ({ remoteAddr: { hostname: ip } });
    const host = new H3().all('/falcon/**', ({ req }) => falcon(req, env(req)));
    const server = await openServer(toListener(host));
    onTestFinished(server.close);
    await isMounted(server.address, '/falcon', ['/v1//ui']);
  });

  test("Vite's development server", async () => {
    const vite = await createVite({
      ...{ configFile: false, root: directory, base: '/base/', logLevel: 'silent' },
      server: { port: 0, host: '127.0.0.1', ws: false },
      plugins: [
        {
          name: 'falcon',
          configureServer: ({ middlewares }) => void middlewares.use('/falcon', handler()),
        },
      ],
    });
    onTestFinished(() => vite.close());
    await vite.listen();
    const { port } = vite.httpServer!.address() as { port: number };
    await isMounted(`http://127.0.0.1:${port}`, '/falcon');
  });
});

/** What a parser refuses, said in a few words. */
const refuseShortly: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error.status).type('text/plain').send('refused by the parser');
};
const withoutClient = (step: string): string => step.replace(/"client_id": \d+/, '');
