import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, vi } from 'vitest';
import {
  falconService,
  memoryStore,
  type ServiceEvent,
  type ServiceOptions,
} from '../../src/middleware/index.ts';
import { expectProblem, recordedLog, serviceTest } from './support.ts';
import { makeTriples } from './triples.ts';

const TASKS = '/v1/svc/tasks';

afterEach(() => vi.restoreAllMocks());

/**
 * Stops the clock that the limits go by: nothing is allowed again because a busy machine took its
 * time.
 */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}

const { lines, logger } = recordedLog();
const events: ServiceEvent[] = [];
const { it, http } = serviceTest({ onDisk: true, logger, onEvent: (event) => events.push(event) });

describe('API keys', () => {
  const endpoints: [string, string][] = [
    ['POST', '/v1/falcon/sign'],
    ['POST', '/v1/svc/aggsign/task'],
    ['POST', '/v1/svc/aggsign/task/1/url'],
    ['POST', '/v1/svc/aggsign/notify/1'],
    ['POST', '/v1/svc/aggsign'],
    ['POST', '/v1/svc/aggsign/verify'],
    ['GET', '/v1/svc/tasks'],
    ['GET', '/v1/svc/tasks/1'],
    ['DELETE', '/v1/svc/tasks/1'],
    ['GET', '/v1/svc/tasks/1/result'],
    ['GET', '/v1/svc/tasks/1/events'],
  ];
  it.each(endpoints)('%s %s needs one', async (method, path) => {
    const body = method === 'POST' ? {} : undefined;
    const none = await http.ask(method, path, body, { key: null });
    expectProblem(none, 401, 'UNAUTHENTICATED');
    const { alice } = http;
    const wrong = [`Bearer ${alice}`, `${alice}x`, alice.slice(0, -1), alice.toUpperCase()];
    for (const key of ['nonsense', ...wrong]) {
      expectProblem(await http.ask(method, path, body, { key }), 401, 'UNAUTHENTICATED');
    }
  });

  it('says what is wrong with a scheme word before the key', async () => {
    for (const key of [`Bearer ${http.alice}`, `token ${http.alice}`]) {
      const { json } = await http.ask('GET', TASKS, undefined, { key });
      expect(json.detail).toMatch(/send the key alone/);
    }
    const { json } = await http.ask('GET', TASKS, undefined, { key: 'nonsense' });
    expect(json.detail).not.toMatch(/alone/);
  });

  it('names the service in the realm', async () => {
    const none = await http.ask('GET', TASKS, undefined, { key: null });
    expect(none.headers.get('www-authenticate')).toBe('ApiKey realm="svc"');
  });

  it('refuses a key of monstrous length without looking for it', async () => {
    const answer = await http.ask('GET', TASKS, undefined, { key: 'k'.repeat(8000) });
    expectProblem(answer, 401);
  });

  it('keeps hashes only: no key is in the store, in the log or in an event', async () => {
    await http.ask('POST', '/v1/falcon/sign', { digest: '0x00' });
    const { url } = await http.create();
    await http.put(url, makeTriples(1));
    const signature = new URL(url).searchParams.get('signature')!;
    const secretKey = JSON.parse(
      await readFile(join(http.directory, 'keys', 'signing.json'), 'utf8'),
    ).secret_key;
    const told = lines.join('\n') + JSON.stringify(events);
    const files = ['falconry.sqlite', 'falconry.sqlite-wal'].map((name) =>
      readFile(join(http.directory, name), 'latin1'),
    );
    const stored = (await Promise.all(files)).join('\n');
    for (const secret of [http.alice, http.bob, signature, secretKey, secretKey.slice(2, 66)]) {
      expect(told.includes(secret)).toBe(false);
      expect(stored.includes(secret)).toBe(false);
    }
    expect(events.some((event) => event.type === 'request')).toBe(true);
    expect(events.some((event) => event.type === 'task')).toBe(true);
  });

  it('lists and revokes keys; a revoked key is refused at once', async () => {
    const { key, clientId } = await http.service.apiKeys.create({ name: 'carol' });
    expect(clientId).toBe(3);
    const second = await http.service.apiKeys.create({ name: 'carol too', clientId });
    expect(second.clientId).toBe(3);
    expect((await http.ask('GET', TASKS, undefined, { key })).status).toBe(200);
    const records = await http.service.apiKeys.list();
    expect(records.map(({ name }) => name)).toEqual(['alice', 'bob', 'carol', 'carol too']);
    const { sha256 } = records[2]!;
    expect(await http.service.apiKeys.revoke(sha256)).toBe(true);
    expect(await http.service.apiKeys.revoke(sha256)).toBe(false);
    expectProblem(await http.ask('GET', TASKS, undefined, { key }), 401);
    const other = await http.ask('GET', TASKS, undefined, { key: second.key });
    expect(other.status).toBe(200);
  });

  it('ends the event streams of a revoked key', async () => {
    const { key } = await http.service.apiKeys.create({ name: 'dave' });
    const { process_id } = await http.create(undefined, { key });
    const reader = await http.watch(process_id, { authorization: key });
    const records = await http.service.apiKeys.list();
    const { sha256 } = records.find(({ name }) => name === 'dave')!;
    expect(await http.service.apiKeys.revoke(sha256)).toBe(true);
    // Ends within the time between two looks at the store; else the test's limit ends it.
    while (!(await reader.read()).done);
  });
});

