/** How long finished tasks are kept, and how their clients learn of it. */
import { expect } from 'vitest';
import { memoryStore, type ServiceOptions } from '../../src/middleware/index.ts';
import { it as base, expectProblem, type TestService, until } from './support.ts';
import { makeTriples } from './triples.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const THIRTY_DAYS_MS = 30 * DAY_MS;

let aheadMs = 0;
let http: TestService;

/** Starts a service that sweeps twice a second, and completes a task. */
const it = base.extend<{ complete: (options: ServiceOptions) => Promise<string> }>({
  complete: async ({ start }, use) => {
    await use(async (options) => {
      aheadMs = 0;
      const store = memoryStore({ nowMs: () => Date.now() + aheadMs });
      http = await start({ threads: 1, uploadUrlTtlMs: 1000, store, ...options });
      const { json } = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(1) });
      expect(await http.ended(json.process_id)).toMatchObject({ status: 'completed' });
      return `/v1/svc/tasks/${json.process_id}`;
    });
  },
});

/** A task that expires: then the sweep was here. */
async function swept(): Promise<void> {
  await http.ask('POST', '/v1/svc/aggsign/task');
  aheadMs += 10_000;
  const expired = '/v1/svc/tasks?status=expired';
  await until(async () => (await http.ask('GET', expired)).json.tasks.length > 0);
}

/** What the record and the list say of the end of the result, and of the end of the work. */
async function endsOf(path: string) {
  const { json: record } = await http.ask('GET', path);
  const { json: list } = await http.ask('GET', '/v1/svc/tasks');
  return [record, list.tasks[0].meta].map((told) => [told.finished_at, told.result_expires_at]);
}

const secondsAfter = (time: string, ms: number) =>
  `${new Date(Date.parse(time) + ms).toISOString().slice(0, 19)}Z`;

it.for([
  ['30 days by default', {}, THIRTY_DAYS_MS],
  ['as long as is asked for', { retentionMs: DAY_MS }, DAY_MS],
] as const)(
  '%s; record and list say until when',
  async ([, options, retentionMs], { complete }) => {
    const path = await complete(options);
    for (const [finishedAt, expiresAt] of await endsOf(path)) {
      expect(expiresAt).toBe(secondsAfter(finishedAt, retentionMs));
    }
    const { result_path } = (await http.ask('GET', path)).json;
    aheadMs = retentionMs - HOUR_MS;
    await swept();
    expect((await http.ask('GET', path)).status).toBe(200);
    aheadMs = retentionMs + HOUR_MS;
    await until(async () => (await http.ask('GET', path)).status === 404);
    // The file goes after the task; an answer that it was taken from is cut short.
    const download = () => http.ask('GET', result_path, undefined, { key: null }).catch(() => null);
    await until(async () => (await download())?.status === 404);
    expectProblem((await download())!, 404, 'NOT_FOUND');
  },
);

it.for([
  ['null', null],
  ['a time beyond the end of dates', Number.MAX_SAFE_INTEGER],
] as const)(
  'for ever with %s; nothing is said of an end',
  async ([, retentionMs], { complete }) => {
    const path = await complete({ retentionMs });
    for (const [finishedAt, expiresAt] of await endsOf(path)) {
      expect(finishedAt).toBeTypeOf('string');
      expect(expiresAt).toBeUndefined();
    }
    aheadMs = 10 * 365 * DAY_MS;
    await swept();
    expect((await http.ask('GET', path)).status).toBe(200);
  },
);

it('says nothing of an end for tasks without a result', async ({ complete }) => {
  await complete({ workers: true });
  const { json: created } = await http.ask('POST', '/v1/svc/aggsign/task');
  const path = `/v1/svc/tasks/${created.process_id}`;
  expect((await http.ask('GET', path)).json).not.toHaveProperty('result_expires_at');
  const { json: cancelled } = await http.ask('DELETE', path);
  expect(cancelled.status).toBe('cancelled');
  expect(cancelled).not.toHaveProperty('result_expires_at');
});
