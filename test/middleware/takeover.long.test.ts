/**
 * Work that is stopped in the middle, for real: by its client, by the death of its thread, by the
 * end of the service.
 */
import { expect, vi } from 'vitest';
import { aggregate } from '../../src/aggregate/index.ts';
import {
  falconService,
  memoryStore,
  type ServiceEvent,
  type ServiceOptions,
} from '../../src/middleware/index.ts';
import { toHex } from '../../src/shared/bytes.ts';
import { isFinal } from '../../src/wire/taskStates.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { ruined, watchWorkers } from '../shared/threads/workers.ts';
import { it as base, expectProblem, type TestService } from './support.ts';
import { makeItems, makeTriples } from './triples.ts';

const DIRECT = '/v1/svc/aggsign';
const PATIENCE = { timeout: 250_000, interval: 2 };

/** A change of a task, as the service tells it. */
type Change = Extract<ServiceEvent, { type: 'task' }>;

interface Told {
  readonly http: TestService;
  /** Waits for a change of a task. */
  readonly until: (fits: (task: Change) => boolean) => Promise<Change>;
}

/** A service that tells the changes of its tasks. */
const it = base.extend<{ service: (options?: ServiceOptions) => Promise<Told> }>({
  service: async ({ start }, use) => {
    await use(async (options = {}) => {
      const changes: Change[] = [];
      const http = await start({
        onDisk: options.store === undefined,
        threads: 1,
        aggregateFormat: 'proof',
        // What comes to pass within a test does so without waiting for the end of a lease.
        leaseMs: 600_000,
        onEvent: (event) => event.type === 'task' && changes.push(event),
        ...options,
      });
      const until: Told['until'] = (fits) => vi.waitUntil(() => changes.find(fits), PATIENCE);
      return { http, until };
    });
  },
});

it('a task whose thread dies is taken over at once, and completed', async ({ service }) => {
  const workers = watchWorkers();
  const memory = memoryStore();
  const retries: unknown[] = [];
  const store: typeof memory = {
    ...memory,
    tasks: {
      ...memory.tasks,
      fail(id, attempt, error, retry) {
        retries.push([error.code, retry]);
        return memory.tasks.fail(id, attempt, error, retry);
      },
    },
  };
  const { http, until } = await service({ store });
  const { json } = await http.ask('POST', DIRECT, { data: makeTriples(60) });
  const id = json.process_id;
  await until((task) => task.taskId === id && task.state === 'aggregating');
  await workers[0]!.terminate();
  const task = await until((task) => task.taskId === id && task.state === 'completed');
  expect(task.attempt).toBe(2);
  expect(await memory.tasks.get(id)).toMatchObject({ attempt: 2, failures: 1, losses: 0 });
  expect(retries).toEqual([['THREAD_LOST', { delayMs: 0 }]]);
  // Two for the task, and one that has read the request.
  expect(workers).toHaveLength(3);
});

it('a cancelled task stops at once, and makes room for the next one', async ({ service }) => {
  const { http, until } = await service();
  const large = await http.ask('POST', DIRECT, { data: makeTriples(1722, 4) });
  const id = large.json.process_id;
  await until((task) => task.taskId === id && task.state === 'aggregating');
  const small = await http.ask('POST', DIRECT, { data: makeTriples(1) });
  const cancelled = await http.ask('DELETE', `/v1/svc/tasks/${id}`);
  expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled']);
  await until((task) => task.taskId === small.json.process_id && task.state === 'completed');
  expect((await http.ask('GET', `/v1/svc/tasks/${id}`)).json.status).toBe('cancelled');
});

it('a verification whose thread dies is refused, and can be asked again', async ({ service }) => {
  // The first thread dies with its first job.
  let isFirst = true;
  watchWorkers((url) => {
    if (!url.pathname.includes('taskWorker')) return url;
    const worker = isFirst ? ruined(url, 1, 'process.exit(3);') : url;
    isFirst = false;
    return worker;
  });
  const { http } = await service({ workers: false });
  const items = makeItems(1);
  const proof = await aggregate(items, { format: 'proof' });
  const body = { aggregate: `0x${toHex(proof)}`, statements: items.map(toTriple) };
  const ask = () => http.ask('POST', `${DIRECT}/verify`, body);
  expectProblem(await ask(), 503, 'THREAD_LOST');
  expect((await ask()).json).toEqual({ valid: true });
});

it('a service that stops lets its work end, and hands over what does not', async ({ service }) => {
  const { http, until } = await service();
  const quick = await http.ask('POST', DIRECT, { data: makeTriples(30) });
  await until((task) => task.taskId === quick.json.process_id && task.state === 'aggregating');
  await http.service.stop({ graceMs: 60_000 });
  const done = await until((task) => task.taskId === quick.json.process_id && isFinal(task.state));
  expect(done).toMatchObject({ state: 'completed', attempt: 1 });

  // The same directory, started again: what was accepted is there, and completed or completes.
  const options = { dataDirectory: http.directory, threads: 1, signing: false };
  const second = falconService({ ...options, aggregateFormat: 'proof' });
  await second.start();
  const headers = { authorization: http.alice, 'content-type': 'application/json' };
  const read = async (path: string, init: RequestInit = {}, from = second) => {
    const response = await from.app.request(path, { headers, ...init });
    return (await response.json()) as { status: string; process_id: number };
  };
  expect((await read(`/v1/svc/tasks/${quick.json.process_id}`)).status).toBe('completed');
  const body = JSON.stringify({ data: makeTriples(1722, 4) });
  const { process_id } = await read(DIRECT, { method: 'POST', body });
  while ((await read(`/v1/svc/tasks/${process_id}`)).status.startsWith('wait')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Had it waited for the proof, the task would be completed.
  await second.stop({ graceMs: 0 });

  const third = falconService({ ...options, workers: false });
  await third.start();
  const record = await read(`/v1/svc/tasks/${process_id}`, {}, third);
  expect(record.status).toBe('wait for falcon signature verify');
  await third.stop();
});
