/** `…/aggsign…`: creates tasks, in three steps or in one, and verifies aggregates. */

import { CodedError } from '../../shared/errors.ts';
import { refusalOf } from '../../wire/resultFile.ts';
import { putHashed } from '../blobs/checksums.ts';
import { newInputKey } from '../blobs/port/blobStore.ts';
import { bodyLimits, withBody, withJsonBody } from '../http/body.ts';
import { free } from '../http/buffers.ts';
import { isRepeatable, requestFingerprint, requestLine, taskOnce } from '../http/idempotency.ts';
import { ProblemError } from '../http/problems.ts';
import { tokensOfBatch } from '../http/strictJson.ts';
import { MAX_PARTS, type Task } from '../stores/port/task.ts';
import type { NewTask, PutOptions } from '../stores/port/taskStore.ts';
import type { Batch, BatchLimits } from '../tasks/readBatch.ts';
import { noteArrivedParts, uploadedFile } from './arrivals.ts';
import {
  announcement,
  IGNORED_BODY_BYTES,
  incompleteParts,
  makePart,
  partsTicket,
} from './parts.ts';
import {
  answerRecord,
  findTask,
  locationOf,
  progressRecord,
  reserve,
  storageQuota,
  uploadTicket,
} from './records.ts';
import type { Deps, Handler, Route } from './route.ts';

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
    post('/task/:process_id/part', makePart(deps)),
    post('/notify/:process_id', notify(deps)),
    post('', aggregateDirectly(deps)),
    post('/verify', verify(deps)),
  ];
}

function createTask(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const limits = bodyLimits(settings, IGNORED_BODY_BYTES);
  return (c, { clientId }) =>
    withBody(c, limits, budget.of(clientId), async (body) => {
      const { store } = runtime.ports;
      const { threads, uploadUrlTtlMs: ttlMs } = settings;
      const { bytes, parts } = announcement(body, settings.maxBodyBytes);
      const task = await taskOnce(c, {
        clientId,
        store,
        fingerprint: () => requestFingerprint(requestLine(c), body),
        make(options) {
          const state = 'created';
          const own = { threads, ttlMs, ...(parts === true && runtime.ports.parts && { parts }) };
          const task: NewTask = { clientId, state, ...own, ...c.get('origin') };
          return putTask(deps, task, options);
        },
      });
      const ticket = task.parts
        ? partsTicket(settings, task)
        : await uploadTicket(c, deps, task, bytes);
      return c.json(ticket, 201, locationOf(c, deps, task));
    });
}

function renewUrl(deps: Deps): Handler {
  return async (c, caller) => {
    const { store } = deps.runtime.ports;
    const { id, parts } = await findTask(store, c.req.param('process_id'), caller);
    if (parts) throw new ProblemError('CONFLICT', { message: 'Each part of the task has a url' });
    const task = await store.renew(id, caller.clientId, deps.settings.uploadUrlTtlMs);
    if (task === null) {
      throw new ProblemError('CONFLICT', { message: 'The task no longer waits for a task file' });
    }
    return c.json(await uploadTicket(c, deps, task));
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
      if (task.parts) await noteArrivedParts(deps, task, MAX_PARTS);
      const { storedBytes } = await ports.limits.of(caller.clientId);
      const outcome = await store.notify(task.id, caller.clientId, input, { storedBytes });
      if (outcome.ok) return answerRecord(c, deps, outcome.task, 202);
      switch (outcome.reason) {
        case 'missing':
          throw new CodedError('NOT_FOUND');
        case 'notUploaded':
          throw new CodedError('NOT_UPLOADED');
        case 'incomplete':
          throw incompleteParts((await ports.parts?.parts(task.id)) ?? []);
        case 'ended':
          throw new ProblemError('CONFLICT', { message: 'The task ended before its notification' });
        case 'storedBytes':
          await (blobs.uploads ?? blobs.arrivals)?.discard(task.id);
          throw await storageQuota(deps, caller.clientId, input?.bytes ?? 0);
      }
    });
}

/**
 * Statements of a `verify`, if a task may not have even more: those of a series. Without messages,
 * more would be larger than a body. The client pays for the bytes of the body.
 */
const MAX_STATEMENTS = 32_768;

/** Returns the number of statements that a `verify` may have. */
export const maxStatements = (maxSignatures: number): number =>
  Math.max(maxSignatures, MAX_STATEMENTS);

/** Returns the limits of a body with as many items as a task may have, or as are given. */
const batchLimits = (
  { maxSignatures: most, maxDigestBytes }: Deps['settings'],
  maxSignatures = most,
): BatchLimits => ({
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
  const limits = batchLimits(settings, maxStatements(settings.maxSignatures));
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
