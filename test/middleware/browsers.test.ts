/** What browsers and careful clients ask: HEAD, OPTIONS, other origins. */
import { describe, expect } from 'vitest';
import { falconService } from '../../src/middleware/index.ts';
import { serviceTest } from './support.ts';

const TASKS = '/v1/svc/tasks';
const ORIGIN = 'https://app.example';
const preflight = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
};

const { it, http } = serviceTest({ workers: false });

describe('HEAD and OPTIONS', () => {
  it('HEAD is GET without a body, for every path that has GET', async () => {
    const { process_id } = await http.create();
    const paths = [
      TASKS,
      `${TASKS}/${process_id}`,
      `${TASKS}/${process_id}/result`,
      `${TASKS}/1`,
      '/v1/openapi.json',
      '/v1/ui',
    ];
    for (const path of paths) {
      const get = await http.ask('GET', path);
      const head = await http.ask('HEAD', path);
      expect([head.status, head.text], path).toEqual([get.status, '']);
      for (const name of ['content-type', 'cache-control', 'etag']) {
        expect(head.headers.get(name), `${path} ${name}`).toBe(get.headers.get(name));
      }
    }
  });

  it('OPTIONS names the methods, and asks for no key', async () => {
    for (const [path, allow] of [
      [TASKS, 'GET, HEAD, OPTIONS'],
      [`${TASKS}/1`, 'GET, DELETE, HEAD, OPTIONS'],
      ['/v1/falcon/sign', 'POST, OPTIONS'],
      ['/v1/svc/uploads/1', 'PUT, OPTIONS'],
      ['/v1/openapi.json', 'GET, HEAD, OPTIONS'],
    ]) {
      const answer = await http.ask('OPTIONS', path!, undefined, { key: null });
      expect([answer.status, answer.text, answer.headers.get('allow')]).toEqual([204, '', allow]);
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    }
    for (const path of ['/v1/svc/nowhere', '/v1/docs']) {
      expect((await http.ask('OPTIONS', path)).status, path).toBe(404);
    }
  });
});

describe('pages of other origins', () => {
  it('are shut out by default', async () => {
    const asked = await http.ask('OPTIONS', TASKS, undefined, { key: null, headers: preflight });
    expect(asked.headers.has('access-control-allow-origin')).toBe(false);
    const read = await http.ask('GET', TASKS, undefined, { headers: { origin: ORIGIN } });
    expect([read.status, read.headers.has('access-control-allow-origin')]).toEqual([200, false]);
  });

  it('may call when they are named: preflight, good answers, refusals, signed urls', async ({
    start,
  }) => {
    const http = await start({ workers: false, cors: [ORIGIN, 'http://localhost:3000'] });
    const asked = await http.ask('OPTIONS', '/v1/svc/aggsign', undefined, {
      key: null,
      headers: preflight,
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PUT,DELETE');
    const allowed = asked.headers.get('access-control-allow-headers')!.split(',');
    const packed = ['content-encoding', 'content-type'];
    const traced = ['traceparent', 'tracestate', 'baggage', 'sentry-trace'];
    const sent = ['authorization', ...packed, 'idempotency-key', 'last-event-id', ...traced];
    expect(allowed).toEqual(sent);
    expect(asked.headers.has('access-control-allow-credentials')).toBe(false);

    const headers = { origin: ORIGIN };
    const created = await http.ask('POST', '/v1/svc/aggsign/task', undefined, { headers });
    const { url } = created.json;
    const put = { key: null, headers };
    for (const answer of [
      created,
      await http.ask('PUT', url, '[]', put),
      await http.ask('GET', `${TASKS}/1`, undefined, { headers }),
      await http.ask('GET', TASKS, undefined, { headers, key: 'wrong' }),
      await http.ask('PATCH', TASKS, {}, { headers }),
      await http.ask('GET', '/v1/svc/nowhere', undefined, { headers }),
      await http.ask('GET', '/v1/openapi.json', undefined, { headers }),
    ]) {
      expect(answer.headers.get('access-control-allow-origin'), answer.text).toBe(ORIGIN);
      const exposed = answer.headers.get('access-control-expose-headers');
      expect(exposed).toContain('location');
      expect(exposed).toContain('retry-after');
      expect(answer.headers.get('vary')).toMatch(/origin/i);
    }
    for (const origin of ['https://other.example', 'null', 'https://app.example.evil.example']) {
      const answer = await http.ask('GET', TASKS, undefined, { headers: { origin } });
      expect(answer.headers.has('access-control-allow-origin'), origin).toBe(false);
    }
  });

  it('may all call when the option says so', async ({ start }) => {
    const http = await start({ workers: false, cors: '*' });
    const read = await http.ask('GET', TASKS, undefined, { headers: { origin: ORIGIN } });
    expect(read.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('leave the host’s own routes alone', async () => {
    const { Hono } = await import('hono');
    const service = falconService({ dataDirectory: '/nowhere', cors: '*' });
    const host = new Hono();
    host.route('/', service.app);
    host.get('/hello', (c) => c.text('hello'));
    const own = await host.request('/hello', { headers: { origin: ORIGIN } });
    expect(own.headers.has('access-control-allow-origin')).toBe(false);
  });
});
