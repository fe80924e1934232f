/** The whole service over a bucket: from signatures to a verified aggregate, in every way. */
import { beforeAll, describe, expect } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { newInputKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { type S3BlobStore, type S3Options, s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import type { Triple } from '../../src/wire/triple.ts';
import { openFaultyProxy } from '../support/faultyProxy.ts';
import { hasRgw, newPrefix, openRgw, type Rgw } from '../support/rgw.ts';
import { it as base, expectProblem, type TestService } from './support.ts';
import { bytesOf, makeTriples, statementsOf } from './triples.ts';

const AGGSIGN = '/v1/svc/aggsign';
const MAX_BODY = 1 << 20;
const WAYS = ['direct', 'through'] as const;

describe.skipIf(!hasRgw())('the service over a bucket', () => {
  let rgw: Rgw;
  let options: S3Options;
  let blobs: S3BlobStore;
  let http: TestService;

  beforeAll(async () => {
    rgw = await openRgw();
  });

  const create = async (body?: unknown) => {
    const { process_id: id, url } = await http.create(body);
    return { id, url };
  };
  /** Starts the service of the test. @returns a task */
  type Begin = (more?: Partial<S3Options>) => ReturnType<typeof create>;
  const it = base.extend<{ begin: Begin }>({
    begin: async ({ start }, use) => {
      await use(async (more) => {
        const { endpoint, bucket, credentials } = rgw;
        options = { endpoint, bucket, credentials, prefix: newPrefix(), ...more };
        blobs = s3Blobs(options);
        http = await start({ blobs, maxBodyBytes: MAX_BODY, threads: 1 });
        return create();
      });
    },
  });
  const put = (...given: Parameters<typeof http.put>) => http.put(...given);
  const notify = (id: number) => http.ask('POST', `${AGGSIGN}/notify/${id}`);
  /** Has an uploaded task done. @returns its record */
  const completed = async (id: number) => {
    expect((await notify(id)).status).toBe(202);
    const done = await http.ended(id);
    expect(done.status).toBe('completed');
    return done;
  };
  /** Fetches the result as a client does, and verifies its aggregate. */
  const verifyResult = async (resultPath: string, triples: readonly Triple[]) => {
    const answer = await fetch(resultPath);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="\d+\.json"$/);
    const { aggregate } = await answer.json();
    const statements = statementsOf(triples);
    expect(verifyAggregate(bytesOf(aggregate), statements)).toBe(true);
    expect(verifyAggregate(bytesOf(aggregate), statements.slice(1))).toBe(false);
  };
  /** Keys in the bucket, below the prefix of this test. */
  const keysLeft = async (): Promise<string[]> => {
    const keys: string[] = [];
    const later = s3Blobs({ ...options, nowMs: () => Date.now() + 10_000 });
    await later.clean({
      olderThanMs: 0,
      async referenced(some) {
        keys.push(...some);
        return new Set(some);
      },
    });
    return keys;
  };

  it.for(WAYS.flatMap((uploads) => WAYS.map((results) => [uploads, results] as const)))(
    'makes an aggregate: uploads %s, results %s',
    async ([uploads, results], { begin }) => {
      const { id, url } = await begin({ uploads, results });
      const triples = makeTriples(30, 3);
      expect(new URL(url).origin).toBe(uploads === 'direct' ? rgw.endpoint : http.address);
      expectProblem(await notify(id), 409, 'NOT_UPLOADED');
      expect((await put(url, JSON.stringify(triples))).status).toBe(200);
      const done = await completed(id);
      const result = new URL(done.result_path);
      expect(result.origin).toBe(results === 'direct' ? rgw.endpoint : http.address);
      expect(result.pathname.endsWith(`/${id}.json`)).toBe(true);
      await verifyResult(done.result_path, triples);
      expect(await keysLeft()).toEqual([`results/1/${id}.json`]);

      const path = `/v1/svc/tasks/${id}/result`;
      for (const method of ['GET', 'HEAD']) {
        const redirected = await http.ask(method, path);
        expect(redirected.status).toBe(302);
        const file = await fetch(redirected.headers.get('location')!, { method });
        const length = Number(file.headers.get('content-length'));
        expect([file.status, length]).toEqual([200, done.result_bytes]);
      }

      const direct = await http.ask('POST', AGGSIGN, { data: triples });
      expect(direct.status).toBe(202);
      const second = await http.ended(direct.json.process_id);
      await verifyResult(second.result_path, triples);
      for (const each of [id, direct.json.process_id]) {
        expect((await http.ask('DELETE', `/v1/svc/tasks/${each}`)).status).toBe(204);
      }
      expect(await keysLeft()).toEqual([]);
    },
  );

  it('looks at what came past it, refuses and deletes it', async ({ begin }) => {
    const { id, url } = await begin({ uploads: 'direct' });
    for (const [body, headers, status, code] of [
      ['', {}, 400, 'MALFORMED_JSON'],
      [' '.repeat(MAX_BODY + 1), {}, 413, 'BODY_TOO_LARGE'],
      ['[]', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['[]', { 'content-encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ] as const) {
      expect((await put(url, body, headers)).status).toBe(200);
      expectProblem(await notify(id), status, code);
      expect(await keysLeft()).toEqual([]);
    }
    await put(url, '[]');
    expect((await http.ask('DELETE', `/v1/svc/tasks/${id}`)).status).toBe(200);
    expect(await keysLeft()).toEqual([]);

    const known = await create({ bytes: 2 });
    expect((await put(known.url, '[ ]')).status).toBe(403);
    expect((await put(known.url, '[]')).status).toBe(200);
  });

  it('fails a task whose file was replaced after the notification', async ({ begin }) => {
    const { id, url } = await begin({ uploads: 'direct' });
    await put(url, JSON.stringify(makeTriples(1)));
    const { blob } = (await blobs.uploads!.stat(id))!;
    // The file is replaced between the look at it and the claim of the worker.
    const { stat } = blobs.uploads!;
    blobs.uploads!.stat = async (taskId) => {
      const seen = await stat(taskId);
      await put(url, JSON.stringify(makeTriples(1)));
      return seen;
    };
    expect((await notify(id)).status).toBe(202);
    const failed = await http.ended(id);
    expect([failed.status, failed.error.code]).toEqual(['failed', 'INPUT_CHANGED']);
    await expect.poll(() => blobs.stat(blob.key), { timeout: 60_000 }).toBe(null);
  });

  it('takes uploads of every habit through itself', async ({ begin }) => {
    const { id, url } = await begin({ uploads: 'through' });
    const body = JSON.stringify(makeTriples(1));
    expect((await put(url, body, { authorization: http.alice })).status).toBe(200);
    expect((await put(url, new Blob([body]).stream())).status).toBe(200);
    expectProblem(await put(url, ' '.repeat(MAX_BODY + 1)), 413, 'BODY_TOO_LARGE');
    await completed(id);
    expect(await keysLeft()).toEqual([`results/1/${id}.json`]);
  });

  it('finds what came past it by the url of another host', async ({ begin }) => {
    const { id } = await begin({ uploads: 'through' });
    const another = s3Blobs({ ...options, uploads: 'direct' }).uploads!;
    const url = await another.url(id, { expiresAtMs: Date.now() + 600_000 });
    expect((await put(url, '[]', { 'content-type': 'text/plain' })).status).toBe(200);
    expectProblem(await notify(id), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectProblem(await notify(id), 409, 'NOT_UPLOADED');
    const triples = makeTriples(1);
    expect((await put(url, JSON.stringify(triples))).status).toBe(200);
    const done = await completed(id);
    await verifyResult(done.result_path, triples);
    expect(await keysLeft()).toEqual([`results/1/${id}.json`]);

    // What came through the service counts, if both ways were taken.
    const both = await create();
    const other = await another.url(both.id, { expiresAtMs: Date.now() + 600_000 });
    expect((await put(other, '{"not": "triples"}')).status).toBe(200);
    expect((await put(both.url, JSON.stringify(triples))).status).toBe(200);
    await completed(both.id);
  });

  it('says 503 while the bucket is away, and carries on when it is back', async ({
    begin,
    defer,
  }) => {
    const proxy = await openFaultyProxy(rgw.endpoint);
    defer(proxy.close);
    const { id, url } = await begin({ endpoint: proxy.address });
    expect((await put(url, JSON.stringify(makeTriples(1)))).status).toBe(200);
    proxy.choose = (line) => (line.startsWith('HEAD') ? 'cut' : 'pass');
    expectProblem(await notify(id), 503, 'STORE_UNAVAILABLE');
    const reads = (line: string) =>
      line.startsWith('GET') && line.includes('/uploads/') && !line.includes('list-type');
    proxy.choose = (line) => (reads(line) ? { status: 500 } : 'pass');
    expect((await notify(id)).status).toBe(202);
    // The worker reads, in vain, and a second time.
    const seen = () => proxy.seen.filter(({ line }) => reads(line)).length;
    await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThan(4);
    expect((await http.record(id)).status).not.toBe('completed');
    proxy.choose = () => 'pass';
    expect((await http.ended(id)).status).toBe('completed');
  });

  it('lets the page reach the bucket, by its policy', async ({ begin }) => {
    await begin();
    const page = await http.ask('GET', '/v1/ui');
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toMatch(new RegExp(`connect-src 'self'[^;]* ${rgw.endpoint}(;| )`));
    expect(await blobs.stat(newInputKey())).toBe(null);
  });
});
