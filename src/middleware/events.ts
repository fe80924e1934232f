/** The events and log messages of the service, as its host and its own parts see them. */
import { type CodedError, isCodedError } from '../shared/errors.ts';
import type { TaskState } from '../wire/taskStates.ts';

/** Receives log messages: a sentence and plain fields. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * An event for `onEvent`: this process changed a task, answered a request or worked on a task; or
 * it was told of the work of another.
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
      /** The answer's `X-Request-Id`, which is in the log, and kept with the tasks it makes. */
      readonly requestId: string;
      readonly method: string;
      /** The pattern of the route; unknown paths have the pattern of their branch, or `*`. */
      readonly path: string;
      readonly status: number;
      /** Until the answer had left, as far as the host tells. */
      readonly durationMs: number;
      /** Of the answer; absent if the host does not tell. */
      readonly bytes?: number;
      /** The connection ended before the answer was complete. */
      readonly cut?: true;
      readonly clientId?: number;
      /** The address of the caller. */
      readonly remote?: string;
    }
  | { readonly type: 'work'; readonly event: RunnerEvent }
  /** Another process changed a task. */
  | { readonly type: 'hint'; readonly state: TaskState }
  /** The housekeeper went through the store. */
  | { readonly type: 'swept'; readonly expired: number; readonly removed: number };

/** A call of a port that has ended. */
export interface PortCall {
  readonly port: 'store' | 'blobs';
  /** The method: `claim`; of a part of the port, with its name: `uploads.stat`. */
  readonly verb: string;
  readonly durationMs: number;
  /** Whether it was rejected; a refusal (`false`, `null`, an outcome) is a result. */
  readonly failed: boolean;
}

/** The attempt that an event is about, and the request that made its task. */
interface OfAttempt {
  readonly taskId: number;
  readonly attempt: number;
  readonly requestId?: string;
}

export type RunnerEvent =
  | (OfAttempt & { readonly type: 'claimed' | 'cancelled' | 'released' })
  /** A phase is over, also by the end of the attempt. */
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
  /** `stale`: the attempt still wrote its outcome, which the store refused. */
  | (OfAttempt & { readonly type: 'lost'; readonly stale: boolean })
  | (OfAttempt & { readonly type: 'failed' | 'retried' | 'setAside'; readonly error: CodedError })
  /** The store or the disk did not answer; the runner carries on. */
  | { readonly type: 'trouble'; error: unknown };

/** An error with its stack and its causes. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${errorText(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** The code of an error, its text and those of its causes; for what is expected to happen. */
export function errorSummary(error: unknown): { readonly code?: string; readonly error: string } {
  const texts: string[] = [];
  for (let at: unknown = error; at !== undefined; at = at instanceof Error ? at.cause : undefined) {
    texts.push(at instanceof Error ? at.message : String(at));
  }
  return { ...(isCodedError(error) && { code: error.code }), error: texts.join(': ') };
}
