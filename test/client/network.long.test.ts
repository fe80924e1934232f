/**
 * The client on a bad network: what is repeated, what is not, how long it waits, and what it never
 * does.
 */
import { describe, expect } from 'vitest';
import {
  type Client,
  type ClientOptions,
  createClient,
  type TaskRecord,
} from '../../src/client/index.ts';
import { serviceTest } from '../middleware/support.ts';
import { openServer } from '../support/openServer.ts';
import { type BadNetwork, badNetwork, type Fate } from './badNetwork.ts';
import { failure } from './failure.ts';
import { signedItems } from './items.ts';

const { test, http } = serviceTest({ threads: 1 });
let network: BadNetwork;
let client: Client;
const items = signedItems(5);
const quick = { baseMs: 10, maxMs: 40 };
/** A client behind the bad network. */
const clientWith = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: network.address, apiKey: http.alice, retries: quick, ...options });
/** Of a test that lasts two minutes at most. */
const LONG = { timeout: 100_000 };
const tasks = async () => (await http.ask('GET', '/v1/svc/tasks?limit=1000')).json.tasks.length;
const firstOnly =
  (fate: Fate, pattern = /./) =>
  (request: string, count: number) =>
    count === 0 && pattern.test(request) ? fate : 'pass';

test.beforeEach(async ({ defer }) => {
  network = await badNetwork(http.port);
  defer(network.close);
  client = clientWith();
});

