/** What a client may store: reserved before a byte is written, freed on every way out. */
import { readdir } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import type { BlobStore } from '../../src/middleware/blobs/port/blobStore.ts';
import type { ServiceOptions } from '../../src/middleware/index.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { deferred } from '../../src/shared/wait.ts';
import { it as base, expectProblem, spaces, type TestService, until } from './support.ts';
import { makeTriples } from './triples.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Nothing is freed by patience alone. */
const PATIENT = { bodyIdleTimeoutMs: 600_000, workers: false } as const;

/** A directory that counts what it is given to write. */
class CountedBlobs {
  puts = 0;
  /** Bytes of files that were kept or are being written, now and at most. */
  bytes = 0;
  mostBytes = 0;
  /** Files that were written, or given up; each then waits for the gate. */
  ended = 0;
  gate: Promise<void> = Promise.resolve();
  readonly store: BlobStore;
  #onPut: (() => void)[] = [];

  constructor(path: string) {
    const blobs = directoryBlobs({ path });
    const add = (bytes: number) => {
      this.bytes += bytes;
      this.mostBytes = Math.max(this.mostBytes, this.bytes);
    };
    this.store = {
      ...blobs,
      put: (key, body, options) => {
        this.puts++;
        for (const tell of this.#onPut.splice(0)) tell();
        let own = 0;
        const counted = async function* () {
          for await (const chunk of body instanceof Uint8Array ? [body] : body) {
            own += chunk.length;
            add(chunk.length);
            yield chunk;
          }
        };
        const putting = blobs.put(key, counted(), options);
        putting.catch(() => add(-own));
        return putting.finally(() => {
          this.ended++;
          return this.gate;
        });
      },
    };
  }

  /** Resolves when so many files were begun. */
  async begun(puts: number): Promise<void> {
    while (this.puts < puts) await new Promise<void>((tell) => this.#onPut.push(tell));
  }
}

interface Held {
  readonly request: ClientRequest;
  readonly answer: Promise<{ status: number; code: string }>;
}

interface Fixtures {
  readonly open: (options?: ServiceOptions) => Promise<TestService & { counted: CountedBlobs }>;
  /** A PUT that sends its head and one byte, and then nothing. */
  readonly hold: (url: string, headers: Record<string, string>) => Held;
}

const it = base.extend<Fixtures>({
  open: async ({ folder, start }, use) => {
    const counted = new CountedBlobs(folder);
    await use(async (options) => {
      return { ...(await start({ blobs: counted.store, ...PATIENT, ...options })), counted };
    });
  },
  hold: async ({ defer }, use) => {
    await use((url, own) => {
      const headers = { 'content-type': 'application/json', ...own };
      const request = httpRequest(url, { method: 'PUT', headers });
      defer(() => request.destroy());
      const { promise: answer, resolve, reject } = deferred<{ status: number; code: string }>();
      request.on('error', reject);
      request.on('response', async (incoming) => {
        const text = (await incoming.toArray()).join('');
        resolve({ status: incoming.statusCode!, code: JSON.parse(text).code });
      });
      request.write(' ');
      return { request, answer };
    });
  },
});

const announced = (bytes: number) => ({ 'content-length': String(bytes) });
const file = (bytes: number) => new Uint8Array(bytes).fill(0x20);

describe('the quota of stored bytes', () => {
  const ways = ['announced', 'not announced'];
  it.for(ways)('holds for 40 uploads at once, %s', async (how, { folder, open }) => {
    const limits = { storedBytes: MIB, parallelUploads: 100 };
    const world = await open({ limits });
    const bytes = 300 * KIB;
    const tickets = await Promise.all(Array.from({ length: 40 }, () => world.create()));
    const answers = await Promise.all(
      tickets.map(({ url }) => world.put(url, how === 'announced' ? file(bytes) : spaces(bytes))),
    );
    const codes = answers.map(({ status, json }) => (status === 200 ? 'ok' : json.code));
    expect(new Set(codes)).toEqual(new Set(['ok', 'STORAGE_QUOTA']));
    expect(world.counted.mostBytes).toBeLessThanOrEqual(MIB);
    const kept = await readdir(join(folder, 'inputs'));
    expect(kept.length).toBe(codes.filter((code) => code === 'ok').length);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
    // What was refused holds nothing: the rest of the quota is there.
    const rest = MIB - kept.length * bytes;
    const { url } = await world.create();
    expect((await world.put(url, file(rest))).status).toBe(200);
    expectProblem(await world.put((await world.create()).url, '[]'), 429, 'STORAGE_QUOTA');
  });

  it('refuses before a byte is written, an upload and a direct request', async ({ open }) => {
    const world = await open({ limits: { storedBytes: KIB } });
    const { url } = await world.create();
    expectProblem(await world.put(url, file(2 * KIB)), 429, 'STORAGE_QUOTA');
    const direct = await world.ask('POST', '/v1/svc/aggsign', { data: makeTriples(1) });
    expectProblem(direct, 429, 'STORAGE_QUOTA');
    expect(world.counted.puts).toBe(0);
  });

  it('counts the bytes of direct requests and of running uploads together', async ({
    hold,
    open,
  }) => {
    const data = makeTriples(1);
    const world = await open({ limits: { storedBytes: 16 * KIB } });
    const { request } = hold((await world.create()).url, announced(15 * KIB));
    await world.counted.begun(1);
    const refused = await world.ask('POST', '/v1/svc/aggsign', { data });
    expectProblem(refused, 429, 'STORAGE_QUOTA');
    expect(refused.json.detail).toContain(`reserved ${15 * KIB}`);
    request.destroy();
    await until(async () => (await world.ask('POST', '/v1/svc/aggsign', { data })).status === 202);
  });

  it('has room for three files without a length that fit, all at once', async ({ open }) => {
    const world = await open({ limits: { storedBytes: MIB } });
    const tickets = await Promise.all([1, 2, 3].map(() => world.create()));
    const answers = await Promise.all(tickets.map(({ url }) => world.put(url, spaces(300 * KIB))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('lets a file be replaced at the limit', async ({ open }) => {
    const world = await open({ limits: { storedBytes: 10 * KIB } });
    const { url } = await world.create();
    for (const bytes of [10 * KIB, 9 * KIB, 10 * KIB]) {
      expect((await world.put(url, file(bytes))).status).toBe(200);
    }
  });

  it('is free again as soon as a sender is gone', async ({ folder, hold, open }) => {
    const world = await open({ limits: { storedBytes: 100 * KIB } });
    const gone = hold((await world.create()).url, announced(80 * KIB));
    await world.counted.begun(1);
    const { url } = await world.create();
    expectProblem(await world.put(url, file(80 * KIB)), 429, 'STORAGE_QUOTA');
    gone.request.destroy();
    await until(async () => (await world.put(url, file(80 * KIB))).status === 200);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });
});

describe('a client at its quota', () => {
  it('is told what it uses, what is allowed and what helps', async ({ open }) => {
    const world = await open({ limits: { storedBytes: 100 } });
    expect((await world.put((await world.create()).url, file(90))).status).toBe(200);
    const { url } = await world.create();
    const refused = await world.put(url, file(50));
    expectProblem(refused, 429, 'STORAGE_QUOTA');
    expect(refused.headers.get('retry-after')).toBeNull();
    expect(refused.json).toMatchObject({ stored_bytes: 90, allowed_bytes: 100 });
    expect(refused.json.detail).toBe(
      'Your files take 90 of 100 bytes. Delete finished tasks to make room.',
    );
    const never = await world.put(url, file(101));
    expect(never.headers.get('retry-after')).toBeNull();
    expect(never.json.detail).toContain('larger than all that is allowed');
  });

  it('hears of it at once from our client, which does not try again', async ({ open }) => {
    const statuses: number[] = [];
    const world = await open({
      limits: { storedBytes: 100 },
      onEvent: (event) => {
        if (event.type === 'request') statuses.push(event.status);
      },
    });
    const client = createClient({ baseUrl: world.address, apiKey: world.alice });
    const problem = { code: 'STORAGE_QUOTA', problem: { stored_bytes: 0, allowed_bytes: 100 } };
    await expect(client.submit(makeTriples(1))).rejects.toMatchObject(problem);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });

  it('is told to come back when something of its own is known to expire', async ({ open }) => {
    const store = memoryStore();
    const limits = { storedBytes: 100 };
    const world = await open({ store, limits, retentionMs: 3_600_000 });
    const blob = { key: 'inputs/0.json', bytes: 10 };
    const [key] = await store.apiKeys.listApiKeys();
    const { clientId } = key!;
    await store.tasks.put({ clientId, state: 'waiting', input: blob, threads: 1, ttlMs: 1000 });
    const { id, attempt } = (await store.tasks.claim({ leaseMs: 60_000, threads: 1 })).task!;
    await store.tasks.extend(id, attempt, { leaseMs: 60_000, state: 'aggregating' });
    const result = { key: `results/${attempt}/${id}.json`, bytes: 60 };
    await store.tasks.finish(id, attempt, { blob: result, format: 'bundle', aggregateBytes: 20 });

    const { json: record } = await world.ask('GET', `/v1/svc/tasks/${id}`);
    const refused = await world.put((await world.create()).url, file(50));
    expectProblem(refused, 429, 'STORAGE_QUOTA');
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3000);
    expect(seconds).toBeLessThanOrEqual(3600 + 30);
    expect(refused.json.detail).toContain(`is removed at ${record.result_expires_at}.`);
    const never = await world.put((await world.create()).url, file(101));
    expect(never.headers.get('retry-after')).toBeNull();
  });
});

describe('uploads at once', () => {
  it('are one per task: a later one takes the place, and the bytes, of a dead one', async ({
    folder,
    hold,
    open,
  }) => {
    const world = await open({ limits: { storedBytes: 100 * KIB, parallelUploads: 1 } });
    const { url, process_id } = await world.create();
    const dead = hold(url, announced(80 * KIB));
    await world.counted.begun(1);
    const retried = await world.put(url, `[${' '.repeat(80 * KIB)}]`);
    expect([retried.status, retried.json.bytes]).toEqual([200, 80 * KIB + 2]);
    expect(await dead.answer).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await readdir(join(folder, 'inputs'))).length).toBe(1);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
    const notified = await world.ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
    expect(notified.status).toBe(202);
  });

  it('look at the task again after they waited for another', async ({ hold, open }) => {
    const world = await open();
    const { url, process_id } = await world.create();
    const earlier = hold(url, {});
    await world.counted.begun(1);
    const { promise: gate, resolve: release } = deferred<void>();
    world.counted.gate = gate;
    const later = world.put(url, '[]');
    await until(() => world.counted.ended === 1);
    expect((await world.ask('DELETE', `/v1/svc/tasks/${process_id}`)).status).toBe(200);
    release();
    expectProblem(await later, 409, 'CONFLICT');
    expect((await earlier.answer).status).toBe(409);
    expect(world.counted.puts).toBe(1);
  });

  it('end with the last of many to the same task', async ({ folder, hold, open }) => {
    const world = await open({ limits: { parallelUploads: 1 } });
    const { url } = await world.create();
    const first = hold(url, {});
    await world.counted.begun(1);
    const others = await Promise.all(Array.from({ length: 6 }, () => world.put(url, file(10))));
    const statuses = others.map(({ status }) => status);
    expect(statuses).toContain(200);
    for (const status of statuses) expect([200, 409]).toContain(status);
    expect((await first.answer).status).toBe(409);
    expect((await readdir(join(folder, 'inputs'))).length).toBe(1);
  });

  it('are limited for each client, and free as they end', async ({ hold, open }) => {
    const world = await open({ limits: { parallelUploads: 2 } });
    const held: Held[] = [];
    for (const _ of [1, 2]) held.push(hold((await world.create()).url, {}));
    await world.counted.begun(2);
    const { url } = await world.create();
    expectProblem(await world.put(url, '[]'), 429, 'TOO_MANY_UPLOADS');
    expect(
      (await world.put((await world.create(undefined, { key: world.bob })).url, '[]')).status,
    ).toBe(200);
    held[0]!.request.destroy();
    await until(async () => (await world.put(url, '[]')).status === 200);
    held[1]!.request.end();
    expect((await held[1]!.answer).status).toBe(200);
  });
});
