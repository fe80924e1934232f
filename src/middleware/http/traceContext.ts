/**
 * The `traceparent` header (W3C Trace Context, https://www.w3.org/TR/trace-context/): who called,
 * as part of which trace. Read strictly: whatever the standard calls invalid is ignored.
 */
import { toHex } from '../../shared/bytes.ts';
import { randomBytes } from '../../shared/random.ts';

/** The position of a caller in its trace. */
export interface TraceParent {
  /** 32 hex digits, not all zero. */
  readonly traceId: string;
  /** 16 hex digits, not all zero. */
  readonly spanId: string;
  /** One byte; bit 0 says that the trace is recorded. */
  readonly traceFlags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Version 00 ends with the flags; later versions may have more. */
export function parseTraceparent(header: string | undefined): TraceParent | null {
  const found = FORM.exec(header ?? '');
  if (found === null) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = found;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** As a header of version 00. */
export function formatTraceparent({ traceId, spanId, traceFlags }: TraceParent): string {
  // Version 00 knows one flag; the others must be 0.
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

/** Tells the caller under which id the log and the traces know the request. */
export const REQUEST_ID = 'x-request-id';

/** The id of a request: that of its host, the trace-id of its `traceparent`, or a new one. */
export const requestIdOf = (header: unknown, env?: unknown): string =>
  hostRequestId(env) ??
  parseTraceparent(typeof header === 'string' ? header : undefined)?.traceId ??
  newTraceId();

/**
 * The id that a middleware of the host has given to a request, so that all logs agree: in the
 * response that it has begun, or in the variable of `hono/request-id`.
 */
export function hostRequestId(env: unknown, variable?: unknown): string | undefined {
  const { outgoing } = (env ?? {}) as { outgoing?: { getHeader?(name: string): unknown } };
  const id = variable ?? outgoing?.getHeader?.(REQUEST_ID);
  return typeof id === 'string' && /^[!-~]{1,255}$/.test(id) ? id : undefined;
}

const ID_BYTES = 16;
/** Ids are random, but no secrets: many are drawn at once, since each draw takes microseconds. */
let pool: Uint8Array = new Uint8Array(0);

/** A new id of a trace, for a request that came without one. */
export function newTraceId(): string {
  if (pool.length === 0) pool = randomBytes(256 * ID_BYTES);
  const id = toHex(pool.subarray(0, ID_BYTES));
  pool = pool.subarray(ID_BYTES);
  return id;
}
