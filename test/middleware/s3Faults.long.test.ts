/** The store in a bucket over a bad line: a proxy that spoils requests, before a real S3 server. */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInputKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { type S3BlobStore, type S3Options, s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import { type Fault, type FaultyProxy, openFaultyProxy } from '../support/faultyProxy.ts';
import { hasRgw, newPrefix, openRgw, type Rgw } from '../support/rgw.ts';

const LIMIT = { maxBytes: 1 << 24 };
const BYTES = new Uint8Array(3_000_000).map((_, i) => (i * 2_654_435_761) >>> 24);

describe.skipIf(!hasRgw())('a bucket behind a bad line', () => {
  let rgw: Rgw;
  let proxy: FaultyProxy;
  let blobs: S3BlobStore;
  let options: S3Options;

  beforeAll(async () => {
    rgw = await openRgw();
  });
  beforeEach(async () => {
    proxy = await openFaultyProxy(rgw.endpoint);
    const { bucket, credentials } = rgw;
    options = { endpoint: proxy.address, bucket, credentials, prefix: newPrefix() };
    blobs = s3Blobs(options);
  });
  afterEach(() => proxy.close());

  const plan = (...faults: Fault[]): void => {
    proxy.faults.splice(0, proxy.faults.length, ...faults);
    proxy.seen.length = 0;
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < BYTES.length; at += 100_000) yield BYTES.subarray(at, at + 100_000);
  }
  const sameBytes = (bytes: Uint8Array | null) =>
    expect(createHash('sha256').update(bytes!).digest('hex')).toBe(
      createHash('sha256').update(BYTES).digest('hex'),
    );

  it('is asked up to four times for what may pass', async () => {
    const passing: [string, Fault[]][] = [
      ['5xx', [{ status: 500 }, { status: 503, body: '<Code>SlowDown</Code>' }, { status: 502 }]],
      ['429 and 408', [{ status: 429 }, { status: 408 }]],
      ['broken lines', ['cut', 'cutAfter', 'cut']],
    ];
    for (const [name, faults] of passing) {
      const key = newInputKey();
      plan(...faults);
      expect(await blobs.put(key, pieces(), LIMIT), name).toMatchObject({ bytes: BYTES.length });
      expect(proxy.seen.length, name).toBe(faults.length + 1);
      plan(...faults);
      sameBytes(await blobs.read({ key }, LIMIT.maxBytes));
      plan(...faults);
      expect(await blobs.stat(key), name).toMatchObject({ bytes: BYTES.length });
      plan(...faults);
      await blobs.delete(key);
      expect(await blobs.stat(key)).toBe(null);
    }
    // An answer to HEAD would have no body.
    plan({ status: 400, body: '<Error><Code>RequestTimeout</Code></Error>' });
    expect(await blobs.read({ key: newInputKey() }, 10)).toBe(null);
    expect(proxy.seen.length).toBe(2);

    plan({ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 });
    const given = blobs.stat(newInputKey());
    await expect(given).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(proxy.seen.length).toBe(4);
    for (const { headers } of proxy.seen) expect(headers.authorization).toContain('Signature=');
  });

  it.each([
    [{ status: 501 }, 'STORE_UNAVAILABLE'],
    [{ status: 403, body: '<Code>AccessDenied</Code>' }, 'STORE_UNAVAILABLE'],
    [{ status: 301 }, 'STORE_UNAVAILABLE'],
    [{ status: 404, body: '<Code>NoSuchBucket</Code>' }, 'STORE_UNAVAILABLE'],
    [{ status: 507 }, 'STORAGE_FULL'],
    [{ status: 403, body: '<Code>QuotaExceeded</Code>' }, 'STORAGE_FULL'],
  ])('is not asked again after %j', async (fault, code) => {
    plan(fault);
    const put = blobs.put(newInputKey(), new Uint8Array(5), LIMIT);
    await expect(put).rejects.toMatchObject({ code });
    expect(proxy.seen.length).toBe(1);
  });

  it('is given up after a silence, in the middle of a file as well', async () => {
    const hasty = s3Blobs({ ...options, silenceMs: 1000 });
    const key = resultKey(5, 1);
    plan('stall');
    await hasty.put(key, pieces(), LIMIT);
    expect(proxy.seen.length).toBe(2);
    plan('stall', { stallAt: 1_000_000 }, 'pass');
    sameBytes(await hasty.read({ key }, LIMIT.maxBytes));
    expect(proxy.seen.length).toBe(3);
    plan('stall', 'stall', 'stall', 'stall');
    const silent = await hasty.stat(key).catch((error: unknown) => error as Error);
    expect(silent).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(String((silent as Error).cause)).toContain('silent for 1000 ms');
  });

  it('is given up when the time for all tries is over', async () => {
    const hasty = s3Blobs({ ...options, silenceMs: 100_000, requestMs: 1500 });
    plan('stall');
    const late = await hasty.stat(newInputKey()).catch((error: unknown) => error as Error);
    expect(late).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(String((late as Error).cause)).toContain('no answer within 1500 ms');
    expect(proxy.seen.length).toBe(1);
  });

  it('goes on with a file where the line broke, with the same version', async () => {
    const key = newInputKey();
    const { tag } = await blobs.put(key, pieces(), LIMIT);
    plan({ cutAt: 700_000 }, { cutAt: 700_000 }, { status: 500 }, { cutAt: 1 }, 'pass');
    sameBytes(await new Response((await blobs.get({ key }))!.body).bytes());
    expect(proxy.seen.length).toBe(5);

    plan({ cutAt: 700_000 });
    const { body } = (await blobs.get({ key, ...(tag !== undefined && { tag }) }))!;
    const reader = body.getReader();
    await reader.read();
    await blobs.put(key, new Uint8Array(BYTES.length), LIMIT);
    const rest = (async () => {
      while (!(await reader.read()).done);
    })();
    await expect(rest).rejects.toMatchObject({ code: 'INPUT_CHANGED' });

    const nowhere = Array.from({ length: 9 }, (): Fault => ({ cutAt: 0 }));
    plan(...nowhere);
    const never = blobs.read({ key }, LIMIT.maxBytes);
    await expect(never).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('stops at once when the caller does', async () => {
    const controller = new AbortController();
    plan('stall');
    const put = blobs.put(newInputKey(), pieces(), { ...LIMIT, signal: controller.signal });
    await expect.poll(() => proxy.seen.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(put).rejects.toThrow('enough');
    expect(proxy.seen.length).toBe(1);
  });

  it('tells nothing of its keys, urls and secrets', async () => {
    const { accessKeyId, secretAccessKey } = rgw.credentials;
    const key = newInputKey();
    const echo = `<Error><Code>Sent ${secretAccessKey}</Code><Key>${key}</Key></Error>`;
    const faults: Fault[][] = [
      [{ status: 403, body: echo }],
      ['cut', 'cut', 'cut', 'cut'],
      Array.from({ length: 4 }, () => ({ status: 500, body: echo })),
    ];
    for (const fault of faults) {
      plan(...fault);
      let text = '';
      let error: unknown = await blobs.read({ key }, 10).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      for (; error instanceof Error; error = error.cause)
        text += `${error.stack}\n${String(error)}`;
      expect(text).toContain('blob store');
      for (const secret of [accessKeyId, secretAccessKey, key, 'Signature']) {
        expect(text).not.toContain(secret);
      }
    }
    plan('cut');
    const gone = await openFaultyProxy(rgw.endpoint);
    await gone.close();
    const nobody = s3Blobs({ ...options, endpoint: gone.address }).ping();
    const message = 'the line to the blob store broke (ECONNREFUSED)';
    await expect(nobody).rejects.toMatchObject({ cause: { message } });
  });

  describe('a ping', () => {
    it('is one request, answered within a second', async () => {
      plan();
      await blobs.ping();
      expect(proxy.seen.map(({ line }) => line)).toEqual([`HEAD /${rgw.bucket}/`]);
      plan({ status: 503 });
      await expect(blobs.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(proxy.seen.length).toBe(1);
      plan('stall');
      const begun = performance.now();
      await expect(blobs.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(performance.now() - begun).toBeGreaterThan(900);
    });

    it('needs the bucket', async () => {
      const none = s3Blobs({ ...options, bucket: 'nothing-here' });
      await expect(none.ping()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        cause: { message: 'the blob store answered 404 NoSuchBucket: the bucket is not there' },
      });
      const put = none.put(newInputKey(), new Uint8Array(1), LIMIT);
      await expect(put).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    });

    it('tells why it is refused, which an answer to HEAD does not', async () => {
      const stranger = { accessKeyId: randomUUID(), secretAccessKey: randomUUID() };
      const keys = Object.entries(stranger).map(([name, value]) =>
        name === 'accessKeyId' ? `--access-key=${value}` : `--secret-key=${value}`,
      );
      const user = ['user', 'create', '--uid=stranger', '--display-name=stranger'];
      await promisify(execFile)('radosgw-admin', ['-c', rgw.configuration, ...user, ...keys]);
      const { accessKeyId } = rgw.credentials;
      const unknown = { ...stranger, accessKeyId: randomUUID() };
      for (const [credentials, told] of [
        [stranger, '403 AccessDenied: a policy must allow s3:ListBucket, s3:GetObject'],
        [unknown, '403 InvalidAccessKeyId: AWS_ACCESS_KEY_ID is unknown there'],
        [{ ...stranger, accessKeyId }, '403 SignatureDoesNotMatch: AWS_SECRET_ACCESS_KEY does'],
      ] as const) {
        const message = expect.stringContaining(`the blob store answered ${told}`);
        const refused = s3Blobs({ ...options, credentials }).ping();
        await expect(refused).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          cause: { message },
        });
      }
      // A passing fault is no refusal, and what has passed is none either.
      plan({ status: 403 });
      await blobs.ping();
      expect(proxy.seen.length).toBe(2);
      plan({ status: 403 }, { status: 503 });
      await expect(blobs.ping()).rejects.toMatchObject({
        cause: { message: 'the blob store answered 403' },
      });
    });

    it('tells of clocks that differ', async () => {
      expect(blobs.clockSkewMs).toBe(null);
      await blobs.ping();
      expect(Math.abs(blobs.clockSkewMs!)).toBeLessThan(60_000);
      plan({ header: 'date', value: new Date(Date.now() + 600_000).toUTCString() });
      await blobs.ping();
      expect(Math.abs(blobs.clockSkewMs! - 600_000)).toBeLessThan(60_000);
      // This host is an hour behind, which the server finds out by itself.
      const slow = s3Blobs({ ...options, nowMs: () => Date.now() - 3_600_000 });
      const refusal = await slow.ping().catch((error: unknown) => error as Error);
      expect(refusal).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(String((refusal as Error).cause)).toMatch(
        /is 3[56]\d\d s ahead .*RequestTimeTooSkewed/,
      );
    });
  });

  it('follows credentials that change, from one request to the next', async () => {
    const admin = async (...args: string[]) => {
      const all = ['-c', rgw.configuration, ...args, '--uid=falconry'];
      await promisify(execFile)('radosgw-admin', all);
    };
    const first = { accessKeyId: randomUUID(), secretAccessKey: randomUUID() };
    const second = { accessKeyId: randomUUID(), secretAccessKey: randomUUID() };
    const add = ({ accessKeyId, secretAccessKey }: typeof first) =>
      admin('key', 'create', `--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`);
    await add(first);
    let told = first;
    let asked = 0;
    const rotating = s3Blobs({
      ...options,
      credentials: () => {
        asked++;
        return told;
      },
    });
    const key = newInputKey();
    await rotating.put(key, new Uint8Array(5), LIMIT);
    const earlier = await rotating.results!.url(resultKey(1, 1), {
      expiresAtMs: Date.now() + 60_000,
    });
    expect(asked).toBe(1);

    await add(second);
    await admin('key', 'rm', `--access-key=${first.accessKeyId}`);
    // Refused, and there are no others yet.
    await expect(rotating.stat(key)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    told = second;
    plan();
    expect(await rotating.stat(key)).toMatchObject({ bytes: 5 });
    expect(proxy.seen.length).toBe(2);
    expect(await rotating.read({ key }, 5)).toHaveLength(5);
    expect(asked).toBe(3);
    expect((await fetch(earlier)).status).toBe(403);
    await admin('key', 'rm', `--access-key=${second.accessKeyId}`);
  });
});
