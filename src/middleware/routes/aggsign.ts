/** `…/aggsign…`: creates tasks, in three steps or in one, and verifies aggregates. */

import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { refusalOf } from '../../wire/resultFile.ts';
import { putHashed } from '../blobs/checksums.ts';
import { type BlobRef, newInputKey } from '../blobs/port/blobStore.ts';
import { bodyLimits, withBody, withJsonBody } from '../http/body.ts';
import { checkForm } from '../http/bodyType.ts';
import { free } from '../http/buffers.ts';
import { isRepeatable, requestFingerprint, requestLine, taskOnce } from '../http/idempotency.ts';
import type { Env } from '../http/observe.ts';
import { ProblemError } from '../http/problems.ts';
import { tokensOfBatch } from '../http/strictJson.ts';
import type { Task } from '../stores/port/task.ts';
import type { NewTask, PutOptions } from '../stores/port/taskStore.ts';
import type { Batch, BatchLimits } from '../tasks/readBatch.ts';
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

/** Maximum length of an unneeded body, which is read to recognise repeats. */
const IGNORED_BODY_BYTES = 64 * 1024;

/** Larger than the aggregate of any batch. */
export const MAX_AGGREGATE_BYTES = 16 * 1024 * 1024;

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

/** Creates a ticket. The URL grants a right, so it is never stored, but made for each answer. */
async function uploadTicket(c: Context, deps: Deps, task: Task, bytes?: number) {
  // In whole seconds, as in URLs.
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

/** Returns the limits of a body with as many items as a task may have. */
const batchLimits = ({ maxSignatures, maxDigestBytes }: Deps['settings']): BatchLimits => ({
  maxSignatures,
  maxMessageBytes: maxDigestBytes,
  maxAggregateBytes: MAX_AGGREGATE_BYTES,
  maxTokens: tokensOfBatch(maxSignatures),
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
      const { count, fingerprint, ...file } = await reader.read(clientId, blocks, reading);
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
      const valid = await aggregator.judge(clientId, aggregate, statements);
      const reason = valid ? undefined : refusalOf(aggregate);
      return c.json({ valid, ...(reason !== undefined && { reason }) });
    });
}

/** Stores a file, frees its memory, and creates the waiting task. */
async function putWithFile(
  deps: Deps,
  facts: Pick<NewTask, 'clientId' | 'count' | 'requestId' | 'traceparent'>,
  { file: bytes, sha256 }: Pick<Batch, 'file' | 'sha256'>,
  options: Pick<PutOptions, 'hold'>,
): Promise<Task> {
  const { clientId } = facts;
  const { threads, uploadUrlTtlMs: ttlMs } = deps.settings;
  const { blobs } = deps.runtime.ports;
  const reservation = await reserve(deps, clientId);
  try {
    if (!(await reservation.cover(bytes.length))) {
      throw await storageQuota(deps, clientId, bytes.length);
    }
    const hashed = { bytes, sha256 };
    const input = await putHashed(blobs, newInputKey(), hashed, { maxBytes: bytes.length });
    free(bytes.buffer);
    const task: NewTask = { ...facts, state: 'waiting', input, threads, ttlMs };
    // If the store does not answer, the task may exist: its file is kept.
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

/** Returns a direct task in its first state, as the answer to a repeated request. */
function asCreated(task: Task): Task {
  const { createdAt: updatedAt } = task;
  const nothing = { progress: null, finishedAt: null, result: null, error: null };
  return { ...task, state: 'waiting', updatedAt, ...nothing };
}

/**
 * Returns the file that a client has PUT at the blob store itself, for a task before its
 * notification; undefined if there is none, or if it came through the service. A host that receives
 * uploads itself looks only if it has no file: another host may have issued such a URL.
 *
 * @throws ProblemError for a file that is empty, too large, compressed or not JSON; it is deleted
 */
async function uploadedFile(deps: Deps, task: Task): Promise<BlobRef | undefined> {
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

/** The worker does not decompress files of a bucket. */
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

/** Longer bodies are not announcements. */
const MAX_ANNOUNCEMENT_BYTES = 1024;

/**
 * Returns the length of the file, if the body that creates the task is `{"bytes": n}`. Other bodies
 * are ignored.
 *
 * @throws CodedError `BODY_TOO_LARGE` for a file that would be refused later
 */
function announcedBytes(body: Uint8Array, maxBytes: number): number | undefined {
  if (body.length === 0 || body.length > MAX_ANNOUNCEMENT_BYTES) return undefined;
  let said: unknown;
  try {
    said = JSON.parse(decodeUtf8(body));
  } catch {
    return undefined;
  }
  const bytes = (said as { bytes?: unknown } | null)?.bytes;
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 1) return undefined;
  if ((bytes as number) > maxBytes) throw new CodedError('BODY_TOO_LARGE');
  return bytes as number;
}
