/**
 * Signed URLs that the service serves itself: `PUT …/uploads/:id` accepts a task file,
 * `GET …/results/:attempt/:id.json` returns a result. The URL grants access; an API key is ignored.
 */
import type { Context } from 'hono';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { openChecked, putHashed, statChecked } from '../blobs/checksums.ts';
import { type BlobRef, newInputKey } from '../blobs/port/blobStore.ts';
import { errorSummary } from '../events.ts';
import { announcedLength, bodyChunks, bodyLimits } from '../http/body.ts';
import { type BodyEncoding, requireForm } from '../http/bodyType.ts';
import { ProblemError } from '../http/problems.ts';
import { checkSignedUrl, type UrlRight } from '../http/signedUrls.ts';
import type { Task } from '../stores/port/task.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import { reserve, storageQuota } from './records.ts';
import type { Reservation } from './reservations.ts';
import { type Deps, pathId, type Route } from './route.ts';
import { UploadTurns } from './uploadTurns.ts';

/** Least step of reservations for bodies without an announced length. */
const STEP_BYTES = 16 * 1024;

/** In proportion to what has arrived, so that reservations that are not used block nobody. */
const nextStep = (bytes: number): number => bytes + Math.max(STEP_BYTES, bytes >> 4);

export function uploadRoutes(deps: Deps): Route[] {
  const base = `/v1/${deps.settings.serviceName}`;
  const turns = new UploadTurns(deps.settings.limits.parallelUploads);
  return [
    {
      method: 'PUT',
      path: `${base}/uploads/:process_id`,
      right: 'url',
      handle: (c) => upload(c, deps, turns),
    },
    {
      method: 'GET',
      path: `${base}/results/:attempt/:file`,
      right: 'url',
      handle: (c) => download(c, deps),
    },
  ];
}

async function upload(c: Context, deps: Deps, turns: UploadTurns): Promise<Response> {
  const { store } = deps.runtime.ports;
  const taskId = pathId(c.req.param('process_id'));
  if (taskId === null) throw forged();
  checkRight(c, deps, { method: 'PUT', taskId });
  const task = await openTask(store, taskId);
  const encoding = requireForm(c);
  // The URL is free; its client may still owe for earlier bodies.
  deps.limiter.check(task.clientId, undefined, undefined, 0);

  const turn = await turns.take(task.clientId, taskId);
  let reservation: Reservation | undefined;
  try {
    const now = turn.waited ? await openTask(store, taskId) : task;
    reservation = await reserve(deps, now.clientId, now.input?.bytes);
    const input = await receive(c, deps, now, encoding, reservation, turn.signal);
    return await keep(c, deps, now, input);
  } finally {
    // Only after the store has counted the bytes.
    reservation?.close();
    turn.end();
  }
}

/** Returns the task if it accepts a file. */
async function openTask(store: TaskStore, taskId: number): Promise<Task> {
  const task = await store.get(taskId);
  if (task === null) throw noTask();
  if (!acceptsFile(task)) throw tooLate(task);
  const above = task.parent === null ? null : await store.get(task.parent);
  if (above && !acceptsFile(above)) throw tooLate(above);
  return task;
}

/** Until the notification; a part, until a worker has claimed it, and after it has failed. */
const acceptsFile = ({ state, kind }: Task): boolean =>
  (kind === 'part' ? ['created', 'waiting', 'failed'] : ['created', 'uploaded']).includes(state);

/** Assigns a stored file to its task. */
async function keep(
  c: Context,
  deps: Deps,
  { id: taskId, clientId }: Task,
  input: BlobRef,
): Promise<Response> {
  const { store, blobs, limits } = deps.runtime.ports;
  const { storedBytes } = await limits.of(clientId);
  const outcome = await store.upload(taskId, input, { storedBytes });
  if (outcome.ok) {
    if (outcome.replaced !== null) await blobs.delete(outcome.replaced);
    const { state, parent, part } = outcome.task;
    const own = part === null ? {} : { part };
    const { progress: status } = STATE_TEXTS[state];
    return c.json({ process_id: parent ?? taskId, ...own, status, bytes: input.bytes });
  }
  await blobs.delete(input.key);
  switch (outcome.reason) {
    case 'missing':
      throw noTask();
    case 'storedBytes':
      throw await storageQuota(deps, clientId, input.bytes);
    case 'state': {
      await openTask(store, taskId);
      throw ended();
    }
  }
}

/**
 * Streams the body into the blob store, decompressed, after its bytes are reserved: limits and
 * quota count the bytes that the worker reads. Rejects an empty body. The contents are checked when
 * the task runs (tasks/performTask.ts).
 */
