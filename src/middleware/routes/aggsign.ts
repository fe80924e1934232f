/** `…/aggsign…`: creates tasks, in three steps or in one, and verifies aggregates. */
import type { Context } from 'hono';
import { CodedError } from '../../errors.ts';
import { decodeWireHex } from '../../wire/hex.ts';
import { refusalOf } from '../../wire/refusal.ts';
import {
  type BytesAs,
  checkStatements,
  checkTriples,
  decodeByteString,
  describeByteFault,
  type ShapeFault,
} from '../../wire/taskFile.ts';
import type { TaskItem, Triple } from '../../wire/triple.ts';
import { newInputKey } from '../blobs/blobStore.ts';
import { serviceBase } from '../http/address.ts';
import { bodyLimits, type ParsedBody, withBody, withParsedBody } from '../http/body.ts';
import type { BodyType } from '../http/bodyType.ts';
import { formatCbor } from '../http/cbor.ts';
import { taskOnce } from '../idempotency.ts';
import type { Operation } from '../openapi/operation.ts';
import { ProblemError } from '../problems.ts';
import { progressRecord } from '../records.ts';
import { judge, MAX_AGGREGATE_BYTES } from '../schemas.ts';
import type { NewTask, PutOptions } from '../stores/taskStore.ts';
import type { Task } from '../task.ts';
import { answerRecord, findTask, uploadUrl } from './answers.ts';
import { announcedBytes, uploadedFile } from './directUploads.ts';
import { reserve, storageQuota } from './quota.ts';
import type { Caller, Deps, Env, Route } from './route.ts';

/** A body that is not needed is read up to this length, so that repeats can be recognised. */
const IGNORED_BODY_BYTES = 64 * 1024;

/** A triple has four; the rest leaves room for the client's own members. */
const TOKENS_PER_ITEM = 16;

export function aggsignRoutes(deps: Deps): Route[] {
  const { settings } = deps;
  const base = `/v1/${settings.serviceName}/aggsign`;
  const known = deps.operations;
  const post = (path: string, operation: Operation, handle: Handler): Route => ({
    method: 'POST',
    path: base + path,
    right: 'key',
    operation,
    handle,
  });
  return [
    post('/task', known.createTask, createTask(deps)),
    post('/task/:process_id/url', known.renewUploadUrl, renewUrl(deps)),
    post('/notify/:process_id', known.notifyTask, notify(deps)),
    post('', known.aggregate, aggregateDirectly(deps)),
    post('/verify', known.verifyAggregate, verify(deps)),
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
        body,
        make(options) {
          const state = 'created';
          const task: NewTask = { clientId, state, threads, ttlMs, ...c.get('origin') };
          return putTask(deps, task, options);
        },
      });
      const location = `${serviceBase(c, settings)}/tasks/${task.id}`;
      return c.json(await uploadTicket(c, deps, task, bytes), 201, { location });
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
const itemLimits = (settings: Deps['settings']) =>
  ({
    ...bodyLimits(settings, settings.maxBodyBytes),
    maxTokens: TOKENS_PER_ITEM * settings.maxSignatures + 1000,
    tooManyCode: 'TOO_MANY_ITEMS',
  }) as const;

/** How bodies with items may come, and how each has its bytes. */
const ITEM_TYPES: readonly BodyType[] = ['json', 'cbor'];
const BYTES_AS: Readonly<Record<BodyType, BytesAs>> = { json: 'hex', cbor: 'bytes' };

function aggregateDirectly(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const { maxSignatures, maxDigestBytes: maxMessageBytes } = settings;
  return (c, { clientId }) =>
    withParsedBody(c, ITEM_TYPES, itemLimits(settings), budget.of(clientId), async (body) => {
      const { store } = runtime.ports;
      const { data } = judgeObject(body.value) as { data?: unknown };
      const checked = checkTriples(data, { maxSignatures, maxMessageBytes }, BYTES_AS[body.type]);
      if (checked.faults) throw shapeProblem(checked.faults, '/data');
      const { items } = checked;
      requireKeys(items, '/data');

      const task = await taskOnce(c, {
        clientId,
        store,
        body: body.bytes,
        make(options) {
          const file =
            body.type === 'cbor' ? cborTaskFileOf(items) : taskFileOf(data as readonly Triple[]);
          const task = { clientId, count: items.length, ...c.get('origin') };
          return putWithFile(deps, task, file, options);
        },
      });
      const location = `${serviceBase(c, settings)}/tasks/${task.id}`;
      const record = progressRecord(asCreated(task), null, settings.retentionMs);
      return c.json(record, 202, { location });
    });
}

