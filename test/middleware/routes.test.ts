import { Hono } from 'hono';
import { describe, expect } from 'vitest';
import { falconService } from '../../src/middleware/index.ts';
import { expectProblem, heldBody, serviceTest } from './support.ts';
import { makeMixedTriples, makeTriples } from './triples.ts';

const AGGSIGN = '/v1/svc/aggsign';
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

// No workers: what is accepted stays in the queue, where it can be looked at.
const { it, http } = serviceTest({ workers: false });

describe('the three steps', () => {
  const record = (id: number) => http.record(id);

  it('creates a task: 201, Location, an absolute url; no body needed', async () => {
    const beforeMs = Date.now();
    const created = await http.ask('POST', `${AGGSIGN}/task`);
    const afterMs = Date.now();
    expect(created.status).toBe(201);
    const { process_id, url, expires_at } = created.json;
    expect(Number.isSafeInteger(process_id)).toBe(true);
    expect(url.startsWith(`${http.address}/v1/svc/`)).toBe(true);
    expect(created.headers.get('location')).toBe(`${http.address}/v1/svc/tasks/${process_id}`);
    expect(expires_at).toMatch(SECONDS);
    const expiresMs = Date.parse(expires_at);
    expect(expiresMs).toBeGreaterThan(beforeMs + 3_599_000);
    expect(expiresMs).toBeLessThanOrEqual(afterMs + 3_601_000);
  });

  it('has the progress record of the contract in every step', async () => {
    const beforeMs = Date.now();
    const { process_id, url } = (await http.ask('POST', `${AGGSIGN}/task`)).json;
    const afterMs = Date.now();
    const first = await record(process_id);
    expect(first).toMatchObject({
      client_id: 1,
      process_id,
      status: 'wait for task file upload',
      batch_size: 0,
    });
    expect(first.VCPUs).toBeGreaterThanOrEqual(1);
    expect(first.request_utc_time).toMatch(SECONDS);
    expect(first.latest_status_update_iso_utc_time).toMatch(SECONDS);
    const requestedMs = Date.parse(first.request_utc_time);
    expect(requestedMs).toBeGreaterThan(beforeMs - 1000);
    expect(requestedMs).toBeLessThan(afterMs + 1000);

    const put = await http.ask('PUT', url, makeTriples(2), { key: null });
    expect(put.status).toBe(200);
    expect(put.json.process_id).toBe(process_id);
    expect((await record(process_id)).status).toBe('wait for notification');

    const notified = await http.ask('POST', `${AGGSIGN}/notify/${process_id}`);
    expect(notified.status).toBe(202);
    expect(notified.headers.get('location')).toBe(`${http.address}/v1/svc/tasks/${process_id}`);
    expect(notified.json.status).toBe('wait for falcon signature verify');
    expect(await record(process_id)).toEqual(notified.json);

    for (const body of [undefined, {}, { anything: [1, 2] }]) {
      const again = await http.ask('POST', `${AGGSIGN}/notify/${process_id}`, body);
      expect(again.status).toBe(202);
      expect(again.json).toEqual(notified.json);
    }
  });

  it('refuses a notification before the upload', async () => {
    const { process_id } = (await http.ask('POST', `${AGGSIGN}/task`)).json;
    expectProblem(await http.ask('POST', `${AGGSIGN}/notify/${process_id}`), 409, 'NOT_UPLOADED');
    expect((await record(process_id)).status).toBe('wait for task file upload');
  });

  it('cancels a task on DELETE, and removes it on the second one', async () => {
    const { process_id, url } = (await http.ask('POST', `${AGGSIGN}/task`)).json;
    await http.ask('PUT', url, '[]', { key: null });
    await http.ask('POST', `${AGGSIGN}/notify/${process_id}`);
    const path = `/v1/svc/tasks/${process_id}`;
    const cancelled = await http.ask('DELETE', path);
    expect(cancelled.status).toBe(200);
    expect(cancelled.json.status).toBe('cancelled');
    expect((await record(process_id)).status).toBe('cancelled');
    // The first notification was accepted: a repeat still gets the current record.
    const again = await http.ask('POST', `${AGGSIGN}/notify/${process_id}`);
    expect(again.status).toBe(202);
    expect(again.json.status).toBe('cancelled');
    expectProblem(await http.ask('GET', `${path}/result`), 409, 'CONFLICT');
    const removed = await http.ask('DELETE', path);
    expect(removed.status).toBe(204);
    expect(removed.text).toBe('');
    expectProblem(await http.ask('GET', path), 404, 'NOT_FOUND');
    expectProblem(await http.ask('DELETE', path), 404, 'NOT_FOUND');
  });
});

