/** The threads of a service: how many there are, how long they stay, and what happens without. */
import { availableParallelism } from 'node:os';
import { expect } from 'vitest';
import { type FalconService, falconService } from '../../../src/middleware/index.ts';
import { it as base } from '../../middleware/support.ts';
import { makeTriples } from '../../middleware/triples.ts';
import { moduleOf, threadsSoFar, watchWorkers } from './workers.ts';

let service: FalconService;
const test = base.extend<{ make: (threads: number) => FalconService }>({
  make: async ({ folder, defer }, use) => {
    await use((threads) => {
      const options = { threads, aggregateFormat: 'proof', signing: false } as const;
      service = falconService({ dataDirectory: folder, ...options });
      defer(() => service.stop({ graceMs: 0 }));
      return service;
    });
  },
});

/** Asks the service of `key`. */
async function ask(key: string, path: string, body?: unknown) {
  const init = {
    headers: { authorization: key, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  };
  const answer = await service.app.request(`/v1/svc/${path}`, init);
  return (await answer.json()) as Record<string, never>;
}

/** The record of a task that has ended. */
async function complete(key: string, count: number) {
  const data = makeTriples(count, 4);
  let record = await ask(key, 'aggsign', { data });
  while (!['completed', 'failed'].includes(record.status!)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    record = await ask(key, `tasks/${record.process_id}`);
  }
  return { record, data };
}

test.for([1, 3])('%i of them at most, from task to task', async (threads, { make }) => {
  const before = await threadsSoFar();
  const { start, apiKeys } = make(threads);
  await start();
  const { key } = await apiKeys.create({ name: 'threads' });
  // The longest is worth three threads. Its two bodies are large, and no other is.
  for (const count of [300, 16, 1, 12]) {
    const { record, data } = await complete(key, count);
    expect(record).toMatchObject({ status: 'completed', format: 'proof', VCPUs: threads });
    const statements = data.map(({ digest, public_key }) => ({ digest, public_key }));
    const verdict = await ask(key, 'aggsign/verify', { aggregate: '0x00', statements });
    expect(verdict).toEqual({ valid: false });
  }
  // Threads of threads count as well, and the store has one. Large bodies have one, too, and
  // another one if the second comes more than ten seconds after the first.
  const started = (await threadsSoFar()) - before - 1;
  const known = 1 + Math.min(threads, availableParallelism());
  expect(started).toBeGreaterThanOrEqual(known + 1);
  expect(started).toBeLessThanOrEqual(known + 2);
});

test.for([
  ['is not there', new URL('file:///nowhere/taskWorker.js')],
  ['throws at load', moduleOf(`throw new Error('broken');`)],
  ['is another one', new URL('../../../src/falcon/verifyWorker.ts', import.meta.url)],
] as const)(
  'a worker that %s: start says so, and may be tried again',
  async ([, module], { make }) => {
    let isBroken = true;
    watchWorkers((url) => (isBroken ? module : url));
    const { start, apiKeys } = make(2);
    const refused = await start().catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'CodedError', code: 'NO_WORKER', retriable: false });
    expect((refused as Error).message).toContain("serverExternalPackages: ['falconry']");
    expect((refused as Error).message).not.toContain('nowhere');
    isBroken = false;
    await start();
    const { key } = await apiKeys.create({ name: 'threads' });
    expect((await complete(key, 2)).record).toMatchObject({ status: 'completed' });
  },
);

test('a host without threads: start says so', async ({ make }) => {
  const { getBuiltinModule } = process;
  try {
    process.getBuiltinModule = ((name: string) =>
      name === 'node:worker_threads' ? undefined : getBuiltinModule(name)) as never;
    await expect(make(2).start()).rejects.toMatchObject({ code: 'NO_WORKER' });
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});

test('a thread that runs out of memory takes its task with it, and nothing else', async ({
  make,
}) => {
  // The first worker fills its heap when it gets its first task; a later one works.
  let isFirst = true;
  const workers = watchWorkers((url) => {
    const hungry = moduleOf(`import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => { const all = []; for (;;) all.push({ x: all.length }); });
      await import('${url.href}');`);
    if (!url.pathname.includes('taskWorker')) return url;
    const module = isFirst ? hungry : url;
    isFirst = false;
    return module;
  });
  const { start, apiKeys } = make(1);
  await start();
  const { key } = await apiKeys.create({ name: 'threads' });
  const { record } = await complete(key, 2);
  // Tried again at once, in a new thread.
  expect(record).toMatchObject({ status: 'completed' });
  // One of them is the store's.
  expect(workers).toHaveLength(3);
  const { maxOldGenerationSizeMb } = workers.at(-1)!.resourceLimits!;
  expect(maxOldGenerationSizeMb).toBe(512);
});
