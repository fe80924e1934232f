/**
 * Urls that carry their right with them: `expires` (Unix seconds) and `signature` in the query, an
 * HMAC-SHA256 over what is allowed, on what, until when. Nobody needs to know the secret to use a
 * url, nor to ask the store to check one.
 */
import { equal } from '../../bytes.ts';
import { hmacSha256 } from '../hash.ts';
import type { UrlOptions, UrlRight, UrlVerdict } from './blobStore.ts';

const MAC_BYTES = 32;

/** Keeps these signatures apart from everything else that a secret could ever sign. */
const DOMAIN = 'falconry url v1';

/** @returns the url that gives the right, until `expiresAtMs` rounded up to a whole second. */
export function signUrl(
  secret: Uint8Array,
  right: UrlRight,
  { base, expiresAtMs }: UrlOptions,
): string {
  const expires = Math.ceil(expiresAtMs / 1000);
  const signature = mac(secret, right, expires).toString('base64url');
  return `${base}/${pathOf(right)}?expires=${expires}&signature=${signature}`;
}

/**
 * Judges `expires` and `signature`; a signature is looked at before its end, so nothing is told
 * about forged ones.
 */
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
  // Only the canonical text of 32 bytes: base64url decoding forgives what follows.
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