describe('the direct request', () => {
  it('answers 202 with the record of a waiting task', async () => {
    const answer = await http.ask('POST', AGGSIGN, { data: makeTriples(3) });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({
      status: 'wait for falcon signature verify',
      batch_size: 3,
      client_id: 1,
    });
    const path = `/v1/svc/tasks/${answer.json.process_id}`;
    expect(answer.headers.get('location')).toBe(http.address + path);
    expect((await http.ask('GET', path)).json).toEqual(answer.json);
  });

  it('takes 1722 signatures and not one more', async () => {
    const [triple] = makeTriples(1);
    const most = await http.ask('POST', AGGSIGN, { data: Array(1722).fill(triple) });
    expect(most.status, most.text).toBe(202);
    expect(most.json.batch_size).toBe(1722);
    const over = await http.ask('POST', AGGSIGN, { data: Array(1723).fill(triple) });
    expectProblem(over, 422, 'TOO_MANY_ITEMS');
    expect(over.json.errors).toEqual([expect.objectContaining({ path: '/data' })]);
  });

  it('takes both parameter sets in one batch, and members of the client in any place', async () => {
    const mixed = makeMixedTriples(4).map((triple, index) => ({ ...triple, note: { index } }));
    const answer = await http.ask('POST', AGGSIGN, { data: mixed, comment: 'mine' });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.json.batch_size).toBe(4);
  });

  it('names the first hundred faults, and how many there are', async () => {
    const [triple] = makeTriples(1);
    const data = Array.from({ length: 300 }, (_, i) =>
      i % 2 ? triple : { ...triple, digest: '0xZZ' },
    );
    const answer = await http.ask('POST', AGGSIGN, { data });
    expectProblem(answer, 422, 'INVALID_BODY');
    expect(answer.json.errors).toHaveLength(100);
    expect(answer.json.errors_total).toBe(150);
    expect(answer.json.errors[1]).toEqual({
      path: '/data/2/digest',
      code: 'digit',
      message: expect.stringContaining('hex'),
    });
  });
});

describe('Idempotency-Key', () => {
  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
  const total = async () => (await http.ask('GET', '/v1/svc/tasks?limit=1000')).json.tasks.length;

  it('replays the creation of a task', async () => {
    const first = await http.ask('POST', `${AGGSIGN}/task`, undefined, withKey('create-1'));
    const before = await total();
    const again = await http.ask('POST', `${AGGSIGN}/task`, undefined, withKey('"create-1"'));
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(await total()).toBe(before);
    const put = await http.ask('PUT', again.json.url, '[]', { key: null });
    expect(put.status).toBe(200);
  });

  it('replays a direct request, and refuses the key for another body or endpoint', async () => {
    const data = makeTriples(2);
    const first = await http.ask('POST', AGGSIGN, { data }, withKey('direct-1'));
    expect(first.status).toBe(202);
    const before = await total();
    const again = await http.ask('POST', AGGSIGN, { data }, withKey('direct-1'));
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const other = await http.ask('POST', AGGSIGN, { data: data.slice(1) }, withKey('direct-1'));
    expectProblem(other, 422, 'IDEMPOTENCY_MISMATCH');
    const elsewhere = await http.ask('POST', `${AGGSIGN}/task`, undefined, withKey('direct-1'));
    expectProblem(elsewhere, 422, 'IDEMPOTENCY_MISMATCH');
    expect(await total()).toBe(before);
  });

  it('belongs to its client', async () => {
    const options = { ...withKey('create-1'), key: http.bob };
    const bobs = await http.ask('POST', `${AGGSIGN}/task`, undefined, options);
    expect(bobs.status).toBe(201);
    const record = await http.ask('GET', `/v1/svc/tasks/${bobs.json.process_id}`);
    expectProblem(record, 404);
  });

  it('makes one task of many requests at once', async () => {
    const data = makeTriples(1);
    const before = await total();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => http.ask('POST', AGGSIGN, { data }, withKey('storm'))),
    );
    const done = answers.filter(({ status }) => status === 202);
    expect(done.length).toBeGreaterThanOrEqual(1);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers) {
      if (answer.status !== 202) expectProblem(answer, 409, 'IDEMPOTENCY_CONFLICT');
    }
    expect(await total()).toBe(before + 1);
  });

  it('is free again after a request that was refused', async () => {
    const bad = await http.ask('POST', AGGSIGN, { data: [] }, withKey('retry'));
    expectProblem(bad, 422);
    const good = await http.ask('POST', AGGSIGN, { data: makeTriples(1) }, withKey('retry'));
    expect(good.status).toBe(202);
  });

  it.each(['""', 'with space', 'x'.repeat(256), 'a"b'])('refuses the key %s', async (key) => {
    const answer = await http.ask('POST', `${AGGSIGN}/task`, undefined, withKey(key));
    expectProblem(answer, 400, 'INVALID_HEADER');
  });
});

