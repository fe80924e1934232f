/** The urls by which clients reach the bucket themselves. */
import type { Arrivals, BlobStore, Uploaded } from '../port/blobStore.ts';
import type { CredentialsSource } from './credentials.ts';
import { type Addresses, fileName, uploadKey } from './keys.ts';
import type { S3Settings } from './options.ts';
import { presign, type Unsigned } from './signing.ts';

/** Makes a url that allows the request until then. */
export type UrlMaker = (request: Unsigned, expiresAtMs: number) => Promise<string>;

export function urlMaker(
  { region, nowMs }: Pick<S3Settings, 'region' | 'nowMs'>,
  credentials: CredentialsSource,
): UrlMaker {
  return async (request, expiresAtMs) =>
    presign(request, await credentials.current(), { region, atMs: nowMs() }, expiresAtMs);
}

/** What the uploads of a bucket need to know of its files. */
export interface Files {
  head(key: string): Promise<Uploaded | null>;
  remove(key: string): Promise<void>;
}

export function arrivalsIn({ head, remove }: Files, spread: boolean): Arrivals {
  return {
    stat: async (taskId) => head(uploadKey(taskId, spread)),
    discard: async (taskId) => remove(uploadKey(taskId, spread)),
  };
}

export function directUploads(
  urlOf: UrlMaker,
  addresses: Addresses,
  spread: boolean,
  arrivals: Arrivals,
): NonNullable<BlobStore['uploads']> {
  return {
    ...arrivals,
    // The Content-Type is not signed: `application/json; charset=utf-8` has to be accepted as well.
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

export function directResults(
  urlOf: UrlMaker,
  addresses: Addresses,
): NonNullable<BlobStore['results']> {
  return {
    async url(key, { expiresAtMs, method = 'GET' }) {
      const url = addresses.of(key);
      const disposition = `attachment; filename="${fileName(key)}"`;
      url.searchParams.set('response-content-disposition', disposition);
      return urlOf({ method, url }, expiresAtMs);
    },
  };
}