function verify({ settings, runtime, budget, operations }: Deps): Handler {
  const { maxSignatures, maxDigestBytes: maxMessageBytes, maxBodyBytes } = settings;
  // `checkStatements` checks the statements.
  const AggregateOnly = operations.verifyAggregate.body.schema.pick({ aggregate: true });
  const aggregateOf = ({ type, value }: ParsedBody): Uint8Array =>
    type === 'cbor'
      ? requireBytes(judgeObject(value), 'aggregate', MAX_AGGREGATE_BYTES)
      : (decodeWireHex(judge(AggregateOnly, value).aggregate, maxBodyBytes) as Uint8Array);
  return (c, { clientId }) =>
    withParsedBody(c, ITEM_TYPES, itemLimits(settings), budget.of(clientId), async (body) => {
      const aggregate = aggregateOf(body);
      const { statements } = body.value as { statements?: unknown };
      const limits = { maxSignatures, maxMessageBytes };
      const checked = checkStatements(statements, limits, BYTES_AS[body.type]);
      if (checked.faults) throw shapeProblem(checked.faults, '/statements');
      requireKeys(checked.items, '/statements');
      const valid = await runtime.ports.aggregator.judge(aggregate, checked.items);
      const reason = valid ? undefined : refusalOf(aggregate);
      return c.json({ valid, ...(reason !== undefined && { reason }) });
    });
}

/** Stores a file and puts the task that is waiting with it. */
async function putWithFile(
  deps: Deps,
  facts: Pick<NewTask, 'clientId' | 'count' | 'requestId' | 'traceparent'>,
  file: Uint8Array,
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
 * The task file of triples that were checked: their fields are nothing but hex, so they can be
 * quoted as they are. (Encoding the decoded items again takes longer than the rest of the request.)
 */
function taskFileOf(triples: readonly Triple[]): Uint8Array {
  const lines = triples.map(
    ({ digest, public_key, signature }) =>
      `{"digest":"${digest}","public_key":"${public_key}","signature":"${signature}"}`,
  );
  return Buffer.from(`[${lines.join(',\n')}]\n`, 'latin1');
}

/** The task file of items that came in CBOR, which is half as long. */
function cborTaskFileOf(items: readonly TaskItem[]): Uint8Array {
  return formatCbor(
    items.map(({ message, publicKey, signature }) => {
      return { digest: message, public_key: publicKey, signature };
    }),
  );
}

function judgeObject(value: unknown): Readonly<Record<string, unknown>> {
  const isMap = typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
  if (isMap && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  throw new ProblemError('INVALID_BODY', {
    errors: [{ path: '', code: 'invalid_type', message: 'must be an object' }],
  });
}

/** A byte string of a CBOR map. */
function requireBytes(
  object: Readonly<Record<string, unknown>>,
  name: string,
  maxBytes: number,
): Uint8Array {
  const bytes = decodeByteString(object[name], maxBytes);
  if (typeof bytes !== 'string') return bytes;
  const message = describeByteFault(bytes, maxBytes);
  throw new ProblemError('INVALID_BODY', { errors: [{ path: `/${name}`, code: bytes, message }] });
}

/** The first byte of a public key by its length in bytes (FALCON round 3, section 3.11.4). */
const KEY_HEADERS = new Map([
  [897, 0x09],
  [1793, 0x0a],
]);

/** A key of the wrong length or set can never be valid: better reported now than by the worker. */
function requireKeys(items: readonly { readonly publicKey: Uint8Array }[], at: string): void {
  const message = 'public_key is not a Falcon-512 or Falcon-1024 key';
  const errors = items.flatMap(({ publicKey }, index) => {
    const header = KEY_HEADERS.get(publicKey.length);
    const good = header !== undefined && header === publicKey[0];
    return good ? [] : [{ path: `${at}/${index}/public_key`, code: 'publicKey', message }];
  });
  if (errors.length > 0) throw new ProblemError('INVALID_BODY', { errors });
}

function shapeProblem(faults: readonly ShapeFault[], at: string): ProblemError {
  const code = faults[0]!.code === 'tooMany' ? 'TOO_MANY_ITEMS' : 'INVALID_BODY';
  const errors = faults.map(({ path, code, message }) => ({ path: at + path, code, message }));
  return new ProblemError(code, { errors });
}
