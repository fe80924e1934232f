/** The store in a bucket as far as it needs none: signatures, keys, options, credentials. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { newInputKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import {
  CredentialsSource,
  environmentCredentials,
  type S3Credentials,
} from '../../src/middleware/blobs/s3/credentials.ts';
import { type S3Options, s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import { Addresses, isKey, uploadKey } from '../../src/middleware/blobs/s3/keys.ts';
import { pack } from '../../src/middleware/blobs/s3/preparedBody.ts';
import { presign, signRequest } from '../../src/middleware/blobs/s3/signing.ts';
import { Semaphore } from '../../src/shared/wait.ts';
import { openServer } from '../support/openServer.ts';
import { it } from './support.ts';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'SECRETEXAMPLE' };

describe('signatures', () => {
  // Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)": its examples.
  const amazon = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    cache: new Map<string, ArrayBuffer>(),
  };
  const scope = { region: 'us-east-1', atMs: Date.UTC(2013, 4, 24) };
  const at = (path: string) => new URL(`https://examplebucket.s3.amazonaws.com/${path}`);

  it('of urls are those of the published example', async () => {
    const request = { method: 'GET', url: at('test.txt') } as const;
    const url = await presign(request, amazon, scope, scope.atMs + 86_400_000);
    expect(url).toBe(
      'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Expires=86400' +
        '&X-Amz-Date=20130524T000000Z&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
        '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
        '&X-Amz-SignedHeaders=host' +
        '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });

  it.each([
    ['?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('of GET %s are those of the published example', async (path, signature) => {
    const headers = await signRequest({ method: 'GET', url: at(path) }, amazon, scope);
    expect(headers.get('authorization')).toContain(`Signature=${signature}`);
  });

  it('of PUT are those of the published example, over the hash of the body', async () => {
    const body = await pack(new TextEncoder().encode('Welcome to Amazon S3.'), { maxBytes: 100 });
    const date = 'Fri, 24 May 2013 00:00:00 GMT';
    const headers = { date, 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
    const request = { method: 'PUT', url: at('test$file.text'), headers } as const;
    const signed = await signRequest(request, amazon, scope, body.sha256);
    expect(signed.get('authorization')).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, ' +
        'Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    );
  });

  it('of urls end when they are told to, even in the past, and after 7 days at most', async () => {
    const request = { method: 'PUT', url: at('x') } as const;
    const lifeOf = async (ttlMs: number) => {
      const url = await presign(request, amazon, scope, scope.atMs + ttlMs);
      const query = new URL(url).searchParams;
      return [query.get('X-Amz-Date'), query.get('X-Amz-Expires')];
    };
    expect(await lifeOf(1)).toEqual(['20130523T235959Z', '2']);
    expect(await lifeOf(60_000)).toEqual(['20130524T000000Z', '60']);
    expect(await lifeOf(60_001)).toEqual(['20130524T000000Z', '61']);
    expect(await lifeOf(-60_000)).toEqual(['20130523T235859Z', '1']);
    expect(await lifeOf(8 * 86_400_000)).toEqual(['20130524T000000Z', '604800']);
  });

  it('cover the token of temporary credentials, and spaces in urls', async () => {
    const temporary = { ...amazon, sessionToken: 'a/token+' };
    const url = at('x');
    url.searchParams.set('response-content-disposition', 'a b');
    const made = await presign({ method: 'GET', url }, temporary, scope, scope.atMs + 1000);
    expect(new URL(made).searchParams.get('X-Amz-Security-Token')).toBe('a/token+');
    expect(made).toContain('response-content-disposition=a%20b');
    const signed = await signRequest({ method: 'GET', url: at('x') }, temporary, scope);
    expect(signed.get('x-amz-security-token')).toBe('a/token+');
    expect(signed.get('authorization')).toContain('x-amz-security-token');
  });
});

describe('keys', () => {
  it('have the forms of the design, and no others', () => {
    for (const key of [newInputKey(), resultKey(7, 2), uploadKey(1234, false)]) {
      expect(isKey(key), key).toBe(true);
    }
    expect(uploadKey(1234, false)).toBe('uploads/1234.json');
    expect(uploadKey(1234, true)).toBe('uploads/210/1234.json');
    expect(isKey('uploads/210/1234.json')).toBe(true);
    for (const key of [
      'uploads/x.json',
      'uploads/1/2/3.json',
      'uploads/1.json?x=1',
      'uploads/1.json#',
      'uploads//1.json',
      'results/1.json',
      'inputs/%2e%2e.json',
      'other/1.json',
      'uploads/1.json\n',
    ]) {
      expect(isKey(key), key).toBe(false);
    }
  });

  it('become addresses in the path or by the host name, behind a prefix', () => {
    const at = (endpoint: string, addressing: 'path' | 'virtual') =>
      new Addresses({ bucket: 'mine', prefix: 'a/b/', endpoint, addressing });
    const path = at('https://s3.test:9000/s3', 'path');
    expect(path.of('uploads/1.json').href).toBe('https://s3.test:9000/s3/mine/a/b/uploads/1.json');
    expect(path.bucket({ 'list-type': '2' }).href).toBe(
      'https://s3.test:9000/s3/mine/?list-type=2',
    );
    const host = at('https://s3.test:9000', 'virtual');
    expect(host.of('uploads/1.json').href).toBe('https://mine.s3.test:9000/a/b/uploads/1.json');
    expect(host.known('a/b/uploads/1.json')).toBe('uploads/1.json');
    expect(host.known('uploads/1.json')).toBe(null);
    expect(host.known('a/b/foreign.txt')).toBe(null);
    expect(() => host.of('../x')).toThrow(RangeError);
  });
});

describe('options', () => {
  const good: S3Options = { bucket: 'mine', credentials };

  it('decide which urls the store makes itself', () => {
    const both = s3Blobs(good);
    expect([both.uploads !== undefined, both.results !== undefined]).toEqual([true, true]);
    const uploads = s3Blobs({ ...good, results: 'through' });
    expect([uploads.uploads !== undefined, uploads.results !== undefined]).toEqual([true, false]);
    const none = s3Blobs({ ...good, uploads: 'through', results: 'through' });
    expect(['uploads' in none, 'results' in none]).toEqual([false, false]);
  });

  it('have defaults: AWS, in its first region, the bucket in the path', async () => {
    const options = { expiresAtMs: Date.now() + 5000 };
    const url = new URL(await s3Blobs(good).uploads!.url(5, options));
    expect(url.origin + url.pathname).toBe(
      'https://s3.us-east-1.amazonaws.com/mine/uploads/5.json',
    );
    const elsewhere = { ...good, region: 'eu-west-3', addressing: 'virtual', prefix: 'p' } as const;
    const other = new URL(await s3Blobs(elsewhere).uploads!.url(5, options));
    expect(other.origin + other.pathname).toBe(
      'https://mine.s3.eu-west-3.amazonaws.com/p/uploads/5.json',
    );
    expect(other.searchParams.get('X-Amz-Credential')).toContain('/eu-west-3/s3/');
  });

  it('learn the hash of an upload if the store has checked it', async ({ defer }) => {
    let sent = '';
    const server = await openServer((request, response) => {
      expect(request.headers['x-amz-checksum-mode']).toBe('ENABLED');
      if (sent !== '') response.setHeader('x-amz-checksum-sha256', sent);
      response.setHeader('content-length', 3).end();
    });
    defer(server.close);
    const { uploads } = s3Blobs({ ...good, endpoint: server.address });
    const hashOf = async (header: string) => {
      sent = header;
      return (await uploads!.stat(5))!.blob.sha256;
    };
    const base64 = Buffer.from('ab'.repeat(32), 'hex').toString('base64');
    expect(await hashOf(base64)).toBe('ab'.repeat(32));
    expect(await hashOf(`${base64}-2`)).toBe(undefined);
    expect(await hashOf('')).toBe(undefined);
  });

  it('sign the length of an upload if it is known, and never its type', async () => {
    const { uploads } = s3Blobs(good);
    const expiresAtMs = Date.now() + 5000;
    const signed = async (bytes?: number) => {
      const url = await uploads!.url(5, { expiresAtMs, ...(bytes !== undefined && { bytes }) });
      return new URL(url).searchParams.get('X-Amz-SignedHeaders');
    };
    expect(await signed()).toBe('host');
    expect(await signed(17)).toBe('content-length;host');
  });

  const malformed = (text: string) =>
    `<Error><Code>AuthorizationHeaderMalformed</Code><Message>${text}</Message></Error>`;
  const moved = 'the bucket is in eu-west-3, not in us-east-1; correct FALCONRY_S3_REGION';
  it.each<[string, number, Record<string, string>, string, string]>([
    ['the region, by a header', 301, { 'x-amz-bucket-region': 'eu-west-3' }, '', `301: ${moved}`],
    [
      'the region, by an element',
      301,
      {},
      '<Error><Code>PermanentRedirect</Code><Region>eu-west-3</Region></Error>',
      `301 PermanentRedirect: ${moved}`,
    ],
    [
      'the region, by a message',
      400,
      {},
      malformed(`the region 'us-east-1' is wrong; expecting 'eu-west-3'`),
      `400 AuthorizationHeaderMalformed: ${moved}`,
    ],
    [
      'no malformed region',
      400,
      { 'x-amz-bucket-region': '' },
      malformed(`expecting 'a b'`),
      '400 AuthorizationHeaderMalformed',
    ],
    ['no region that is the same', 403, { 'x-amz-bucket-region': 'us-east-1' }, '', '403'],
    [
      'the secret, not the region',
      403,
      { 'x-amz-bucket-region': 'default' },
      '<Error><Code>SignatureDoesNotMatch</Code></Error>',
      '403 SignatureDoesNotMatch: AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID',
    ],
    ['the bucket', 404, {}, '', '404: the bucket is not there, or the endpoint is wrong'],
  ])('are named if the bucket refuses for them: %s', async (...[, status, headers, body, told]) => {
    const server = await openServer(({ method }, response) => {
      // The answer to HEAD has no body.
      response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body);
    });
    const refused = s3Blobs({ ...good, endpoint: server.address }).ping();
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      cause: { message: `the blob store answered ${told}` },
    });
    await server.close();
  });

  it.each<[string, unknown, typeof TypeError]>([
    ['no bucket', { credentials }, TypeError],
    ['another name', { ...good, buckett: 'x' }, TypeError],
    ['a bucket with a slash', { ...good, bucket: 'a/b' }, RangeError],
    ['a bucket of capitals', { ...good, bucket: 'MINE' }, RangeError],
    ['a bucket with two dots', { ...good, bucket: 'a..b' }, RangeError],
    ['a prefix that climbs', { ...good, prefix: 'a/../b' }, RangeError],
    ['a prefix from the root', { ...good, prefix: '/a' }, RangeError],
    ['a prefix with a question mark', { ...good, prefix: 'a?b' }, RangeError],
    ['an endpoint without a scheme', { ...good, endpoint: 's3.test' }, RangeError],
    ['an endpoint with a password', { ...good, endpoint: 'https://u:p@s3.test' }, RangeError],
    ['a region with a slash', { ...good, region: 'a/b' }, RangeError],
    ['a way that is none', { ...good, uploads: 'past' }, RangeError],
    ['no time', { ...good, silenceMs: 0 }, RangeError],
    ['a spread that is a word', { ...good, spread: 'yes' }, TypeError],
    ['a clock that is none', { ...good, nowMs: 5 }, TypeError],
    ['credentials without a secret', { ...good, credentials: { accessKeyId: 'a' } }, TypeError],
    [
      'an empty secret',
      { ...good, credentials: { ...credentials, secretAccessKey: '' } },
      TypeError,
    ],
    ['credentials that are null', { ...good, credentials: null }, TypeError],
  ])('are refused at once: %s', (_, options, fault) => {
    expect(() => s3Blobs(options as S3Options)).toThrow(fault as typeof Error);
  });

  it('never show a secret when they are refused', () => {
    const secret = 'se cret';
    const wrong = { ...good, credentials: { ...credentials, secretAccessKey: secret } };
    const expected = '"credentials.secretAccessKey" must be a text without spaces';
    expect(() => s3Blobs(wrong)).toThrow(new TypeError(expected));
  });
});

describe('credentials', () => {
  it('come from the environment, or from files that it names', async ({ folder }) => {
    const file = join(folder, 'secret');
    await writeFile(file, 'from-the-file\n');
    const read = environmentCredentials({
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'ignored',
      AWS_SECRET_ACCESS_KEY_FILE: file,
    });
    expect(await read()).toEqual({ accessKeyId: 'id', secretAccessKey: 'from-the-file' });
    const plain = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
    expect(await environmentCredentials(plain)()).toEqual({
      accessKeyId: 'a',
      secretAccessKey: 'b',
      sessionToken: 'c',
    });
    expect(() => environmentCredentials({})).toThrow(/AWS_ACCESS_KEY_ID/);
    expect(() => environmentCredentials({ AWS_ACCESS_KEY_ID: 'a' })).toThrow(/AWS_SECRET/);
  });

  it('are read again every 5 minutes, or 5 minutes before their end', async () => {
    let nowMs = 0;
    let told: S3Credentials = credentials;
    let asked = 0;
    const ask = async () => {
      asked++;
      return told;
    };
    const source = new CredentialsSource(ask, () => nowMs);
    const [first, same] = await Promise.all([source.current(), source.current()]);
    expect([first === same, asked]).toEqual([true, 1]);
    nowMs = 299_999;
    expect(await source.current()).toBe(first);
    expect(asked).toBe(1);
    nowMs = 300_000;
    // The same again: what was derived from them is kept.
    expect(await source.current()).toBe(first);
    expect(asked).toBe(2);
    told = { ...credentials, sessionToken: 'x', expiresAtMs: nowMs + 600_000 + 420_000 };
    nowMs += 600_000;
    const temporary = await source.current();
    expect(temporary.sessionToken).toBe('x');
    nowMs += 119_999;
    await source.current();
    expect(asked).toBe(3);
    nowMs += 1;
    await source.current();
    expect(asked).toBe(4);
  });

  it('serve on while no others are to be had, and are asked for when they are refused', async () => {
    let nowMs = 0;
    let failing = true;
    let told: S3Credentials = credentials;
    const source = new CredentialsSource(
      () => {
        if (failing) throw new Error('SECRETEXAMPLE');
        return told;
      },
      () => nowMs,
    );
    const refusal = await source.current().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(String((refusal as Error).cause)).not.toContain('SECRETEXAMPLE');
    failing = false;
    const first = await source.current();
    failing = true;
    nowMs = 400_000;
    expect(await source.current()).toBe(first);
    expect(await source.otherThan(first)).toBe(null);
    failing = false;
    expect(await source.otherThan(first)).toBe(null);
    told = { ...credentials, accessKeyId: 'OTHER' };
    expect((await source.otherThan(first))!.accessKeyId).toBe('OTHER');
    expect((await source.current()).accessKeyId).toBe('OTHER');
  });
});

describe('a body on its way', () => {
  it('waits in a file without a name, whatever becomes of it', async ({ folder }) => {
    async function* pieces(fail: boolean): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 5; i++) yield new Uint8Array(50_000).fill(i);
      expect(await readdir(folder)).toEqual([]);
      if (fail) throw new Error('line cut');
    }
    const parcel = await pack(pieces(false), { maxBytes: 250_000 }, folder);
    expect(parcel.bytes).toBe(250_000);
    let at = 0;
    for (let piece = await parcel.piece(at); piece.length > 0; piece = await parcel.piece(at)) {
      expect(piece.every((byte, i) => byte === Math.floor((at + i) / 50_000))).toBe(true);
      at += piece.length;
    }
    expect(at).toBe(250_000);
    await parcel.close();
    await expect(pack(pieces(true), { maxBytes: 250_000 }, folder)).rejects.toThrow('line cut');
    const large = pack(pieces(false), { maxBytes: 249_999 }, folder);
    await expect(large).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    const whole = pack(new Uint8Array(10), { maxBytes: 9 });
    await expect(whole).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('places', () => {
  it('are taken in order, given back whatever happens, and left by whoever gives up', async () => {
    const places = new Semaphore(2);
    const done: string[] = [];
    const ends = new Map<string, () => void>();
    const hold = (name: string, signal?: AbortSignal, fail = false) =>
      places.hold(async () => {
        await new Promise<void>((resolve) => ends.set(name, resolve));
        done.push(name);
        if (fail) throw new Error(name);
      }, signal);
    const controller = new AbortController();
    const [a, b, c, d] = [
      hold('a', undefined, true),
      hold('b'),
      hold('c', controller.signal),
      hold('d'),
    ];
    expect([...ends.keys()]).toEqual(['a', 'b']);
    controller.abort(new Error('enough'));
    await expect(c).rejects.toThrow('enough');
    await expect(hold('e', controller.signal)).rejects.toThrow('enough');
    ends.get('a')!();
    await expect(a).rejects.toThrow('a');
    await expect.poll(() => [...ends.keys()]).toEqual(['a', 'b', 'd']);
    for (const name of ['b', 'd']) ends.get(name)!();
    await Promise.all([b, d]);
    const last = hold('f');
    await expect.poll(() => ends.has('f')).toBe(true);
    ends.get('f')!();
    await last;
    expect(done).toEqual(['a', 'b', 'd', 'f']);
  });
});
