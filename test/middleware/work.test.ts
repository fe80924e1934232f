/**
 * How a service works on tasks: how many at a time and who keeps house, the calls of its ports that
 * it reports, and what its log says, at which level.
 */
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { newInputKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { memoryStore, type PortCall, type ServiceEvent } from '../../src/middleware/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { timedPort } from '../../src/middleware/stores/timedPort.ts';
import { workLog } from '../../src/middleware/tasks/workLog.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { deferred } from '../../src/shared/wait.ts';
import { accepted, expectProblem, it, recordedLog, until } from './support.ts';
import { makeTriples } from './triples.ts';

const TASKS = 6;

it.for([
  [{}, 2],
  [{ parallelTasks: 1 }, 1],
  [{ parallelTasks: 4 }, 4],
] as const)('%j: %s tasks at a time', async ([options, expected], { start }) => {
  const events: ServiceEvent[] = [];
  const onEvent = (event: ServiceEvent) => events.push(event);
  const service = await start({ threads: 1, onEvent, ...options });
  const data = makeTriples(20);
  const post = () => service.ask('POST', '/v1/svc/aggsign', { data });
  await Promise.all(Array.from({ length: TASKS }, post));
  const outcomes = () =>
    events.flatMap((each) =>
      each.type === 'work' && /^(claimed|completed)$/.test(each.event.type)
        ? [each.event.type]
        : [],
    );
  await until(() => outcomes().length === 2 * TASKS);
  let running = 0;
  let most = 0;
  for (const type of outcomes()) {
    running += type === 'claimed' ? 1 : -1;
    most = Math.max(most, running);
  }
  expect([running, most]).toEqual([0, expected]);
});

it.for([true, false])('housekeeping %s: tasks whose time is over', async (keeps, { start }) => {
  let aheadMs = 0;
  const store = memoryStore({ nowMs: () => Date.now() + aheadMs });
  const events: ServiceEvent[] = [];
  const onEvent = (event: ServiceEvent) => events.push(event);
  const quick = { uploadUrlTtlMs: 1000, workers: false, threads: 1 };
  const service = await start({ ...quick, store, housekeeping: keeps, onEvent });
  const { process_id } = await service.create();
  aheadMs = 60_000;
  const seen = () => events.filter(({ type }) => type === 'swept').length;
  const begunMs = performance.now();
  await until(() => seen() >= 3 || performance.now() - begunMs > 2500);
  const { status } = await service.record(process_id);
  if (keeps) expect(status).toBe('expired');
  else expect([seen(), status]).toEqual([0, 'wait for task file upload']);
});

it('housekeeping is suspended and reported while the clock is suspect', async ({ start }) => {
  let offMs = 0;
  const store = memoryStore({ nowMs: Date.now, wallMs: () => Date.now() + offMs });
  const { id } = await accepted(
    store.tasks.put({ clientId: 1, state: 'created', threads: 1, ttlMs: 0 }),
  );
  offMs = 400 * 24 * 3_600_000;
  const events: ServiceEvent[] = [];
  const log = recordedLog();
  const quick = { uploadUrlTtlMs: 1000, workers: false, threads: 1, logger: log.logger };
  const onEvent = (event: ServiceEvent) => events.push(event);
  const { service } = await start({ ...quick, store, onEvent });
  const swept = () => events.filter((event) => event.type === 'swept');
  await until(() => swept().length >= 2);
  expect(swept()[0]).toMatchObject({ expired: 0, removed: 0 });
  expect(swept()[0]!.aheadMs).toBeGreaterThan(399 * 24 * 3_600_000);
  const warnings = log.entries.filter(({ level }) => level === 'warn');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ message: expect.stringMatching(/^clock is suspect/) });
  expect((await service.health()).ready).toBe(true);
  expect((await store.tasks.get(id))!.state).toBe('created');
  offMs = 0;
  await until(() => swept().at(-1)!.expired === 1);
  expect(swept().at(-1)!.aheadMs).toBe(0);
  const purge = { level: 'info', message: 'purged', expired: 1, removed: 0, forgotten: 0 };
  expect(log.entries).toContainEqual({ ...purge, files: 0 });
});

it('housekeeping removes no fresh file by a clock that differs from that of the store', async ({
  start,
  folder,
}) => {
  const DAY_MS = 24 * 3_600_000;
  const { tasks, ...rest } = memoryStore();
  const blobs = directoryBlobs({ path: folder });
  const files = [2, 5].map((days) => ({ days, key: newInputKey() }));
  for (const { days, key } of files) {
    await blobs.put(key, new Uint8Array(1), { maxBytes: 1 });
    await utimes(join(folder, key), new Date(), new Date(Date.now() - days * DAY_MS));
  }
  // This host is 3 days ahead of the others: a file of 2 days may have been written just now.
  const sweep: typeof tasks.sweep = async (options) => ({
    ...(await tasks.sweep(options)),
    nowMs: Date.now() - 3 * DAY_MS,
  });
  const cleaned = deferred<number>();
  const clean: typeof blobs.clean = (options) => {
    const work = blobs.clean(options);
    work.then(cleaned.resolve, cleaned.reject);
    return work;
  };
  await start({
    threads: 1,
    workers: false,
    store: { ...rest, tasks: { ...tasks, sweep } },
    blobs: { ...blobs, clean },
  });
  expect(await cleaned.promise).toBe(1);
  expect(await blobs.stat(files[0]!.key)).toMatchObject({ bytes: 1 });
});

