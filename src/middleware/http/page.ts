/**
 * Answers to `open` routes: pages and documents that everybody may read, made once and checked by the
 * browser with an ETag. Nothing in them comes from another host, and their policy says so.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';

export interface Page {
  /** With its charset: `text/html; charset=utf-8`. */
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Sources beyond `default-src 'none'`: `["style-src 'self'", …]`. */
  readonly policy?: readonly string[];
  /** Default `no-cache`: kept, and asked for again each time. */
  readonly cacheControl?: string;
}

/** What every page refuses: foreign content, being framed, posting forms away, another base. */
const POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
] as const;

/** The `Content-Security-Policy` of a page with these further sources. */
export function contentSecurityPolicy(sources: readonly string[] = []): string {
  return [...POLICY, ...sources].join('; ');
}

/** The source expression that allows exactly this inline style or script. */
export function inlineHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A strong ETag of these bytes. */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** The page; 304 when the caller has it already. HEAD is as GET, its body is left out by the app. */
export function pageAnswer(c: Context, page: Page): Response {
  const { type, body, policy, cacheControl = 'no-cache' } = page;
  const etag = etagOf(body);
  const headers = {
    etag,
    'cache-control': cacheControl,
    'content-security-policy': contentSecurityPolicy(policy),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  };
  if (knows(c.req.header('if-none-match'), etag))
    return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, 'content-type': type } });
}

/** Whether an `If-None-Match` names this ETag (compared weakly, as RFC 9110 wants it here). */
function knows(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((item) => {
    const tag = item.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}