describe('what is safe is repeated', () => {
  test.each<Fate>(['before', 'after', 'half', { status: 503 }, { status: 502 }, { status: 500 }])(
    'the whole way, though every first answer is %j',
    async (fate) => {
      network.fate = firstOnly(fate);
      const before = await tasks();
      const { process_id } = await client.submit(items);
      await client.waitFor(process_id);
      expect((await client.result(process_id, { statements: items })).checked).toBe(true);
      // The creation was repeated under its key: one task.
      expect((await tasks()) - before).toBe(1);
      expect(network.requests.filter((each) => each.startsWith('PUT ')).length).toBe(2);
      const page = await client.page({ limit: 1 });
      expect(page.tasks.length).toBe(1);
      await client.remove(process_id);
      expect((await tasks()) - before).toBe(0);
    },
  );

  test('the key of a creation is one for all repeats, and another for the next one', async () => {
    network.fate = (_, count) => (count < 2 ? 'before' : 'pass');
    await client.createTask();
    await client.createTask();
    const keys = network.headers.map((each) => each['idempotency-key']);
    expect(keys.length).toBe(4);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect([keys[1], keys[2]]).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test('a direct aggregation whose answer is lost: once more, since the service says that it knows the key', async () => {
    network.fate = firstOnly('after', /^POST .*\/aggsign$/);
    const before = await tasks();
    const { process_id } = await client.aggregate(items);
    expect(network.requests).toEqual([
      'POST /v1/svc/aggsign',
      'GET /v1/openapi.json',
      'POST /v1/svc/aggsign',
    ]);
    expect((await tasks()) - before).toBe(1);
    await client.waitFor(process_id);
  });

  test('as often as asked for, and no more', async () => {
    network.fate = () => 'before';
    expect(await failure(client.task(1))).toMatchObject({ kind: 'network', code: 'NETWORK' });
    expect(network.requests.length).toBe(5);
    network.requests.length = 0;
    const once = clientWith({ retries: false });
    await failure(once.task(1));
    expect(network.requests.length).toBe(1);
    network.requests.length = 0;
    const twice = clientWith({ retries: { ...quick, times: 1 } });
    await failure(twice.upload(`${network.address}/x`, items));
    expect(network.requests).toEqual(['PUT /x', 'PUT /x']);
  });
});

describe('what is not safe is not', () => {
  test('a direct aggregation, where the server is not known to take keys', async () => {
    network.fate = (request) => (request.endsWith('openapi.json') ? { status: 404 } : 'after');
    const before = await tasks();
    expect((await failure(client.aggregate(items))).kind).toBe('network');
    expect((await tasks()) - before).toBe(1);
    expect(network.requests.filter((each) => each.startsWith('POST')).length).toBe(1);
  });

  test('but one that was surely refused is', async () => {
    const plain = clientWith({ idempotencyKeys: false });
    for (const status of [429, 503]) {
      network.requests.length = 0;
      network.fate = firstOnly({ status, headers: { 'retry-after': '0' } });
      await plain.waitFor((await plain.aggregate(items)).process_id);
      expect(network.requests.filter((each) => each === 'POST /v1/svc/aggsign').length).toBe(2);
    }
    // Without Retry-After a proxy may say 503 of what was begun.
    network.requests.length = 0;
    network.fate = () => ({ status: 503 });
    expect((await failure(plain.aggregate(items))).status).toBe(503);
    expect(network.requests.length).toBe(1);
  });

  test('nothing was sent where no connection came about: that is repeated too', async () => {
    const gone = await openServer(() => {});
    await gone.close();
    let count = 0;
    const nowhere = clientWith({
      baseUrl: gone.address,
      idempotencyKeys: false,
      fetch: (...call) => {
        count++;
        return fetch(...call);
      },
    });
    expect(await failure(nowhere.aggregate(items))).toMatchObject({
      code: 'NETWORK',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(count).toBe(5);
  });

  test('refusals that stay refusals', async () => {
    for (const status of [400, 401, 403, 404, 405, 409, 413, 415, 422, 501]) {
      network.requests.length = 0;
      network.fate = () => ({ status });
      expect((await failure(client.task(1))).status).toBe(status);
      expect(network.requests.length, String(status)).toBe(1);
    }
  });

  test('an answer that is no JSON, or of another task, is malformed', async () => {
    network.fate = () => ({ status: 200, body: '<html>Please log in</html>' });
    expect(await failure(client.task(1))).toMatchObject({ kind: 'malformed' });
    network.fate = () => ({ status: 200, body: '{"process_id":2,"status":"completed"}' });
    expect(await failure(client.task(1))).toMatchObject({ code: 'MALFORMED_ANSWER' });
    network.fate = () => ({ status: 201, body: '{"process_id":2,"url":"/relative"}' });
    expect(await failure(client.createTask())).toMatchObject({ code: 'MALFORMED_ANSWER' });
    expect(network.requests.length).toBe(3);
  });
});

describe('waits', () => {
  test('Retry-After is waited for, in seconds or as a date; too long a one ends it', async () => {
    const waited = async (header: string) => {
      network.requests.length = 0;
      network.fate = firstOnly({ status: 429, headers: { 'retry-after': header } });
      const startMs = performance.now();
      await client.page();
      return performance.now() - startMs;
    };
    expect(await waited('1')).toBeGreaterThan(990);
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2000);
    await waited(date.toUTCString());
    expect(Date.now()).toBeGreaterThan(date.getTime() - 20);

    network.requests.length = 0;
    network.fate = () => ({
      status: 429,
      headers: { 'retry-after': '3600' },
      body: '{"code":"RATE_LIMITED","detail":"slowly"}',
    });
    const error = await failure(client.page());
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      detail: 'slowly',
      retryAfterMs: 3_600_000,
    });
    expect(network.requests.length).toBe(1);
  });

  test('a signal ends a wait at once', async () => {
    network.fate = () => ({ status: 503, headers: { 'retry-after': '60' } });
    const startMs = performance.now();
    const error = await failure(client.page({ signal: AbortSignal.timeout(200) }));
    expect(error.kind).toBe('aborted');
    expect(performance.now() - startMs).toBeLessThan(20_000);
  });

  test('a server that says nothing is given up in time', async () => {
    const silent = await openServer(() => {});
    const baseUrl = silent.address;
    const hasty = clientWith({ baseUrl, timeoutMs: 100, retries: { ...quick, times: 1 } });
    expect(await failure(hasty.task(1))).toMatchObject({ kind: 'network', code: 'TIMEOUT' });
    await silent.close();
  });
});

describe('waitFor', () => {
  test('streams that end in the middle are opened again, and nothing is shown twice', async () => {
    const { process_id } = await client.createTask();
    // A stream that is cut before its first event would be one without news, and three of those are
    // enough.
    let heard = 0;
    const listening = clientWith({
      fetch: async (...call) => {
        const response = await fetch(...call);
        if (response.headers.get('content-type') !== 'text/event-stream') return response;
        const counted = new TransformStream<Uint8Array, Uint8Array>({
          transform(piece, controller) {
            controller.enqueue(piece);
            if (Buffer.from(piece).includes('\n\n')) heard++;
          },
        });
        return new Response(response.body!.pipeThrough(counted), response);
      },
    });
    const seen: TaskRecord[] = [];
    const waiting = listening.waitFor(process_id, {
      onProgress: (record) => seen.push(record),
      pollMs: [10, 10],
    });
    const streams = () => network.requests.filter((each) => each.endsWith('/events')).length;
    for (let cut = 1; cut <= 4; cut++) {
      await expect.poll(() => heard, LONG).toBeGreaterThanOrEqual(cut);
      network.cutAll();
    }
    await expect.poll(() => heard, LONG).toBeGreaterThanOrEqual(5);
    expect(streams()).toBeGreaterThanOrEqual(5);
    expect(seen.map(({ status }) => status)).toEqual(['wait for task file upload']);
    const direct = clientWith({ baseUrl: http.address });
    await direct.upload((await direct.renewUpload(process_id)).url, items);
    await direct.notify(process_id);
    expect((await waiting).status).toBe('completed');
    const shown = seen.map((record) => JSON.stringify({ ...record, result_path: '' }));
    expect(new Set(shown).size).toBe(shown.length);
    await client.remove(process_id);
  });

  test.each<[string, Fate]>([
    ['no such route', { status: 404 }],
    ['not allowed', { status: 405 }],
    ['too many streams', { status: 429, headers: { 'retry-after': '1' } }],
    ['a page in place of a stream', { status: 200, headers: { 'content-type': 'text/html' } }],
    ['streams without an event', { status: 200, headers: { 'content-type': 'text/event-stream' } }],
    [
      'events that are no records',
      {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: 'data: {"hello":1}\n\n',
      },
    ],
    ['a connection that breaks', 'before'],
  ])('without events it polls: %s', async (_, fate) => {
    network.fate = (request) => (request.endsWith('/events') ? fate : 'pass');
    const { process_id } = await client.submit(items);
    const record = await client.waitFor(process_id, { pollMs: [10, 50] });
    expect(record.status).toBe('completed');
    expect(network.requests).toContain(`GET /v1/svc/tasks/${process_id}`);
    await client.remove(process_id);
  });

  test('a server that is away for a while is waited for; one that stays away is not', async () => {
    const { process_id } = await client.submit(items);
    network.fate = () => 'before';
    setTimeout(() => {
      network.fate = () => 'pass';
    }, 1500);
    const patient = clientWith({ retries: { ...quick, times: 0 } });
    expect((await patient.waitFor(process_id, { pollMs: [10, 50] })).status).toBe('completed');

    network.fate = () => 'before';
    const startMs = performance.now();
    const error = await failure(patient.waitFor(process_id, { pollMs: [10, 50], patienceMs: 300 }));
    expect(error.kind).toBe('network');
    // Not the two minutes of patience that it has by itself.
    expect(performance.now() - startMs).toBeLessThan(40_000);
    await clientWith({ baseUrl: http.address }).remove(process_id);
  });
});

describe('uploads', () => {
  test('progress never says more than there is, and all only when the server has it', async () => {
    const { url } = await client.createTask();
    network.fate = firstOnly('after', /^PUT /);
    const large = ' '.repeat(3_000_000);
    const seen: number[] = [];
    await client.upload(url, `[]${large}`, { onProgress: ({ done }) => seen.push(done) });
    expect(Math.max(...seen)).toBe(3_000_002);
    expect(seen.filter((done) => done === 3_000_002).length).toBe(1);
    // It was sent twice, so it went back to nothing once.
    expect(seen.filter((done, i) => i > 0 && done < seen[i - 1]!).length).toBe(1);
    expect(network.headers.filter((each) => each['content-length'] === '3000002').length).toBe(2);
  });

  test('whole: nothing is claimed before the answer', async () => {
    const whole = clientWith({ uploadBy: 'whole' });
    const { url } = await whole.createTask();
    const seen: number[] = [];
    await whole.upload(url, items, { onProgress: ({ done }) => seen.push(done) });
    expect(seen.length).toBe(2);
    expect(seen[0]).toBe(0);
  });

  test('a refusal in the middle is a refusal, and nothing hangs', async ({ start }) => {
    const small = await start({ threads: 1, maxBodyBytes: 100_000, workers: false });
    const own = clientWith({ baseUrl: small.address, apiKey: small.alice });
    const ticket = await own.createTask();
    const error = await failure(
      own.upload(ticket, `[${' '.repeat(5_000_000)}]`, { onProgress: () => {} }),
    );
    expect([error.status ?? error.kind]).toEqual([413]);
  });
});