it.each([
  [{ parallelTasks: 0 }, RangeError],
  [{ parallelTasks: 65 }, RangeError],
  [{ parallelTasks: '2' as never }, TypeError],
  [{ housekeeping: 1 as never }, TypeError],
])('%j is refused', (options, fault) => {
  expect(() => resolveOptions(options)).toThrow(fault);
});

describe('timed ports', () => {
  it('tell the verb, the time and the outcome of every call', async () => {
    const calls: PortCall[] = [];
    class Port {
      #answers = 0;
      readonly urls = {
        sign: async (text: string) => `${text}!`,
      };
      readonly name = 'port';
      async ask() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return ++this.#answers;
      }
      async fail() {
        throw new TypeError('no');
      }
      now() {
        return this.#answers;
      }
    }
    const port = timedPort(Object.freeze(new Port()), 'store', (call) => calls.push(call));
    expect(await port.ask()).toBe(1);
    await expect(port.fail()).rejects.toThrow(new TypeError('no'));
    expect(await port.urls.sign('a')).toBe('a!');
    expect([port.now(), port.name, 'ask' in port, 'other' in port]).toEqual([
      1,
      'port',
      true,
      false,
    ]);
    expect(port.ask).toBe(port.ask);
    expect(calls).toMatchObject([
      { port: 'store', verb: 'ask', failed: false },
      { port: 'store', verb: 'fail', failed: true },
      { port: 'store', verb: 'urls.sign', failed: false },
    ]);
    expect(calls[0]!.durationMs).toBeGreaterThan(15);
  });

  it('of a service tell what a task needs of store and files', async ({ start }) => {
    const calls: PortCall[] = [];
    const http = await start({ threads: 1, onPortCall: (call) => calls.push(call) });
    const { json } = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(2) });
    expect(await http.ended(json.process_id)).toMatchObject({ status: 'completed' });
    const verbs = new Set(calls.map(({ port, verb }) => `${port} ${verb}`));
    for (const verb of ['store put', 'store claim', 'store finish', 'blobs put', 'blobs read']) {
      expect(verbs).toContain(verb);
    }
    expect(calls.filter(({ failed }) => failed)).toEqual([]);
  });

  it('have no effect on a store without private members either', async () => {
    const tasks = timedPort(memoryStore().tasks, 'store', () => {});
    expect('claim' in tasks).toBe(true);
    const put = await tasks.put({ clientId: 1, state: 'created', threads: 1, ttlMs: 1000 });
    expect(put.ok).toBe(true);
  });
});

const { entries: lines, logger } = recordedLog();
beforeEach(() => {
  lines.length = 0;
});

const named = { taskId: 7, attempt: 2, requestId: 'abc' };
const invalid = new CodedError('INVALID_SIGNATURES');
const away = new CodedError('STORE_UNAVAILABLE', { cause: new Error('connection refused') });

describe('the log', () => {
  it.each([
    [{ type: 'claimed', ...named }, 'debug', 'runner'],
    [{ type: 'failed', ...named, error: invalid }, 'info', 'task failed'],
    [{ type: 'failed', ...named, error: new CodedError('INTERNAL') }, 'error', 'task failed'],
    [{ type: 'retried', ...named, error: away }, 'warn', 'task will be tried again'],
    [{ type: 'lost', ...named, stale: true }, 'warn', 'task lost to another worker'],
  ] as const)('%j is at %s', (event, level, message) => {
    workLog(logger)(event);
    expect(lines).toMatchObject([{ level, message, ...named }]);
  });

  it('has the code and the causes of a retry, and the stack of a fault of ours', () => {
    const log = workLog(logger);
    log({ type: 'retried', ...named, error: away });
    const cause = new TypeError('of ours');
    log({ type: 'failed', ...named, error: new CodedError('INTERNAL', { cause }) });
    expect(lines[0]).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      error: 'The store cannot be reached: connection refused',
    });
    expect(lines[1]?.error).toMatch(/TypeError: of ours\n +at /);
  });

  it('tells the same trouble once in a while, and every other one', () => {
    const log = workLog(logger);
    for (let i = 0; i < 100; i++) log({ type: 'trouble', error: away });
    log({ type: 'trouble', error: new Error('something else') });
    expect(lines.map(({ level, error }) => [level, error])).toEqual([
      ['warn', 'The store cannot be reached: connection refused'],
      ['warn', 'something else'],
    ]);
  });
});

it('a request that the store refuses is told, with its id', async ({ start }) => {
  const store = memoryStore();
  const tasks = Object.assign(Object.create(store.tasks) as typeof store.tasks, {
    list: async () => {
      throw away;
    },
  });
  const http = await start({ store: { ...store, tasks }, workers: false, logger });
  const answer = await http.ask('GET', '/v1/svc/tasks');
  expectProblem(answer, 503, 'STORE_UNAVAILABLE');
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([
    {
      level: 'warn',
      message: 'request refused',
      id: answer.headers.get('x-request-id'),
      code: 'STORE_UNAVAILABLE',
      error: 'The store cannot be reached: connection refused',
    },
  ]);
});
