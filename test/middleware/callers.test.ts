/** Callers whom the host knows itself, by a session or a token of its own, and by name. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore, type ServiceOptions } from '../../src/middleware/index.ts';
import { expectProblem, recordedLog, startService, type TestService, until } from './support.ts';

const TASKS = '/v1/svc/tasks';
const CREATE = '/v1/svc/aggsign/task';

let http: TestService;
const { lines, logger } = recordedLog();
afterEach(async () => {
  vi.restoreAllMocks();
  lines.length = 0;
  await http.close();
});

/** Sessions of a host, by their cookies. */
const sessions = new Map<string, string>();
const bySession = (_key: string, request: Request) => {
  const client = sessions.get(request.headers.get('cookie') ?? '');
  return client === undefined ? null : { client };
};

async function start(options: ServiceOptions = {}): Promise<void> {
  sessions.clear();
  for (const name of ['ada@falcon.example', 'Łukasz Ż', 'n'.repeat(256), '🦅'.repeat(256)]) {
    sessions.set(`session=${sessions.size}`, name);
  }
  http = await startService({ workers: false, authenticate: bySession, logger, ...options });
}

const ask = (method: string, path: string, cookie: string | null, headers = {}) =>
  http.ask(method, path, undefined, {
    key: null,
    headers: { ...(cookie !== null && { cookie }), 'sec-fetch-site': 'same-origin', ...headers },
  });

async function clientOf(cookie: string): Promise<number> {
  const { json } = await ask('POST', CREATE, cookie);
  return (await ask('GET', `${TASKS}/${json.process_id}`, cookie)).json.client_id;
}

it('by cookie changes something only from pages of the service itself', async () => {
  await start();
  const { json } = await ask('POST', CREATE, 'session=0');
  const task = `${TASKS}/${json.process_id}`;
  const { origin } = new URL(http.address);
  const headers = (site: string, from?: string) => ({
    'sec-fetch-site': site,
    ...(from !== undefined && { origin: from }),
  });
  const foreign = [
    headers(''),
    headers('cross-site'),
    headers('same-site', 'http://other.test'),
    headers('none'),
    headers('', `${origin}0`),
    headers('', 'null'),
    headers('', origin.replace('http', 'https')),
  ];
  for (const others of foreign) {
    for (const [method, path] of [
      ['POST', CREATE],
      ['DELETE', task],
    ] as const) {
      const answer = await ask(method, path, 'session=0', others);
      expectProblem(answer, 401, 'UNAUTHENTICATED');
      expect(answer.json.detail).toContain('Sec-Fetch-Site');
    }
    expect((await ask('GET', task, 'session=0', others)).status).toBe(200);
  }
  for (const own of [headers('same-origin'), headers('', origin)]) {
    expect((await ask('POST', CREATE, 'session=0', own)).status).toBe(201);
  }
  expect((await ask('DELETE', task, 'session=0', headers('', origin))).status).toBe(200);
});

it('by other means than a cookie, from anywhere', async () => {
  const byToken = (key: string, { headers }: Request) =>
    key === 'Bearer x' || headers.get('x-user') === 'ada' ? { client: 'ada' } : null;
  await start({ authenticate: byToken, credentialHeaders: ['x-user'] });
  const other = { 'sec-fetch-site': 'cross-site' };
  expect((await ask('POST', CREATE, 'visits=1', { 'x-user': 'ada', ...other })).status).toBe(201);
  await http.close();
  await start({ authenticate: byToken });
  expect((await ask('POST', CREATE, null, { 'x-user': 'ada', ...other })).status).toBe(201);
  const token = { authorization: 'Bearer x', ...other };
  expect((await ask('POST', CREATE, 'visits=1', token)).status).toBe(201);
});