describe('the authenticate hook', () => {
  it('decides alone, and its faults are a 500 that tells nothing', async ({ start }) => {
    const { lines, logger } = recordedLog();
    const http = await start({
      authenticate(key) {
        if (key === 'boom') throw new Error('the directory at 10.0.0.1 is down');
        if (key === 'odd') return { clientId: 1.5 };
        return key === 'mine' ? { clientId: 77 } : null;
      },
      logger,
    });
    expectProblem(await http.ask('GET', TASKS), 401);
    const created = await http.ask('POST', '/v1/svc/aggsign/task', undefined, { key: 'mine' });
    const path = `${TASKS}/${created.json.process_id}`;
    const record = await http.ask('GET', path, undefined, { key: 'mine' });
    expect(record.json.client_id).toBe(77);
    for (const key of ['boom', 'odd']) {
      const answer = await http.ask('GET', TASKS, undefined, { key });
      expectProblem(answer, 500, 'INTERNAL');
      expect(answer.text).not.toContain('10.0.0.1');
      expect(answer.json.id).toBe(answer.headers.get('x-request-id'));
      expect(lines.some((line) => line.includes(answer.json.id))).toBe(true);
    }
  });
});

describe('requests without a good key', () => {
  it('are limited by address, and hold up nobody who showed a good key', async ({ start }) => {
    let asked = 0;
    const http = await start({
      trustProxy: true,
      limits: { refusedPerSecond: 1, refusedBurst: 5 },
      authenticate(key) {
        asked++;
        return key === 'good' ? { clientId: 1 } : null;
      },
    });
    stopClock();
    const from = (address: string, key: string | null) =>
      http.ask('GET', TASKS, undefined, { key, headers: { 'x-forwarded-for': address } });
    expect((await from('192.0.2.1', 'good')).status).toBe(200);
    const answers = [];
    for (let i = 0; i < 20; i++) answers.push(await from('192.0.2.1', `bad ${i}`));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 401).length).toBe(5);
    expect(refused.length).toBe(15);
    for (const answer of refused) expectProblem(answer, 429, 'RATE_LIMITED');
    // What is refused so is not looked up.
    expect(asked).toBe(1 + answers.length - refused.length);
    expectProblem(await from('192.0.2.1', null), 429, 'RATE_LIMITED');
    expect((await from('192.0.2.1', 'good')).status).toBe(200);
    expectProblem(await from('192.0.2.2', 'bad'), 401);
    // The proxy's own word is the last of the list; the rest anybody can write.
    expectProblem(await from('192.0.2.9, 192.0.2.1', 'bad'), 429, 'RATE_LIMITED');
    expectProblem(await from('2001:DB8::1', 'bad'), 401);
    for (let i = 0; i < 9; i++) await from(`2001:db8::${i}`, 'bad');
    expectProblem(await from('2001:db8::ffff:1', 'bad'), 429, 'RATE_LIMITED');
    expectProblem(await from('::1', 'bad'), 401);
    // An IPv6 caller has a whole network of addresses.
    for (let i = 0; i < 9; i++) await from(`2001:db8:1:2::${i}`, 'bad');
    expectProblem(await from('2001:db8:1:2:ffff::1', 'bad'), 429, 'RATE_LIMITED');
    expectProblem(await from('2001:db8:1:3::1', 'bad'), 401);
    const forged = '/v1/svc/uploads/1?expires=9999999999&signature=x';
    expectProblem(await http.ask('PUT', forged, '[]', { key: null }), 403, 'FORBIDDEN_URL');
    const more = [];
    for (let i = 0; i < 9; i++) more.push(await http.ask('PUT', forged, '[]', { key: null }));
    expectProblem(more.at(-1)!, 429, 'RATE_LIMITED');
    expect((await http.ask('GET', '/v1/openapi.json', undefined, { key: null })).status).toBe(200);
  });
});

