/** The server under the app: limits on connections, and clients that wait with their body. */
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect } from 'vitest';
import {
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
  type RefusedConnections,
} from '../../src/cli/operate/httpServer.ts';
import { openObservability } from '../../src/cli/operate/observability.ts';
import { serverLimits } from '../../src/cli/operate/serveConfig.ts';
import { toNodeHandler } from '../../src/middleware/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { sendRaw } from '../middleware/rawHttp.ts';
import { expectProblem, serviceTest } from '../middleware/support.ts';
import { contractAt, noteAnswer } from '../support/contract/watch.ts';

const SIGN = '/v1/falcon/sign';
const ID = /^[0-9a-f]{32}$/;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const BODY = '{"digest":"0x00"}';

const { it, http } = serviceTest({ workers: false });

let server: HttpServer;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await server?.close(0);
});

const open = async (options: Partial<HttpServerOptions> = {}) => {
  const { fetch } = http.service.app;
  server = await openHttpServer({ fetch, port: 0, host: '127.0.0.1', ...options });
};
const GET = 'GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
describe('the metrics port', () => {
  it('on a loopback address refuses names other than localhost', async () => {
    const statuses = async (metricsHost: string) => {
      const observed = await openObservability({
        ...{ metricsPort: 0, metricsHost, dataDirectory: null, threads: 1, logger: SILENT },
      });
      await observed.open(http.service, openHttpServer);
      const found: Record<string, number> = {};
      try {
        for (const host of HOSTS) {
          const head = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
          found[host] = (await sendRaw(observed.port()!, { parts: [head] }))!.status;
        }
      } finally {
        await observed.close();
      }
      return found;
    };
    const all = (foreign: number) => [200, 200, 200, 200, foreign, foreign, foreign, foreign];
    expect(Object.values(await statuses('127.0.0.1'))).toEqual(all(421));
    expect(Object.values(await statuses('0.0.0.0'))).toEqual(all(200));
  });
});

const HOSTS = [
  ...['localhost:9464', '127.0.0.1:9464', '192.0.2.1', '[::1]:9464'],
  ...['evil.example:9464', 'localhost.evil.example', '127.0.0.1.evil.example', 'metrics'],
];
const nothing = () => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const get = () =>
  sendRaw(server.port, { parts: [GET.replace('Host', 'Connection: close\r\nHost')] });

/** A connection that has been accepted: it has sent half a request. */
async function halfRequest(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  await new Promise<void>((sent) => socket.write(GET.slice(0, -2), () => sent()));
  return socket;
}

/** Asks until the answer has this status: connections that end are noticed a little later. */
async function eventually(status: number) {
  for (;;) {
    const answer = await get();
    if (answer?.status === status) return answer;
    await new Promise((next) => setTimeout(next, 20));
  }
}

