/** The options of a store in a bucket, checked when it is created. */
import {
  choice,
  duration,
  flag,
  path,
  readOptions,
  text,
  url,
} from '../../../shared/optionRows.ts';
import {
  type CredentialsCallback,
  environmentCredentials,
  readCredentials,
  type S3Credentials,
} from './credentials.ts';

export interface S3Options {
  /** The bucket, which exists already. */
  readonly bucket: string;
  /** Comes before every key, so that several services can share a bucket: `falconry/`. */
  readonly prefix?: string;
  /** The address of the store; default: that of AWS in the region. */
  readonly endpoint?: string;
  /** Default `us-east-1`, which most other stores accept. */
  readonly region?: string;
  /** Whether the bucket is in the path (the default) or the first label of the host name. */
  readonly addressing?: 'path' | 'virtual';
  /**
   * Default: the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or
   * the files that the same names with `_FILE` name. Files are read, and a function is called,
   * again every 5 minutes.
   */
  readonly credentials?: S3Credentials | CredentialsCallback;
  /**
   * `direct` (the default): clients PUT task files at the store itself, by presigned urls, which
   * live for 7 days at most. `through`: they send them to the service. It costs the bandwidth
   * twice, and accepts what a presigned url refuses: an `Authorization` header, and a body without
   * a length.
   */
  readonly uploads?: 'direct' | 'through';
  /** The same for results. */
  readonly results?: 'direct' | 'through';
  /**
   * Puts `<id mod 256>/` before the id in the keys of uploads; for more than a thousand uploads a
   * second, since stores divide their work by the beginning of keys. Default false.
   */
  readonly spread?: boolean;
  /** Where bodies wait until their length and hash are known; default: the system's own. */
  readonly temporaryDirectory?: string;
  /** A silence of the store after which a request is tried again; default 10 s. */
  readonly silenceMs?: number;
  /** The time for a request with all its tries, streams excepted; default 2 min. */
  readonly requestMs?: number;
  /** For tests. */
  readonly nowMs?: () => number;
}

const AWS_REGION = 'us-east-1';

function checkBucket(name: string): string | null {
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !name.includes('..')) return null;
  return 'must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes';
}

/** A key is part of a url, where some characters would have to be written otherwise. */
function checkPrefix(prefix: string): string | null {
  const parts = prefix.replace(/\/$/, '').split('/');
  const plain = parts.every((part) => /^[A-Za-z0-9_.-]+$/.test(part) && !/^\.\.?$/.test(part));
  if (plain && prefix.length <= 512) return null;
  return 'must be names of letters, digits, dots, dashes and underscores, with slashes between';
}

function checkRegion(region: string): string | null {
  return /^[A-Za-z0-9-]{1,64}$/.test(region) ? null : 'must be letters, digits and dashes';
}

const WAYS = ['direct', 'through'] as const;

const TABLE = {
  bucket: text('the bucket', { check: checkBucket }),
  prefix: text('comes before every key', { check: checkPrefix }),
  endpoint: url('address of the store'),
  region: text('region of the bucket', { fallback: AWS_REGION, check: checkRegion }),
  addressing: choice('place of the bucket in addresses', ['path', 'virtual'], { fallback: 'path' }),
  uploads: choice('way of task files', WAYS, { fallback: 'direct' }),
  results: choice('way of results', WAYS, { fallback: 'direct' }),
  spread: flag('divide the keys of uploads', { fallback: false }),
  temporaryDirectory: path('where bodies wait'),
  silenceMs: duration('longest silence of the store', { min: 10, fallback: 10_000 }),
  requestMs: duration('time for a request with all its tries', { min: 10, fallback: 120_000 }),
} as const;

/**
 * Checks options and fills in defaults.
 *
 * @throws TypeError for an unknown name or a wrong type, RangeError for a value out of range
 */
export function resolveS3Options(options: S3Options) {
  const values = readOptions('options', TABLE, options, ['credentials', 'nowMs']);
  const { bucket, prefix = '' } = values;
  if (bucket === undefined) throw new TypeError('"options.bucket" is needed');
  const { credentials, nowMs = Date.now } = options;
  if (typeof nowMs !== 'function') throw new TypeError('"options.nowMs" must be a function');
  const ask =
    credentials === undefined
      ? environmentCredentials()
      : typeof credentials === 'function'
        ? credentials
        : fixed(readCredentials(credentials));
  return {
    ...values,
    bucket,
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    endpoint: values.endpoint ?? `https://s3.${values.region}.amazonaws.com`,
    credentials: ask,
    nowMs,
  };
}

const fixed =
  (credentials: S3Credentials): CredentialsCallback =>
  () =>
    credentials;

export type S3Settings = ReturnType<typeof resolveS3Options>;
