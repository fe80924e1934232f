/** `…/aggsign…`: creates tasks, in three steps or in one, and verifies aggregates. */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { refusalOf } from '../../wire/resultFile.ts';
import { type BlobRef, newInputKey } from '../blobs/port/blobStore.ts';
import { bodyLimits, withBody, withJsonBody } from '../http/body.ts';
import { checkForm } from '../http/bodyType.ts';
import { free } from '../http/buffers.ts';
import { isRepeatable, requestFingerprint, requestLine, taskOnce } from '../http/idempotency.ts';
import type { Env } from '../http/observe.ts';
import { ProblemError } from '../http/problems.ts';
import type { Task } from '../stores/port/task.ts';
import type { NewTask, PutOptions } from '../stores/port/taskStore.ts';
import type { BatchLimits } from '../tasks/readBatch.ts';
import {
  answerRecord,
  findTask,
  locationOf,
  progressRecord,
  reserve,
  storageQuota,
  uploadUrl,
} from './records.ts';
import type { Caller, Deps, Route } from './route.ts';

/** A body that is not needed is read up to this length, so that repeats can be recognised. */
const IGNORED_BODY_BYTES = 64 * 1024;

/** More bytes than the aggregate of the largest batch has. */
export const MAX_AGGREGATE_BYTES = 16 * 1024 * 1024;

/** A triple has four; the rest leaves room for the client's own members. */
const TOKENS_PER_ITEM = 16;

export function aggsignRoutes(deps: Deps): Route[] {
  const { settings } = deps;
  const base = `/v1/${settings.serviceName}/aggsign`;
  const post = (path: string, handle: Handler): Route => ({
    method: 'POST',
    path: base + path,
    right: 'key',
    handle,
  });
  return [
    post('/task', createTask(deps)),
    post('/task/:process_id/url', renewUrl(deps)),
    post('/notify/:process_id', notify(deps)),
    post('', aggregateDirectly(deps)),
    post('/verify', verify(deps)),
  ];
}

type Handler = (c: Context<Env>, caller: Caller) => Promise<Response>;

function createTask(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const limits = bodyLimits(settings, IGNORED_BODY_BYTES);
  return (c, { clientId }) =>
    withBody(c, limits, budget.of(clientId), async (body) => {
      const { store } = runtime.ports;
      const { threads, uploadUrlTtlMs: ttlMs } = settings;
      const bytes = announcedBytes(body, settings.maxBodyBytes);
      const task = await taskOnce(c, {
        clientId,
        store,
        fingerprint: () => requestFingerprint(requestLine(c), body),
        make(options) {
          const state = 'created';
          const task: NewTask = { clientId, state, threads, ttlMs, ...c.get('origin') };
          return putTask(deps, task, options);
        },
      });
      return c.json(await uploadTicket(c, deps, task, bytes), 201, locationOf(c, deps, task));
    });
}

function renewUrl(deps: Deps): Handler {
  return async (c, caller) => {
    const { store } = deps.runtime.ports;
    const { id } = await findTask(store, c.req.param('process_id'), caller);
    const task = await store.renew(id, caller.clientId, deps.settings.uploadUrlTtlMs);
    if (task === null) {
      throw new ProblemError('CONFLICT', { message: 'The task no longer waits for a task file' });
    }
    return c.json(await uploadTicket(c, deps, task));
  };
}

/** The url is a right, so it is never stored: it is made from the task whenever it is told. */
async function uploadTicket(c: Context, deps: Deps, task: Task, bytes?: number) {
  // In whole seconds, as urls have it.
  const expiresAtMs = Math.ceil(task.expiresAtMs / 1000) * 1000;
  return {
    process_id: task.id,
    url: await uploadUrl(c, deps, task.id, { expiresAtMs, ...(bytes !== undefined && { bytes }) }),
    expires_at: `${new Date(expiresAtMs).toISOString().slice(0, 19)}Z`,
  };
}

function notify(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const limits = bodyLimits(settings, IGNORED_BODY_BYTES);
  return (c, caller) =>
    withBody(c, limits, budget.of(caller.clientId), async () => {
      const { ports } = runtime;
      const { store, blobs } = ports;
      const task = await findTask(store, c.req.param('process_id'), caller);
      const input = await uploadedFile(deps, task);
      const { storedBytes } = await ports.limits.of(caller.clientId);
      const outcome = await store.notify(task.id, caller.clientId, input, { storedBytes });
      if (outcome.ok) return answerRecord(c, deps, outcome.task, 202);
      switch (outcome.reason) {
        case 'missing':
          throw new CodedError('NOT_FOUND');
        case 'notUploaded':
          throw new CodedError('NOT_UPLOADED');
        case 'ended':
          throw new ProblemError('CONFLICT', { message: 'The task ended before its notification' });
        case 'storedBytes':
          await (blobs.uploads ?? blobs.arrivals)?.discard(task.id);
          throw await storageQuota(deps, caller.clientId, input?.bytes ?? 0);
      }
    });
}

/** Limits of a body with as many items as a task may have. */
const batchLimits = ({ maxSignatures, maxDigestBytes }: Deps['settings']): BatchLimits => ({
  maxSignatures,
  maxMessageBytes: maxDigestBytes,
  maxAggregateBytes: MAX_AGGREGATE_BYTES,
  maxTokens: TOKENS_PER_ITEM * maxSignatures + 1000,
});

