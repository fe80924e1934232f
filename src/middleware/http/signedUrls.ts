/**
 * The urls that the service serves itself, for blob stores without urls of their own. They carry
 * their right with them: the query has `expires` (Unix time in seconds) and `signature`, an
 * HMAC-SHA-256 over method, path and expiry.
 *
 *   <base>/uploads/<task id>?expires=…&signature=…
 *   <base>/results/<attempt>/<task id>.json?expires=…&signature=…
 */
import { equal } from '../../shared/bytes.ts';
import { hmacSha256 } from '../../shared/hash.ts';

/** The right that a url gives: to upload the file of a task, or to read a result. */
export type UrlRight =
  | { readonly method: 'PUT'; readonly taskId: number }
  | { readonly method: 'GET'; readonly key: string };

type UrlVerdict = 'ok' | 'forged' | 'expired';

interface ServedUrlOptions {
  /** Absolute address of the routes that serve files, without a slash at the end. */
  readonly base: string;
  /** Unix time in milliseconds, by the clock of this host. */
  readonly expiresAtMs: number;
}

const MAC_BYTES = 32;

/** Separates these signatures from anything else that the secret may sign. */
const DOMAIN = 'falconry url v1';

/** @returns the url that gives the right, until `expiresAtMs` rounded up to a second */
export function signUrl(
  secret: Uint8Array,
  right: UrlRight,
  { base, expiresAtMs }: ServedUrlOptions,
): string {
  const expires = Math.ceil(expiresAtMs / 1000);
  const signature = mac(secret, right, expires).toString('base64url');
  return `${base}/${pathOf(right)}?expires=${expires}&signature=${signature}`;
}

/** Checks `expires` and `signature`; the signature first, so that a forged url learns nothing. */
export function checkSignedUrl(
  secret: Uint8Array,
  right: UrlRight,
  query: URLSearchParams,
  nowMs = Date.now(),
): UrlVerdict {
  const [expires, ...moreExpires] = query.getAll('expires');
  const [signature, ...moreSignatures] = query.getAll('signature');
  if (moreExpires.length > 0 || moreSignatures.length > 0) return 'forged';
  if (expires === undefined || !/^[1-9]\d{0,14}$/.test(expires)) return 'forged';
  const given = Buffer.from(signature ?? '', 'base64url');
  // Only the canonical text of 32 bytes: the decoder ignores what follows.
  if (given.length !== MAC_BYTES || given.toString('base64url') !== signature) return 'forged';
  if (!equal(given, mac(secret, right, Number(expires)))) return 'forged';
  return Number(expires) * 1000 <= nowMs ? 'expired' : 'ok';
}

function pathOf(right: UrlRight): string {
  return right.method === 'PUT' ? `uploads/${right.taskId}` : right.key;
}

function mac(secret: Uint8Array, right: UrlRight, expires: number): Buffer {
  return hmacSha256(secret, `${DOMAIN}\n${right.method}\n${pathOf(right)}\n${expires}`);
}
