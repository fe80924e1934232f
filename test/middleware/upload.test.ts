import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';
import { expectProblem, serviceTest, spaces } from './support.ts';

const CREATE = '/v1/svc/aggsign/task';
const MIB = 1024 * 1024;

const { it, http } = serviceTest({ workers: false });
describe('the upload url', () => {
  const create = () => http.create();
  const put = (...given: Parameters<typeof http.put>) => http.put(...given);
  const files = async (folder: string) => {
    const path = join(http.directory, 'files', folder);
    return (await readdir(path).catch(() => [])).length;
  };

  it('needs no API key and ignores one that is sent', async () => {
    const { url } = await create();
    expect((await put(url)).status).toBe(200);
    const { url: second } = await create();
    for (const key of [http.bob, 'nonsense']) {
      expect((await http.ask('PUT', second, '[]', { key })).status).toBe(200);
    }
  });

  it('takes a body of unannounced length', async () => {
    const { url } = await create();
    const answer = await put(url, spaces(3 * MIB));
    expect(answer.status).toBe(200);
    expect(answer.json.bytes).toBe(3 * MIB);
  });

  it('takes exactly 32 MiB, and refuses one byte more, announced or not', async () => {
    const { url, process_id } = await create();
    expect((await put(url, new Uint8Array(32 * MIB).fill(0x20))).status).toBe(200);
    const before = await files('inputs');
    expectProblem(await put(url, new Uint8Array(32 * MIB + 1).fill(0x20)), 413, 'BODY_TOO_LARGE');
    expectProblem(await put(url, spaces(32 * MIB + 1)), 413, 'BODY_TOO_LARGE');
    expect(await files('inputs')).toBe(before);
    expect(await files('tmp')).toBe(0);
    const record = await http.ask('GET', `/v1/svc/tasks/${process_id}`);
    expect(record.json.status).toBe('wait for notification');
  });

  it('replaces the file by a later one before the notification, refuses it afterwards', async () => {
    const { url, process_id } = await create();
    const before = await files('inputs');
    await put(url, '[1]');
    await put(url, '[1,2]');
    expect(await files('inputs')).toBe(before + 1);
    await http.ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
    expectProblem(await put(url, '[1,2,3]'), 409, 'CONFLICT');
    expect(await files('inputs')).toBe(before + 1);
    const reissue = await http.ask('POST', `${CREATE}/${process_id}/url`);
    expectProblem(reissue, 409, 'CONFLICT');
  });

  it('is good for one task and one use only', async () => {
    const { url } = await create();
    const other = new URL((await create()).url);
    const right = new URL(url).search;
    const mixed = new URL(other);
    mixed.search = right;
    expectProblem(await put(mixed.href), 403, 'FORBIDDEN_URL');
    const asResult = new URL(url);
    asResult.pathname = `/v1/svc/results/1/${url.match(/uploads\/(\d+)/)![1]}.json`;
    expectProblem(await http.ask('GET', asResult.href, undefined, { key: null }), 403);
    expectProblem(await http.ask('GET', url, undefined, { key: null }), 405);
    expectProblem(await http.ask('DELETE', url), 405);
  });

  it('is refused with its query changed, left out or repeated, and for what is no id', async () => {
    const { url } = await create();
    const urls = [url.split('?')[0]!, url.replace(/uploads\/\d+/, 'uploads/abc'), `${url}0`];
    urls.push(url.replace(/uploads\/\d+/, '$&0'));
    for (const [name, value] of new URL(url).searchParams) {
      for (const other of ['', `${value}0`, (value.startsWith('1') ? '2' : '1') + value.slice(1)]) {
        const forged = new URL(url);
        forged.searchParams.set(name, other);
        urls.push(forged.href);
      }
      urls.push(`${url}&${name}=${value}`);
    }
    for (const forged of urls) expectProblem(await put(forged), 403, 'FORBIDDEN_URL');
    expect((await put(url)).status).toBe(200);
  });

  it('takes JSON only', async () => {
    const { url } = await create();
    const others = ['octet-stream', 'jsonx', 'cbor'].map((name) => `application/${name}`);
    for (const type of [...others, 'text/plain', 'json', '']) {
      const refused = await put(url, '[]', { 'content-type': type });
      expectProblem(refused, 415, 'UNSUPPORTED_MEDIA_TYPE');
      expect(refused.headers.get('accept')).toBe('application/json');
    }
    const latin = { 'content-type': 'application/json; charset=iso-8859-1' };
    expectProblem(await put(url, '[]', latin), 415);
    const refused = await put(url, '[]', { 'content-encoding': 'deflate' });
    expectProblem(refused, 415);
    expect(refused.headers.get('accept-encoding')).toBe('gzip, identity');
    const loud = { 'content-type': 'Application/JSON; charset="UTF-8"' };
    expect((await put(url, '[]', loud)).status).toBe(200);
  });

  it('names an empty body', async () => {
    const { url } = await create();
    expectProblem(await put(url, ''), 400, 'MALFORMED_JSON');
    // As Next cuts bodies off.
    const cut = (bytes: number, end: string) =>
      put(url, new Blob(['x'.repeat(bytes - 1), end]).stream());
    expectProblem(await cut(10 * MIB - 100, ','), 400, 'INCOMPLETE_BODY');
    for (const [bytes, end] of [
      [10 * MIB, ']'],
      [10 * MIB, '\n'],
      [10 * MIB + 1, ','],
    ] as const) {
      expect((await cut(bytes, end)).status).toBe(200);
    }
    expect((await put(url, 'x'.repeat(10 * MIB))).status).toBe(200);
    expectProblem(await put(url, spaces(0)), 400, 'MALFORMED_JSON');
  });

  it('answers 404 for a task that was taken away', async () => {
    const { url, process_id } = await create();
    await http.ask('DELETE', `/v1/svc/tasks/${process_id}`);
    expectProblem(await put(url), 409, 'CONFLICT');
    await http.ask('DELETE', `/v1/svc/tasks/${process_id}`);
    expectProblem(await put(url), 404, 'NOT_FOUND');
  });
});

