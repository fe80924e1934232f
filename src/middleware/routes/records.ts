/** Tasks on the wire, their signed URLs, and the storage of their clients. */
import type { Context } from 'hono';
import { CodedError, ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import { isFinal, STATE_TEXTS } from '../../wire/taskStates.ts';
import type { UploadUrlOptions } from '../blobs/port/blobStore.ts';
import { endOf, serviceBase } from '../http/address.ts';
import { MAX_LISTED_FAULTS, ProblemError, problemType } from '../http/problems.ts';
import { signUrl } from '../http/signedUrls.ts';
import {
  isRunning,
  type ListedTask,
  type PartCounts,
  type Task,
  type TaskError,
  type TaskProgress,
} from '../stores/port/task.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import type { Reservation } from './reservations.ts';
import { type Caller, type Deps, pathId } from './route.ts';

/** `2026-11-21T20:23:05.123456789Z` → `2026-11-21T20:23:05Z`. */
export function toSeconds(timestamp: string): string {
  return `${timestamp.slice(0, 19)}Z`;
}

/**
 * Returns the time after which the result of a completed task is removed, in seconds; null if
 * never, or beyond the range of dates.
 */
function resultExpiry(
  { state, finishedAt }: Pick<ListedTask, 'state' | 'finishedAt'>,
  retentionMs: number | null,
): string | null {
  if (state !== 'completed' || finishedAt === null || retentionMs === null) return null;
  const end = new Date(Date.parse(finishedAt) + retentionMs);
  return Number.isNaN(end.getTime()) ? null : toSeconds(end.toISOString());
}

/**
 * Returns the progress record.
 *
 * @param resultUrl not null if the task is completed
 * @param retentionMs time for which finished tasks are kept; null: unlimited
 */
export function progressRecord(
  task: Task,
  resultUrl: string | null,
  retentionMs: number | null,
): Record<string, unknown> {
  const expiry = resultExpiry(task, retentionMs);
  return {
    client_id: task.clientId,
    process_id: task.id,
    status: STATE_TEXTS[task.state].progress,
    batch_size: task.count,
    VCPUs: task.threads,
    request_utc_time: toSeconds(task.createdAt),
    latest_status_update_iso_utc_time: toSeconds(task.updatedAt),
    progress: progressOf(task),
    ...(task.quarantined && { quarantined: true }),
    ...(task.finishedAt !== null && isFinal(task.state) && { finished_at: task.finishedAt }),
    ...(task.result !== null &&
      resultUrl !== null && {
        result_path: resultUrl,
        format: task.result.format,
        result_bytes: task.result.blob.bytes,
        ...(expiry !== null && { result_expires_at: expiry }),
      }),
    ...(task.parts && { parts: partsOf(task.parts) }),
    ...(task.error !== null &&
      (task.state === 'failed' || isOpen(task)) && { error: taskProblem(task.error) }),
  };
}

const partsOf = ({ announced, ready, done }: PartCounts) => ({
  total: announced,
  uploaded: ready,
  done,
});

/** Returns whether further parts are accepted; an error is that of a failed part then. */
const isOpen = ({ parts, state }: Task) => parts && ['created', 'uploaded'].includes(state);

/**
 * Returns the last reported progress; for a completed task, the final one; before the parts are
 * merged, how many of them are done.
 */
function progressOf(
  task: Task,
): TaskProgress | { phase: 'parts'; done: number; total: number } | null {
  const { parts } = task;
  if (parts && task.state !== 'completed' && !(isRunning(task.state) && task.progress)) {
    return { phase: 'parts', done: parts.done, total: parts.announced };
  }
  if (task.state !== 'completed') return task.progress;
  return { phase: 'store', done: task.count, total: task.count };
}

/** Returns an element of a list; parameters as for the record. */
export function listItem(
  task: ListedTask,
  resultUrl: string | null,
  retentionMs: number | null,
): Record<string, unknown> {
  const expiry = resultExpiry(task, retentionMs);
  return {
    id: task.id,
    status: STATE_TEXTS[task.state].list,
    meta: {
      count: task.count,
      created_at: task.createdAt,
      submitted_at: task.submittedAt,
      ...(task.finishedAt !== null && isFinal(task.state) && { finished_at: task.finishedAt }),
      ...(resultUrl !== null && {
        result_path: resultUrl,
        ...(expiry !== null && { result_expires_at: expiry }),
      }),
    },
  };
}

/** Returns the meaning of a code; unknown codes count as INTERNAL. */
function meaningOf(code: string): { code: ErrorCode } & Pick<CodedError, 'status' | 'message'> {
  const known = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'INTERNAL';
  return { code: known, ...ERROR_CODES[known] };
}

/** Returns the failure of a task as a problem document, with every invalid item. */
function taskProblem(error: TaskError): Record<string, unknown> {
  const { code, status, message } = meaningOf(error.code);
  return {
    type: problemType(code),
    title: message,
    status,
    detail: error.message,
    code: error.code,
    ...(error.part !== undefined && { part: error.part }),
    ...(error.invalid && { invalid: error.invalid }),
    ...(error.errors && {
      errors: error.errors.slice(0, MAX_LISTED_FAULTS),
      errors_total: error.total ?? error.errors.length,
    }),
  };
}

/** @throws CodedError `NOT_FOUND`, whether the id is malformed, unknown, or another client's */
export async function findTask(
  store: TaskStore,
  idText: string | undefined,
  caller: Caller,
): Promise<Task> {
  const id = pathId(idText);
  const task = id === null ? null : await store.get(id, caller.clientId);
  if (task === null) throw new CodedError('NOT_FOUND', { message: 'There is no such task' });
  return task;
}

/** Returns a new signed URL of the result, or null if there is none yet. */
export async function resultUrl(
  c: Context,
  deps: Deps,
  task: Task | ListedTask,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<string | null> {
  const key = 'resultKey' in task ? task.resultKey : (task.result?.blob.key ?? null);
  if (task.state !== 'completed' || key === null) return null;
  const { blobs, urlSecret } = deps.runtime.ports;
  const expiresAtMs = endOf(deps.settings.resultUrlTtlMs);
  if (blobs.results) return blobs.results.url(key, { expiresAtMs, method });
  const base = serviceBase(c, deps.settings);
  return signUrl(urlSecret, { method: 'GET', key }, { base, expiresAtMs });
}

/** Returns a new signed URL to which the file of the task may be PUT. */
export async function uploadUrl(
  c: Context,
  deps: Deps,
  taskId: number,
  options: UploadUrlOptions,
): Promise<string> {
  const { blobs, urlSecret } = deps.runtime.ports;
  if (blobs.uploads) return blobs.uploads.url(taskId, options);
  const base = serviceBase(c, deps.settings);
  const { expiresAtMs } = options;
  return signUrl(urlSecret, { method: 'PUT', taskId }, { base, expiresAtMs });
}

/** Creates a ticket. The URL grants a right, so it is never stored, but made for each answer. */
export async function uploadTicket(c: Context, deps: Deps, task: Task, bytes?: number) {
  // In whole seconds, as in URLs.
  const expiresAtMs = Math.ceil(task.expiresAtMs / 1000) * 1000;
  return {
    process_id: task.id,
    url: await uploadUrl(c, deps, task.id, { expiresAtMs, ...(bytes !== undefined && { bytes }) }),
    expires_at: toSeconds(new Date(expiresAtMs).toISOString()),
  };
}

export async function answerRecord(
  c: Context,
  deps: Deps,
  task: Task,
  status: 200 | 202,
): Promise<Response> {
  const url = await resultUrl(c, deps, task);
  const record = progressRecord(task, url, deps.settings.retentionMs);
  return c.json(record, status, status === 202 ? locationOf(c, deps, task) : {});
}

/** Returns the header with the address of a task. */
export const locationOf = (c: Context, { settings }: Deps, { id }: Task) => ({
  location: `${serviceBase(c, settings)}/tasks/${id}`,
});

/** Maximum delay of the removal of expired tasks. */
const SWEEP_SECONDS = 30;

/** Opens a reservation for a file of this client that replaces one of `replacedBytes`. */
export async function reserve(
  deps: Deps,
  clientId: number,
  replacedBytes = 0,
): Promise<Reservation> {
  const { store, limits } = deps.runtime.ports;
  const { storedBytes } = await limits.of(clientId);
  const stored = async () => (await store.usage(clientId)).storedBytes - replacedBytes;
  return deps.reservations.open(clientId, storedBytes, stored);
}

/**
 * Returns the error for a client without room for this many more bytes: usage, limit and advice.
 * Has Retry-After only if something expires then, and the file could fit.
 */
export async function storageQuota(
  { settings, runtime, reservations }: Deps,
  clientId: number,
  bytes: number,
): Promise<ProblemError> {
  const { store, limits } = runtime.ports;
  const { storedBytes: allowed } = await limits.of(clientId);
  const { storedBytes: used } = await store.usage(clientId);
  const running = reservations.heldBytes(clientId);
  const facts =
    `Your files take ${used} of ${allowed} bytes` +
    (running > 0 ? `, and uploads under way have reserved ${running}` : '');
  const members = { stored_bytes: used, allowed_bytes: allowed };
  if (bytes > allowed) {
    const message = `${facts}. The file alone is larger than all that is allowed.`;
    return new ProblemError('STORAGE_QUOTA', { message, members });
  }
  const oldest = await store.list({ clientId, limit: 1, state: 'completed' });
  const task = oldest.tasks[0];
  const expiry = task ? resultExpiry(task, settings.retentionMs) : null;
  const advice = expiry === null ? '' : `, or wait: the oldest result is removed at ${expiry}`;
  const message = `${facts}. Delete finished tasks to make room${advice}.`;
  if (expiry === null) return new ProblemError('STORAGE_QUOTA', { message, members });
  const seconds = Math.ceil((Date.parse(expiry) - Date.now()) / 1000);
  const headers = { 'retry-after': String(Math.max(0, seconds) + SWEEP_SECONDS) };
  return new ProblemError('STORAGE_QUOTA', { message, members, headers });
}
