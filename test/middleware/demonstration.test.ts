/** A demonstration: keys for visitors, their limits, and their end, on every store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import {
  eraseVisitors,
  MAX_VISITORS,
  VISIT_MS,
  VISITOR_QUOTA,
  type VisitedStore,
  Visitors,
} from '../../src/middleware/demonstration.ts';
import { hashApiKey } from '../../src/middleware/identity/apiKeys.ts';
import {
  falconService,
  memoryStore,
  type ServiceOptions,
  sqliteStore,
} from '../../src/middleware/index.ts';
import { createStore } from '../../src/middleware/stores/postgres/store.ts';
import { sqliteTableStore } from '../../src/middleware/stores/sqlite/sqliteTable.ts';
import { overPostgres } from '../support/postgres.ts';
import { expectProblem, startService } from './support.ts';
import { makeTriples } from './triples.ts';

const DEMONSTRATION = '/v1/ui/demonstration';
const TASKS = '/v1/svc/tasks';
const CREATE = '/v1/svc/aggsign/task';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function start(options: ServiceOptions = {}) {
  const http = await startService({ workers: false, ui: { demonstration: true }, ...options });
  undo.push(() => http.close());
  const visit = async () => {
    const answer = await http.ask('POST', DEMONSTRATION, {}, { key: '' });
    expect(answer.status).toBe(201);
    return answer.json as unknown as { api_key: string; expires_at: string };
  };
  return { http, visit };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-visitors-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('a visitor', () => {
  it('gets a key of a client of its own, for an hour, with narrow quotas', async () => {
    const store = memoryStore();
    const { http, visit } = await start({ store });
    const [one, other] = [await visit(), await visit()];
    const left = Date.parse(one.expires_at) - Date.now();
    expect(left).toBeGreaterThan(VISIT_MS - 120_000);
    expect(left).toBeLessThanOrEqual(VISIT_MS);
    const record = (await store.findApiKey(hashApiKey(one.api_key)))!;
    expect(await store.quota(record.clientId)).toEqual(VISITOR_QUOTA);
    const key = one.api_key;
    for (let i = 0; i < VISITOR_QUOTA.openTasks; i++) {
      expect((await http.ask('POST', CREATE, undefined, { key })).status).toBe(201);
    }
    const refused = await http.ask('POST', CREATE, undefined, { key });
    expectProblem(refused, 429, 'TOO_MANY_TASKS');
    // Nobody else sees them.
    const list = await http.ask('GET', TASKS, undefined, { key: other.api_key });
    expect(list.json.tasks).toEqual([]);
  });

  it('is limited by address', async () => {
    const { http, visit } = await start({ store: memoryStore() });
    for (let i = 0; i < 3; i++) await visit();
    const refused = await http.ask('POST', DEMONSTRATION, {}, { key: '' });
    expectProblem(refused, 429, 'RATE_LIMITED');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(60);
    expect(wait).toBeLessThanOrEqual(300);
  });

  it('is one of few at once, also those that came together', async () => {
    const store = memoryStore();
    const visitors = new Visitors(store);
    const together = Array.from({ length: MAX_VISITORS + 3 }, () => visitors.enter());
    const outcomes = await Promise.allSettled(together);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_VISITORS);
    const { http } = await start({ store });
    const refused = await http.ask('POST', DEMONSTRATION, {}, { key: '' });
    expectProblem(refused, 503, 'OVERLOADED');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(VISIT_MS / 1000 - 120);
    expect(wait).toBeLessThanOrEqual(VISIT_MS / 1000 + 30);
  });

  it('asks with JSON, which no page of another origin can send unasked', async () => {
    const { http } = await start({ store: memoryStore() });
    const type = { 'content-type': 'text/plain' };
    const plain = await http.ask('POST', DEMONSTRATION, '{}', { key: '', headers: type });
    expectProblem(plain, 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectProblem(await http.ask('POST', DEMONSTRATION, [], { key: '' }), 422, 'INVALID_BODY');
    const large = { x: 'x'.repeat(2000) };
    expectProblem(await http.ask('POST', DEMONSTRATION, large, { key: '' }), 413);
  });
});

function withoutQuotas() {
  const { setQuota: _, ...store } = memoryStore();
  return store;
}

describe('a demonstration', () => {
  it('is off unless it is wanted', async () => {
    for (const ui of [undefined, true, {}, { demonstration: false }]) {
      const { app } = falconService({ dataDirectory: 'never', ...(ui !== undefined && { ui }) });
      const asked = await app.request(DEMONSTRATION, { method: 'POST' });
      expect([404, 405]).toContain(asked.status);
      const document = await (await app.request('/v1/openapi.json')).text();
      expect(document).not.toContain(DEMONSTRATION);
      expect(await (await app.request('/v1/ui')).text()).toContain('demonstration&quot;:false');
    }
  });

  it('is in the document, and says so to the page', async () => {
    const { app } = falconService({ dataDirectory: 'never', ui: { demonstration: true } });
    const { paths } = (await (await app.request('/v1/openapi.json')).json()) as {
      paths: Record<string, { post?: { operationId: string; security: unknown[] } }>;
    };
    const { operationId, security } = paths[DEMONSTRATION]!.post!;
    expect([operationId, security]).toEqual(['createDemonstrationKey', []]);
    expect(await (await app.request('/v1/ui')).text()).toContain('demonstration&quot;:true');
    const early = await app.request(DEMONSTRATION, { method: 'POST' });
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'NOT_STARTED' }]);
  });

  it.each<[string, ServiceOptions]>([
    ['callers of the host', { authenticate: () => null }],
    ['signing keys of clients', { signing: true, signingKeyPerClient: true }],
    ['a store without quotas', { store: withoutQuotas() }],
    ['no such option', { ui: { demonstrations: true } as never }],
    ['no flag', { ui: { demonstration: 1 } as never }],
  ])('is refused at construction with %s', (_, options) => {
    const ui = options.ui ?? { demonstration: true };
    expect(() => falconService({ ...options, ui })).toThrow(TypeError);
  });

  it('has a name for its keys that no other key can have', async () => {
    const { http } = await start({ store: memoryStore() });
    const { apiKeys } = http.service;
    const named = apiKeys.create({ name: 'falconry:demonstration' });
    await expect(named).rejects.toThrow(RangeError);
  });
});

/** What a visit leaves behind, and how it ends. */
type Open = () => Promise<{ store: VisitedStore; pass(ms: number): void }>;

