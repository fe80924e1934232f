/**
 * A service on several hosts, as processes: two that serve, one with files past it and one with
 * files through it, and two that work, on one PostgreSQL and one bucket.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem } from '../../src/wire/triple.ts';
import { expectProblem, toAnswer } from '../middleware/support.ts';
import { makeItems } from '../middleware/triples.ts';
import { fact } from '../support/facts.ts';
import { Line, overPostgres, type PostgresServer } from '../support/postgres.ts';
import { hasRgw, openRgw, type Rgw } from '../support/rgw.ts';
import { ask, completed, type Host, Hosts } from './hosts.ts';

const AGGSIGN = '/v1/svc/aggsign';
/** Long enough for a busy machine, short enough to be waited for. */
const LEASE_MS = 2000;

const DEBUG = ['--log-level', 'debug'];

let rgw: Rgw;
let hosts: Hosts;
let key: string;
let through: Host;
let direct: Host;
let workers: Host[];
/** Takes a worker long enough to be disturbed. */
let batch: TaskItem[];

const work = () =>
  hosts.start('worker', '--threads', '1', '--lease', `${LEASE_MS}ms`, '--grace', '0s', ...DEBUG);
const record = async (host: Host, id: number) =>
  (await ask(key, host, 'GET', `/v1/svc/tasks/${id}`)).json;
const submit = async (host: Host, items: readonly TaskItem[]): Promise<number> => {
  const data = JSON.parse(formatTaskFile(items));
  const answer = await ask(key, host, 'POST', AGGSIGN, { data });
  expect(answer.status, answer.text).toBe(202);
  return answer.json.process_id;
};
/** A line of a worker's metrics; 0 if it is not there. */
const metric = async ({ metrics }: Host, name: string) => {
  const lines = (await (await fetch(`${metrics}/metrics`)).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1] ?? 0);
};
const inWork = (worker: Host) => metric(worker, 'falconry_tasks_in_work');
/** The worker that works on the only task there is. */
const busy = async (): Promise<Host> => {
  for (const endMs = Date.now() + 20_000; Date.now() < endMs; await sleep(20)) {
    for (const worker of workers) if ((await inWork(worker)) > 0) return worker;
  }
  throw new Error('no worker has taken the task');
};

async function begin(server: PostgresServer): Promise<void> {
  rgw = await openRgw();
  batch = makeItems(1722, 4);
  await server.query('CREATE DATABASE scaled');
  hosts = new Hosts(server, 'scaled', rgw);
  await hosts.run('migrate');
  ({ key } = await hosts.run('keys', 'create', '--name', 'alice'));
  const serve = ['serve', '--port', '0', '--no-workers', '--threads', '1'];
  const files = ['--transfers', 'through'];
  [through, direct, ...workers] = await Promise.all([
    hosts.start(...serve, ...files, '--drain-delay', '2s'),
    hosts.start(...serve),
    work(),
    work(),
  ]);
}