function aggregateDirectly(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const size = bodyLimits(settings, settings.maxBodyBytes);
  const limits = batchLimits(settings);
  return (c, { clientId }) =>
    withJsonBody(c, size, budget.of(clientId), async (blocks) => {
      const { store, reader } = runtime.ports;
      const line = isRepeatable(c) ? requestLine(c) : null;
      const reading = { wanted: 'triples', limits, requestLine: line } as const;
      const { count, file, fingerprint } = await reader.read(clientId, blocks, reading);
      const task = await taskOnce(c, {
        clientId,
        store,
        fingerprint: () => fingerprint!,
        make: (options) =>
          putWithFile(deps, { clientId, count, ...c.get('origin') }, file, options),
      });
      const record = progressRecord(asCreated(task), null, settings.retentionMs);
      return c.json(record, 202, locationOf(c, deps, task));
    });
}

function verify({ settings, runtime, budget }: Deps): Handler {
  const size = bodyLimits(settings, settings.maxBodyBytes);
  const limits = batchLimits(settings);
  return (c, { clientId }) =>
    withJsonBody(c, size, budget.of(clientId), async (blocks) => {
      const { reader, aggregator } = runtime.ports;
      const reading = { wanted: 'claim', limits } as const;
      const { aggregate, statements } = await reader.read(clientId, blocks, reading);
      const valid = await aggregator.judge(aggregate, statements);
      const reason = valid ? undefined : refusalOf(aggregate);
      return c.json({ valid, ...(reason !== undefined && { reason }) });
    });
}

/** Stores a file, which is gone then, and puts the task that is waiting with it. */
async function putWithFile(
  deps: Deps,
  facts: Pick<NewTask, 'clientId' | 'count' | 'requestId' | 'traceparent'>,
  file: Uint8Array<ArrayBuffer>,
  options: Pick<PutOptions, 'hold'>,
): Promise<Task> {
  const { clientId } = facts;
  const { threads, uploadUrlTtlMs: ttlMs } = deps.settings;
  const { blobs } = deps.runtime.ports;
  const reservation = await reserve(deps, clientId);
  try {
    if (!(await reservation.cover(file.length))) {
      throw await storageQuota(deps, clientId, file.length);
    }
    const input = await blobs.put(newInputKey(), file, { maxBytes: file.length });
    free(file.buffer);
    const task: NewTask = { ...facts, state: 'waiting', input, threads, ttlMs };
    // If the store does not answer, the task may be there: then its file is left alone.
    return await putTask(deps, task, options, () => blobs.delete(input.key));
  } finally {
    reservation.close();
  }
}

async function putTask(
  deps: Deps,
  task: NewTask,
  options: Pick<PutOptions, 'hold'>,
  onRefused: () => Promise<void> = async () => {},
): Promise<Task> {
  const { store, limits } = deps.runtime.ports;
  const { openTasks, storedBytes } = await limits.of(task.clientId);
  const outcome = await store.put(task, { ...options, limits: { openTasks, storedBytes } });
  if (outcome.ok) return outcome.task;
  await onRefused();
  switch (outcome.reason) {
    case 'openTasks':
      throw new ProblemError('TOO_MANY_TASKS', { headers: { 'retry-after': '10' } });
    case 'storedBytes':
      throw await storageQuota(deps, task.clientId, task.input?.bytes ?? 0);
    case 'superseded':
      throw new CodedError('IDEMPOTENCY_CONFLICT');
  }
}

/** A direct task as it was at first, which is what a repeat of its request is told. */
function asCreated(task: Task): Task {
  const { createdAt: updatedAt } = task;
  const nothing = { progress: null, finishedAt: null, result: null, error: null };
  return { ...task, state: 'waiting', updatedAt, ...nothing };
}

/**
 * The file of a task that waits for its notification; undefined if it came through the service, or
 * if there is none. A host that takes uploads itself looks only where it knows of none: then the
 * url may be another host's, which lets clients PUT past the service.
 *
 * @throws ProblemError for a file that is empty, too large, compressed or not JSON; it is deleted
 */
export async function uploadedFile(deps: Deps, task: Task): Promise<BlobRef | undefined> {
  const { uploads, arrivals } = deps.runtime.ports.blobs;
  const open = task.state === 'created' || (uploads && task.state === 'uploaded');
  const files = open ? (uploads ?? arrivals) : undefined;
  const found = await files?.stat(task.id);
  if (!files || !found) return undefined;
  try {
    checkFile(found.blob.bytes, deps.settings.maxBodyBytes);
    const encoding = checkForm(found.contentType, found.contentEncoding);
    if (encoding !== 'identity') throw packed();
  } catch (refusal) {
    await files.discard(task.id);
    throw refusal;
  }
  return found.blob;
}

/** The worker reads what the bucket gives, which nobody unpacks. */
const packed = () =>
  new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'A task file in the bucket must not be packed',
    headers: { 'accept-encoding': 'identity' },
  });

function checkFile(bytes: number, maxBytes: number): void {
  if (bytes === 0) throw new ProblemError('MALFORMED_JSON', { message: 'The task file is empty' });
  if (bytes <= maxBytes) return;
  throw new ProblemError('BODY_TOO_LARGE', {
    message: `The task file is larger than ${maxBytes} bytes`,
  });
}

/** Longer bodies say something else. */
const MAX_ANNOUNCEMENT_BYTES = 1024;

/**
 * The length of the file, if the body that creates the task says `{"bytes": n}`. No body is needed,
 * so that any other one says nothing.
 *
 * @throws CodedError `BODY_TOO_LARGE` for a file that would be refused later
 */
export function announcedBytes(body: Uint8Array, maxBytes: number): number | undefined {
  if (body.length === 0 || body.length > MAX_ANNOUNCEMENT_BYTES) return undefined;
  let said: unknown;
  try {
    said = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
  const bytes = (said as { bytes?: unknown } | null)?.bytes;
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 1) return undefined;
  if ((bytes as number) > maxBytes) throw new CodedError('BODY_TOO_LARGE');
  return bytes as number;
}
