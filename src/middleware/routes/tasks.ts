/** `…/tasks…`: reads, lists, follows, cancels and removes the caller's tasks. */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { isFinal, STATE_TEXTS, stateOfText } from '../../wire/taskStates.ts';
import { decodeCursor, encodeCursor, type Position } from '../http/cursor.ts';
import type { Env } from '../http/observe.ts';
import { ProblemError } from '../http/problems.ts';
import type { ListedTask } from '../stores/port/task.ts';
import type { ListQuery } from '../stores/port/taskStore.ts';
import { followEvents } from './events.ts';
import { answerRecord, findTask, listItem, resultUrl } from './records.ts';
import type { Caller, Deps, Route } from './route.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export function taskRoutes(deps: Deps): Route[] {
  const base = `/v1/${deps.settings.serviceName}/tasks`;
  const right = 'key';
  return [
    { method: 'GET', path: base, right, cost: listCost, handle: list(deps) },
    {
      method: 'GET',
      path: `${base}/:id`,
      right,
      async handle(c, caller) {
        const task = await findTask(deps.runtime.ports.store, c.req.param('id'), caller);
        return answerRecord(c, deps, task, 200);
      },
    },
    { method: 'DELETE', path: `${base}/:id`, right, handle: remove(deps) },
    { method: 'GET', path: `${base}/:id/result`, right, handle: result(deps) },
    { method: 'GET', path: `${base}/:id/events`, right, handle: followEvents(deps) },
  ];
}

type Handler = (c: Context<Env>, caller: Caller) => Promise<Response>;

/** So many tasks of a list count as one request. */
const ROWS_PER_REQUEST = DEFAULT_LIMIT;

const costOf = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_PER_REQUEST));

/** What the page would cost with as many tasks as are asked for. */
const listCost = (c: Context): number => {
  const limit = Number(c.req.query('limit') ?? DEFAULT_LIMIT);
  return limit <= MAX_LIMIT ? costOf(limit) : 1;
};

function list(deps: Deps): Handler {
  return async (c, { clientId }) => {
    const { store, cursorSecret } = deps.runtime.ports;
    const { retentionMs } = deps.settings;
    let query = readQuery(c, clientId, cursorSecret);
    const { limit, order = 'asc' } = query;
    const tasks: unknown[] = [];
    let last: ListedTask | undefined;
    // In slices, so that a large page does not delay the requests of others.
    for (let isWhole = true; isWhole && tasks.length < limit; ) {
      const slice = Math.min(ROWS_PER_REQUEST, limit - tasks.length);
      const page = await store.list({ ...query, limit: slice });
      for (const task of page.tasks) {
        tasks.push(listItem(task, await resultUrl(c, deps, task), retentionMs));
        last = task;
      }
      isWhole = page.tasks.length === slice;
      if (last !== undefined) query = { ...query, after: last.id };
    }
    deps.limiter.charge(clientId, costOf(tasks.length) - costOf(limit));
    // The page after the last one is empty: clients may stop there or at `""`.
    const next =
      last === undefined ? '' : encodeCursor(cursorSecret, clientId, { afterId: last.id, order });
    return c.json({ tasks, next });
  };
}

/** A misspelt filter must not look like a list without it. */
const PARAMETERS = ['status', 'limit', 'order', 'cursor'];

function readQuery(c: Context, clientId: number, secret: Uint8Array): ListQuery {
  const unknown = Object.keys(c.req.query()).find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw badQuery(`${unknown} is not a parameter of the list: ${PARAMETERS.join(', ')}`);
  }
  const parameter = (name: string): string | undefined => {
    const values = c.req.queries(name);
    if (values !== undefined && values.length > 1) throw badQuery(`${name} is given twice`);
    return values?.[0];
  };
  const limit = readLimit(parameter('limit'));
  const order = parameter('order');
  if (order !== undefined && order !== 'asc' && order !== 'desc') {
    throw badQuery('order must be asc or desc');
  }
  const status = parameter('status');
  const state = status === undefined ? undefined : stateOfText(status);
  if (state === null) {
    const texts = Object.values(STATE_TEXTS).flatMap(({ list, progress }) => [list, progress]);
    throw badQuery(`status must be one of: ${[...new Set(texts)].join(', ')}`);
  }
  // An empty value means the first page, for clients that always send the parameter.
  const cursor = parameter('cursor') || undefined;
  let position: Position | undefined;
  if (cursor !== undefined) {
    position = decodeCursor(secret, clientId, cursor) ?? undefined;
    const other = order !== undefined && position?.order !== order;
    if (!position || other) throw new CodedError('INVALID_CURSOR');
  }
  return {
    clientId,
    limit,
    order: position?.order ?? order ?? 'asc',
    ...(position && { after: position.afterId }),
    ...(state && { state }),
  };
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw badQuery(`limit must be from 1 to ${MAX_LIMIT}`);
  return limit;
}

const badQuery = (message: string) => new ProblemError('INVALID_QUERY', { message });

/** Cancels an unfinished task (200, the record), removes a finished one (204). */
function remove(deps: Deps): Handler {
  return async (c, caller) => {
    const { store, blobs } = deps.runtime.ports;
    const task = await findTask(store, c.req.param('id'), caller);
    if (!isFinal(task.state)) {
      const cancelled = await store.cancel(task.id, caller.clientId);
      if (cancelled.ok) {
        for (const key of cancelled.blobs) await blobs.delete(key);
        await blobs.uploads?.discard(task.id);
        return answerRecord(c, deps, cancelled.task, 200);
      }
      // The task ended in between, so it is removed.
    }
    const removed = await store.remove(task.id, caller.clientId);
    if (!removed.ok) throw new CodedError('NOT_FOUND', { message: 'There is no such task' });
    for (const key of removed.blobs) await blobs.delete(key);
    await blobs.uploads?.discard(task.id);
    return c.body(null, 204);
  };
}

/** Redirects to the signed URL of the result file. */
function result(deps: Deps): Handler {
  return async (c, caller) => {
    const task = await findTask(deps.runtime.ports.store, c.req.param('id'), caller);
    // A presigned URL is valid for one method.
    const method = c.req.method === 'HEAD' ? 'HEAD' : 'GET';
    const url = await resultUrl(c, deps, task, method);
    if (url === null) {
      throw new ProblemError('CONFLICT', {
        message: `The task has no result: it is ${STATE_TEXTS[task.state].list}`,
      });
    }
    return c.redirect(url, 302);
  };
}