/** From the creation of a task at one host to its removal at the other. */
async function follow(name: string, other: string): Promise<void> {
  const named: Record<string, Host> = { through, direct };
  const [own, far] = [named[name]!, named[other]!];
  const items = makeItems(12, 3);
  const created = await ask(key, own, 'POST', `${AGGSIGN}/task`);
  expect(created.status).toBe(201);
  const { process_id: id, url } = created.json;
  const origin = name === 'through' ? own.base : rgw.endpoint;
  expect(new URL(url).origin).toBe(origin);
  expectProblem(await ask(key, far, 'POST', `${AGGSIGN}/notify/${id}`), 409, 'NOT_UPLOADED');

  const headers = { 'content-type': 'application/json' };
  const put = await fetch(url, { method: 'PUT', body: formatTaskFile(items), headers });
  expect(put.status).toBe(200);
  expect((await ask(key, own, 'POST', `${AGGSIGN}/notify/${id}`)).status).toBe(202);
  const done = await completed(key, far, id);
  expect(done).toMatchObject({ process_id: id, batch_size: 12 });
  for (const host of [own, far]) {
    const { tasks } = (await ask(key, host, 'GET', '/v1/svc/tasks?status=completed')).json;
    expect(tasks.map((task: { id: number }) => task.id)).toContain(id);
  }
  const files = await Promise.all(
    [own, far].map(async (host) => {
      const found = await ask(key, host, 'GET', `/v1/svc/tasks/${id}/result`);
      expect(found.status).toBe(302);
      const place = found.headers.get('location')!;
      expect(new URL(place).origin).toBe(host === direct ? rgw.endpoint : host.base);
      return (await fetch(place)).text();
    }),
  );
  expect(files[1]).toBe(files[0]);
  expect(verifyResultFile(parseResultFile(files[0]!), items)).toBe(true);

  const { aggregate } = JSON.parse(files[0]!);
  const statements = JSON.parse(formatTaskFile(items)).map(
    ({ digest, public_key }: Record<string, string>) => ({ digest, public_key }),
  );
  const verify = (list: unknown[]) =>
    ask(key, far, 'POST', `${AGGSIGN}/verify`, { aggregate, statements: list });
  expect((await verify(statements)).json).toEqual({ valid: true });
  expect((await verify(statements.toReversed())).json.valid).toBe(false);

  expect((await ask(key, far, 'DELETE', `/v1/svc/tasks/${id}`)).status).toBe(204);
  expectProblem(await ask(key, own, 'GET', `/v1/svc/tasks/${id}`), 404);
}

describe.skipIf(!hasRgw())('on several hosts', () => {
  overPostgres('newest', (server) => {
    beforeAll(() => begin(server()));
    afterAll(() => hosts?.end());
    requests();
    endings();
    secondSignal();
    vanished(server);
  });
});

function requests(): void {
  it.each([
    ['through', 'direct'],
    ['direct', 'through'],
  ])('a task of the host %s, seen from the host %s', follow);

  it('one Idempotency-Key makes one task, at whichever host it arrives', async () => {
    const data = JSON.parse(formatTaskFile(makeItems(2)));
    const post = (host: Host) =>
      ask(key, host, 'POST', AGGSIGN, { data }, { 'idempotency-key': 'once' });
    const first = await post(through);
    const second = await post(direct);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.json.process_id).toBe(first.json.process_id);
    await completed(key, direct, first.json.process_id);
  });

  it('a worker answers for its health and its metrics, and for nothing else', async () => {
    const [{ metrics }] = workers as [Host];
    const get = async (path: string) => toAnswer(await fetch(metrics + path));
    expect((await get('/healthz')).status).toBe(200);
    const checks = { store: 'ok', blobs: 'ok' };
    expect((await get('/readyz')).json).toEqual({ status: 'ready', state: 'running', checks });
    expect((await get('/metrics')).text).toMatch(/^falconry_claims_total \d+$/m);
    for (const path of ['/v1/svc/tasks', '/v1/openapi.json', '/v1/ui']) {
      expect((await get(path)).status).toBe(404);
    }
  });

  it('a revoked key is refused by both at once', async () => {
    const bob = await hosts.run('keys', 'create', '--name', 'bob');
    const list = (host: Host) => ask(bob.key, host, 'GET', '/v1/svc/tasks');
    expect((await list(through)).json).toEqual({ tasks: [], next: '' });
    expect((await list(direct)).status).toBe(200);
    await hosts.run('keys', 'revoke', bob.sha256.slice(0, 16));
    for (const host of [through, direct]) expectProblem(await list(host), 401);
  });

  it('signing is off, and no key was made', async () => {
    const digest = '0x00';
    expectProblem(await ask(key, direct, 'POST', '/v1/falcon/sign', { digest }), 403);
    expect(await hosts.run('keys', 'list')).toEqual([expect.objectContaining({ name: 'alice' })]);
  });

  it('what an operator asks of the database', async () => {
    expect(await hosts.run('queue')).toEqual([]);
    const nothing = await hosts.try('retry', '123');
    expect([nothing.code, JSON.parse(nothing.stdout).code]).toEqual([1, 'NOT_FOUND']);
  });
}