describe('under another name, path or address', () => {
  it('has the service name in its paths', async ({ start }) => {
    const http = await start({ serviceName: 'pq-sign', workers: false });
    const created = await http.ask('POST', '/v1/pq-sign/aggsign/task');
    expect(created.status).toBe(201);
    expect(created.json.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/pq-sign\//);
    expectProblem(await http.ask('GET', '/v1/svc/tasks'), 404);
    const none = await http.ask('GET', '/v1/pq-sign/tasks', undefined, { key: null });
    expect(none.headers.get('www-authenticate')).toBe('ApiKey realm="pq-sign"');
  });

  it('works mounted in a host, which keeps its own routes and its own 404', async ({ start }) => {
    const http = await start({ workers: false });
    const host = new Hono();
    host.get('/hello', (c) => c.text('hello'));
    host.route('/deep/falcon', http.service.app);
    host.get('/deep/falcon/v1/own', (c) => c.text('own'));
    const ask = (path: string, init: RequestInit = {}) =>
      host.request(`https://host.example${path}`, {
        ...init,
        headers: { authorization: http.alice, 'content-type': 'application/json' },
      });
    const created = await ask('/deep/falcon/v1/svc/aggsign/task', { method: 'POST' });
    const { url, process_id } = (await created.json()) as { url: string; process_id: number };
    expect(url.startsWith('https://host.example/deep/falcon/v1/svc/uploads/')).toBe(true);
    const put = await host.request(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '[]',
    });
    expect(put.status).toBe(200);
    const record = await ask(`/deep/falcon/v1/svc/tasks/${process_id}`);
    expect(record.status).toBe(200);
    expect(await (await ask('/hello')).text()).toBe('hello');
    expect(await (await ask('/deep/falcon/v1/own')).text()).toBe('own');
    expect(await (await ask('/nowhere')).text()).toBe('404 Not Found');
    const missing = await ask('/deep/falcon/v1/svc/nowhere');
    expect(missing.headers.get('content-type')).toBe('application/problem+json');
    const wrong = await ask('/deep/falcon/v1/svc/tasks', { method: 'PATCH' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('puts the public address into its urls; believes a proxy only when told to', async ({
    start,
  }) => {
    const forwarded = {
      headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'falcon.example' },
    };
    for (const [options, base] of [
      [{}, 'http://127.0.0.1:'],
      [{ trustProxy: true }, 'https://falcon.example/v1/'],
      [{ publicUrl: 'https://x.example/a/b/' }, 'https://x.example/a/b/v1/svc/'],
    ] as const) {
      const http = await start({ workers: false, ...options });
      const created = await http.ask('POST', `${AGGSIGN}/task`, undefined, forwarded);
      expect(created.json.url.startsWith(base), created.json.url).toBe(true);
      expect(created.headers.get('location')!.startsWith(base)).toBe(true);
    }
  });

  it('starts once, and after its stop refuses with 503 for good', async ({ start }) => {
    const http = await start({ workers: false });
    expect(http.service.start()).toBe(http.service.start());
    const stopping = http.service.stop();
    expect(http.service.stop()).toBe(stopping);
    expectProblem(await http.ask('GET', '/v1/svc/tasks'), 503, 'SHUTTING_DOWN');
    await stopping;
    expectProblem(await http.ask('GET', '/v1/svc/tasks'), 503, 'SHUTTING_DOWN');
    await expect(http.service.start()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('lets a request finish that was under way when it was stopped', async ({ start }) => {
    const http = await start({ workers: false });
    const text = JSON.stringify({ data: makeTriples(1) });
    const { body, taken, finish } = heldBody(text.slice(0, 10), text.slice(10));
    const headers = { authorization: http.alice, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const answer = http.service.app.request('http://falcon.test/v1/svc/aggsign', init);
    await taken;
    let stopped = false;
    const stopping = http.service.stop({ graceMs: 600_000 }).then(() => {
      stopped = true;
    });
    expectProblem(await http.ask('GET', '/v1/svc/tasks'), 503, 'SHUTTING_DOWN');
    expect(stopped).toBe(false);
    finish();
    expect((await answer).status).toBe(202);
    await stopping;
  });

  it('keeps tasks, urls and keys over a restart', async ({ start }) => {
    const http = await start({ onDisk: true, workers: false });
    const { process_id, url } = (await http.ask('POST', `${AGGSIGN}/task`)).json;
    const signed = (await http.ask('POST', '/v1/falcon/sign', { digest: '0x00' })).json;
    await http.service.stop();
    const again = falconService({ dataDirectory: http.directory, signing: true, workers: false });
    await again.start();
    const headers = { authorization: http.alice, 'content-type': 'application/json' };
    const put = await again.app.request(url, { method: 'PUT', headers, body: '[]' });
    expect(put.status).toBe(200);
    const record = await again.app.request(`/v1/svc/tasks/${process_id}`, { headers });
    expect(await record.json()).toMatchObject({ status: 'wait for notification' });
    const body = '{"digest":"0x00"}';
    const resigned = await again.app.request('/v1/falcon/sign', { method: 'POST', headers, body });
    expect(await resigned.json()).toMatchObject({ public_key: signed.public_key });
    await again.stop();
  });
});