describe('connections beyond a limit', () => {
  it('of all get a 503 that says when to come again, and room is made when one ends', async () => {
    await open({ maxConnections: 3 });
    const [first] = [await halfRequest(), await halfRequest(), await halfRequest()];
    const refused = await eventually(503);
    expectProblem(refused, 503, 'OVERLOADED');
    await note(503, refused.text, refused.headers);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.headers.get('connection')).toBe('close');
    first!.destroy();
    expect((await eventually(200)).status).toBe(200);
  });

  it('of one address get it, too', async () => {
    await open({ maxConnections: 100, maxConnectionsPerAddress: 2 });
    await halfRequest();
    const second = await halfRequest();
    expectProblem(await eventually(503), 503, 'OVERLOADED');
    second.destroy();
    await eventually(200);
  });

  it('are told to the log at most once a second, with their number', async () => {
    const told: RefusedConnections[] = [];
    await open({ maxConnectionsPerAddress: 1, onRefused: (refused) => void told.push(refused) });
    await halfRequest();
    await eventually(503);
    const startMs = performance.now();
    for (let i = 0; i < 30; i++) expect((await get())?.status).toBe(503);
    expect(told[0]).toEqual({ count: 1, address: '127.0.0.1', limit: 'perAddress' });
    expect(told.length).toBeLessThanOrEqual(2 + (performance.now() - startMs) / 1000);
  });

  it('are let in if another one was only kept for later', async () => {
    await open({ maxConnections: 1 });
    const kept = connect(server.port, '127.0.0.1');
    sockets.push(kept);
    const ended = new Promise<void>((resolve) => kept.once('close', () => resolve()));
    await new Promise<void>((answered) => {
      let text = '';
      kept.on('data', (data) => {
        text += data;
        if (text.endsWith('}')) answered();
      });
      kept.write('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
    });
    await eventually(200);
    await ended;
  });

  it('do not disturb those within it, though they are many', async () => {
    await open({ maxConnections: 20, maxConnectionsPerAddress: 10 });
    for (let i = 0; i < 9; i++) await halfRequest();
    await eventually(200);
    const answers = await Promise.all(Array.from({ length: 100 }, get));
    const statuses = answers.map((answer) => answer?.status ?? 0);
    // Those that find no room even for a refusal are cut off.
    expect(statuses.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    await eventually(200);
  });
});

it('limits of the server follow from those of the service', () => {
  const values = { maxConnections: 5000 } as Parameters<typeof serverLimits>[0];
  expect(serverLimits(values, resolveOptions())).toEqual({
    maxConnections: 5000,
    maxConnectionsPerAddress: 256,
    // 30 s and 32 MiB at 16 KiB a second, twice.
    requestTimeoutMs: 2 * (30_000 + 2_048_000),
  });
  const proxied = serverLimits(values, resolveOptions({ trustProxy: true }));
  expect(proxied.maxConnectionsPerAddress).toBe(5000);
  const own = serverLimits({ ...values, maxConnections: 7 }, resolveOptions());
  expect(own.maxConnectionsPerAddress).toBe(7);
  const anySpeed = serverLimits(values, resolveOptions({ minBodyBytesPerSecond: 0 }));
  expect(anySpeed.requestTimeoutMs).toBe(86_400_000);
});

describe('an answer of the server itself', () => {
  const head = (...lines: string[]) => ['GET /nowhere HTTP/1.1', ...lines, '', ''].join('\r\n');
  const traced = `traceparent: ${TRACEPARENT}`;

  it('has the trace-id of its request', async () => {
    await open();
    const refusals: [number, string][] = [
      [400, head('Host: a', 'Host: b', traced)],
      [417, head('Host: a', 'Expect: more', traced)],
    ];
    for (const [status, part] of refusals) {
      const answer = await sendRaw(server.port, { parts: [part] });
      expect(answer?.status).toBe(status);
      expect(answer?.headers.get('x-request-id')).toBe(TRACE);
      await note(status, answer!.text, answer!.headers);
    }
  });

  it('has an id of its own if there is no whole request', async () => {
    await open({ headersTimeoutMs: 50 });
    const refusals: [number, string][] = [
      [400, 'no such protocol\r\n\r\n'],
      [431, head('Host: a', `x: ${'x'.repeat(20_000)}`)],
      [408, head('Host: a').slice(0, -2)],
    ];
    const ids = new Set<string | null | undefined>();
    for (const [status, part] of refusals) {
      const answer = await sendRaw(server.port, { parts: [part] });
      expect(answer?.status).toBe(status);
      expect(answer?.headers.get('x-request-id')).toMatch(ID);
      ids.add(answer?.headers.get('x-request-id'));
      await note(status, answer!.text, answer!.headers);
    }
    expect(ids.size).toBe(refusals.length);
  });

  it('has an id if the listener fails', async () => {
    const fetch = () => Promise.reject(new Error('secret'));
    await open({ fetch });
    const answer = await sendRaw(server.port, { parts: [head('Host: a')] });
    expectProblem(answer!, 500, 'INTERNAL');
    expect(answer!.text).not.toContain('secret');
    expect(answer!.headers.get('x-request-id')).toMatch(ID);
  });
});

describe('a sender who is refused before the body was read', () => {
  const start = (...lines: string[]) =>
    ['POST /nowhere HTTP/1.1', ...lines, 'Content-Length: 5000', '', 'x'].join('\r\n');
  const pause = () => new Promise((next) => setTimeout(next, 50));

  /**
   * Sends the start; after the whole answer and the end of the other side the rest, piece by piece.
   */
  async function sendOn(first: string, rest: Iterable<string>) {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    const met = { text: '', fault: null as string | null, pieces: 0 };
    socket.on('error', ({ message }) => {
      met.fault = message;
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (data) => {
      met.text += data;
    });
    socket.write(first);
    await new Promise<void>((resolve) => socket.once('end', () => resolve()));
    for (const piece of rest) {
      socket.write(piece);
      met.pieces++;
      // Long enough for a reset to be seen.
      await pause();
      if (socket.destroyed) break;
    }
    socket.end();
    await closed;
    return { ...met, status: met.text.split(' ')[1] };
  }

  it.each([
    ['400', 'two Host headers', start('Host: a', 'Host: b')],
    ['417', 'an expectation that is not known', start('Host: a', 'Expect: more')],
    ['417', 'a second expectation', start('Host: a', 'Expect: 100-continue, more')],
  ])('has the %s and may send the rest: %s', async (status, _, first) => {
    await open({ lastLingerMs: 600_000 });
    const met = await sendOn(first, ['x'.repeat(2000), 'x'.repeat(2000), 'x'.repeat(999)]);
    expect(met).toMatchObject({ status, fault: null, pieces: 3 });
    expect(met.text).toMatch(/\r\nconnection: close\r\n.*"code":"[A-Z_]+"\}/is);
  });

  it('may send another request, which is not heeded', async () => {
    let asked = 0;
    const fetch = () => {
      asked++;
      return new Response('heeded');
    };
    await open({ fetch, lastLingerMs: 600_000 });
    const met = await sendOn(start('Host: a', 'Host: b'), ['x'.repeat(4999), GET, GET]);
    expect(met).toMatchObject({ status: '400', fault: null, pieces: 3 });
    expect(met.text).not.toContain('heeded');
    expect(asked).toBe(0);
  });

  it('is given up after a while', async () => {
    await open({ lastLingerMs: 100 });
    const forever = (function* () {
      for (;;) yield 'x';
    })();
    const met = await sendOn(start('Host: a', 'Host: b'), forever);
    expect(met.status).toBe('400');
    expect(met.fault).toMatch(/EPIPE|ECONNRESET/);
  });
});

/** Holds an answer of the server itself to the document. */
async function note(status: number, body: string, headers: Headers): Promise<void> {
  const seen = { method: 'POST', path: SIGN, status, headers, body };
  noteAnswer(await contractAt(http.address), { ...seen, raw: true });
}

interface Waited {
  readonly status: number;
  readonly continued: boolean;
  readonly connection: string | undefined;
  readonly headers: Headers;
  readonly text: string;
}

/** A request whose body is sent only when the server asks for it. */
function askAndWait(port: number, headers: Record<string, string>, path = SIGN): Promise<Waited> {
  return new Promise((resolve, reject) => {
    let continued = false;
    const sent = request({
      port,
      path,
      method: 'POST',
      headers: {
        authorization: http.alice,
        'content-type': 'application/json',
        'content-length': String(BODY.length),
        expect: '100-continue',
        ...headers,
      },
    });
    sent.on('continue', () => {
      continued = true;
      sent.end(BODY);
    });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      const { connection } = response.headers;
      const told = new Headers(response.headers as Record<string, string>);
      resolve({ status: response.statusCode!, continued, connection, headers: told, text });
      sent.destroy();
    });
    sent.flushHeaders();
  });
}

