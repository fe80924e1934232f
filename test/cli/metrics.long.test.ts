/** What the operator of a server sees: the metrics port, the access log, and when it is ready. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { falconry, type Running } from '../middleware/process.ts';
import { type Answer, toAnswer } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';
import { falconryHere } from './cli.ts';

interface Server {
  readonly process: Running;
  readonly base: string;
  readonly metrics: string;
  readonly key: string;
}

async function serve(data: string, ...args: string[]): Promise<Server> {
  const process = falconry(['serve', '--port', '0', '--data', data, '--json', ...args]);
  const [line] = await process.printed(/^\{"ok":true.*\}\n/);
  const { address, metrics_port, api_key } = JSON.parse(line);
  const metrics = `http://127.0.0.1:${metrics_port}`;
  return { process, base: address, metrics, key: api_key };
}

const get = async (url: string, headers = {}): Promise<Answer> =>
  toAnswer(await fetch(url, { headers }));

/** The value of a metric, by its name and labels as they are written; 0 if there is none. */
function metricOf(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

describe('a server with a metrics port', () => {
  let data: string;
  let server: Server;
  let taskId = 0;
  const post = (path: string, body: object, headers = {}) =>
    fetch(server.base + path, {
      method: 'POST',
      headers: { authorization: server.key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'falconry-metrics-'));
    server = await serve(data, '--metrics-port', '0', '--log', 'json', '--threads', '1');
    const made = await post('/v1/svc/aggsign?note=private', { data: makeTriples(5) });
    taskId = ((await made.json()) as { process_id: number }).process_id;
    const [first, second] = makeTriples(2) as [object, { signature: string }];
    const bad = { data: [{ ...first, signature: second.signature }] };
    await post('/v1/svc/aggsign', bad, {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    for (;;) {
      const { text } = await get(`${server.metrics}/metrics`);
      const sum = (of: RegExp) => [...text.matchAll(of)].reduce((all, [, n]) => all + Number(n), 0);
      const ended = sum(/^falconry_attempts_total\{outcome="(?:completed|failed)"\} (\d+)$/gm);
      const working = '(?:_in_work|\\{state="(?:waiting|verifying|aggregating)"\\})';
      if (ended === 2 && sum(new RegExp(`^falconry_tasks${working} (\\d+)$`, 'gm')) === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await get(`${server.base}/somewhere/else?note=private`);
  });
  afterAll(async () => {
    server.process.kill('SIGKILL');
    await server.process.ended;
    await rm(data, { recursive: true, force: true });
  });

  it('says on both ports whether it is ready, without a key', async () => {
    for (const base of [server.base, server.metrics]) {
      expect(await get(`${base}/healthz`)).toMatchObject({ status: 200, json: { status: 'ok' } });
      expect(await get(`${base}/readyz`)).toMatchObject({
        status: 200,
        json: { status: 'ready', state: 'running', checks: { store: 'ok', blobs: 'ok' } },
      });
    }
  });

  it('has its metrics there, and not on the public port', async () => {
    expect((await get(`${server.base}/metrics`)).status).toBe(404);
    expect((await get(`${server.base}/status`)).status).toBe(404);
    expect((await get(`${server.metrics}/status`)).status).toBe(404);
    expect((await get(`${server.metrics}/v1/svc/tasks`)).status).toBe(404);
    const { status, headers, text } = await get(`${server.metrics}/metrics`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const labels = 'route="/v1/svc/aggsign",method="POST",status="202"';
    expect(metricOf(text, `http_requests_total{${labels}}`)).toBe(2);
    expect(metricOf(text, `http_request_duration_seconds_count{${labels}}`)).toBe(2);
    expect(metricOf(text, 'http_requests_total{route="*",method="GET",status="404"}')).toBe(3);
    for (const [name, value] of Object.entries({
      'falconry_tasks{state="waiting"}': 0,
      'falconry_tasks{state="quarantined"}': 0,
      falconry_oldest_waiting_seconds: 0,
      falconry_tasks_in_work: 0,
      falconry_threads: 1,
      falconry_ready: 1,
      falconry_claims_total: 2,
      'falconry_attempts_total{outcome="completed"}': 1,
      'falconry_attempts_total{outcome="failed"}': 1,
      falconry_lost_leases_total: 0,
      falconry_stale_writes_total: 0,
      falconry_signatures_total: 5,
      'falconry_task_phase_seconds_count{phase="aggregate"}': 1,
      'falconry_store_seconds_count{verb="finish"}': 1,
      'falconry_blob_seconds_count{verb="read"}': 2,
    })) {
      expect(text, name).toContain(`\n${name} `);
      expect(metricOf(text, name), name).toBe(value);
    }
    expect(text).toMatch(/\nfalconry_result_bytes_count\{format="(bundle|proof)"\} 1\n/);
    expect(metricOf(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(metricOf(text, 'falconry_disk_free_bytes')).toBeGreaterThan(1e6);
    expect(metricOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('never has a client, a task, an address or a query in a label', async () => {
    const { text } = await get(`${server.metrics}/metrics`);
    const labels = [...text.matchAll(/(\w+)="([^"]*)"/g)];
    const ours = labels.filter(
      ([, name]) => !/^(le|type|kind|space|version|major|minor|patch)$/.test(name!),
    );
    expect(new Set(ours.map(([, name]) => name))).toEqual(
      new Set(['route', 'method', 'status', 'state', 'outcome', 'phase', 'format', 'verb']),
    );
    for (const secret of [server.key, String(taskId), 'private', '127.0.0.1']) {
      expect(text).not.toContain(secret);
    }
  });

  it('writes a line for every request, and for a task that failed', async () => {
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.process.ended;
    expect(code, stderr).toBe(0);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ message }) => message === 'request');
    // Those who ask for its health are not in the log.
    expect(requests).toHaveLength(5);
    expect(requests[1]).toMatchObject({
      level: 'info',
      id: '0af7651916cd43dd8448eb211c80319c',
      method: 'POST',
      route: '/v1/svc/aggsign',
      status: 202,
      ms: expect.any(Number),
      bytes: expect.any(Number),
      client: 1,
      remote: '127.0.0.1',
    });
    expect(requests[2]).toMatchObject({ route: '*', status: 404 });
    const failed = lines.filter(({ message }) => message === 'task failed');
    expect(failed).toMatchObject([
      {
        level: 'info',
        requestId: '0af7651916cd43dd8448eb211c80319c',
        attempt: 1,
        code: 'INVALID_SIGNATURES',
      },
    ]);
    for (const secret of [server.key, 'private']) expect(stderr).not.toContain(secret);
  });
});

it('--log-level warn, no metrics port: nothing is written, nothing listens', async () => {
  const data = await mkdtemp(join(tmpdir(), 'falconry-metrics-'));
  const { process, base, metrics } = await serve(data, '--log-level', 'warn');
  try {
    await get(`${base}/v1/svc/tasks`);
    expect(metrics).toBe('http://127.0.0.1:null');
    process.kill('SIGTERM');
    const { stderr } = await process.ended;
    expect(stderr).toBe('');
  } finally {
    process.kill('SIGKILL');
    await process.ended;
    await rm(data, { recursive: true, force: true });
  }
});

it('at its end it says that it is draining, and serves until the delay is over', async () => {
  const data = await mkdtemp(join(tmpdir(), 'falconry-metrics-'));
  const { process, base, metrics } = await serve(
    data,
    '--metrics-port',
    '0',
    '--drain-delay',
    '60s',
  );
  try {
    process.kill('SIGTERM');
    let ready = await get(`${base}/readyz`);
    while (ready.status === 200) ready = await get(`${base}/readyz`);
    expect([ready.status, ready.json.state]).toEqual([503, 'draining']);
    expect((await get(`${metrics}/readyz`)).status).toBe(503);
    expect((await get(`${metrics}/metrics`)).text).toContain('\nfalconry_ready 0\n');
    expect((await get(`${base}/v1/svc/tasks`)).status).toBe(401);
  } finally {
    process.kill('SIGKILL');
    await process.ended;
    await rm(data, { recursive: true, force: true });
  }
});

it('a metrics port that is taken is told before anything starts', async () => {
  const data = await mkdtemp(join(tmpdir(), 'falconry-metrics-'));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const args = ['--port', '0', '--data', join(data, 'new'), '--metrics-port', String(port)];
    const { code, err } = await falconryHere(['serve', ...args]);
    expect(code).toBe(3);
    expect(err).toContain(`cannot listen on 127.0.0.1:${port}`);
    const check = await falconryHere(['doctor', ...args, '--metrics-host', '0.0.0.0']);
    expect(check.out).toMatch(/fault +metrics +cannot listen/);
    expect(check.out).toMatch(/warning +metrics +anyone who can reach 0\.0\.0\.0/);
  } finally {
    other.close();
    await rm(data, { recursive: true, force: true });
  }
});
