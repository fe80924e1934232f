/** The error of the client: everything that goes wrong between a call and its answer. */
import type { Fault, InvalidItem, Problem, TaskRecord } from './types.ts';

/**
 * What kind of thing went wrong.
 *
 * | kind | what happened |
 * |---|---|
 * | `problem` | the server refused: `status` and, if given, `code`, `detail`, `errors` |
 * | `network` | no answer: code `NETWORK` or `TIMEOUT` |
 * | `malformed` | an answer outside the contract: `MALFORMED_ANSWER`, `REPEATED_CURSOR` |
 * | `aborted` | a signal aborted it: `ABORTED`, with the signal's reason as the `cause` |
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

/** Messages name method and path, but never a query, which may be a right, or the API key. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly kind: ClientErrorKind;
  /**
   * The code of the service (`UNAUTHENTICATED`, `TOO_MANY_ITEMS`, …), `HTTP_<status>` if the server
   * gave none, or one of the codes of {@link ClientErrorKind}.
   */
  readonly code: string;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The explanation of the server, for people. */
  readonly detail: string;
  /** The faulty parts of the request. */
  readonly errors: readonly Fault[];
  /** The invalid items of the batch. */
  readonly invalid: readonly InvalidItem[];
  /** The time that the server asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The whole problem document. */
  readonly problem: Problem | undefined;
  /** The last record of the task, if a task failed. */
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

/** The text may come from a server and go to a terminal or a log: one line, of bounded length. */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 600);

/** The error for an answer outside the contract. */
export const malformed = (message: string, cause?: unknown): ClientError =>
  new ClientError('malformed', { code: 'MALFORMED_ANSWER', message, cause });

/** Whether a value is a ClientError, also one of another copy of this module. */
export function isClientError(value: unknown): value is ClientError {
  return value instanceof Error && value.name === 'ClientError' && 'kind' in value;
}
