/**
 * Answers to `open` routes: pages and documents that anyone may read, revalidated by ETag. Nothing
 * in them comes from another host, and their content security policy says so.
 */
import type { Context } from 'hono';
import { sha256 } from '../../shared/hash.ts';

/** Every page forbids foreign content, frames, forms to elsewhere, and another base. */
const POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
] as const;

/** The `Content-Security-Policy` of a page that allows these sources. */
export function contentSecurityPolicy(sources: readonly string[] = []): string {
  return [...POLICY, ...sources].join('; ');
}

/** A strong ETag of these bytes. */
export function etagOf(body: string | Uint8Array): string {
  return `"${sha256(body).toString('base64url').slice(0, 27)}"`;
}

/** The headers of every open answer: no sniffing, no framing, no access by other origins. */
const SAFETY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The headers of an open answer, with its 304. */
export interface OpenHeaders {
  readonly etag: string;
  readonly 'cache-control': string;
  readonly 'content-security-policy': string;
  readonly vary?: string;
}

/**
 * An open answer, or a 304 if the caller has it already. For HEAD the app leaves the body out.
 *
 * @param make the body with its own headers; not called for a 304
 */
export function openAnswer(
  c: Context,
  headers: OpenHeaders,
  make: () => { body: BodyInit; headers: Readonly<Record<string, string>> },
): Response {
  const all = { ...SAFETY, ...headers };
  if (knows(c.req.header('if-none-match'), headers.etag)) {
    return new Response(null, { status: 304, headers: all });
  }
  const { body, headers: own } = make();
  return new Response(body, { headers: { ...all, ...own } });
}

/** Whether an `If-None-Match` names this ETag (compared weakly, as RFC 9110 wants it here). */
function knows(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((item) => {
    const tag = item.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}