function erasure(open: Open): void {
  it('is erased after the hour, with all that it made, and nobody else', async () => {
    const { store, pass } = await open();
    const blobs = directoryBlobs({ path: await newFolder() });
    const { http, visit } = await start({ store, blobs, housekeeping: false });
    const { api_key: key } = await visit();
    const { clientId } = (await store.findApiKey(hashApiKey(key)))!;
    const { key: lasting } = await http.service.apiKeys.create({ name: 'lasting' });
    const other = (await store.findApiKey(hashApiKey(lasting)))!.clientId;
    for (const each of [key, lasting]) {
      const data = makeTriples(2);
      const sent = await http.ask('POST', '/v1/svc/aggsign', { data }, { key: each });
      expect(sent.status).toBe(202);
      await http.ask('POST', CREATE, undefined, { key: each });
    }
    const ended = await http.ask('POST', CREATE, undefined, { key });
    await http.ask('DELETE', `${TASKS}/${ended.json.process_id}`, undefined, { key });
    expect(await store.holdings(clientId)).toMatchObject({ tasks: 3, unfinished: 2, files: 1 });

    pass(VISIT_MS - 60_000);
    expect(await eraseVisitors(store, blobs)).toBe(1);
    expect(await store.holdings(clientId)).toMatchObject({ tasks: 3 });
    pass(61_000);
    expect(await eraseVisitors(store, blobs)).toBe(0);
    const nothing = { tasks: 0, unfinished: 0, files: 0, bytes: 0, apiKeys: 0, answers: 0 };
    expect(await store.holdings(clientId)).toMatchObject(nothing);
    expect(await store.quota(clientId)).toBe(null);
    expect(await store.holdings(other)).toMatchObject({ tasks: 2, files: 1, apiKeys: 1 });
    const unknown = await http.ask('GET', TASKS, undefined, { key });
    expectProblem(unknown, 401, 'UNAUTHENTICATED');
  });

  interruptions(open);

  it('is erased although another one cannot be', async () => {
    const { store, pass } = await open();
    const blobs = directoryBlobs({ path: await newFolder() });
    const visitors = new Visitors(store);
    const [one, other] = [await visitors.enter(), await visitors.enter()];
    pass(VISIT_MS + 1);
    const setQuota: VisitedStore['setQuota'] = async (clientId, quota) => {
      if (clientId === one.clientId) throw new Error('not now');
      return store.setQuota(clientId, quota);
    };
    await expect(eraseVisitors({ ...store, setQuota }, blobs)).rejects.toThrow('not now');
    const ofOne = await store.holdings(one.clientId);
    expect([ofOne.apiKeys, (await store.holdings(other.clientId)).apiKeys]).toEqual([1, 0]);
  });

  it('stays if the operator gave it another key', async () => {
    const { store, pass } = await open();
    const blobs = directoryBlobs({ path: await newFolder() });
    const { clientId } = await new Visitors(store).enter();
    await store.putApiKey({ sha256: hashApiKey('own'), name: 'own', clientId });
    pass(VISIT_MS + 1);
    expect(await eraseVisitors(store, blobs)).toBe(0);
    expect(await store.holdings(clientId)).toMatchObject({ apiKeys: 2 });
  });
}