async function receive(
  c: Context,
  deps: Deps,
  { clientId }: Task,
  encoding: BodyEncoding,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<BlobRef> {
  const { settings, runtime } = deps;
  const { maxBodyBytes: maxBytes } = settings;
  const { blobs } = runtime.ports;
  const announced = announcedLength(c, maxBytes);
  // The length of a compressed body does not determine that of the file.
  const known = encoding === 'identity' ? announced : undefined;
  let seen = 0;
  const take = async (bytes: number) => {
    seen = bytes;
    signal.throwIfAborted();
    const wantedBytes = known === undefined ? nextStep(bytes) : undefined;
    if (await reservation.cover(bytes, wantedBytes)) return;
    signal.throwIfAborted();
    throw await storageQuota(deps, clientId, bytes);
  };
  await take(known ?? 1);
  const sent = bodyChunks(c, bodyLimits(settings, maxBytes), encoding);
  const file = reserved(announced === undefined ? uncut(sent) : sent, take);
  const either = AbortSignal.any([signal, reservation.ending]);
  const putting = putHashed(blobs, newInputKey(), file, { maxBytes, signal: either });
  const input = await putting
    .catch(async (error) => {
      signal.throwIfAborted();
      throw reservation.ending.aborted ? await storageQuota(deps, clientId, 1) : error;
    })
    .finally(() => deps.limiter.chargeBody(clientId, seen));
  if (input.bytes > 0) return input;
  await blobs.delete(input.key);
  const lengthless =
    c.req.header('content-length') === undefined && c.req.header('transfer-encoding') === undefined;
  if (lengthless) throw new CodedError('LENGTH_REQUIRED');
  throw new ProblemError('MALFORMED_JSON', { message: 'The task file is empty' });
}

/** If its `proxy.ts` sees a body, Next cuts it off at 10 MB, at the end of a chunk. */
const isCutByNext = (bytes: number) => bytes > 10 * 2 ** 20 - 2 ** 16 && bytes <= 10 * 2 ** 20;

/** @throws (while iterating) ProblemError `INCOMPLETE_BODY` if Next has cut an array off */
async function* uncut(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [bytes, last] = [0, 0];
  for await (const chunk of chunks) {
    bytes += chunk.length;
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  const hasEnd = last === 0x5d || last <= 0x20;
  if (isCutByNext(bytes) && !hasEnd) throw new ProblemError('INCOMPLETE_BODY', { message: CUT });
}

const CUT = 'The body ended early, at the limit of Next (experimental.proxyClientMaxBodySize)';

/** Yields each chunk after room for it was reserved. */
async function* reserved(
  chunks: AsyncIterable<Uint8Array>,
  take: (bytes: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of chunks) {
    seen += chunk.length;
    await take(seen);
    yield chunk;
  }
}

async function download(c: Context, deps: Deps): Promise<Response> {
  const attempt = c.req.param('attempt') ?? '';
  const file = c.req.param('file') ?? '';
  if (!/^\d{1,9}$/.test(attempt) || !/^\d{1,18}\.json$/.test(file)) throw forged();
  const key = `results/${attempt}/${file}`;
  checkRight(c, deps, { method: 'GET', key });
  const { blobs } = deps.runtime.ports;
  const taskId = pathId(file.slice(0, -'.json'.length));
  const blob = await resultOf(deps, taskId, key);
  const { logger, onEvent } = deps.settings;
  const onDamage = (error: unknown) => {
    logger.error('result file is damaged or gone', { taskId, ...errorSummary(error) });
    onEvent({ type: 'damaged', taskId: taskId! });
  };
  // HEAD must not open a file that will not be read to its end.
  const isHead = c.req.method === 'HEAD';
  const opened = isHead ? statChecked(blobs, blob) : openChecked(blobs, blob, onDamage);
  const body = await opened.catch(async (error: unknown) => {
    // A task that was removed meanwhile is no damage.
    if (isCodedError(error) && ['FILE_DAMAGED', 'NOT_FOUND'].includes(error.code)) {
      await resultOf(deps, taskId, key);
      onDamage(error);
    }
    throw error;
  });
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'content-length': String(blob.bytes),
      'content-disposition': `attachment; filename="${file}"`,
      'cache-control': 'private, immutable, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** @throws CodedError `NOT_FOUND` unless the file is the result of the task */
async function resultOf({ runtime }: Deps, taskId: number | null, key: string): Promise<BlobRef> {
  const task = taskId === null ? null : await runtime.ports.store.get(taskId);
  if (task?.result?.blob.key === key) return task.result.blob;
  throw new CodedError('NOT_FOUND', { message: 'The result is gone' });
}

function checkRight(c: Context, deps: Deps, right: UrlRight): void {
  const { blobs, urlSecret } = deps.runtime.ports;
  const elsewhere = right.method === 'PUT' ? blobs.uploads : blobs.results;
  if (elsewhere) throw new CodedError('NOT_FOUND');
  switch (checkSignedUrl(urlSecret, right, new URL(c.req.url).searchParams)) {
    case 'ok':
      return;
    case 'forged':
      throw forged();
    case 'expired':
      throw ended();
  }
}

const forged = () => new ProblemError('FORBIDDEN_URL', { message: 'The signed url is not valid' });
const ended = () => new ProblemError('FORBIDDEN_URL', { message: 'The signed url has expired' });
const noTask = () => new CodedError('NOT_FOUND', { message: 'There is no such task' });
const tooLate = (task: Task) =>
  new ProblemError('CONFLICT', {
    message: `The task no longer accepts a file: it is ${STATE_TEXTS[task.state].list}`,
  });