describe('the address of a caller', () => {
  it('is what the host hands over, in Node, Deno and Bun; all are one where it tells nothing', async ({
    start,
  }) => {
    const http = await start({
      limits: { refusedPerSecond: 1, refusedBurst: 3 },
      authenticate: () => null,
    });
    stopClock();
    const hosts: [string, (address: string) => object | undefined][] = [
      ['Node', (remoteAddress) => ({ incoming: { socket: { remoteAddress } } })],
      ['Deno', (hostname) => ({ remoteAddr: { transport: 'tcp', hostname, port: 1 } })],
      ['Bun', (address) => ({ requestIP: () => ({ address, port: 1 }) })],
      ['Bun, as a member', (address) => ({ server: { requestIP: () => ({ address }) } })],
    ];
    const ask = async (env: object | undefined) =>
      (await http.service.app.request(TASKS, { headers: { authorization: 'x' } }, env)).status;
    for (const [at, [name, envOf]] of hosts.entries()) {
      for (let i = 0; i < 9; i++) await ask(envOf(`192.0.2.${at}`));
      expect(await ask(envOf(`192.0.2.${at}`)), name).toBe(429);
      expect(await ask(envOf(`198.51.100.${at}`)), name).toBe(401);
    }
    for (let i = 0; i < 9; i++) await ask({ any: 'thing' });
    expect(await ask({ other: 'thing' })).toBe(429);
    expect(await ask(undefined)).toBe(429);
  });
});

describe('documents that need no key', () => {
  it.for(['/v1/openapi.json', '/v1/ui'])('%s is limited by address', async (path, { start }) => {
    const settings = { limits: { refusedPerSecond: 1, refusedBurst: 3 }, trustProxy: true };
    const http = await start({ ...settings, workers: false });
    stopClock();
    const get = (address: string, at = path, key: string | null = null) =>
      http.ask('GET', at, undefined, { key, headers: { 'x-forwarded-for': address } });
    for (let i = 0; i < 3; i++) expect((await get('192.0.2.1')).status).toBe(200);
    const refused = await get('192.0.2.1');
    expectProblem(refused, 429, 'RATE_LIMITED');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await get('192.0.2.2')).status).toBe(200);
    // Nothing else is limited by it.
    expect((await get('192.0.2.1', TASKS, http.alice)).status).toBe(200);
  });
});

