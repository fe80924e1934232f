/**
 * `falconry/s3`: files in a bucket of an S3-compatible store. By default, clients transfer task
 * files and results directly to and from the bucket, by presigned URLs.
 *
 * A PUT is atomic, and durable once it is answered. ETags name versions of files; they are
 * compared, never computed. A failed `put` may have been executed; `clean` removes its file.
 *
 * @example
 * ```ts
 * const blobs = s3Blobs({ bucket: 'falconry', endpoint: 'https://s3.example.com' });
 * const service = falconService({ blobs });
 * ```
 */
import { isCodedError } from '../../../shared/errors.ts';
import { Semaphore } from '../../../shared/wait.ts';
import type { Arrivals, BlobRef, BlobStore, Uploaded } from '../port/blobStore.ts';
import { clean } from './cleaning.ts';
import { CredentialsSource } from './credentials.ts';
import { collect, download } from './download.ts';
import { Addresses, fileName, uploadKey } from './keys.ts';
import { resolveS3Options, type S3Options, type S3Settings } from './options.ts';
import { pack } from './preparedBody.ts';
import { discard, Refusal, Requests, unavailable } from './requests.ts';
import { presign, type Unsigned } from './signing.ts';

export type { BlobStore } from '../port/blobStore.ts';
export {
  type CredentialsCallback,
  type Environment,
  environmentCredentials,
  type S3Credentials,
} from './credentials.ts';
export type { S3Options } from './options.ts';

export interface S3BlobStore extends BlobStore {
  /**
   * Milliseconds by which the store's clock is ahead of this host's, by its last answer; null
   * before the first. Stores reject signatures that are 15 minutes off.
   */
  readonly clockSkewMs: number | null;
}

const JSON_TYPE = 'application/json';

/** Asks for the checksum that a client may have sent with its file, and the store has checked. */
const CHECKSUMS = { 'x-amz-checksum-mode': 'ENABLED' };

/** Of a whole file; those of its parts end in their number. */
const SHA256 = /^[\w+/]{43}=$/;

/** More would compete for bandwidth until each one times out. */
const BODIES_AT_ONCE = 16;

const PING_MS = 1000;

/** Each request costs money, and many hosts ask. */
const KEEP_PING_MS = 10_000;

/** Beyond this, stores reject requests, and URLs may expire before their use. */
const MAX_SKEW_MS = 15 * 60_000;

/**
 * @returns a blob store in the bucket; sends no request before its first use
 * @throws TypeError for an unknown option or a wrong type, RangeError for a value out of range
 */
export function s3Blobs(options: S3Options): S3BlobStore {
  const settings = resolveS3Options(options);
  const { temporaryDirectory, nowMs } = settings;
  const addresses = new Addresses(settings);
  const credentials = new CredentialsSource(settings.credentials, nowMs);
  const requests = new Requests({ ...settings, credentials });
  const sending = new Semaphore(BODIES_AT_ONCE);
  const urlOf = urlMaker(settings, credentials);

  const head = (key: string) => headOf(requests, addresses, key);
  const remove = async (key: string): Promise<void> => {
    await requests.ask({ method: 'DELETE', url: addresses.of(key) }, discard);
  };
  const arrivals = arrivalsIn({ head, remove }, settings.spread);

  return {
    get clockSkewMs() {
      return requests.skewMs;
    },
    async put(key, body, limits) {
      const url = addresses.of(key);
      const parcel = await pack(body, limits, temporaryDirectory);
      try {
        const headers = { 'content-type': JSON_TYPE };
        const request = {
          method: 'PUT',
          url,
          headers,
          body: parcel,
          signal: limits.signal,
        } as const;
        const send = () =>
          requests.ask(request, async (answer) => {
            await discard(answer);
            return refOf(key, parcel.bytes, answer.headers);
          });
        const stored = await sending.hold(send, limits.signal);
        if (stored === null) throw unavailable('the bucket is not there');
        return stored;
      } finally {
        await parcel.close();
      }
    },
    get: async ({ key, tag }) => download(requests, addresses.of(key), tag),
    async read({ key, tag }, maxBytes) {
      const found = await download(requests, addresses.of(key), tag);
      return found && collect(found, maxBytes);
    },
    stat: async (key) => (await head(key))?.blob ?? null,
    delete: remove,
    ...(settings.uploads === 'direct'
      ? { uploads: directUploads(urlOf, addresses, settings.spread, arrivals) }
      : { arrivals }),
    ...(settings.results === 'direct' && { results: directResults(urlOf, addresses) }),
    ping: () => ping(requests, addresses),
    keepPingMs: KEEP_PING_MS,
    clean: ({ olderThanMs, referenced }) =>
      clean(requests, addresses, nowMs() - olderThanMs, referenced, remove),
  };
}

