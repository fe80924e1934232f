/**
 * What an error of the driver or of the server means. SQLSTATE codes are those of appendix A of
 * PostgreSQL's manual.
 */
import { CodedError, isCodedError } from '../../../shared/errors.ts';

/** deadlock_detected, serialization_failure, unique_violation: nothing happened, try again. */
const TRY_AGAIN: ReadonlySet<string> = new Set(['40P01', '40001', '23505']);

/**
 * Connection exceptions, refused logins, lack of resources, shutdown and time-outs, and a server
 * that can only be read (a standby, after a fail-over).
 */
const UNAVAILABLE = /^(08|28|53|57)|^(25006|25P03|3D000|55P03|58030)$/;

/** @returns the SQLSTATE of an error of the server; undefined for any other error */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined ? code : undefined;
}

/** Whether the statement did nothing because of what others did at the same time. */
export function isTransient(error: unknown): boolean {
  return TRY_AGAIN.has(sqlState(error) ?? '');
}

/** Whether the connection is of no more use: the server did not answer, or ends it. */
export function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(08|57P)|^25P0/.test(state);
}

/**
 * The error for the store's callers. Without an answer of the server, nobody knows whether the
 * statement was carried out: `STORE_UNAVAILABLE` says so.
 *
 * The cause keeps code and text of the original and nothing else: other fields of it may hold
 * whole rows, or the address with its password.
 */
export function storeFault(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  const state = sqlState(error);
  const { code } = error as { code?: unknown };
  // Of several addresses of a host that were tried, the first.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message = String(first) } = first as Partial<Error>;
  const cause = new Error(typeof code === 'string' ? `${code}: ${message}` : message);
  const unavailable = state === undefined ? !isOurs(error) : UNAVAILABLE.test(state);
  return new CodedError(unavailable ? 'STORE_UNAVAILABLE' : 'INTERNAL', { cause });
}

/** A fault in our own code, which must not look like a lost connection. */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
