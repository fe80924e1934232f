/**
 * Every answer that the OpenAPI document promises, provoked: each operation with each of its
 * statuses. That the answers are as documented is seen to by the watch around every service; here
 * it is counted that none is missing.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { signUrl } from '../../src/middleware/http/signedUrls.ts';
import {
  type FalconService,
  falconService,
  memoryStore,
  type ServiceOptions,
} from '../../src/middleware/index.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { Contract } from '../support/contract/contract.ts';
import { seenSoFar } from '../support/contract/seen.ts';
import { openOwnUrls } from './ownUrls.ts';
import { type Answer, it as base, heldBody, newSigner, toAnswer } from './support.ts';
import { makeTriples } from './triples.ts';

interface Operation {
  readonly id: string;
  readonly method: string;
  /** With something in the place of every parameter. */
  readonly path: string;
  readonly right: 'key' | 'url' | 'open';
  readonly statuses: readonly number[];
  readonly takesBody: boolean;
}

const AGGSIGN = '/v1/svc/aggsign';

const signer = newSigner();

const it = base.extend<{ open: (options?: ServiceOptions) => Promise<FalconService> }>({
  open: async ({ folder, defer }, use) => {
    await use(async (options = {}) => {
      const service = falconService({
        dataDirectory: folder,
        // Over a store of ours, signing needs a signer of ours.
        ...(options.store === undefined ? { signing: true } : { signer }),
        workers: false,
        authenticate: (key) => (key === 'key' ? { clientId: 1 } : null),
        ...options,
      });
      defer(() => service.stop({ graceMs: 0 }));
      await service.start();
      return service;
    });
  },
});

let contract: Contract;
let operations: Operation[];

beforeAll(async () => {
  const { app } = falconService({ dataDirectory: '/nowhere', signing: true });
  contract = new Contract(await (await app.request('/v1/openapi.json')).json());
  type Item = Record<string, Record<string, never>>;
  operations = Object.entries(contract.document.paths as Record<string, Item>).flatMap(
    ([template, item]) =>
      Object.entries(item).map(([method, operation]): Operation => {
        const path = template.replace('{file}', '1.json').replaceAll(/\{\w+\}/g, '1');
        const signed = /uploads|results/.test(template);
        return {
          id: String(operation.operationId),
          method: method.toUpperCase(),
          path,
          right: signed
            ? 'url'
            : (operation.security as unknown as unknown[]).length > 0
              ? 'key'
              : 'open',
          statuses: Object.keys(operation.responses!).map(Number),
          takesBody: '408' in operation.responses!,
        };
      }),
  );
});

interface Asked {
  readonly body?: BodyInit | object | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

async function ask(
  { app }: FalconService,
  method: string,
  path: string,
  { body, headers = {}, key = 'key' }: Asked = {},
): Promise<Answer> {
  const plain = body !== null && typeof body === 'object' && !(body instanceof ReadableStream);
  const init = {
    method,
    headers: { authorization: key, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: plain ? JSON.stringify(body) : body, duplex: 'half' }),
  };
  return toAnswer(await app.request(path, init as RequestInit));
}

const withStatus = (status: number) =>
  operations.filter(({ statuses }) => statuses.includes(status));

/** The path of a file, with the right to it. */
function signed(secret: Uint8Array, path: string): string {
  const right = path.includes('uploads')
    ? ({ method: 'PUT', taskId: 1 } as const)
    : ({ method: 'GET', key: 'results/1/1.json' } as const);
  return signUrl(secret, right, { base: '/v1/svc', expiresAtMs: Date.now() + 60_000 });
}

