/** What a presigned url of a real S3 server allows, and what clients of every habit are told. */
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInputKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { type S3BlobStore, type S3Options, s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import { hasRgw, newPrefix, openRgw, RGW_DOMAIN, type Rgw } from '../support/rgw.ts';

const BODY = '[{"digest":"0x00"}]';
const JSON_TYPE = { 'content-type': 'application/json' };
const inMs = (ms: number) => ({ expiresAtMs: Date.now() + ms });
const codeOf = async (answer: Response) =>
  [answer.status, /<Code>(\w+)</.exec(await answer.text())?.[1] ?? ''] as const;

describe.skipIf(!hasRgw())('presigned urls', () => {
  let rgw: Rgw;
  let options: S3Options;
  let blobs: S3BlobStore;
  let taskId = 1000;
  beforeAll(async () => {
    rgw = await openRgw();
  });
  beforeEach(() => {
    const { endpoint, bucket, credentials } = rgw;
    options = { endpoint, bucket, credentials, prefix: newPrefix() };
    blobs = s3Blobs(options);
    taskId++;
  });
  afterAll(async () => {
    // Left alone, lists of the bucket grow from test to test.
    const all = s3Blobs({ ...options, nowMs: () => Date.now() + 60_000 });
    await all.clean({ olderThanMs: 0, referenced: async () => new Set() });
  });

  const put = async (url: string, headers: HeadersInit = JSON_TYPE, body: BodyInit = BODY) =>
    codeOf(await fetch(url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit));
  const urlOf = (ttlMs = 60_000, bytes?: number) =>
    blobs.uploads!.url(taskId, { ...inMs(ttlMs), ...(bytes !== undefined && { bytes }) });

  describe('of uploads', () => {
    it('take the file of a client that knows the wire contract alone', async () => {
      const url = await urlOf();
      expect(new URL(url).pathname.endsWith(`/uploads/${taskId}.json`)).toBe(true);
      expect(await blobs.uploads!.stat(taskId)).toBe(null);
      expect(await put(url)).toEqual([200, '']);
      const found = (await blobs.uploads!.stat(taskId))!;
      expect(found).toMatchObject({
        blob: { key: `uploads/${taskId}.json`, bytes: BODY.length },
        contentType: 'application/json',
        contentEncoding: 'identity',
      });
      expect(found.blob.tag).toMatch(/^"[0-9a-f]{32}"$/);
      expect(await put(url, { 'content-type': 'application/json; charset=utf-8' })).toEqual([
        200,
        '',
      ]);
      const bytes = await blobs.read(found.blob, 100);
      expect(new TextDecoder().decode(bytes!)).toBe(BODY);
      await blobs.uploads!.discard(taskId);
      await blobs.uploads!.discard(taskId);
      expect(await blobs.uploads!.stat(taskId)).toBe(null);
    });

    it('refuse a key that is sent along, a body without a length, and a wrong sum', async () => {
      const url = await urlOf();
      for (const authorization of ['falconry_abc', 'Bearer x']) {
        expect(await put(url, { ...JSON_TYPE, authorization })).toEqual([400, 'InvalidArgument']);
      }
      const chunked = new Blob([BODY]).stream();
      expect(await put(url, JSON_TYPE, chunked)).toEqual([411, 'MissingContentLength']);
      const md5 = { ...JSON_TYPE, 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' };
      expect((await put(url, md5))[0]).toBe(400);
      expect(await blobs.uploads!.stat(taskId)).toBe(null);
    });

    it('are good for this file, this method and this time', async () => {
      const url = await urlOf();
      const altered = [
        url.replace(`/${taskId}.json`, `/${taskId + 1}.json`),
        url.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=9999'),
        url.replace(
          /(X-Amz-Signature=)(.)/,
          (_, name, digit) => name + (digit === '0' ? '1' : '0'),
        ),
        url.replace(/&X-Amz-Signature=\w+/, ''),
        `${url}&x-id=1`,
        await blobs.uploads!.url(taskId, inMs(-60_000)),
      ];
      for (const other of altered) expect((await put(other))[0], other).toBe(403);
      expect((await fetch(url)).status).toBe(403);
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
      const short = await urlOf(1000);
      // Its end is the clock's business; asking again until it has come is not.
      await expect.poll(async () => (await put(short))[0], { timeout: 60_000 }).toBe(403);
      const forged = s3Blobs({
        ...options,
        credentials: { ...rgw.credentials, secretAccessKey: 'another' },
      });
      expect((await put(await forged.uploads!.url(taskId, inMs(60_000))))[0]).toBe(403);
    });

    it('are good for one length, if it is known', async () => {
      const url = await urlOf(60_000, BODY.length);
      expect((await put(url, JSON_TYPE, `${BODY} `))[0]).toBe(403);
      expect((await put(url, JSON_TYPE, BODY.slice(1)))[0]).toBe(403);
      expect(await blobs.uploads!.stat(taskId)).toBe(null);
      expect(await put(url)).toEqual([200, '']);
    });

    it('show what another client sent: type, encoding, size', async () => {
      const url = await urlOf();
      await put(url, { 'content-type': 'text/html', 'content-encoding': 'gzip' }, ' '.repeat(9));
      expect(await blobs.uploads!.stat(taskId)).toMatchObject({
        blob: { bytes: 9 },
        contentType: 'text/html',
        contentEncoding: 'gzip',
      });
    });

    it('may be divided over parts of the bucket', async () => {
      const spread = s3Blobs({ ...options, spread: true });
      const url = await spread.uploads!.url(taskId, inMs(60_000));
      expect(new URL(url).pathname.endsWith(`/uploads/${taskId % 256}/${taskId}.json`)).toBe(true);
      expect(await put(url)).toEqual([200, '']);
      const { blob } = (await spread.uploads!.stat(taskId))!;
      expect(await blobs.read(blob, 100)).toHaveLength(BODY.length);
      await spread.uploads!.discard(taskId);
      expect(await blobs.stat(blob.key)).toBe(null);
    });

    it('may have the bucket in the host name', async () => {
      const { port } = new URL(rgw.endpoint);
      const endpoint = `http://${RGW_DOMAIN}:${port}`;
      const virtual = s3Blobs({ ...options, endpoint, addressing: 'virtual' });
      const url = new URL(await virtual.uploads!.url(taskId, inMs(60_000)));
      expect(url.hostname).toBe(`${rgw.bucket}.${RGW_DOMAIN}`);
      const headers = { ...JSON_TYPE, host: url.host, 'content-length': BODY.length };
      const status = await new Promise((resolve, reject) => {
        const path = url.pathname + url.search;
        request({ host: '127.0.0.1', port, method: 'PUT', path, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end(BODY);
      });
      expect(status).toBe(200);
      expect(await blobs.uploads!.stat(taskId)).toMatchObject({ blob: { bytes: BODY.length } });
    });
  });

  describe('of results', () => {
    it('give the file under its name, and nothing else', async () => {
      const key = resultKey(taskId, 2);
      await blobs.put(key, new TextEncoder().encode('{"version":1}'), { maxBytes: 100 });
      const url = await blobs.results!.url(key, inMs(60_000));
      expect(new URL(url).pathname.endsWith(`/${taskId}.json`)).toBe(true);
      const answer = await fetch(url);
      expect(await answer.json()).toEqual({ version: 1 });
      expect(answer.headers.get('content-type')).toBe('application/json');
      const disposition = `attachment; filename="${taskId}.json"`;
      expect(answer.headers.get('content-disposition')).toBe(disposition);

      expect((await fetch(url, { headers: { authorization: 'falconry_abc' } })).status).toBe(400);
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(403);
      expect((await put(url))[0]).toBe(403);
      const other = url.replace(`/2/${taskId}.json`, `/3/${taskId}.json`);
      expect((await fetch(other)).status).toBe(403);
      expect((await fetch(url.replace('attachment', 'inline'))).status).toBe(403);
      const past = await blobs.results!.url(key, inMs(-5000));
      expect((await fetch(past)).status).toBe(403);

      const head = await blobs.results!.url(key, { ...inMs(60_000), method: 'HEAD' });
      const told = await fetch(head, { method: 'HEAD' });
      expect([told.status, told.headers.get('content-length')]).toEqual([200, '13']);
      expect((await fetch(head)).status).toBe(403);
    });
  });

  describe('versions', () => {
    it('that were replaced are not read', async () => {
      const url = await urlOf();
      await put(url);
      const { blob } = (await blobs.uploads!.stat(taskId))!;
      await put(url, JSON_TYPE, '[]');
      await expect(blobs.read(blob, 100)).rejects.toMatchObject({ code: 'INPUT_CHANGED' });
      await expect(blobs.get(blob)).rejects.toMatchObject({ code: 'INPUT_CHANGED' });
      expect(await blobs.read({ key: blob.key }, 100)).toHaveLength(2);
    });

    it('are those of the store, for what the service writes', async () => {
      const key = newInputKey();
      const { tag } = await blobs.put(key, new Uint8Array(7), { maxBytes: 7 });
      expect(await blobs.stat(key)).toEqual({ key, bytes: 7, tag });
      expect(await blobs.read({ key, tag: tag! }, 7)).toHaveLength(7);
      const wrong = blobs.read({ key, tag: '"00000000000000000000000000000000"' }, 7);
      await expect(wrong).rejects.toMatchObject({ code: 'INPUT_CHANGED' });
    });
  });

  it('of lists: cleaning reads every page, uploads as well, and keeps out of other prefixes', async () => {
    const many = 1050;
    const keys = Array.from({ length: many }, (_, i) => resultKey(i + 1, 1));
    for (let at = 0; at < many; at += 50) {
      const some = keys.slice(at, at + 50);
      await Promise.all(some.map((key) => blobs.put(key, new Uint8Array(1), { maxBytes: 1 })));
    }
    await put(await urlOf());
    const neighbour = s3Blobs({ ...options, prefix: `${options.prefix}more/` });
    const theirs = newInputKey();
    await neighbour.put(theirs, new Uint8Array(1), { maxBytes: 1 });

    const later = s3Blobs({ ...options, nowMs: () => Date.now() + 10_000 });
    const asked: string[] = [];
    const referenced = async (some: readonly string[]) => {
      asked.push(...some);
      return new Set(some.filter((key) => key === keys[7]));
    };
    expect(await later.clean({ olderThanMs: 600_000, referenced })).toBe(0);
    expect(asked).toEqual([]);
    expect(await later.clean({ olderThanMs: 0, referenced })).toBe(many);
    expect(asked.length).toBe(many + 1);
    expect(await blobs.stat(keys[7]!)).not.toBe(null);
    expect(await blobs.stat(keys[8]!)).toBe(null);
    expect(await blobs.uploads!.stat(taskId)).toBe(null);
    expect(await neighbour.stat(theirs)).not.toBe(null);
  });
});
