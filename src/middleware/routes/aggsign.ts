/** `…/aggsign…`: creates tasks, in three steps or in one, and verifies aggregates. */
import type { Context } from 'hono';
import { CodedError } from '../../errors.ts';
import { decodeWireHex } from '../../wire/hex.ts';
import { refusalOf } from '../../wire/refusal.ts';
import { checkStatements, checkTriples, type ShapeFault } from '../../wire/taskFile.ts';
import type { Triple } from '../../wire/triple.ts';
import { newInputKey } from '../blobs/blobStore.ts';
import { serviceBase } from '../http/address.ts';
import { withBody, withJsonBody } from '../http/body.ts';
import { taskOnce } from '../idempotency.ts';
import type { Operation } from '../openapi/operation.ts';
import { ProblemError } from '../problems.ts';
import { progressRecord } from '../records.ts';
import { judge } from '../schemas.ts';
import type { NewTask, PutOptions } from '../stores/taskStore.ts';
import type { Task } from '../task.ts';
import { answerRecord, findTask, uploadUrl } from './answers.ts';
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
  const limits = { maxBytes: IGNORED_BODY_BYTES, idleTimeoutMs: settings.bodyIdleTimeoutMs };
  return (c, { clientId }) =>
    withBody(c, limits, budget, async (body) => {
      const { store } = runtime.ports;
      const { threads, uploadUrlTtlMs: ttlMs } = settings;
      const task = await taskOnce(c, {
        clientId,
        store,
        body,
        make: (options) => putTask(deps, { clientId, state: 'created', threads, ttlMs }, options),
      });
      const location = `${serviceBase(c, settings)}/tasks/${task.id}`;
      return c.json(await uploadTicket(c, deps, task), 201, { location });
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
async function uploadTicket(c: Context, deps: Deps, task: Task) {
  // In whole seconds, as urls have it.
  const expiresAtMs = Math.ceil(task.expiresAtMs / 1000) * 1000;
  return {
    process_id: task.id,
    url: await uploadUrl(c, deps, task.id, expiresAtMs),
    expires_at: `${new Date(expiresAtMs).toISOString().slice(0, 19)}Z`,
  };
}

function notify(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const limits = { maxBytes: IGNORED_BODY_BYTES, idleTimeoutMs: settings.bodyIdleTimeoutMs };
  return (c, caller) =>
    withBody(c, limits, budget, async () => {
      const { store } = runtime.ports;
      const { id } = await findTask(store, c.req.param('process_id'), caller);
      const outcome = await store.notify(id, caller.clientId);
      if (outcome.ok) return answerRecord(c, deps, outcome.task, 202);
      switch (outcome.reason) {
        case 'missing':
          throw new CodedError('NOT_FOUND');
        case 'notUploaded':
          throw new CodedError('NOT_UPLOADED');
        case 'ended':
          throw new ProblemError('CONFLICT', { message: 'The task ended before its notification' });
        case 'storedBytes':
          throw await storageQuota(deps, caller.clientId, 0);
      }
    });
}

/** Limits of a body with as many items as a task may have. */
const itemLimits = ({ maxSignatures, maxBodyBytes, bodyIdleTimeoutMs }: Deps['settings']) =>
  ({
    maxBytes: maxBodyBytes,
    idleTimeoutMs: bodyIdleTimeoutMs,
    maxTokens: TOKENS_PER_ITEM * maxSignatures + 1000,
    tooManyCode: 'TOO_MANY_ITEMS',
  }) as const;

function aggregateDirectly(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const { maxSignatures, maxDigestBytes } = settings;
  return (c, { clientId }) =>
    withJsonBody(c, itemLimits(settings), budget, async (value, bytes) => {
      const { store } = runtime.ports;
      const { data } = judgeObject(value);
      const checked = checkTriples(data, { maxSignatures, maxMessageBytes: maxDigestBytes });
      if (checked.faults) throw shapeProblem(checked.faults, '/data');
      const { items } = checked;
      requireKeys(items, '/data');

      const task = await taskOnce(c, {
        clientId,
        store,
        body: bytes,
        make: (options) =>
          putWithFile(deps, clientId, taskFileOf(data as Triple[]), items.length, options),
      });
      const location = `${serviceBase(c, settings)}/tasks/${task.id}`;
      const record = progressRecord(asCreated(task), null, settings.retentionMs);
      return c.json(record, 202, { location });
    });
}

function verify({ settings, runtime, budget, operations }: Deps): Handler {
  const { maxSignatures, maxDigestBytes, maxBodyBytes } = settings;
  // `checkStatements` checks the statements.
  const AggregateOnly = operations.verifyAggregate.body.schema.pick({ aggregate: true });
  return (c) =>
    withJsonBody(c, itemLimits(settings), budget, async (value) => {
      const { aggregate: hex } = judge(AggregateOnly, value);
      const { statements } = value as { statements?: unknown };
      const checked = checkStatements(statements, {
        maxSignatures,
        maxMessageBytes: maxDigestBytes,
      });
      if (checked.faults) throw shapeProblem(checked.faults, '/statements');
      const aggregate = decodeWireHex(hex, maxBodyBytes) as Uint8Array;
      requireKeys(checked.items, '/statements');
      const valid = await runtime.ports.aggregator.judge(aggregate, checked.items);
      const reason = valid ? undefined : refusalOf(aggregate);
      return c.json({ valid, ...(reason !== undefined && { reason }) });
    });
}

/** Stores a file and puts the task that is waiting with it. */
async function putWithFile(
  deps: Deps,
  clientId: number,
  file: Uint8Array,
  count: number,
  options: Pick<PutOptions, 'hold'>,
): Promise<Task> {
  const { threads, uploadUrlTtlMs: ttlMs } = deps.settings;
  const { blobs } = deps.runtime.ports;
  const reservation = reserve(deps, clientId);
  try {
    if (!(await reservation.cover(file.length))) {
      throw await storageQuota(deps, clientId, file.length);
    }
    const input = await blobs.put(newInputKey(), file, { maxBytes: file.length });
    const task: NewTask = { clientId, state: 'waiting', input, count, threads, ttlMs };
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
  const { store } = deps.runtime.ports;
  const { openTasks, storedBytes } = deps.settings.limits;
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

function judgeObject(value: unknown): { data?: unknown } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new ProblemError('INVALID_BODY', {
    errors: [{ path: '', code: 'invalid_type', message: 'must be an object' }],
  });
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
