/** Keys that expire, and quotas of single clients, on a running service. */
import { afterEach, describe, expect, vi } from 'vitest';
import { ClientLimits } from '../../src/middleware/http/clientLimits.ts';
import { hashApiKey, KeyUses } from '../../src/middleware/identity/apiKeys.ts';
import { memoryStore, type ServiceOptions } from '../../src/middleware/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { it as base, expectProblem, recordedLog, type TestService } from './support.ts';
import { makeTriples } from './triples.ts';

const TASKS = '/v1/svc/tasks';
const CREATE = '/v1/svc/aggsign/task';
const HOUR_MS = 3_600_000;

let nowMs = Date.now();
afterEach(() => vi.restoreAllMocks());

interface Tenants {
  readonly http: TestService;
  readonly store: ReturnType<typeof memoryStore>;
}
const it = base.extend<{ open: (options?: ServiceOptions) => Promise<Tenants> }>({
  open: async ({ start }, use) => {
    nowMs = Date.now();
    const store = memoryStore({ nowMs: () => nowMs });
    await use(async (given) => ({ http: await start({ store, workers: false, ...given }), store }));
  },
});

/** Asks until the answer is as expected: what was changed is seen within seconds. */
async function soon(ask: () => Promise<number>, status: number): Promise<void> {
  await vi.waitFor(async () => expect(await ask()).toBe(status), { timeout: 20_000, interval: 50 });
}

describe('API keys', () => {
  it('that have expired are refused, and their owners are told', async ({ open }) => {
    const { http, store } = await open();
    const { key } = await http.service.apiKeys.create({ name: 'short', ttlMs: HOUR_MS });
    const ask = () => http.ask('GET', TASKS, undefined, { key });
    nowMs += HOUR_MS - 1;
    expect((await ask()).status).toBe(200);
    nowMs += 1;
    const refused = await ask();
    expectProblem(refused, 401, 'UNAUTHENTICATED');
    const { expiresAt } = (await store.apiKeys.findApiKey(hashApiKey(key)))!;
    expect(refused.json.detail).toBe(`The API key expired at ${expiresAt}`);
    // One title for all of them: there is a key here, and it is not valid.
    expect(refused.json.title).toBe('A valid API key is required');
    const none = await http.ask('GET', TASKS, undefined, { key: '' });
    expect(none.json).toMatchObject({
      title: refused.json.title,
      detail: 'An API key is required',
    });
    expect((await http.ask('GET', TASKS)).status).toBe(200);
  });

  it('that expire end their event streams', async ({ open }) => {
    const { http } = await open();
    const { key } = await http.service.apiKeys.create({ name: 'short', ttlMs: HOUR_MS });
    const { process_id } = await http.create(undefined, { key });
    const reader = await http.watch(process_id, { authorization: key });
    nowMs += HOUR_MS;
    expect((await reader.read()).done).toBe(true);
  });

  it('are rotated: both work until the overlap is over', async ({ open }) => {
    const { http } = await open();
    const { apiKeys } = http.service;
    const old = hashApiKey(http.alice);
    const key = (await apiKeys.rotate(old, { overlapMs: HOUR_MS, ttlMs: 2 * HOUR_MS }))!;
    const status = async (given: string) =>
      (await http.ask('GET', TASKS, undefined, { key: given })).status;
    expect([await status(http.alice), await status(key)]).toEqual([200, 200]);
    nowMs += HOUR_MS;
    expect([await status(http.alice), await status(key)]).toEqual([401, 200]);
    nowMs += HOUR_MS;
    expect(await status(key)).toBe(401);
    expect(await apiKeys.rotate('0'.repeat(64), { overlapMs: 0 })).toBe(null);
  });

  it('know their last use, which is written at the end at the latest', async ({ open }) => {
    const { http, store } = await open();
    const { key } = await http.service.apiKeys.create({ name: 'idle' });
    await http.ask('GET', TASKS);
    const use = async (given: string) =>
      (await store.apiKeys.findApiKey(hashApiKey(given)))!.lastUsedAt;
    expect(await use(http.alice)).toBe(null);
    await http.service.stop();
    expect(await use(http.alice)).toBe(new Date(nowMs).toISOString());
    expect(await use(key)).toBe(null);
  });
});