describe('a task that is left alone', () => {
  it('expires, and says so everywhere; its file goes, and it can be removed', async ({ start }) => {
    // Two looks for expired tasks in such a time; the clock that they go by is put forward.
    const uploadUrlTtlMs = 6000;
    let aheadMs = 0;
    const store = memoryStore({ nowMs: () => Date.now() + aheadMs });
    const http = await start({ workers: false, uploadUrlTtlMs, store });
    const idle = await http.create();
    const { process_id, url } = await http.create();
    expect((await http.put(url)).status).toBe(200);
    const path = `/v1/svc/tasks/${process_id}`;
    expect((await http.record(process_id)).status).toBe('wait for notification');
    aheadMs = 2 * uploadUrlTtlMs;
    const record = await http.ended(process_id);
    expect(record.status).toBe('expired');
    expect(record.finished_at).toMatch(/\.\d{9}Z$/);
    const { tasks } = (await http.ask('GET', '/v1/svc/tasks?status=expired')).json;
    expect(tasks.map(({ id }: { id: number }) => id)).toEqual([idle.process_id, process_id]);
    expect(tasks[1].meta.finished_at).toBe(record.finished_at);
    expectProblem(await http.ask('POST', `/v1/svc/aggsign/notify/${process_id}`), 409);
    expectProblem(await http.ask('POST', `${CREATE}/${process_id}/url`), 409, 'CONFLICT');
    expectProblem(await http.ask('GET', `${path}/result`), 409, 'CONFLICT');
    // It goes after the task has ended.
    const inputs = join(http.directory, 'files', 'inputs');
    await expect.poll(() => readdir(inputs).catch(() => []), { timeout: 60_000 }).toEqual([]);
    expect((await http.ask('DELETE', path)).status).toBe(204);
  });
});

describe('the end of an upload url', () => {
  it('comes when it says; a new one can be had before the task expires', async ({
    folder,
    start,
  }) => {
    const uploadUrlTtlMs = 3_600_000;
    let aheadMs = 0;
    const nowMs = () => Date.now() + aheadMs;
    const store = memoryStore({ nowMs });
    const blobs = directoryBlobs({ path: folder, nowMs });
    const http = await start({ workers: false, uploadUrlTtlMs, store, blobs });
    const { process_id, url } = await http.create();
    const reissued = await http.ask('POST', `${CREATE}/${process_id}/url`);
    expect(reissued.status).toBe(200);
    expect(reissued.json.process_id).toBe(process_id);
    expect((await http.put(reissued.json.url)).status).toBe(200);
    aheadMs = uploadUrlTtlMs / 2;
    expect((await http.put(url)).status).toBe(200);
    aheadMs = uploadUrlTtlMs + 1100;
    for (const old of [url, reissued.json.url]) {
      expectProblem(await http.put(old), 403, 'FORBIDDEN_URL');
    }
    const late = await http.ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
    expectProblem(late, 409, 'CONFLICT');
  });
});
