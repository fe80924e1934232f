/** A task as stored in the table, and as readers see it. */
import type { ListedTask, NewTask, Task, TaskState } from 'falconry/middleware';

/** A task with the fields that only the store needs. */
export type Row = { -readonly [Name in keyof Task]: Task[Name] } & {
  /** Whether it was notified; repeating that changes nothing. */
  submitted: boolean;
  /** Clients take turns: the turn in which the task waits, and its place in that turn. */
  turn: number;
  place: number;
  /** When it may be claimed, or when its lease ends; 0 means now. */
  dueMs: number;
  finishedMs: number | null;
};

const FINAL: readonly TaskState[] = ['completed', 'failed', 'cancelled', 'expired'];
export const isFinal = ({ state }: Row): boolean => FINAL.includes(state);
export const isHeld = ({ state }: Row): boolean => state === 'verifying' || state === 'aggregating';
export const isEarly = ({ state }: Row): boolean => state === 'created' || state === 'uploaded';

/** The bytes that count towards the client's quota. */
export const bytesOf = ({ input, result }: Row): number =>
  (input?.bytes ?? 0) + (result?.blob.bytes ?? 0);

/** Returns the task without the store's own fields. */
export function told({ submitted, turn, place, dueMs, finishedMs, ...task }: Row): Task {
  return task;
}

export function listed(row: Row): ListedTask {
  const { id, state, count, createdAt, submittedAt, finishedAt, result } = row;
  const resultKey = result?.blob.key ?? null;
  return { id, state, count, createdAt, submittedAt, finishedAt, resultKey };
}

/** A new task; its id comes from the database. */
export function newRow(task: NewTask, at: string, nowMs: number): Row {
  const { clientId, state, threads, count = 0, input = null } = task;
  return {
    id: 0,
    clientId,
    kind: 'aggregate',
    parent: null,
    part: null,
    parts: null,
    state,
    attempt: 0,
    failures: 0,
    losses: 0,
    quarantined: false,
    count,
    threads,
    progress: null,
    createdAt: at,
    submittedAt: at,
    updatedAt: at,
    finishedAt: null,
    expiresAtMs: nowMs + task.ttlMs,
    requestId: task.requestId ?? null,
    traceparent: task.traceparent ?? null,
    input,
    result: null,
    error: null,
    submitted: state === 'waiting',
    turn: 0,
    place: 0,
    dueMs: 0,
    finishedMs: null,
  };
}
