/**
 * Errors as `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `code`, and
 * `errors` for the faulty parts of a request. Status and title come from the table in `errors.ts`.
 * An unexpected error is not shown: the client gets only an id, which is in the log, too.
 */
import {
  CodedError,
  type CodedErrorDetails,
  ERROR_CODES,
  type ErrorCode,
} from '../../shared/errors.ts';
import { REQUEST_ID, requestIdOf } from './traceContext.ts';

/** A faulty part of a request: a JSON pointer, a short code, a sentence. */
export interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The most faults that are listed; `errors_total` says how many there are. */
export const MAX_LISTED_FAULTS = 100;

interface ProblemDetails extends CodedErrorDetails {
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members, `process_id` for example. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A CodedError with further members and headers for its answer. */
export class ProblemError extends CodedError {
  readonly errors: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: ProblemDetails = {}) {
    super(code, details);
    this.errors = details.errors;
    this.headers = details.headers ?? {};
    this.members = details.members ?? {};
  }
}

/** The JSON of a problem document. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly Fault[];
  readonly errors_total?: number;
  readonly [member: string]: unknown;
}

/** `BAD_TASK_FILE` → `urn:falconry:problem:bad-task-file`. */
export function problemType(code: ErrorCode): string {
  return `urn:falconry:problem:${code.toLowerCase().replaceAll('_', '-')}`;
}

/** The document for a coded error; the cause of an INTERNAL error is not shown. */
export function problemBody(error: CodedError): ProblemBody {
  const title = ERROR_CODES[error.code].message;
  const faults = error instanceof ProblemError ? error.errors : undefined;
  return {
    type: problemType(error.code),
    title,
    status: error.status,
    detail: error.code === 'INTERNAL' ? title : error.message,
    code: error.code,
    ...(faults && { errors: faults.slice(0, MAX_LISTED_FAULTS), errors_total: faults.length }),
    ...(error.invalid && { invalid: error.invalid }),
    ...(error instanceof ProblemError ? error.members : {}),
  };
}

/** Seconds to wait if the code calls for it and the error does not say. */
const defaultRetryAfter = (code: ErrorCode) => (code === 'STORAGE_FULL' ? '30' : '1');

/** Statuses whose answers say when to try again. */
const TELLING = [429, 503, 507];

/**
 * Whether answers with this code always say in `Retry-After` when to try again. A client at its
 * quota is only told if something of its own is known to expire then.
 */
export function tellsWhen(code: ErrorCode): boolean {
  if (code === 'STORAGE_QUOTA') return false;
  const { status, retriable } = ERROR_CODES[code];
  return (retriable && TELLING.includes(status)) || code === 'IDEMPOTENCY_CONFLICT';
}

/** The answer for a coded error. */
export function problemResponse(
  error: CodedError,
  members: Readonly<Record<string, unknown>> = {},
): Response {
  const headers = new Headers(error instanceof ProblemError ? error.headers : {});
  headers.set('content-type', 'application/problem+json');
  headers.set('cache-control', 'no-store');
  if (tellsWhen(error.code) && !headers.has('retry-after')) {
    headers.set('retry-after', defaultRetryAfter(error.code));
  }
  const body = JSON.stringify({ ...problemBody(error), ...members });
  return new Response(body, { status: error.status, headers });
}

/**
 * The same, for a request that the app does not get to see: with an id.
 *
 * @param traceparent the header of the request, as far as it is known
 * @param env what the server passes with it
 */
export function unseenProblem(error: CodedError, traceparent?: unknown, env?: unknown): Response {
  const response = problemResponse(error);
  response.headers.set(REQUEST_ID, requestIdOf(traceparent, env));
  return response;
}