describe('the last uses of keys', () => {
  it('are written once for many uses, and again if the store did not take them', async () => {
    const written: (readonly string[])[] = [];
    let works = false;
    const { lines, logger } = recordedLog();
    const store = {
      async markApiKeysUsed(sha256s: readonly string[]) {
        if (!works) throw new Error('the disk is away');
        written.push(sha256s);
      },
    };
    const uses = new KeyUses(store, logger, 10);
    for (let i = 0; i < 100; i++) uses.note('a');
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(0));
    works = true;
    await vi.waitFor(() => expect(written).toEqual([['a']]));
    uses.note('b');
    uses.note('b');
    await uses.close();
    await uses.close();
    expect(written).toEqual([['a'], ['b']]);
  });
});

describe('quotas', () => {
  const client = (http: TestService, key: string) => () =>
    http.ask('POST', CREATE, undefined, { key });

  it('limit the unfinished tasks of one client, and are seen by a running service', async ({
    open,
  }) => {
    const { http, store } = await open({ limits: { openTasks: 2 } });
    const [alice, bob] = [client(http, http.alice), client(http, http.bob)];
    for (const ask of [alice, bob]) {
      const { json } = await ask();
      expect((await ask()).status).toBe(201);
      expectProblem(await ask(), 429, 'TOO_MANY_TASKS');
      const path = `${TASKS}/${json.process_id}`;
      const own = { key: ask === bob ? http.bob : http.alice };
      expect((await http.ask('DELETE', path, undefined, own)).status).toBe(200);
      expect((await ask()).status).toBe(201);
    }
    const direct = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(1) });
    expectProblem(direct, 429, 'TOO_MANY_TASKS');
    await store.quotas.setQuota(1, { openTasks: 3 });
    await soon(async () => (await alice()).status, 201);
    expectProblem(await alice(), 429, 'TOO_MANY_TASKS');
    expectProblem(await bob(), 429, 'TOO_MANY_TASKS');
    await store.quotas.setQuota(1, { openTasks: 0 });
    await store.quotas.setQuota(2, { openTasks: 9 });
    await soon(async () => (await bob()).status, 201);
  });

  it('limit the bytes of one client, on every way in', async ({ open }) => {
    const { http, store } = await open();
    await store.quotas.setQuota(1, { storedBytes: 100 });
    const file = ' '.repeat(101);
    const { json } = await http.ask('POST', CREATE);
    await soon(async () => (await http.ask('PUT', json.url, file, { key: null })).status, 429);
    const over = await http.ask('PUT', json.url, file, { key: null });
    expectProblem(over, 429, 'STORAGE_QUOTA');
    expect(over.json.allowed_bytes).toBe(100);
    const direct = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(1) });
    expectProblem(direct, 429, 'STORAGE_QUOTA');
    expect((await http.ask('PUT', json.url, ' '.repeat(100), { key: null })).status).toBe(200);
    const { json: theirs } = await http.ask('POST', CREATE, undefined, { key: http.bob });
    expect((await http.ask('PUT', theirs.url, file, { key: null })).status).toBe(200);
  });

  it('limit the rate of one client, with a burst in proportion', async ({ open }) => {
    const { http, store } = await open({ limits: { requestsPerSecond: 100, burst: 200 } });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    await store.quotas.setQuota(1, { requestsPerSecond: 2 });
    const list = (key: string) => http.ask('GET', TASKS, undefined, { key });
    for (let i = 0; i < 4; i++) expect((await list(http.alice)).status).toBe(200);
    const refused = await list(http.alice);
    expectProblem(refused, 429, 'RATE_LIMITED');
    expect(refused.headers.get('retry-after')).toBe('1');
    for (let i = 0; i < 20; i++) expect((await list(http.bob)).status).toBe(200);
  });

  it('are read once in two seconds, and again after a fault', async () => {
    const { limits } = resolveOptions({});
    let calls = 0;
    let fault: Error | null = null;
    const store = {
      async quota(clientId: number) {
        calls++;
        if (fault) throw fault;
        return clientId === 1 ? { storedBytes: 7 } : null;
      },
    };
    const known = new ClientLimits(store, limits);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(10_000);
    expect(await known.of(1)).toMatchObject({ storedBytes: 7, openTasks: limits.openTasks });
    expect(await known.of(2)).toMatchObject({ storedBytes: limits.storedBytes });
    await known.of(1);
    expect(calls).toBe(2);
    clock.mockReturnValue(12_000);
    fault = new Error('away');
    await expect(known.of(1)).rejects.toThrow('away');
    fault = null;
    expect(await known.of(1)).toMatchObject({ storedBytes: 7 });
    expect(calls).toBe(4);
    // A clock that is set back keeps nothing for ever.
    clock.mockReturnValue(5000);
    await known.of(1);
    expect(calls).toBe(5);
    expect(await new ClientLimits(undefined, limits).of(1)).toMatchObject({
      openTasks: limits.openTasks,
    });
  });
});
