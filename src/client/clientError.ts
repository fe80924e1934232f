/** The one error of the client: everything that goes wrong between a call and its answer. */
import type { Fault, InvalidItem, Problem, TaskRecord } from './types.ts';

/**
 * Where it went wrong.
 *
 * | kind | what happened |
 * |---|---|
 * | `problem` | the server refused: `status` and, where it says so, `code`, `detail`, `errors` |
 * | `network` | no answer: code `NETWORK` or `TIMEOUT` |
 * | `malformed` | an answer that the contract does not know: `MALFORMED_ANSWER`, `REPEATED_CURSOR` |
 * | `aborted` | a signal ended it: `ABORTED`, the signal's reason is the `cause` |
 * | `task` | the task ended without a result: `TASK_FAILED`, `TASK_CANCELLED`, `TASK_EXPIRED`; see `record` |
 * | `result` | the result is not what was asked for: `BAD_RESULT`, `NO_RESULT` |
 */
export type ClientErrorKind = 'problem' | 'network' | 'malformed' | 'aborted' | 'task' | 'result';

/** What is known of a failure. */
export interface ClientErrorDetails {
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly problem?: Problem | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly record?: TaskRecord | undefined;
  readonly cause?: unknown;
}

/** Messages name method and path, never a query (signed urls are rights) and never the API key. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly kind: ClientErrorKind;
  /**
   * The service's own code (`UNAUTHENTICATED`, `TOO_MANY_ITEMS`, …), `HTTP_<status>` from a server
   * that has none, or one of the table of {@link ClientErrorKind}.
   */
  readonly code: string;
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** What the server said, for people. */
  readonly detail: string;
  /** Parts of the request that are at fault. */
  readonly errors: readonly Fault[];
  /** Items of the batch that are not valid. */
  readonly invalid: readonly InvalidItem[];
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The whole problem document. */
  readonly problem: Problem | undefined;
  /** The task's last record, where the task is what failed. */
  readonly record: TaskRecord | undefined;

  constructor(kind: ClientErrorKind, details: ClientErrorDetails) {
    super(
      oneLine(details.message),
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    const { problem, record } = details;
    this.kind = kind;
    this.code = details.code;
    this.status = details.status;
    this.problem = problem;
    this.record = record;
    this.detail = problem?.detail ?? problem?.title ?? details.message;
    this.errors = problem?.errors ?? [];
    this.invalid = problem?.invalid ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * Words of a server may be in it, and it may come to a terminal or a log: one line, of bounded
 * length.
 */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 600);

/** The error for an answer outside the contract. */
export const malformed = (message: string, cause?: unknown): ClientError =>
  new ClientError('malformed', { code: 'MALFORMED_ANSWER', message, cause });

/** Whether a value is a ClientError, also one of another copy of this module. */
export function isClientError(value: unknown): value is ClientError {
  return value instanceof Error && value.name === 'ClientError' && 'kind' in value;
}
