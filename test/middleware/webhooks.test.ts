/** Webhooks: what is sent, where it may go, and what becomes of it when nobody takes it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import { falconService, memoryStore } from '../../src/middleware/index.ts';
import { isPublic, webhookUrlFault } from '../../src/middleware/webhooks/address.ts';
import type { DeliveryEvent } from '../../src/middleware/webhooks/deliveryEvent.ts';
import { signatureOf } from '../../src/middleware/webhooks/message.ts';
import { post } from '../../src/middleware/webhooks/post.ts';
import {
  createSender,
  RETRY_MS,
  type SenderOptions,
} from '../../src/middleware/webhooks/sender.ts';
import { temporaryFolder } from '../cli/cli.ts';
import { startService } from './support.ts';
import { makeTriples, spoil } from './triples.ts';

const SECRET = 'a secret of some length';

interface Got {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly path: string;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Answer = (response: ServerResponse, count: number) => void;
const ok: Answer = (response) => response.end('thanks');

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A receiver on this machine. */
async function receiver(answer: Answer = ok) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      got.push({ headers: request.headers, body, path: request.url! });
      answer(response, got.length);
    });
  });
  const port = await listen(server);
  return { got, port, url: `http://127.0.0.1:${port}/hook?x=1` };
}

const BASE = {
  headers: {},
  body: '{}',
  allowPrivate: true,
  timeoutMs: 5000,
  signal: new AbortController().signal,
};