const refusals: [string, Record<string, string>, number][] = [
  ['an unknown key', { authorization: 'nobody' }, 401],
  ['no key', { authorization: '' }, 401],
  ['a type that is not taken', { 'content-type': 'text/plain' }, 415],
  ['an encoding that is not taken', { 'content-encoding': 'br' }, 415],
  ['too long a body', { 'content-length': '100000000' }, 413],
];

describe('Expect: 100-continue', () => {
  it('is answered when the key is good, and the body is read', async () => {
    await open();
    const answer = await askAndWait(server.port, {});
    expect([answer.status, answer.continued], answer.text).toEqual([200, true]);
    expect(answer.connection).toBe('keep-alive');
    const closing = await askAndWait(server.port, { connection: 'close' });
    expect([closing.status, closing.continued, closing.connection]).toEqual([200, true, 'close']);
  });

  it.each(refusals)(
    '%s is refused without it, and the connection ends',
    async (_, headers, status) => {
      await open();
      const answer = await askAndWait(server.port, headers);
      expect([answer.status, answer.continued]).toEqual([status, false]);
      expect(answer.connection).toBe('close');
      expect(answer.headers.get('x-request-id')).toMatch(ID);
    },
  );

  it('of something else is a 417', async () => {
    await open();
    for (const expected of ['200-ok', '100-continue, more', 'more;100-continue']) {
      const answer = await askAndWait(server.port, { expect: expected });
      expect([answer.status, answer.continued, answer.connection], expected).toEqual([
        417,
        false,
        'close',
      ]);
      expect(JSON.parse(answer.text).code).toBe('EXPECTATION_FAILED');
      await note(417, answer.text, answer.headers);
    }
  });

  it.each(refusals)(
    'in a server of the host: %s is refused without it',
    async (_, headers, status) => {
      const handler = toNodeHandler(http.service);
      const host = createServer(handler).on('checkContinue', handler.checkContinue);
      await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening));
      const { port } = host.address() as AddressInfo;
      const refused = await askAndWait(port, headers);
      const taken = await askAndWait(port, {});
      host.close();
      expect([refused.status, refused.continued, refused.connection]).toEqual([
        status,
        false,
        'close',
      ]);
      expect([taken.status, taken.continued]).toEqual([200, true]);
    },
  );
});