async function headOf(
  requests: Requests,
  addresses: Addresses,
  key: string,
): Promise<Uploaded | null> {
  const request = { method: 'HEAD', url: addresses.of(key), headers: CHECKSUMS } as const;
  return requests.ask(request, ({ headers }) => ({
    blob: refOf(key, Number(headers.get('content-length') ?? 0), headers),
    contentType: headers.get('content-type') ?? '',
    contentEncoding: headers.get('content-encoding') ?? 'identity',
  }));
}

/** Returns the ref in an answer of the store. */
function refOf(key: string, bytes: number, headers: Headers): BlobRef {
  const tag = headers.get('etag');
  const hash = SHA256.exec(headers.get('x-amz-checksum-sha256') ?? '')?.[0];
  const sha256 = hash && Buffer.from(hash, 'base64').toString('hex');
  return { key, bytes, ...(tag !== null && { tag }), ...(sha256 && { sha256 }) };
}

async function ping(requests: Requests, addresses: Addresses): Promise<void> {
  const endMs = performance.now() + PING_MS;
  const look = async (method: 'HEAD' | 'GET', url: URL): Promise<unknown> => {
    const limits = { tries: 1, requestMs: Math.max(1, endMs - performance.now()) };
    return requests.ask({ method, url }, discard, limits).then(
      (answer) => (answer === null ? unavailable(new Refusal(NO_BUCKET)) : null),
      (error: unknown) => error,
    );
  };
  let fault = await look('HEAD', addresses.bucket());
  if (refusalIn(fault)) {
    const why = await look('GET', addresses.bucket({ 'list-type': '2', 'max-keys': '1' }));
    if (why === null || refusalIn(why)) fault = why;
  }
  const { skewMs } = requests;
  if (skewMs !== null && Math.abs(skewMs) > MAX_SKEW_MS) {
    const told = refusalIn(fault);
    const seconds = Math.round(skewMs / 1000);
    const clocks = `the clock of the blob store is ${seconds} s ahead of this one`;
    throw unavailable(told === null ? clocks : `${clocks} (${told.message})`);
  }
  if (fault !== null) throw fault;
}

const NO_BUCKET = 'the blob store answered 404: the bucket is not there, or the endpoint is wrong';

function refusalIn(fault: unknown): Refusal | null {
  const cause = isCodedError(fault) ? fault.cause : null;
  return cause instanceof Refusal ? cause : null;
}

/** Returns a URL that allows the request until that time. */
type UrlMaker = (request: Unsigned, expiresAtMs: number) => Promise<string>;

function urlMaker(
  { region, nowMs }: Pick<S3Settings, 'region' | 'nowMs'>,
  credentials: CredentialsSource,
): UrlMaker {
  return async (request, expiresAtMs) =>
    presign(request, await credentials.current(), { region, atMs: nowMs() }, expiresAtMs);
}

interface Files {
  head(key: string): Promise<Uploaded | null>;
  remove(key: string): Promise<void>;
}

function arrivalsIn({ head, remove }: Files, spread: boolean): Arrivals {
  return {
    stat: async (taskId) => head(uploadKey(taskId, spread)),
    discard: async (taskId) => remove(uploadKey(taskId, spread)),
  };
}

function directUploads(
  urlOf: UrlMaker,
  addresses: Addresses,
  spread: boolean,
  arrivals: Arrivals,
): NonNullable<BlobStore['uploads']> {
  return {
    ...arrivals,
    // The Content-Type is not signed, so that `application/json; charset=utf-8` is also accepted.
    url: async (taskId, { expiresAtMs, bytes }) =>
      urlOf(
        {
          method: 'PUT',
          url: addresses.of(uploadKey(taskId, spread)),
          headers: bytes === undefined ? {} : { 'content-length': String(bytes) },
        },
        expiresAtMs,
      ),
  };
}

function directResults(urlOf: UrlMaker, addresses: Addresses): NonNullable<BlobStore['results']> {
  return {
    async url(key, { expiresAtMs, method = 'GET' }) {
      const url = addresses.of(key);
      const disposition = `attachment; filename="${fileName(key)}"`;
      url.searchParams.set('response-content-disposition', disposition);
      return urlOf({ method, url }, expiresAtMs);
    },
  };
}
