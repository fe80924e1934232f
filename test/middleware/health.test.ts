/** Health: ready or not, quickly, whatever the ports do, and however often it is asked. */
import { describe, expect } from 'vitest';
import {
  answerHealth,
  type FalconService,
  falconService,
  memoryStore,
  type ServiceOptions,
} from '../../src/middleware/index.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { deferred } from '../../src/shared/wait.ts';
import { it as base, toAnswer, until } from './support.ts';

/** What everybody may wait for an answer, and room for a busy machine. */
const LONGEST_MS = 1500;
const SPARE_MS = 3000;

let service: FalconService;
const it = base.extend<{ make: (options?: ServiceOptions) => void }>({
  make: async ({ folder, defer }, use) => {
    await use((options) => {
      const given = { dataDirectory: folder, signing: false, workers: false, ...options };
      service = falconService(given);
      defer(() => service.stop({ graceMs: 0 }));
    });
  },
});
const ask = async (path = '/readyz', method = 'GET') => {
  const answer = answerHealth(service, new Request(`http://a.example${path}`, { method }));
  return answer === null ? null : toAnswer(await answer);
};

/** A store with this ping, and how often it was called. */
function pinged(ping: () => Promise<void>, keepPingMs?: number) {
  const store = memoryStore();
  let pings = 0;
  const own = {
    ...(keepPingMs !== undefined && { keepPingMs }),
    ping() {
      pings++;
      return ping();
    },
  };
  const tasks = Object.assign(Object.create(store.tasks) as typeof store.tasks, own);
  return { store: { ...store, tasks }, count: () => pings };
}

describe('health', () => {
  it('is ready between start and stop, and answers all the time', async ({ make }) => {
    make();
    expect(await ask()).toMatchObject({
      status: 503,
      json: { status: 'not ready', state: 'starting', checks: {} },
    });
    expect((await ask())!.headers.get('retry-after')).toBe('1');
    expect((await ask('/healthz'))!.status).toBe(200);
    await service.start();
    expect(await ask()).toMatchObject({
      status: 200,
      json: { status: 'ready', state: 'running', checks: { store: 'ok', blobs: 'ok' } },
    });
    expect(await service.health()).toMatchObject({ ready: true });
    service.drain();
    expect(await ask()).toMatchObject({ status: 503, json: { state: 'draining', checks: {} } });
    // Until it is stopped, it serves.
    expect((await service.app.request('/v1/svc/tasks')).status).toBe(401);
    await service.stop();
    expect(await ask()).toMatchObject({ status: 503, json: { state: 'draining' } });
    expect((await ask('/healthz'))!.json).toEqual({ status: 'ok' });
  });

  it('leaves other paths alone, and has no other methods', async ({ make }) => {
    make();
    expect(await ask('/v1/svc/tasks')).toBeNull();
    expect(await ask('/healthz/')).toBeNull();
    expect((await ask('/healthz', 'POST'))!.status).toBe(405);
    const head = await ask('/healthz', 'HEAD');
    expect([head!.status, head!.text]).toEqual([200, '']);
  });

  // Any fault that is not ours is taken for the absence of the port.
  it.for([
    new CodedError('STORE_UNAVAILABLE', { cause: new Error('password of postgres') }),
    new TypeError('password'),
  ])('says which port fails, and nothing more: %s', async (fault, { make }) => {
    const { store } = pinged(() => Promise.reject(fault));
    make({ store });
    await service.start();
    const answer = await ask();
    expect(answer).toMatchObject({
      status: 503,
      json: { status: 'not ready', checks: { store: 'STORE_UNAVAILABLE', blobs: 'ok' } },
    });
    expect(answer!.text).not.toContain('password');
  });

  it('gives up a port that hangs, has one question open, and sees when it is back', async ({
    make,
  }) => {
    const { promise, resolve: back } = deferred<void>();
    const hanging = pinged(() => promise);
    make({ store: hanging.store });
    await service.start();
    const startMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask()));
    expect(performance.now() - startMs).toBeLessThan(LONGEST_MS + SPARE_MS);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, json: { checks: { store: 'TIMED_OUT' } } });
    }
    expect((await ask())!.status).toBe(503);
    expect(hanging.count()).toBe(1);
    back();
    expect((await ask())!.json.checks).toEqual({ store: 'ok', blobs: 'ok' });
  });

  it('keeps a good answer for as long as the port says, a bad one for a second', async ({
    make,
  }) => {
    let fault: CodedError | null = null;
    const own = pinged(async () => {
      if (fault) throw fault;
    }, 2500);
    make({ store: own.store });
    await service.start();
    const startMs = performance.now();
    expect((await ask())!.status).toBe(200);
    fault = new CodedError('STORE_NEWER');
    await until(async () => (await ask())!.status !== 200);
    expect(performance.now() - startMs).toBeGreaterThan(2400);
    expect((await ask())!.json.checks.store).toBe('STORE_NEWER');
    expect(own.count()).toBeLessThan(4);
    fault = null;
    const backMs = performance.now();
    await until(async () => (await ask())!.status !== 503);
    expect(performance.now() - backMs).toBeLessThan(1100 + SPARE_MS);
  });

  it('asks a port once a second, whoever asks', async ({ make }) => {
    const quick = pinged(async () => {});
    make({ store: quick.store });
    await service.start();
    const startMs = performance.now();
    for (let i = 0; i < 500; i++) expect((await ask())!.status).toBe(200);
    const seconds = (performance.now() - startMs) / 1000;
    expect(quick.count()).toBeLessThanOrEqual(1 + seconds);
  });
});
