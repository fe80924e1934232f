/** Shared by several routes: finding the caller's task, and answering with its record. */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import type { UploadUrlOptions } from '../blobs/port/blobStore.ts';
import { endOf, serviceBase } from '../http/address.ts';
import type { ListedTask, Task } from '../stores/port/task.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import { progressRecord } from './records.ts';
import { type Caller, type Deps, pathId } from './route.ts';

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

/** A new signed url of the result, or null if there is no result yet. */
export async function resultUrl(
  c: Context,
  deps: Deps,
  task: ListedTask,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<string | null> {
  if (task.state !== 'completed' || task.result === null) return null;
  const { blobs, urls } = deps.runtime.ports;
  const { key } = task.result.blob;
  const expiresAtMs = endOf(deps.settings.resultUrlTtlMs);
  if (blobs.results) return blobs.results.url(key, { expiresAtMs, method });
  const base = serviceBase(c, deps.settings);
  return urls.sign({ method: 'GET', key }, { base, expiresAtMs });
}

/** A new signed url to which the file of the task may be PUT. */
export async function uploadUrl(
  c: Context,
  deps: Deps,
  taskId: number,
  options: UploadUrlOptions,
): Promise<string> {
  const { blobs, urls } = deps.runtime.ports;
  if (blobs.uploads) return blobs.uploads.url(taskId, options);
  const base = serviceBase(c, deps.settings);
  const { expiresAtMs } = options;
  return urls.sign({ method: 'PUT', taskId }, { base, expiresAtMs });
}

export async function answerRecord(
  c: Context,
  deps: Deps,
  task: Task,
  status: 200 | 202,
): Promise<Response> {
  const url = await resultUrl(c, deps, task);
  const record = progressRecord(task, url, deps.settings.retentionMs);
  const location = `${serviceBase(c, deps.settings)}/tasks/${task.id}`;
  return c.json(record, status, status === 202 ? { location } : {});
}