describe('where a webhook may lead', () => {
  it.each([
    ['93.184.215.14', true],
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['127.0.0.1', false],
    ['127.8.8.8', false],
    ['10.1.2.3', false],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['172.32.0.1', true],
    ['192.168.1.1', false],
    ['169.254.169.254', false],
    ['100.64.0.1', false],
    ['100.128.0.1', true],
    ['0.0.0.0', false],
    ['192.0.2.1', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::1', false],
    ['::', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fd00:ec2::254', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:8.8.8.8', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
    ['2001:db8::1', false],
    ['ff02::1', false],
    ['nowhere', false],
  ])('%s: public is %s', (address, expected) => {
    expect(isPublic(address)).toBe(expected);
  });

  it.each([
    ['https://example.com/hook?token=1', null, null],
    ['http://example.com/', /https URL/, null],
    ['ftp://example.com/', /https URL/, /http or https URL/],
    ['example.com', /https URL/, /URL/],
    ['https://me@example.com/', /no user/, /no user/],
    ['https://example.com/#a', /fragment/, /fragment/],
    ['https://127.0.0.1/', /public address/, null],
    ['https://0x7f.1/', /public address/, null],
    ['https://2130706433/', /public address/, null],
    ['https://[::1]:8443/', /public address/, null],
    ['https://[::ffff:10.0.0.1]/', /public address/, null],
    [`https://example.com/${'a'.repeat(2048)}`, /2048/, /2048/],
  ])('%s', (url, strict, allowed) => {
    for (const [fault, allow] of [
      [strict, false],
      [allowed, true],
    ] as const) {
      const found = webhookUrlFault(url, allow);
      if (fault === null) expect(found).toBe(null);
      else expect(found).toMatch(fault);
    }
  });

  it('is looked up once, and the connection goes to the address that was checked', async () => {
    const { got, port } = await receiver();
    let asked = 0;
    const resolve = async (host: string) => {
      expect(host).toBe('hook.test');
      // Whoever asks again is led to another place.
      return asked++ === 0 ? ['127.0.0.1'] : ['203.0.113.9'];
    };
    expect(await post(`http://hook.test:${port}/a?b=c`, { ...BASE, resolve })).toBe(200);
    expect(asked).toBe(1);
    expect(got).toMatchObject([{ path: '/a?b=c', headers: { host: `hook.test:${port}` } }]);
  });

  it('is refused if any address of the name is private, and nothing is sent', async () => {
    const { got, port } = await receiver();
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::ffff:127.0.0.1']]) {
      const options = { ...BASE, allowPrivate: false, resolve: async () => addresses };
      const sent = post(`https://hook.test:${port}/`, options);
      await expect(sent).rejects.toThrow('the name leads to an address that is not public');
    }
    const unknown = { ...BASE, resolve: () => Promise.reject(new Error('x')) };
    await expect(post('http://hook.test/', unknown)).rejects.toThrow('cannot be looked up');
    const none = { ...BASE, resolve: async () => [] };
    await expect(post('http://hook.test/', none)).rejects.toThrow('has no address');
    const strict = { ...BASE, allowPrivate: false };
    await expect(post(`http://127.0.0.1:${port}/`, strict)).rejects.toThrow('the url must be');
    expect(got).toEqual([]);
  });

  it('a redirect is not followed', async () => {
    const other = await receiver();
    const { url } = await receiver((response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    expect(await post(url, BASE)).toBe(307);
    expect(other.got).toEqual([]);
  });

  it('an answer that does not come, or does not end, is given up', async () => {
    const silent = await receiver(() => {});
    const late = post(silent.url, { ...BASE, timeoutMs: 100 });
    await expect(late).rejects.toThrow('no answer in time');
    let sent = 0;
    let cut = false;
    const { url } = await receiver((response) => {
      const more = () => {
        sent += 16_384;
        if (!response.destroyed) response.write('x'.repeat(16_384), () => setImmediate(more));
      };
      response.on('close', () => {
        cut = true;
      });
      more();
    });
    expect(await post(url, BASE)).toBe(200);
    await expect.poll(() => cut).toBe(true);
    expect(sent).toBeLessThan(16 * 2 ** 20);
    const stopping = new AbortController();
    const stopped = post(silent.url, { ...BASE, signal: stopping.signal });
    stopping.abort();
    await expect(stopped).rejects.toThrow('stopped');
    const { port } = await receiver();
    for (const close of closing.splice(-1)) await close();
    await expect(post(`http://127.0.0.1:${port}/`, BASE)).rejects.toThrow('ECONNREFUSED');
  });

  it('the certificate must be that of the name, and trusted', async () => {
    const folder = temporaryFolder();
    closing.push(() => folder.remove());
    const [key, cert] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')];
    const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const names = ['-subj', '/CN=hook.test', '-addext', 'subjectAltName=DNS:hook.test'];
    const files = ['-keyout', key, '-out', cert, '-days', '2'];
    execFileSync('openssl', [...make, ...names, ...files], { stdio: 'ignore' });
    const pem = { key: readFileSync(key), cert: readFileSync(cert) };
    const port = await listen(createSecureServer(pem, (_, response) => response.end()) as Server);
    const to = (name: string) =>
      post(`https://${name}:${port}/`, { ...BASE, resolve: async () => ['127.0.0.1'] });
    await expect(to('hook.test')).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT');
    const trusted = tls.getCACertificates('default');
    closing.push(() => tls.setDefaultCACertificates(trusted));
    tls.setDefaultCACertificates([...trusted, pem.cert.toString()]);
    expect(await to('hook.test')).toBe(200);
    await expect(to('other.test')).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});

describe('what is told', () => {
  it('a service tells of what was completed and what failed', async () => {
    const { got, url } = await receiver();
    const http = await startService({
      threads: 1,
      webhookUrl: url,
      webhookSecret: SECRET,
      webhookAllowPrivate: true,
    });
    closing.push(() => http.close());
    const { json: good } = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(2) });
    await expect.poll(() => got.length, { timeout: 20_000 }).toBe(1);
    const bad = makeTriples(2).map((triple) => spoil(triple));
    const { json: wrong } = await http.ask('POST', '/v1/svc/aggsign', { data: bad });
    await expect.poll(() => got.length, { timeout: 20_000 }).toBe(2);
    const [first, second] = got.map(({ body }) => JSON.parse(body));
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const common = { batch_size: 2, submitted_at: time, finished_at: time };
    expect(first).toEqual({
      id: `task-${good.process_id}-completed`,
      type: 'task.completed',
      process_id: good.process_id,
      client_id: expect.any(Number),
      status: 'completed',
      ...common,
    });
    expect(second).toMatchObject({
      id: `task-${wrong.process_id}-failed`,
      type: 'task.failed',
      ...common,
      error: { code: 'INVALID_SIGNATURES', title: expect.any(String) },
    });
    expect(got[0]!.headers).toMatchObject({ 'content-type': 'application/json' });
    const [{ headers, body }] = got as [Got];
    expect(await verifyWebhook(SECRET, headers, body)).toBe(true);
  });

  it('is signed with secret and time', async () => {
    const body = '{"id":"task-1"}';
    const headers = { 'Falconry-Signature': signatureOf(SECRET, body, Date.now()) };
    expect(await verifyWebhook(SECRET, headers, body)).toBe(true);
    const bytes = new TextEncoder().encode(body);
    const fetched = new Headers({ 'Falconry-Signature': String(headers['Falconry-Signature']) });
    expect(await verifyWebhook(SECRET, fetched, bytes)).toBe(true);
    expect(await verifyWebhook(`${SECRET}.`, headers, body)).toBe(false);
    expect(await verifyWebhook(SECRET, headers, `${body} `)).toBe(false);
    const inMs = (ms: number) => ({ nowMs: Date.now() + ms });
    expect(await verifyWebhook(SECRET, headers, body, inMs(400_000))).toBe(false);
    expect(await verifyWebhook(SECRET, headers, body, inMs(-400_000))).toBe(false);
    const patient = { ...inMs(400_000), toleranceSeconds: 900 };
    expect(await verifyWebhook(SECRET, headers, body, patient)).toBe(true);
    const text = String(headers['Falconry-Signature']);
    const [t, v1] = text.split(',') as [string, string];
    // Another one beside it, while a secret is replaced.
    const both = `${t},v1=${'0'.repeat(64)}, ${v1},v2=later`;
    expect(await verifyWebhook(SECRET, { 'falconry-signature': both }, body)).toBe(true);
    for (const header of [
      undefined,
      '',
      t,
      v1,
      `${t},${t},${v1}`,
      `t=soon,${v1}`,
      `t=1,${v1}`,
      `${t},${v1.toUpperCase()}`,
      `${t},${v1}0`,
      `${t},v1=${'0'.repeat(64)}`,
      `${text},${'x'.repeat(1024)}`,
    ]) {
      const judged = await verifyWebhook(SECRET, { 'falconry-signature': header }, body);
      expect([header, judged]).toEqual([header, false]);
    }
    for (const wrongly of [
      () => verifyWebhook('', headers, body),
      () => verifyWebhook(5 as never, headers, body),
      () => verifyWebhook(SECRET, null as never, body),
      () => verifyWebhook(SECRET, headers, JSON.parse(body)),
    ]) {
      await expect(wrongly()).rejects.toThrow(TypeError);
    }
    const negative = verifyWebhook(SECRET, headers, body, { toleranceSeconds: -1 });
    await expect(negative).rejects.toThrow(RangeError);
  });
});

describe('the sender', () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const QUICK = { retryMs: [10, 10], pauseMs: 0, lookMs: 10, timeoutMs: 500 };

  async function ended(store: ReturnType<typeof memoryStore>) {
    const input = { key: 'inputs/a.json', bytes: 1 };
    await store.put({ clientId: 1, state: 'waiting', input, threads: 1, ttlMs: 1000 });
    const { task } = await store.claim({ leaseMs: 60_000, threads: 1 });
    await store.fail(task!.id, task!.attempt, { code: 'INTERNAL', message: 'm' });
    return task!;
  }

  async function world(url: string, options: Partial<SenderOptions> = {}) {
    const store = memoryStore();
    await store.putWebhook({ owner: 1, url, secret: SECRET });
    const given = { store, allowPrivate: true, logger: silent, ...QUICK, ...options };
    const sender = createSender(given);
    sender.start();
    closing.push(() => sender.stop(0));
    return { store, sender };
  }

  it('tries at least eight times over a day', () => {
    expect(RETRY_MS.length + 1).toBeGreaterThanOrEqual(8);
    expect(RETRY_MS.reduce((all, ms) => all + ms, 0)).toBeGreaterThanOrEqual(86_400_000);
  });

  it('sends again what did not arrive, with the same body, until it does', async () => {
    const { got, url } = await receiver((response, count) => {
      response.statusCode = count < 3 ? 500 : 204;
      response.end();
    });
    const { store } = await world(url);
    await ended(store);
    await expect.poll(() => got.length).toBe(3);
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    await expect
      .poll(() => store.listWebhooks())
      .toMatchObject([{ waiting: 0, dropped: 0, failingSince: null, lastError: null }]);
    expect(got.length).toBe(3);
  });

  it('gives up after the last try, and says why', async () => {
    const { got, url } = await receiver((response) => response.writeHead(410).end());
    const told: DeliveryEvent[] = [];
    const { store } = await world(url, { onDelivery: (event) => void told.push(event) });
    const { id: taskId } = await ended(store);
    const given = { waiting: 0, dropped: 1, lastError: 'the answer was 410', disabledAt: null };
    await expect.poll(() => store.listWebhooks()).toMatchObject([given]);
    expect(got.length).toBe(3);
    expect(told).toEqual([
      { taskId, attempt: 1, outcome: 'failed' },
      { taskId, attempt: 2, outcome: 'failed' },
      { taskId, attempt: 3, outcome: 'given_up' },
    ]);
  });

  it('disables a webhook at which nothing arrives', async () => {
    const { url } = await receiver((response) => response.writeHead(503).end());
    const { store } = await world(url, { disableMs: 30, retryMs: Array(50).fill(10) });
    await ended(store);
    const given = { waiting: 0, disabledAt: expect.any(String) };
    await expect.poll(() => store.listWebhooks()).toMatchObject([given]);
  });

  it('two of them on one store send each once; one that is slow hinders no other', async () => {
    const slow = await receiver(() => {});
    const { got, url } = await receiver();
    const { store } = await world(url);
    await store.putWebhook({ owner: 0, url: slow.url, secret: SECRET });
    const options = { store, allowPrivate: true, logger: silent, ...QUICK, pauseMs: 10_000 };
    const second = createSender(options);
    second.start();
    closing.push(() => second.stop(0));
    const ids: number[] = [];
    for (let i = 0; i < 30; i++) ids.push((await ended(store)).id);
    await expect.poll(() => got.length, { timeout: 20_000 }).toBe(30);
    const sent = got.map(({ body }) => JSON.parse(body).process_id);
    expect(sent.sort((a, b) => a - b)).toEqual(ids);
  });

  it('stops: what is under way is left to the lease', async () => {
    const { got, url } = await receiver(() => {});
    const { store, sender } = await world(url, { leaseMs: 1, timeoutMs: 60_000 });
    await ended(store);
    await expect.poll(() => got.length).toBeGreaterThan(0);
    await sender.stop(0);
    const before = got.length;
    expect(await store.listWebhooks()).toMatchObject([{ waiting: 1, failingSince: null }]);
    expect(await store.claimDelivery(1)).toMatchObject({ owner: 1 });
    expect(got.length).toBe(before);
  });
});

it('options of webhooks that do not go together are refused at once', () => {
  const url = { webhookUrl: 'https://example.com/' };
  const both = { ...url, webhookSecret: SECRET };
  const cases: [Parameters<typeof falconService>[0], RegExp][] = [
    [url, /need each other/],
    [{ webhookSecret: SECRET }, /need each other/],
    [{ ...both, webhookSecret: 'short' }, /16 to 512/],
    [{ ...both, webhookUrl: 'http://example.com/' }, /"options.webhookUrl" must be .*https/],
    [{ ...both, webhookUrl: 'https://10.0.0.1/' }, /public address/],
    [{ ...both, webhookUrl: 'nowhere' }, /must be an absolute/],
  ];
  for (const [options, message] of cases) expect(() => falconService(options)).toThrow(message);
  expect(() => falconService({ ...both, store: memoryStore() })).not.toThrow();
});

it.each([
  'putWebhook',
  'removeWebhook',
  'listWebhooks',
  'claimDelivery',
  'settleDelivery',
] as const)('a webhook of the operator is refused by a store without %s', (verb) => {
  const { [verb]: _, ...store } = memoryStore();
  const options = { webhookUrl: 'https://example.com/', webhookSecret: SECRET, store };
  expect(() => falconService(options)).toThrow(TypeError);
  expect(() => falconService(options)).toThrow(/keeps no webhooks/);
});
