/** The client's error class, for every failure between a call and its answer. */
import type { Fault, InvalidItem, Problem, TaskRecord } from './types.ts';

/**
 * The kind of failure.
 *
 * | kind | failure |
 * |---|---|
 * | `problem` | rejected by the server: `status` and, if sent, `code`, `detail`, `errors` |
 * | `network` | no answer: code `NETWORK` or `TIMEOUT` |
 * | `malformed` | an answer that violates the contract: `MALFORMED_ANSWER`, `REPEATED_CURSOR` |
 * | `aborted` | aborted by a signal: `ABORTED`, with the signal's reason as the `cause` |
 * | `task` | the task ended without a result: `TASK_FAILED`, `TASK_CANCELLED`, `TASK_EXPIRED` |
 * | `result` | the result is absent or not valid: `NO_RESULT`, `BAD_RESULT` |
 */
export type ClientErrorKind = 'problem' | 'network' | 'malformed' | 'aborted' | 'task' | 'result';

/** The details of a failure. */
export interface ClientErrorDetails {
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly problem?: Problem | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly record?: TaskRecord | undefined;
  readonly cause?: unknown;
}

/** Messages contain method and path, but never the API key or the query, which may grant access. */
export class ClientError extends Error {
  // Declarations only, as in CodedError: for tools that compile fields to assignments.
  declare readonly name: string;
  declare readonly kind: ClientErrorKind;
  /**
   * The code of the service (`UNAUTHENTICATED`, `TOO_MANY_ITEMS`, …), `HTTP_<status>` if the server
   * sent none, or one of the codes of {@link ClientErrorKind}.
   */
  declare readonly code: string;
  /** The HTTP status, if there was an answer. */
  declare readonly status: number | undefined;
  /** The server's explanation, in words. */
  declare readonly detail: string;
  /** Faulty parts of the request. */
  declare readonly errors: readonly Fault[];
  /** Invalid items of the batch. */
  declare readonly invalid: readonly InvalidItem[];
  /** The wait that the server requests, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  /** The whole problem document. */
  declare readonly problem: Problem | undefined;
  /** The last record of the task, if a task failed. */
  declare readonly record: TaskRecord | undefined;

  constructor(kind: ClientErrorKind, details: ClientErrorDetails) {
    super(
      oneLine(details.message),
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    const { code, status, problem, retryAfterMs, record } = details;
    const fields = {
      name: 'ClientError',
      kind,
      code,
      status,
      detail: problem?.detail ?? problem?.title ?? details.message,
      errors: problem?.errors ?? [],
      invalid: problem?.invalid ?? [],
      retryAfterMs,
      problem,
      record,
    };
    for (const [name, value] of Object.entries(fields)) {
      const field = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(this, name, Object.assign(Object.create(null), field));
    }
  }
}

/** Reduces server text to one short line, since it may be printed on a terminal or logged. */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 600);

/** Creates the error for an answer that violates the contract. */
export const malformed = (message: string, cause?: unknown): ClientError =>
  new ClientError('malformed', { code: 'MALFORMED_ANSWER', message, cause });

/** Returns whether a value is a ClientError, including one of another copy of this module. */
export function isClientError(value: unknown): value is ClientError {
  return value instanceof Error && value.name === 'ClientError' && 'kind' in value;
}