describe('a client by name', () => {
  it('needs no Authorization header, and keeps its number', async () => {
    const store = memoryStore();
    await start({ store });
    const numbers: number[] = [];
    for (const cookie of sessions.keys()) numbers.push(await clientOf(cookie));
    for (const [i, cookie] of [...sessions.keys()].entries()) {
      expect(await clientOf(cookie)).toBe(numbers[i]);
    }
    expect(new Set(numbers).size).toBe(sessions.size);
    // Those of alice and bob.
    const keys = await http.service.apiKeys.list();
    for (const { clientId } of keys) expect(numbers).not.toContain(clientId);
    await http.close();
    await start({ store });
    expect(await clientOf('session=0')).toBe(numbers[0]);
  });

  it('sees its own tasks only', async () => {
    await start();
    const { json } = await ask('POST', CREATE, 'session=0');
    const path = `${TASKS}/${json.process_id}`;
    expect((await ask('GET', path, 'session=0')).status).toBe(200);
    expectProblem(await ask('GET', path, 'session=1'), 404, 'NOT_FOUND');
    for (const cookie of [null, 'session=9', 'x']) {
      expectProblem(await ask('GET', path, cookie), 401, 'UNAUTHENTICATED');
    }
    expectProblem(await http.ask('GET', path), 401, 'UNAUTHENTICATED');
  });

  it('may be known by whatever the request shows, and beside clients by number', async () => {
    await start({
      async authenticate(key, request) {
        if (key === 'seven') return { clientId: 7 };
        const client = request.headers.get('x-access-token');
        return client && new URL(request.url).pathname.startsWith('/v1/') ? { client } : null;
      },
    });
    const byNumber = await http.ask('POST', CREATE, undefined, { key: 'seven' });
    const path = `${TASKS}/${byNumber.json.process_id}`;
    const record = await http.ask('GET', path, undefined, { key: 'seven' });
    expect(record.json.client_id).toBe(7);
    expect((await ask('POST', CREATE, null, { 'x-access-token': 'eve' })).status).toBe(201);
  });

  it('has a name that every store can keep; another is a fault of the host', async () => {
    const odd = ['', 'n'.repeat(257), 'a\0b', 'half \ud83e', 5, {}];
    await start({ authenticate: (key) => ({ client: odd[Number(key)] as string }) });
    for (const key of odd.keys()) {
      const answer = await http.ask('GET', TASKS, undefined, { key: String(key) });
      expectProblem(answer, 500, 'INTERNAL');
    }
    await http.close();
    await start({ authenticate: () => ({ client: 'ada@falcon.example', clientId: 1 }) });
    expectProblem(await http.ask('GET', TASKS), 500, 'INTERNAL');
    expect(lines.join('\n')).toContain('clientId and client exclude each other');
  });

  it('is in no line of the log, and in no event', async () => {
    const events: unknown[] = [];
    const store = memoryStore();
    await start({ store, onEvent: (event) => events.push(event) });
    await clientOf('session=1');
    await ask('DELETE', `${TASKS}/1`, 'session=1');
    vi.spyOn(store.tasks, 'clientNamed').mockRejectedValue(new Error('the store is away'));
    expectProblem(await ask('GET', TASKS, 'session=0'), 500, 'INTERNAL');
    const told = lines.join('\n') + JSON.stringify(events);
    expect(told).toContain('the store is away');
    expect(events.length).toBeGreaterThan(3);
    for (const name of sessions.values()) expect(told).not.toContain(name);
    expect(told).not.toContain('session=');
  });
});

describe('a session', () => {
  it('that ends takes its event streams along', async () => {
    await start();
    const { json } = await ask('POST', CREATE, 'session=0');
    const reader = await http.watch(json.process_id, { cookie: 'session=0' });
    sessions.delete('session=0');
    // Ends within the time between two looks; else the test's limit ends it.
    while (!(await reader.read()).done);
  });

  it('that goes on keeps its event streams open', async () => {
    let asked = 0;
    await start({
      authenticate(key, request) {
        asked++;
        return bySession(key, request);
      },
    });
    const { json } = await ask('POST', CREATE, 'session=0');
    const path = `${TASKS}/${json.process_id}`;
    const reader = await http.watch(json.process_id, { cookie: 'session=0' });
    const before = asked;
    await until(() => asked >= before + 2);
    expect((await ask('DELETE', path, 'session=0')).status).toBe(200);
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain('"status":"cancelled"');
  });

  it('that was good is served when strangers flood its address', async () => {
    let asked = 0;
    const limits = { refusedPerSecond: 1, refusedBurst: 5 };
    await start({
      limits,
      authenticate(key, request) {
        asked++;
        if (request.headers.get('x-access-token') === 'good') return { client: 'token' };
        // Everybody from the inside, who shows nothing at all.
        if (request.headers.has('x-inside')) return { client: 'inside' };
        return bySession(key, request);
      },
    });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    expect((await ask('GET', TASKS, 'session=0')).status).toBe(200);
    expect((await ask('GET', TASKS, null, { 'x-access-token': 'good' })).status).toBe(200);
    expect((await ask('GET', TASKS, null, { 'x-inside': '1' })).status).toBe(200);
    const codes = [];
    for (let i = 0; i < 20; i++) codes.push((await ask('GET', TASKS, `session=x${i}`)).status);
    expect(codes).toEqual([...Array(5).fill(401), ...Array(15).fill(429)]);
    expect(asked).toBe(3 + 5);
    expectProblem(await ask('GET', TASKS, null), 429, 'RATE_LIMITED');
    expectProblem(await ask('GET', TASKS, null, { 'x-inside': '1' }), 429, 'RATE_LIMITED');
    expectProblem(await ask('GET', TASKS, 'session=1'), 429, 'RATE_LIMITED');
    expect((await ask('GET', TASKS, 'session=0')).status).toBe(200);
    expect((await ask('GET', TASKS, null, { 'x-access-token': 'good' })).status).toBe(200);
  });

  it('is remembered by the headers that the host names, and by no others', async () => {
    await start({
      limits: { refusedPerSecond: 1, refusedBurst: 5 },
      credentialHeaders: ['X-User'],
      authenticate(key, request) {
        const user = request.headers.get('x-user');
        return user === 'ada' ? { client: user } : bySession(key, request);
      },
    });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const user = (name: string, more = {}) => ask('GET', TASKS, null, { 'x-user': name, ...more });
    expect((await user('ada', { cookie: 'visits=1' })).status).toBe(200);
    expect((await ask('GET', TASKS, 'session=0')).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await user(`x${i}`)).status).toBe(401);
    // A cookie that changes with every request does not matter.
    expect((await user('ada', { cookie: 'visits=2' })).status).toBe(200);
    expectProblem(await user('eve'), 429, 'RATE_LIMITED');
    expectProblem(await ask('GET', TASKS, 'session=0'), 429, 'RATE_LIMITED');
  });
});