describe('every documented answer', () => {
  it('401 without a key, 404 for what is not there', async ({ open }) => {
    const service = await open();
    for (const { method, path } of withStatus(401)) {
      expect((await ask(service, method, path, { key: 'x' })).status, path).toBe(401);
    }
    for (const { method, path } of withStatus(404).filter(({ right }) => right === 'key')) {
      expect((await ask(service, method, path)).status, path).toBe(404);
    }
  });

  it('429 for too many requests, with a good key and without one', async ({ open }) => {
    const limits = { requestsPerSecond: 1, burst: 1, refusedPerSecond: 1, refusedBurst: 1 };
    const service = await open({ limits });
    const until429 = async (method: string, path: string) => {
      for (let i = 0; i < 100; i++) {
        if ((await ask(service, method, path)).status === 429) return;
      }
      throw new Error(`${method} ${path} is never a 429`);
    };
    for (const { method, path } of withStatus(429)) await until429(method, path);
    const strange = () => ask(service, 'GET', '/v1/svc/tasks', { key: 'x' });
    for (let i = 0; (await strange()).status !== 429; i++) expect(i).toBeLessThan(100);
  });

  it('500 and 503 with nothing told of the inside', async ({ folder, open }) => {
    const blobs = directoryBlobs({ path: folder });
    const failing = async () => {
      throw new Error('secret');
    };
    const store = memoryStore();
    const broken = await open({
      authenticate: failing,
      store: { ...store, tasks: { ...store.tasks, get: failing } },
      blobs: { ...blobs, get: failing },
    });
    const urlSecret = await store.tasks.secret('urls');
    for (const { method, path, right } of withStatus(500)) {
      const answer = await ask(broken, method, right === 'url' ? signed(urlSecret, path) : path);
      expect([answer.status, answer.text.includes('secret')], path).toEqual([500, false]);
    }
    const early = falconService({ dataDirectory: folder });
    await broken.stop();
    for (const { method, path } of withStatus(503).filter(({ right }) => right !== 'open')) {
      expect((await ask(early, method, path)).json.code, path).toBe('NOT_STARTED');
      expect((await ask(broken, method, path)).json.code, path).toBe('SHUTTING_DOWN');
    }
  });

  it('507 while the disk is full', async ({ folder, open }) => {
    const store = memoryStore();
    const urlSecret = await store.tasks.secret('urls');
    const full = async () => {
      throw new CodedError('STORAGE_FULL');
    };
    const service = await open({
      authenticate: full,
      store: { ...store, tasks: { ...store.tasks, get: full } },
      blobs: { ...directoryBlobs({ path: folder }), get: full },
    });
    for (const { method, path, right } of withStatus(507)) {
      const url = right === 'url' ? signed(urlSecret, path) : path;
      const answer = await ask(service, method, url);
      expect([answer.status, answer.json.code], path).toEqual([507, 'STORAGE_FULL']);
      expect(answer.headers.get('retry-after'), path).toMatch(/^[1-9]\d*$/);
    }
  });

  it('503 while the store is away, and while there is no room for bodies', async ({ open }) => {
    const store = memoryStore();
    const get = async () => {
      throw new CodedError('STORE_UNAVAILABLE');
    };
    const away = await open({ store: { ...store, tasks: { ...store.tasks, get } } });
    const answer = await ask(away, 'GET', '/v1/svc/tasks/1');
    expect([answer.status, answer.json.code]).toEqual([503, 'STORE_UNAVAILABLE']);

    const full = await open({ maxBodyBytes: 1024, maxBufferedBytes: 2048 });
    const { body, taken, finish } = heldBody(' '.repeat(800), '{"digest":"0x00"}');
    const slow = ask(full, 'POST', '/v1/falcon/sign', { body });
    await taken;
    await new Promise((resolve) => setImmediate(resolve)); // and counted
    const refused = await ask(full, 'POST', '/v1/falcon/sign', { body: ' '.repeat(800) });
    expect([refused.status, refused.json.code]).toEqual([503, 'OVERLOADED']);
    finish();
    expect((await slow).status).toBe(200);
  });

  it('507 without room on the disk', async ({ open }) => {
    const service = await open({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    const { url } = (await ask(service, 'POST', `${AGGSIGN}/task`)).json;
    const places: [string, string, object][] = [
      ['PUT', url.slice(url.indexOf('/v1/')), makeTriples(1)],
      ['POST', AGGSIGN, { data: makeTriples(1) }],
    ];
    for (const [method, path, body] of places) {
      const answer = await ask(service, method, path, { body });
      expect([answer.status, answer.json.code]).toEqual([507, 'STORAGE_FULL']);
      expect(answer.headers.get('retry-after')).toBe('30');
    }
  });

  it('400, 408, 411, 413, 415 and 422 for bodies and headers', async ({ open }) => {
    const store = memoryStore();
    const service = await open({ store });
    // The only one without patience: a held up process may not be taken for a sender that is
    // silent.
    const hasty = await open({ store, bodyIdleTimeoutMs: 20 });
    const created = (await ask(service, 'POST', `${AGGSIGN}/task`)).json;
    const { pathname, search } = new URL(created.url);
    const notify = `${AGGSIGN}/notify/${created.process_id}`;
    const body = { parts: true };
    const { process_id: list } = (await ask(service, 'POST', `${AGGSIGN}/task`, { body })).json;
    const paths = new Map([
      ['notifyTask', notify],
      ['createPart', `${AGGSIGN}/task/${list}/part`],
    ]);
    const places = operations
      .filter(({ takesBody }) => takesBody)
      .map((operation) => {
        if (operation.right === 'url') return { ...operation, path: pathname + search };
        return { ...operation, path: paths.get(operation.id) ?? operation.path };
      });
    expect(places.length).toBe(7);
    for (const { id, method, path, statuses } of places) {
      const odd = { headers: { 'content-length': 'many' }, body: '{}' };
      expect((await ask(service, method, path, odd)).status, path).toBe(400);
      const large = { headers: { 'content-length': '1000000000000' }, body: '{}' };
      expect((await ask(service, method, path, large)).status, path).toBe(413);
      const never = { body: new ReadableStream({ pull: () => new Promise(() => {}) }) };
      expect((await ask(hasty, method, path, never)).status, path).toBe(408);
      // What a notification is told of a file, another test has.
      if (statuses.includes(415) && id !== 'notifyTask') {
        const text = { headers: { 'content-type': 'text/plain' }, body: '{}' };
        expect((await ask(service, method, path, text)).status, path).toBe(415);
        const packed = { headers: { 'content-encoding': 'br' }, body: '{}' };
        expect((await ask(service, method, path, packed)).status, path).toBe(415);
        const noGzip = { headers: { 'content-encoding': 'gzip' }, body: '{}' };
        expect((await ask(service, method, path, noGzip)).status, path).toBe(400);
        if (method === 'PUT') continue;
        expect((await ask(service, method, path, { body: '{' })).status, path).toBe(400);
        expect((await ask(service, method, path, { body: {} })).status, path).toBe(422);
      }
    }
    expect((await ask(service, 'PUT', pathname + search)).status).toBe(411);
    const longer = { data: Array(1723).fill({}) };
    expect((await ask(service, 'POST', AGGSIGN, { body: longer })).status).toBe(422);
    expect((await ask(service, 'GET', '/v1/svc/tasks?limit=0')).status).toBe(400);
    expect((await ask(service, 'GET', '/v1/svc/tasks?cursor=x')).status).toBe(400);
  });

  it('400, 413 and 415 for a file that went past the service', async ({ folder, open }) => {
    const own = await openOwnUrls(folder);
    const service = await open({ blobs: own.blobs, maxBodyBytes: 1024 });
    const { process_id: id, url } = (await ask(service, 'POST', `${AGGSIGN}/task`)).json;
    for (const [status, type, body] of [
      [400, 'application/json', ''],
      [413, 'application/json', ' '.repeat(1025)],
      [415, 'text/plain', '[]'],
    ] as const) {
      await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body });
      expect((await ask(service, 'POST', `${AGGSIGN}/notify/${id}`)).status).toBe(status);
    }
    await own.close();
  });

  it('409 and 422 for an Idempotency-Key', async ({ open }) => {
    const store = memoryStore();
    const service = await open({ store });
    const data = makeTriples(1);
    const headers = { 'idempotency-key': 'k1' };
    const parts = JSON.stringify({ parts: true });
    const list = (await ask(service, 'POST', `${AGGSIGN}/task`, { body: parts })).json.process_id;
    for (const [path, body] of [
      [`${AGGSIGN}/task`, ''],
      [`${AGGSIGN}/task/${list}/part`, ''],
      [AGGSIGN, JSON.stringify({ data })],
    ] as const) {
      const print = createHash('sha256').update(`POST ${path}\n`).update(body).digest('hex');
      const begun = await store.tasks.beginAnswer(1, headers['idempotency-key'], print, 60_000);
      if (begun.kind !== 'held') throw new Error(begun.kind);
      const twice = await ask(service, 'POST', path, { headers, body });
      expect(twice.json.code).toBe('IDEMPOTENCY_CONFLICT');
      expect(Number(twice.headers.get('retry-after'))).toBeGreaterThan(50);
      const other = await ask(service, 'POST', path, {
        headers,
        body: path === AGGSIGN ? { data, x: 1 } : 'other',
      });
      expect([other.status, other.json.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
      await store.tasks.abandonAnswer(begun.hold);
      const first = await ask(service, 'POST', path, { headers, body });
      expect(first.status).toBeLessThan(300);
      const { process_id = list, part } = first.json;
      const task = `/v1/svc/tasks/${process_id}`;
      expect((await ask(service, 'DELETE', task)).status).toBe(200);
      const again = await ask(service, 'POST', path, { headers, body });
      expect(again.json).toMatchObject(part === undefined ? { process_id } : { part });
      if (part === undefined) expect((await ask(service, 'DELETE', task)).status).toBe(204);
      else await store.tasks.sweep({ answerMs: 60_000 });
      const gone = await ask(service, 'POST', path, { headers, body });
      expect([gone.status, gone.json.code]).toEqual([410, 'IDEMPOTENCY_GONE']);
      headers['idempotency-key'] += '1';
    }
  });

  it('403 for a signed url that is none, and where nothing is signed', async ({ open }) => {
    const service = await open({ signing: false });
    for (const { method, path, right } of withStatus(403)) {
      const body = right === 'key' ? { digest: '0x' } : undefined;
      const answer = await ask(service, method, path, body ? { body } : {});
      expect(answer.status, path).toBe(403);
    }
  });

  it('everything that goes well, and every conflict on the way', async ({ open }) => {
    const service = await open({ workers: true, threads: 1 });
    const call = (method: string, path: string, more: Asked = {}) =>
      ask(service, method, path, more);
    const status = async (method: string, path: string, more?: Asked) =>
      (await call(method, path, more)).status;
    expect(await status('POST', '/v1/falcon/sign', { body: { digest: '0x00' } })).toBe(200);

    const { process_id: id, url } = (await call('POST', `${AGGSIGN}/task`)).json;
    const path = `/v1/svc/tasks/${id}`;
    const upload = url.slice(url.indexOf('/v1/'));
    expect(await status('POST', `${AGGSIGN}/task/${id}/url`)).toBe(200);
    expect(await status('POST', `${AGGSIGN}/notify/${id}`)).toBe(409);
    expect(await status('GET', `${path}/result`)).toBe(409);
    const triples = makeTriples(3);
    const part = `${AGGSIGN}/task/${id}/part`;
    expect(await status('POST', part)).toBe(409);
    const opened = await call('POST', `${AGGSIGN}/task`, { body: { parts: true } });
    expect(await status('POST', part.replace(id, opened.json.process_id))).toBe(201);
    expect(await status('PUT', upload, { body: triples })).toBe(200);
    expect(await status('POST', `${AGGSIGN}/notify/${id}`)).toBe(202);
    expect(await status('PUT', upload, { body: triples })).toBe(409);
    expect(await status('POST', `${AGGSIGN}/task/${id}/url`)).toBe(409);
    const events = await call('GET', `${path}/events`);
    expect(events.text).toContain('"status":"completed"');
    const [, last] = /\nid: (completed\S+)/.exec(events.text)!;
    expect(await status('GET', `${path}/events`, { headers: { 'last-event-id': last! } })).toBe(
      204,
    );

    const record = (await call('GET', path)).json;
    expect(await status('GET', '/v1/svc/tasks')).toBe(200);
    expect(await status('GET', `${path}/result`)).toBe(302);
    const result = record.result_path.slice(record.result_path.indexOf('/v1/'));
    const file = await call('GET', result);
    const { aggregate } = file.json;
    const verify = { aggregate, statements: triples };
    expect((await call('POST', `${AGGSIGN}/verify`, { body: verify })).json.valid).toBe(true);
    expect(await status('DELETE', path)).toBe(204);
    expect(await status('GET', result)).toBe(404);
    expect(await status('PUT', upload, { body: triples })).toBe(404);

    expect(await status('POST', AGGSIGN, { body: { data: triples } })).toBe(202);
    const { process_id: second } = (await call('POST', `${AGGSIGN}/task`)).json;
    expect(await status('DELETE', `/v1/svc/tasks/${second}`)).toBe(200);
    for (const page of withStatus(304)) {
      const first = await call(page.method, page.path);
      expect(first.status, page.path).toBe(200);
      const headers = { 'if-none-match': first.headers.get('etag')! };
      expect(await status(page.method, page.path, { headers })).toBe(304);
    }
  });

  it('none of the document is missing', async ({ task }) => {
    const seen = await seenSoFar();
    expect(contract.documented.filter((key) => !seen.has(key))).toEqual([]);
    expect(contract.documented.length).toBeGreaterThan(100);
    const { documented, problemCodes } = contract;
    task.meta.contract = { counts: {}, documented, codes: problemCodes };
  });
});
