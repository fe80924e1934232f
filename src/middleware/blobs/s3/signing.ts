/** Signs requests and URLs (AWS Signature Version 4). */
import type { AwsV4Signer } from 'aws4fetch';
import { CodedError } from '../../../shared/errors.ts';
import type { SigningCredentials } from './credentials.ts';

type SignerClass = typeof AwsV4Signer;

let loading: Promise<SignerClass> | undefined;

/** Loads the signer, an optional package that only hosts with a bucket need. */
function loadSigner(): Promise<SignerClass> {
  loading ??= import('aws4fetch').then(
    (loaded) => loaded.AwsV4Signer,
    (cause) => {
      loading = undefined;
      const message = 'A blob store in S3 needs the package aws4fetch: npm install aws4fetch';
      throw new CodedError('INTERNAL', { message, cause });
    },
  );
  return loading;
}

export interface Unsigned {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Region and time of a signature. */
export interface Scope {
  readonly region: string;
  readonly atMs: number;
}

/** The hash of no bytes, in hex. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * @param sha256 of the body, in hex; the store refuses any other body
 * @returns the headers of the request, signed
 */
export async function signRequest(
  { method, url, headers }: Unsigned,
  { cache, ...credentials }: SigningCredentials,
  scope: Scope,
  sha256 = EMPTY_SHA256,
): Promise<Headers> {
  const Signer = await loadSigner();
  const signer = new Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    ...credentials,
    cache,
    service: 's3',
    region: scope.region,
    datetime: dateTime(scope.atMs),
  });
  return (await signer.sign()).headers;
}

/** Maximum lifetime of a URL. */
const MAX_URL_SECONDS = 7 * 86_400;

/**
 * @param expiresAtMs expiry, rounded up to a second; may be past
 * @returns a URL that allows the request; all its headers are signed
 */
export async function presign(
  { method, url, headers = {} }: Unsigned,
  { cache, ...credentials }: SigningCredentials,
  { region, atMs }: Scope,
  expiresAtMs: number,
): Promise<string> {
  const Signer = await loadSigner();
  // In whole seconds. The lifetime is at least one second, which may be in the past.
  const fromMs = Math.floor(Math.min(atMs, expiresAtMs - 1000) / 1000) * 1000;
  const seconds = Math.min(MAX_URL_SECONDS, Math.ceil((expiresAtMs - fromMs) / 1000));
  const lasting = new URL(url);
  lasting.searchParams.set('X-Amz-Expires', String(seconds));
  const signer = new Signer({
    method,
    url: lasting.href,
    headers,
    ...credentials,
    cache,
    service: 's3',
    region,
    datetime: dateTime(fromMs),
    signQuery: true,
    allHeaders: true,
  });
  const { href } = (await signer.sign()).url;
  // The signature covers %20; stores disagree on the meaning of a plus sign.
  return href.replaceAll('+', '%20');
}

/** `20260131T235959Z` */
const dateTime = (ms: number): string => new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, '');
