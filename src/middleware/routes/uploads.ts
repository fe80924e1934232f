/**
 * Signed urls, if we serve them ourselves: `PUT …/uploads/:id` accepts a task file,
 * `GET …/results/:attempt/:id.json` returns a result. The url is the whole right; an API key is
 * ignored.
 */
import type { Context } from 'hono';
import { CodedError } from '../../errors.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { type BlobRef, newInputKey } from '../blobs/blobStore.ts';
import { checkSignedUrl, type UrlRight } from '../blobs/signedUrls.ts';
import { bodyChunks, bodyLimits } from '../http/body.ts';
import { type BodyForm, requireForm } from '../http/bodyType.ts';
import { ProblemError } from '../problems.ts';
import type { Task } from '../task.ts';
import { type Deps, pathId, type Route } from './route.ts';

export function uploadRoutes(deps: Deps): Route[] {
  const base = `/v1/${deps.settings.serviceName}`;
  const { uploadTaskFile, downloadResult } = deps.operations;
  return [
    {
      method: 'PUT',
      path: `${base}/uploads/:process_id`,
      right: 'url',
      operation: uploadTaskFile,
      handle: (c) => upload(c, deps),
    },
    {
      method: 'GET',
      path: `${base}/results/:attempt/:file`,
      right: 'url',
      operation: downloadResult,
      handle: (c) => download(c, deps),
    },
  ];
}

async function upload(c: Context, deps: Deps): Promise<Response> {
  const { store, blobs } = deps.runtime.ports;
  const taskId = pathId(c.req.param('process_id'));
  if (taskId === null) throw forged();
  checkRight(c, deps, { method: 'PUT', taskId });
  const task = await store.get(taskId);
  if (task === null) throw noTask();
  if (task.state !== 'created' && task.state !== 'uploaded') throw tooLate(task);
  const form = requireForm(c, ['json', 'cbor']);

  const input = await receive(c, deps, form);
  const { storedBytes } = deps.settings.limits;
  const outcome = await store.upload(taskId, input, { storedBytes });
  if (outcome.ok) {
    if (outcome.replaced !== null) await blobs.delete(outcome.replaced);
    const status = STATE_TEXTS[outcome.task.state].progress;
    return c.json({ process_id: taskId, status, bytes: input.bytes });
  }
  await blobs.delete(input.key);
  switch (outcome.reason) {
    case 'missing':
      throw noTask();
    case 'storedBytes':
      throw new ProblemError('STORAGE_QUOTA', { headers: { 'retry-after': '60' } });
    case 'state': {
      const now = await store.get(taskId);
      if (now === null) throw noTask();
      throw now.state === 'created' || now.state === 'uploaded' ? ended() : tooLate(now);
    }
  }
}

/**
 * Streams the body into the blob store, unpacked: what the limits and the quota count is what the
 * worker reads. Refuses an empty one.
 */
async function receive(
  c: Context,
  { settings, runtime }: Deps,
  { type, encoding }: BodyForm,
): Promise<BlobRef> {
  const { blobs } = runtime.ports;
  const { maxBodyBytes: maxBytes } = settings;
  const file = bodyChunks(c, bodyLimits(settings, maxBytes), encoding);
  const input = await blobs.put(newInputKey(), file, { maxBytes });
  if (input.bytes > 0) return input;
  await blobs.delete(input.key);
  const lengthless =
    c.req.header('content-length') === undefined && c.req.header('transfer-encoding') === undefined;
  if (lengthless) throw new CodedError('LENGTH_REQUIRED');
  const code = type === 'cbor' ? 'MALFORMED_CBOR' : 'MALFORMED_JSON';
  throw new ProblemError(code, { message: 'The task file is empty' });
}

async function download(c: Context, deps: Deps): Promise<Response> {
  const attempt = c.req.param('attempt') ?? '';
  const file = c.req.param('file') ?? '';
  if (!/^\d{1,9}$/.test(attempt) || !/^\d{1,18}\.json$/.test(file)) throw forged();
  const key = `results/${attempt}/${file}`;
  checkRight(c, deps, { method: 'GET', key });
  const { blobs } = deps.runtime.ports;
  // HEAD must not open a file that will not be read to its end.
  const head = c.req.method === 'HEAD';
  const blob = head ? await blobs.stat(key) : await blobs.get({ key });
  if (blob === null) throw new CodedError('NOT_FOUND', { message: 'The result is gone' });
  return new Response('body' in blob ? blob.body : null, {
    headers: {
      'content-type': 'application/json',
      'content-length': String(blob.bytes),
      'content-disposition': `attachment; filename="${file}"`,
      'cache-control': 'private, immutable, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  });
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
