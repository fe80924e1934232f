/** Uploads and results past the service, by urls that the blob store makes itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect } from 'vitest';
import { deferred } from '../../src/shared/wait.ts';
import { openOwnUrls } from './ownUrls.ts';
import { expectProblem, serviceTest } from './support.ts';
import { makeMixedTriples, makeTriples } from './triples.ts';

const AGGSIGN = '/v1/svc/aggsign';
const MAX_BODY = 64 * 1024;

const folder = await mkdtemp(join(tmpdir(), 'falconry-own-'));
const own = await openOwnUrls(join(folder, 'files'));
const limits = { storedBytes: 100_000 };
const options = { blobs: own.blobs, maxBodyBytes: MAX_BODY, limits, threads: 1 };
const { it, http } = serviceTest(options);
afterAll(async () => {
  await own.close();
  await rm(folder, { recursive: true });
});

const create = async (body?: unknown, key = http.alice) => {
  const { process_id: id, url } = await http.create(body, { key });
  return { id, url };
};
const put = (...given: Parameters<typeof http.put>) => http.put(...given);
const notify = (id: number, key = http.alice) =>
  http.ask('POST', `${AGGSIGN}/notify/${id}`, undefined, { key });

describe('a task file that goes past the service', () => {
  it('becomes a result, which is fetched past it as well', async () => {
    const { id, url } = await create();
    expect(url.startsWith(http.address)).toBe(false);
    expectProblem(await notify(id), 409, 'NOT_UPLOADED');
    await put(url, JSON.stringify(makeTriples(2)));
    const told = await notify(id);
    expect(told.status, told.text).toBe(202);
    expect((await notify(id)).status).toBe(202);
    const done = await http.ended(id);
    expect(done.status).toBe('completed');
    expect(done.result_path.endsWith(`/${id}.json?GET`)).toBe(true);
    const file = await (await fetch(done.result_path)).json();
    expect(file).toMatchObject({ process_id: id, count: 2 });
    expect(own.held()).not.toContain(id);

    const path = `/v1/svc/tasks/${id}/result`;
    const found = await http.ask('GET', path);
    expect([found.status, found.headers.get('location')]).toEqual([302, done.result_path]);
    const head = await http.ask('HEAD', path);
    expect(head.headers.get('location')).toBe(done.result_path.replace('?GET', '?HEAD'));
    expectProblem(await http.ask('GET', `/v1/svc/results/1/${id}.json`), 404);
    expectProblem(await http.ask('PUT', `/v1/svc/uploads/${id}`, []), 404);
  });

  it.each([
    ['is empty', '', {}, 400, 'MALFORMED_JSON'],
    ['is too large', ' '.repeat(MAX_BODY + 1), {}, 413, 'BODY_TOO_LARGE'],
    ['is of another type', '[]', { 'content-type': 'text/html' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'is compressed',
      gzipSync('[]'),
      { 'content-encoding': 'gzip' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
  ] as const)('is refused and deleted if it %s', async (_, body, headers, status, code) => {
    const { id, url } = await create();
    await put(url, body, headers);
    expect(own.held()).toContain(id);
    expectProblem(await notify(id), status, code);
    expect(own.held()).not.toContain(id);
    expectProblem(await notify(id), 409, 'NOT_UPLOADED');
    await put(url, '[]', { 'content-type': 'application/json; charset=utf-8' });
    expect((await notify(id)).status).toBe(202);
    expect((await http.ended(id)).status).toBe('failed');
  });

  it('is noticed at the next part, or at the notification, if it is that of a part', async () => {
    const id = (await create({ parts: true })).id;
    const part = async () => {
      const { json } = await http.ask('POST', `${AGGSIGN}/task/${id}/part`);
      return { url: json.url as string, parts: (await http.record(id)).parts };
    };
    const first = await part();
    // Bundles are short; parts of Falcon-512 alone would be beyond the quota.
    const file = JSON.stringify(makeMixedTriples(2).slice(1));
    await put(first.url, file);
    expect((await http.record(id)).parts).toMatchObject({ total: 1, uploaded: 0 });
    const second = await part();
    expect(second.parts).toMatchObject({ total: 2, uploaded: 1 });
    // A file that is refused leaves its part without one.
    await put(second.url, '');
    const gap = await notify(id);
    expectProblem(gap, 409, 'NOT_UPLOADED');
    expect(gap.json.errors).toMatchObject([{ path: '/parts/1', code: 'missing' }]);
    await put(second.url, file);
    expect((await notify(id)).status).toBe(202);
    expect(await http.ended(id)).toMatchObject({ status: 'completed', batch_size: 2 });
  });

  it('counts against the quota of the client, and is deleted beyond it', async () => {
    const release = holdReads();
    const [first, second] = [await create('', http.bob), await create('', http.bob)];
    const padded = `[${' '.repeat(60_000)}]`;
    for (const { id, url } of [first, second]) {
      await put(url, padded);
      expect(own.held()).toContain(id);
    }
    expect((await notify(first.id, http.bob)).status).toBe(202);
    expectProblem(await notify(second.id, http.bob), 429, 'STORAGE_QUOTA');
    expect(own.held()).not.toContain(second.id);
    release();
  });

  it('is not taken if it was replaced after the notification', async () => {
    const busy = await create();
    await put(busy.url, JSON.stringify(makeTriples(20)));
    const { id, url } = await create();
    await put(url, JSON.stringify(makeTriples(1)));
    // The first task occupies the only worker until the second one's file has been replaced.
    const release = holdReads();
    expect((await notify(busy.id)).status).toBe(202);
    expect((await notify(id)).status).toBe(202);
    await put(url, JSON.stringify(makeTriples(1)));
    release();
    const failed = await http.ended(id);
    expect(failed.status).toBe('failed');
    expect(failed.error.code).toBe('INPUT_CHANGED');
    expect((await http.ended(busy.id)).status).toBe('completed');
    expect(own.held()).not.toContain(id);
  });

  it('is deleted with its task, notified or not', async () => {
    const { id, url } = await create();
    await put(url, '[]');
    expect((await http.ask('DELETE', `/v1/svc/tasks/${id}`)).status).toBe(200);
    expect(own.held()).not.toContain(id);
    expectProblem(await notify(id), 409, 'CONFLICT');

    // The url is still good.
    await put(url, '[]');
    expect((await http.ask('DELETE', `/v1/svc/tasks/${id}`)).status).toBe(204);
    expect(own.held()).not.toContain(id);
  });

  it('has the length that was told when the task was created', async () => {
    const lengthOf = (id: number) => own.asked.findLast(({ taskId }) => taskId === id)!.bytes;
    expect(lengthOf((await create({ bytes: 500 })).id)).toBe(500);
    for (const body of [undefined, {}, [], 'x', { bytes: '5' }, { bytes: 0 }, { bytes: 1.5 }]) {
      expect(lengthOf((await create(body)).id)).toBe(undefined);
    }
    const large = await http.ask('POST', `${AGGSIGN}/task`, { bytes: MAX_BODY + 1 });
    expectProblem(large, 413, 'BODY_TOO_LARGE');
  });

  it('is deleted when the time of its task is over', async ({ start }) => {
    const short = await start({ blobs: own.blobs, uploadUrlTtlMs: 1000, threads: 1 });
    const { process_id: id, url } = await short.create();
    await put(url, '[]');
    expect(own.held()).toContain(id);
    await expect.poll(() => own.held(), { timeout: 60_000 }).not.toContain(id);
    expect((await short.record(id)).status).toBe('expired');
  });
});

/** Lets no file be read until the returned function is called. */
function holdReads(): () => void {
  const { read } = own.blobs;
  const { promise: held, resolve: release } = deferred<void>();
  own.blobs.read = async (blob, maxBytes) => {
    await held;
    return read(blob, maxBytes);
  };
  return () => {
    own.blobs.read = read;
    release();
  };
}