describe('behind proxies, the address of a caller', () => {
  /** @returns the address that the service has for a request */
  async function remoteOf(trustProxy: ServiceOptions['trustProxy'], list: string, peer: string) {
    let remote: string | undefined;
    const service = falconService({
      ...{ store: memoryStore(), trustProxy: trustProxy! },
      onEvent: (event) => event.type === 'request' && (remote ??= event.remote),
    });
    const incoming = { socket: { remoteAddress: peer } };
    const headers = { 'x-forwarded-for': list, 'x-forwarded-host': 'believed' };
    const answer = await service.app.request('/v1/openapi.json', { headers }, { incoming });
    const { servers } = (await answer.json()) as { servers: [{ url: string }] };
    return [remote, servers[0].url === 'http://believed'];
  }
  const PEER = '10.0.0.9';

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    // Azure and AWS add the port.
    ['192.0.2.1:49152', '192.0.2.1'],
    [' 198.51.100.7 ,\t192.0.2.1:1 ', '192.0.2.1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001%eth0', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[::FFFF:c000:0201]:8080', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    // Anything else says nothing of the client.
    ...['', ' ', 'unknown', '_hidden', '192.0.2', '192.0.2.256', '192.0.2.1, ', '1.2.3.4:x'].map(
      (list) => [list, PEER],
    ),
    ...['[192.0.2.1', '::g', 'a.example:80', '01.2.3.4', '"192.0.2.1"'].map((list) => [list, PEER]),
  ])('%j is %s', async (list, address) => {
    expect(await remoteOf(true, list!, PEER)).toEqual([address, true]);
  });

  const LIST = '203.0.113.1, 192.0.2.1, 10.0.0.2:80, ::ffff:10.0.0.1';
  it.each<[ServiceOptions['trustProxy'], string, string, boolean]>([
    [false, PEER, PEER, false],
    [1, PEER, '10.0.0.1', true],
    [3, PEER, '192.0.2.1', true],
    // Fewer proxies than usual: the first of them saw the client.
    [9, PEER, '203.0.113.1', true],
    [['10.0.0.0/8'], PEER, '192.0.2.1', true],
    [['10.0.0.0/8'], '::ffff:10.0.0.9', '192.0.2.1', true],
    [['10.0.0.9', '10.0.0.1'], PEER, '10.0.0.2', true],
    [['0.0.0.0/0'], PEER, '203.0.113.1', true],
    // From elsewhere, nothing of it is believed.
    [['10.0.0.0/8'], '192.0.2.8', '192.0.2.8', false],
    [['2001:db8::/32'], PEER, PEER, false],
    [['2001:db8::/32'], '2001:DB8::7', '10.0.0.1', true],
  ])('with trustProxy %j, from %s, is %s', async (trustProxy, peer, address, isBelieved) => {
    expect(await remoteOf(trustProxy, LIST, peer)).toEqual([address, isBelieved]);
  });

  it('is the peer if a trusted proxy names no address', async () => {
    expect(await remoteOf(['10.0.0.0/8'], '192.0.2.1, unknown, 10.0.0.1', PEER)).toEqual([
      PEER,
      true,
    ]);
    expect(await remoteOf(2, 'unknown, 10.0.0.1', '::ffff:10.0.0.9')).toEqual([PEER, true]);
  });
});

describe('limits of a client', () => {
  it('answers 429 when requests come too fast, to this client only', async ({ start }) => {
    const http = await start({ limits: { requestsPerSecond: 1, burst: 5 } });
    stopClock();
    const answers = await Promise.all(Array.from({ length: 20 }, () => http.ask('GET', TASKS)));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect([served.length, refused.length]).toEqual([5, 15]);
    for (const answer of refused) expectProblem(answer, 429, 'RATE_LIMITED');
    expect((await http.ask('GET', TASKS, undefined, { key: http.bob })).status).toBe(200);
  });

  it('holds back the refusals of one who asks again at once, and looks nothing up', async ({
    start,
  }) => {
    const store = memoryStore();
    const http = await start({ store, limits: { requestsPerSecond: 1, burst: 5 } });
    expect((await http.ask('GET', TASKS)).status).toBe(200);
    stopClock();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const late = () => timers.mock.calls.filter(([, ms = 0]) => ms >= 75 && ms < 225).length;
    const refused = () => http.ask('GET', TASKS).then(({ status }) => status === 429);
    const many = (count: number) => Promise.all(Array.from({ length: count }, refused));
    expect((await many(24)).filter(Boolean).length).toBe(20);
    expect(late()).toBe(0);
    const findApiKey = vi.spyOn(store.apiKeys, 'findApiKey');
    expect((await many(3)).every(Boolean)).toBe(true);
    expect(late()).toBe(3);
    expect(findApiKey).not.toHaveBeenCalled();
    expect((await http.ask('GET', TASKS, undefined, { key: http.bob })).status).toBe(200);
    expect(late()).toBe(3);
  });

  it('counts a body by what it unpacks to, whatever becomes of it', async ({ start }) => {
    const http = await start({ limits: { requestsPerSecond: 1, burst: 40 }, workers: false });
    const { url } = await http.create();
    const { url: another } = await http.create();
    stopClock();
    const packed = gzipSync(Buffer.alloc(4 * 1024 * 1024, 0x20));
    const json = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const put = async (to: string) =>
      (await fetch(to, { method: 'PUT', headers: json, body: packed })).status;
    expect(await put(url)).toBe(200);
    const direct = await fetch(`${http.address}/v1/svc/aggsign`, {
      method: 'POST',
      headers: { ...json, authorization: http.alice },
      body: packed,
    });
    expect(direct.status).toBe(400);
    // Two requests, 32 for each of the bodies, and one.
    expectProblem(await http.ask('GET', TASKS), 429, 'RATE_LIMITED');
    expect(await put(another)).toBe(429);
    expect((await http.ask('GET', TASKS, undefined, { key: http.bob })).status).toBe(200);
  });
});
