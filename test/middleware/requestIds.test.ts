/** Every request has an id: in its answer, in events and logs, and with the task that it makes. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { requestId } from 'hono/request-id';
import { describe, expect } from 'vitest';
import { formatTraceparent, parseTraceparent } from '../../src/middleware/http/traceContext.ts';
import {
  falconService,
  memoryStore,
  type ServiceEvent,
  toFetchHandler,
} from '../../src/middleware/index.ts';
import { deferred } from '../../src/shared/wait.ts';
import { expectProblem, recordedLog, serviceTest, until } from './support.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const ID = /^[0-9a-f]{32}$/;

type Request = Extract<ServiceEvent, { type: 'request' }>;

const store = memoryStore();
const { lines, logger } = recordedLog();
const events: Request[] = [];
let look = () => {};
const { it, http } = serviceTest({
  ...{ store, logger, cors: '*', workers: false },
  onEvent(event) {
    if (event.type !== 'request') return;
    events.push(event);
    look();
  },
});

describe('traceparent', () => {
  it.each([
    [PARENT, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-ff`, 255],
    [`01-${TRACE}-${SPAN}-01`, 1],
    [`cc-${TRACE}-${SPAN}-01-what the future brings`, 1],
  ])('%s is read', (header, traceFlags) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags });
  });

  it.each([
    undefined,
    '',
    TRACE,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-`,
    `00-${TRACE}-${SPAN}-01-more`,
    `cc-${TRACE}-${SPAN}-01more`,
    `ff-${TRACE}-${SPAN}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}g-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0g`,
    ` ${PARENT}`,
    // Two headers, as they arrive.
    `${PARENT}, ${PARENT}`,
  ])('%s is as good as none', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('is written in version 00', () => {
    const later = parseTraceparent(`cc-${TRACE}-${SPAN}-03-more`)!;
    expect(formatTraceparent(later)).toBe(PARENT);
  });
});

describe('a request', () => {
  /** The event of a request, which comes when its answer has left. */
  const told = (fits: (event: Request) => boolean) =>
    new Promise<Request>((resolve) => {
      look = () => {
        const found = events.find(fits);
        if (found) resolve(found);
      };
      look();
    });
  const withId = (id: string | null) => told((event) => event.requestId === id);

  it('has the trace-id of its traceparent, or an id of its own', async () => {
    const ask = (traceparent: string) =>
      http.ask('GET', '/v1/svc/tasks', undefined, { headers: { traceparent } });
    expect((await ask(PARENT)).headers.get('x-request-id')).toBe(TRACE);
    const own = await ask(`${PARENT}-more`);
    expect(own.headers.get('x-request-id')).toMatch(ID);
    expect(own.headers.get('x-request-id')).not.toBe(TRACE);
    expect((await ask('')).headers.get('x-request-id')).not.toBe(own.headers.get('x-request-id'));
  });

  it.each([
    ['GET', '/v1/svc/tasks', 200, '/v1/svc/tasks'],
    ['HEAD', '/v1/svc/tasks', 200, '/v1/svc/tasks'],
    ['GET', '/v1/svc/tasks/12?x=1', 404, '/v1/svc/tasks/:id'],
    ['PATCH', '/v1/svc/tasks', 405, '/v1/svc/tasks'],
    ['OPTIONS', '/v1/svc/tasks', 204, '/v1/svc/tasks'],
    ['GET', '/v1/svc/elsewhere', 404, '/v1/svc/*'],
    ['GET', '/somewhere', 404, '*'],
    ['GET', '/v1/openapi.json', 200, '/v1/openapi.json'],
    ['PUT', '/v1/svc/uploads/7?expires=1&signature=abc', 403, '/v1/svc/uploads/:process_id'],
  ])('%s %s: %i, told by its pattern %s', async (method, path, status, pattern) => {
    const body = method === 'PUT' ? '[]' : undefined;
    const answer = await http.ask(method, path, body);
    expect(answer.status).toBe(status);
    const id = answer.headers.get('x-request-id');
    expect(id).toMatch(ID);
    const event = await withId(id);
    expect(event).toMatchObject({ method, path: pattern, status, remote: '127.0.0.1' });
    const size = Buffer.byteLength(answer.text);
    expect(event.bytes).toBeGreaterThanOrEqual(size);
    expect(event.bytes).toBeLessThan(size + 1000);
    expect(event.cut).toBeUndefined();
  });

  it('tells its client if the key is good, and nobody if it is not', async () => {
    const good = await http.ask('GET', '/v1/svc/tasks', undefined, { key: http.bob });
    const bad = await http.ask('GET', '/v1/svc/tasks', undefined, { key: 'nobody' });
    expect((await withId(good.headers.get('x-request-id'))).clientId).toBe(2);
    expect(await withId(bad.headers.get('x-request-id'))).not.toHaveProperty('clientId');
  });

  it('may tell its id to pages of other origins', async () => {
    const headers = { origin: 'https://app.example' };
    const { headers: told } = await http.ask('GET', '/v1/svc/tasks', undefined, { headers });
    expect(told.get('access-control-expose-headers')).toContain('x-request-id');
  });

  it('leaves its id and its traceparent with the task that it makes', async () => {
    const made = await http.ask('POST', '/v1/svc/aggsign/task', undefined, {
      headers: { traceparent: PARENT },
    });
    const named = await http.ask('POST', '/v1/svc/aggsign/task');
    expect(await store.tasks.get(made.json.process_id)).toMatchObject({
      requestId: TRACE,
      traceparent: PARENT,
    });
    expect(await store.tasks.get(named.json.process_id)).toMatchObject({
      requestId: named.headers.get('x-request-id'),
      traceparent: null,
    });
  });

  it('whose answer is cut off is told so', async () => {
    const socket = connect(http.port, '127.0.0.1');
    const { process_id } = await http.create();
    const path = `/v1/svc/tasks/${process_id}/events`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${http.alice}\r\n\r\n`);
    await once(socket, 'data');
    expect(events.some((event) => event.path.endsWith('/events'))).toBe(false);
    socket.destroy();
    const event = await told(({ path: each }) => each === '/v1/svc/tasks/:id/events');
    expect(event).toMatchObject({ status: 200, cut: true });
    expect(event.bytes).toBeGreaterThan(100);
  });

  it('whose caller has gone before there is an answer is told so', async ({ start }) => {
    const seen: ServiceEvent[] = [];
    const { promise: asking, resolve: asked } = deferred<void>();
    const { promise: answered, resolve: answer } = deferred<null>();
    const slow = await start({
      onEvent: (event) => seen.push(event),
      authenticate() {
        asked();
        return answered;
      },
    });
    const socket = connect(slow.port, '127.0.0.1');
    socket.write('GET /v1/svc/tasks HTTP/1.1\r\nhost: a\r\nauthorization: k\r\n\r\n');
    await asking;
    socket.destroy();
    // A request that comes later is answered later: the server knows that the caller has gone.
    await slow.ask('GET', '/v1/svc/elsewhere');
    answer(null);
    const cut = () => seen.find((event) => event.type === 'request' && event.status === 401);
    await until(cut);
    expect(cut()).toMatchObject({ path: '/v1/svc/tasks', cut: true });
  });

  it('that fails has its id in the problem and in the log', async ({ start }) => {
    const broken = await start({
      authenticate() {
        throw new Error('the directory of users is away');
      },
      logger,
    });
    const headers = { traceparent: PARENT };
    const answer = await broken.ask('GET', '/v1/svc/tasks', undefined, { headers });
    expectProblem(answer, 500, 'INTERNAL');
    expect(answer.json.id).toBe(TRACE);
    expect(answer.headers.get('x-request-id')).toBe(TRACE);
    const line = lines.find((each) => each.includes('request failed'));
    expect(JSON.parse(line!.slice(line!.indexOf('{')))).toMatchObject({ id: TRACE });
  });

  it.each([
    ['a-1', 'a-1'],
    [['a', 'b'], null],
    ['a b', null],
    ['', null],
    [7, null],
    ['x'.repeat(256), null],
  ])("has its host's id %j", async (given, id) => {
    const seen: ServiceEvent[] = [];
    const { lines, logger } = recordedLog();
    const service = falconService({
      ...{ store: memoryStore(), logger, onEvent: (event) => seen.push(event) },
    });
    const outgoing = { getHeader: (name: string) => (name === 'x-request-id' ? given : undefined) };
    const ask = async (path: string) =>
      toFetchHandler(service)(new Request(`http://a.example${path}`), { outgoing });
    for (const path of ['/v1/openapi.json', '/v1/svc/nowhere', '/v1/nowhere', '/else/v1/ui']) {
      seen.length = 0;
      const told = (await ask(path)).headers.get('x-request-id');
      expect(told, path).toEqual(id ?? expect.stringMatching(ID));
      const event = seen.find((each) => each.type === 'request' && each.requestId === told);
      expect(event !== undefined, path).toBe(!/else|v1.nowhere/.test(path));
    }
    expect(lines).toEqual([]);
  });

  it('has the id of hono/request-id, which the answer has once', async () => {
    const seen: ServiceEvent[] = [];
    const service = falconService({ store: memoryStore(), onEvent: (event) => seen.push(event) });
    const host = new Hono().use(requestId()).route('/falcon', service.app);
    const headers = { 'x-request-id': 'from-the-client', traceparent: PARENT };
    const answer = await host.request('/falcon/v1/openapi.json', { headers });
    expect(answer.headers.get('x-request-id')).toBe('from-the-client');
    expect(seen[0]).toMatchObject({ requestId: 'from-the-client' });
  });

  it('on a host that does not tell when the answer has left is told at once', async () => {
    const seen: ServiceEvent[] = [];
    const service = falconService({ store: memoryStore(), onEvent: (event) => seen.push(event) });
    const answer = await toFetchHandler(service)(new Request('http://a.example/v1/openapi.json'));
    const requestId = answer.headers.get('x-request-id');
    const event = seen.find((each) => each.type === 'request' && each.requestId === requestId);
    expect(event).toMatchObject({ path: '/v1/openapi.json', status: 200 });
    expect(event).not.toHaveProperty('remote');
  });
});
