/** Events and log messages of the service. */
import { type CodedError, isCodedError } from '../shared/errors.ts';
import type { TaskState } from '../wire/taskStates.ts';

/** Receives log messages: text and plain fields. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * An event for `onEvent`: this process changed a task, answered a request or worked on a task, or
 * another process did.
 */
export type ServiceEvent =
  | {
      readonly type: 'task';
      readonly taskId: number;
      readonly clientId: number;
      readonly state: TaskState;
      readonly attempt: number;
    }
  | {
      readonly type: 'request';
      /** `X-Request-Id` of the answer; also in the log, and stored with the tasks created. */
      readonly requestId: string;
      readonly method: string;
      /** Pattern of the route; for unknown paths, that of their branch, or `*`. */
      readonly path: string;
      readonly status: number;
      /** Until the answer was sent, if the host reports that. */
      readonly durationMs: number;
      /** Length of the answer; absent if the host does not report it. */
      readonly bytes?: number;
      /** True if the connection ended before the answer was complete. */
      readonly cut?: true;
      readonly clientId?: number;
      /** Address of the caller. */
      readonly remote?: string;
    }
  | { readonly type: 'work'; readonly event: RunnerEvent }
  /** Another process changed a task. */
  | { readonly type: 'hint'; readonly state: TaskState }
  /** The result file of a task is damaged or gone. */
  | { readonly type: 'damaged'; readonly taskId: number }
  /** The housekeeper swept the store; nothing of it while the clock is too far ahead (not 0). */
  | {
      readonly type: 'swept';
      readonly expired: number;
      readonly removed: number;
      readonly aheadMs: number;
    };

/** A completed call of a port. */
export interface PortCall {
  readonly port: 'store' | 'blobs';
  /** Method, such as `claim`, or `uploads.stat` for a part of the port. */
  readonly verb: string;
  readonly durationMs: number;
  /** True if the call was rejected. A refusal (`false`, `null`, an outcome) is a result. */
  readonly failed: boolean;
}

/** The attempt of an event, and the request that created its task. */
interface OfAttempt {
  readonly taskId: number;
  readonly attempt: number;
  readonly requestId?: string;
}

export type RunnerEvent =
  | (OfAttempt & { readonly type: 'claimed' | 'cancelled' | 'released' })
  /** A phase ended, perhaps with the attempt. */
  | (OfAttempt & {
      readonly type: 'phase';
      readonly phase: 'read' | 'verify' | 'aggregate' | 'store';
      readonly durationMs: number;
    })
  | (OfAttempt & {
      readonly type: 'completed';
      readonly signatures: number;
      readonly format: string;
      readonly aggregateBytes: number;
    })
  /** `stale`: the attempt wrote its outcome, but the store refused it. */
  | (OfAttempt & { readonly type: 'lost'; readonly stale: boolean })
  | (OfAttempt & { readonly type: 'failed' | 'retried' | 'setAside'; readonly error: CodedError })
  /** The store or the disk failed; the runner continues. */
  | { readonly type: 'trouble'; error: unknown };

/** Returns an error with its stack and causes as text. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${errorText(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** Returns the code of an error, its message and those of its causes; for expected errors. */
export function errorSummary(error: unknown): { readonly code?: string; readonly error: string } {
  const texts: string[] = [];
  for (let at: unknown = error; at !== undefined; at = at instanceof Error ? at.cause : undefined) {
    texts.push(at instanceof Error ? at.message : String(at));
  }
  return { ...(isCodedError(error) && { code: error.code }), error: texts.join(': ') };
}