function endings(): void {
  it('a worker that is killed loses its task to the other', async (context) => {
    const id = await submit(through, batch);
    const victim = await busy();
    const [survivor] = workers.filter((worker) => worker !== victim);
    const killedMs = performance.now();
    victim.process.kill('SIGKILL');
    await victim.process.ended;
    expect((await record(direct, id)).status).not.toBe('completed');
    while ((await inWork(survivor!)) === 0) await sleep(20);
    const takenMs = performance.now() - killedMs;
    expect(takenMs).toBeLessThan(LEASE_MS + 3000);
    await completed(key, direct, id);
    expect(await metric(survivor!, 'falconry_attempts_total{outcome="lost"}')).toBe(0);
    expect(await metric(survivor!, 'falconry_attempts_total{outcome="failed"}')).toBe(0);
    workers = [survivor!, await work()];
    const seconds = (takenMs / 1000).toFixed(1);
    fact(context, 'several hosts', `a killed worker’s task was taken over after ${seconds} s`);
  });

  it('a worker that is stopped gives its task back at once', async () => {
    const id = await submit(direct, batch);
    const leaving = await busy();
    const others = workers.filter((worker) => worker !== leaving);
    leaving.process.kill('SIGTERM');
    const { code, stderr } = await leaving.process.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('"type":"released"')]);
    await completed(key, through, id);
    workers = others;
  });

  it('a host that is stopped says so, and serves on for the drain delay', async () => {
    expect((await fetch(`${through.base}/readyz`)).status).toBe(200);
    const startMs = performance.now();
    through.process.kill('SIGTERM');
    await sleep(300);
    const asked = await fetch(`${through.base}/readyz`);
    expect(asked.status).toBe(503);
    expect(await asked.json()).toMatchObject({ state: 'draining' });
    const id = await submit(through, makeItems(2));
    const { code } = await through.process.ended;
    expect(code).toBe(0);
    expect(performance.now() - startMs).toBeGreaterThan(2000);
    await completed(key, direct, id);
  });
}

function secondSignal(): void {
  it('a second signal ends a worker at once', async () => {
    for (const worker of workers) worker.process.kill('SIGTERM');
    await Promise.all(workers.map((worker) => worker.process.ended));
    workers = [await hosts.start('worker', '--threads', '1', '--grace', '60s')];
    await submit(direct, batch);
    const { process, metrics } = await busy();
    process.kill('SIGTERM');
    const answers = async () => (await fetch(`${metrics}/readyz`)).status;
    while ((await answers()) === 200) await sleep(20);
    const startMs = performance.now();
    process.kill('SIGTERM');
    expect((await process.ended).code).toBe(null);
    expect(performance.now() - startMs).toBeLessThan(2000);
  });
}

function vanished(server: () => PostgresServer): void {
  it('end after their grace when the database has vanished', async () => {
    await server().query('CREATE DATABASE vanished');
    const line = new Line(server().folder);
    const behind = new Hosts({ ...server(), url: await line.start() }, 'vanished', rgw);
    try {
      await behind.run('migrate');
      const args = ['--threads', '1', '--grace', '1s'];
      const both = await Promise.all([
        behind.start('serve', '--port', '0', ...args),
        behind.start('worker', ...args),
      ]);
      line.mode = 'stopped';
      const asked = ask('a-key', both[0], 'GET', '/v1/svc/tasks').catch(() => null);
      const startMs = performance.now();
      for (const { process } of both) process.kill('SIGTERM');
      const ended = await Promise.all(both.map(({ process }) => process.ended));
      expect(ended.map(({ code }) => code)).toEqual([0, 0]);
      expect(performance.now() - startMs).toBeLessThan(9000);
      await asked;
    } finally {
      await behind.end();
      await line.stop();
    }
  });
}
