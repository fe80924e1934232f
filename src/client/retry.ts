/** The retry policy for requests. */
import type { ClientError } from './clientError.ts';
import type { RetryOptions } from './types.ts';

/**
 * The condition for repeating a request.
 *
 * - `safe`: idempotent: reads, PUT, DELETE, notify, and POSTs with an Idempotency-Key that the
 *   server supports
 * - `unsafe`: the work might be done twice; repeated only if the server certainly did not start
 */
export type Repeat = 'safe' | 'unsafe';

/** Statuses of temporary failures, including those of proxies. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 507]);

/** System errors that mean that no connection was made, so nothing was sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Returns whether the request may be repeated after this failure. */
export function mayRepeat(error: ClientError, repeat: Repeat): boolean {
  const { kind, status = 0, code } = error;
  if (kind === 'network') {
    return repeat === 'safe' || NOT_SENT.has(systemCode(error.cause) ?? '');
  }
  if (kind !== 'problem') return false;
  // The first request with this key is still running; a later repeat gets its answer.
  if (code === 'IDEMPOTENCY_CONFLICT') return true;
  // Space is freed by deleting tasks, or by their expiry if the server sends Retry-After.
  if (code === 'STORAGE_QUOTA' && error.retryAfterMs === undefined) return false;
  // Rejected before any work: by a rate limit, or by a server that specifies when to retry.
  if (status === 429 || (status === 503 && error.retryAfterMs !== undefined)) return true;
  return repeat === 'safe' && PASSING.has(status);
}

/** Returns whether the server may have done the work although no answer confirms it. */
export function outcomeUnknown({ kind, status = 0 }: ClientError): boolean {
  return kind === 'network' || (kind === 'problem' && status >= 500);
}

/** Returns the wait before repeat `count` (from 0); null if Retry-After is too long. */
export function waitMs(
  error: ClientError,
  count: number,
  { baseMs, maxMs, maxRetryAfterMs }: Required<RetryOptions>,
): number | null {
  const asked = error.retryAfterMs ?? 0;
  if (asked > maxRetryAfterMs) return null;
  // Jitter, so that clients that failed together do not retry together.
  const backoff = Math.min(maxMs, baseMs * 2 ** count) * (0.5 + Math.random() / 2);
  return Math.max(asked + Math.random() * baseMs, backoff);
}

/** Converts Retry-After, which is seconds or a date, to milliseconds. */
export function readRetryAfter(header: string | null, nowMs = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Returns the system's error code of a failed `fetch`, if the host has one: Node, Bun, Deno. */
export function systemCode(error: unknown): string | undefined {
  for (let each: unknown = error, depth = 0; each instanceof Error && depth < 4; depth++) {
    const { code, cause } = each as Error & { code?: unknown };
    if (typeof code === 'string' && /^[A-Za-z_]{1,40}$/.test(code)) return code;
    each = cause;
  }
  return undefined;
}
