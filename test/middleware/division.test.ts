/** How the work is divided between processes: how many tasks at a time, and who keeps house. */
import { afterEach, expect, it } from 'vitest';
import { memoryStore, type ServiceEvent } from '../../src/middleware/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { startService, type TestService } from './support.ts';
import { makeTriples } from './triples.ts';

let http: TestService | undefined;
afterEach(async () => {
  await http?.close();
  http = undefined;
});

const TASKS = 6;

it.each([
  [undefined, 2],
  [1, 1],
  [4, 4],
])('parallelTasks %s: %s tasks at a time', async (given, expected) => {
  const events: ServiceEvent[] = [];
  const options = { threads: 1, onEvent: (event: ServiceEvent) => events.push(event) };
  const service = await startService({
    ...options,
    ...(given !== undefined && { parallelTasks: given }),
  });
  http = service;
  const data = makeTriples(40);
  const post = () => service.ask('POST', '/v1/svc/aggsign', { data });
  await Promise.all(Array.from({ length: TASKS }, post));
  const outcomes = () =>
    events.flatMap((each) =>
      each.type === 'work' && /^(claimed|completed)$/.test(each.event.type)
        ? [each.event.type]
        : [],
    );
  while (outcomes().length < 2 * TASKS) await new Promise((resolve) => setTimeout(resolve, 10));
  let running = 0;
  let most = 0;
  for (const type of outcomes()) {
    running += type === 'claimed' ? 1 : -1;
    most = Math.max(most, running);
  }
  expect([running, most]).toEqual([0, expected]);
});

it.each([true, false])('housekeeping %s: tasks whose time is over', async (housekeeping) => {
  let aheadMs = 0;
  const store = memoryStore({ nowMs: () => Date.now() + aheadMs });
  const events: ServiceEvent[] = [];
  const onEvent = (event: ServiceEvent) => events.push(event);
  const quick = { uploadUrlTtlMs: 1000, workers: false, threads: 1 };
  const service = await startService({ ...quick, store, housekeeping, onEvent });
  http = service;
  const { json } = await service.ask('POST', '/v1/svc/aggsign/task');
  aheadMs = 60_000;
  const seen = () => events.filter(({ type }) => type === 'swept').length;
  const begunMs = performance.now();
  while (seen() < 3 && performance.now() - begunMs < 2500) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { status } = (await service.ask('GET', `/v1/svc/tasks/${json.process_id}`)).json;
  if (housekeeping) expect(status).toBe('expired');
  else expect([seen(), status]).toEqual([0, 'wait for task file upload']);
});

it.each([
  [{ parallelTasks: 0 }, RangeError],
  [{ parallelTasks: 65 }, RangeError],
  [{ parallelTasks: '2' as never }, TypeError],
  [{ housekeeping: 1 as never }, TypeError],
])('%j is refused', (options, fault) => {
  expect(() => resolveOptions(options)).toThrow(fault);
});