function interruptions(open: Open): void {
  it('is erased although the first attempt was interrupted anywhere', async () => {
    const steps = ['cancel', 'ended', 'removeEnded', 'setQuota', 'disown', 'forget'] as const;
    for (const step of steps) {
      const { store, pass } = await open();
      const blobs = directoryBlobs({ path: await newFolder() });
      const { key, clientId } = await new Visitors(store).enter();
      await store.put({ clientId, state: 'created', threads: 1, ttlMs: 60_000 });
      expect(await store.findApiKey(hashApiKey(key))).not.toBe(null);
      pass(VISIT_MS + 1);
      const fails = async () => {
        throw new Error('interrupted');
      };
      const failing = { ...store, [step]: fails } as VisitedStore;
      await expect(eraseVisitors(failing, blobs), step).rejects.toThrow('interrupted');
      await eraseVisitors(store, blobs);
      // Counters at most are left by what came after the key.
      const { tasks, apiKeys } = await store.holdings(clientId);
      expect([tasks, apiKeys, await store.quota(clientId)], step).toEqual([0, 0, null]);
    }
  });
}

describe('a visitor in memory', () => {
  erasure(async () => {
    let nowMs = Date.now();
    const store = memoryStore({ nowMs: () => nowMs });
    return { store, pass: (ms) => void (nowMs += ms) };
  });
});

describe('a visitor in SQLite', () => {
  erasure(async () => {
    let nowMs = Date.now();
    const path = join(await newFolder(), 'store.sqlite');
    const store = sqliteTableStore({ path, nowMs: () => nowMs });
    await store.open();
    undo.push(() => store.close());
    return { store, pass: (ms) => void (nowMs += ms) };
  });

  it('is erased by the housekeeping of a service that starts later, without one', async () => {
    const folder = await newFolder();
    const first = falconService({
      dataDirectory: folder,
      ui: { demonstration: true },
      workers: false,
      signing: false,
    });
    await first.start();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const made = await first.app.request(DEMONSTRATION, init);
    const { api_key: key } = (await made.json()) as { api_key: string };
    const headers = { authorization: key };
    expect((await first.app.request(CREATE, { method: 'POST', headers })).status).toBe(201);
    await first.stop();

    // The hour passes.
    const path = join(folder, 'falconry.sqlite');
    const own = sqliteTableStore({ path });
    const old = (await own.findApiKey(hashApiKey(key)))!;
    await own.rotateApiKey(old.sha256, { sha256: hashApiKey('next'), overlapMs: 0, ttlMs: 1 });
    await own.close();

    const second = falconService({ dataDirectory: folder, workers: false, signing: false });
    await second.start();
    undo.push(() => second.stop());
    await vi.waitFor(async () => expect(await second.apiKeys.list()).toEqual([]), {
      timeout: 60_000,
      interval: 50,
    });
    const store = sqliteStore({ path });
    undo.push(() => store.close());
    await vi.waitFor(
      async () => expect(await store.holdings(old.clientId)).toMatchObject({ tasks: 0 }),
      { timeout: 60_000, interval: 50 },
    );
  });
});

describe('a visitor in PostgreSQL', () => {
  overPostgres('newest', (server) => {
    erasure(async () => {
      let nowMs = Date.now();
      const schema = await server().newSchema();
      const options = { url: server().url, schema, connections: 3 };
      const store = createStore(options, { nowMs: () => nowMs });
      await store.open();
      undo.push(() => store.close());
      return { store, pass: (ms) => void (nowMs += ms) };
    });
  });
});
