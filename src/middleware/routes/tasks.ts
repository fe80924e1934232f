/** `…/tasks…`: reads, lists, follows, cancels and removes the caller's tasks. */
import type { Context } from 'hono';
import { CodedError } from '../../shared/errors.ts';
import { isFinal, STATE_TEXTS, stateOfText } from '../../wire/taskStates.ts';
import { decodeCursor, encodeCursor, type Position } from '../http/cursor.ts';
import type { Env } from '../http/observe.ts';
import { ProblemError } from '../http/problems.ts';
import type { ListedTask, Task } from '../stores/port/task.ts';
import type { ListPage, ListQuery, TaskStore } from '../stores/port/taskStore.ts';
import { followEvents } from './events.ts';
import { answerRecord, findTask, listItem, resultUrl } from './records.ts';
import type { Deps, Route } from './route.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export function taskRoutes(deps: Deps): Route[] {
  const base = `/v1/${deps.settings.serviceName}/tasks`;
  const right = 'key';
  const begin = (c: Context<Env>, clientId: number) =>
    findTask(deps.runtime.ports.store, c.req.param('id'), { clientId });
  const ofTask = (method: 'GET' | 'DELETE', suffix: string, handle: OfTask): Route<Task> => ({
    method,
    path: `${base}/:id${suffix}`,
    right,
    begin,
    handle,
  });
  return [
    {
      method: 'GET',
      path: base,
      right,
      cost: listCost,
      begin: firstPage(deps),
      handle: list(deps),
    },
    ofTask('GET', '', async (c, _, task) => answerRecord(c, deps, task, 200)),
    ofTask('DELETE', '', remove(deps)),
    ofTask('GET', '/result', result(deps)),
    ofTask('GET', '/events', followEvents(deps)),
  ];
}

type OfTask = Route<Task>['handle'];

/** So many tasks of a list count as one request. */
const ROWS_PER_REQUEST = DEFAULT_LIMIT;

const costOf = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_PER_REQUEST));

/** What the page would cost with as many tasks as are asked for. */
const listCost = (c: Context): number => {
  const limit = Number(c.req.query('limit') ?? DEFAULT_LIMIT);
  return limit <= MAX_LIMIT ? costOf(limit) : 1;
};

interface FirstPage {
  readonly query: ListQuery;
  readonly page: ListPage;
}

/** A slice of a list: a large page must not delay the requests of others. */
const sliceOf = (store: TaskStore, query: ListQuery): Promise<ListPage> =>
  store.list({ ...query, limit: Math.min(ROWS_PER_REQUEST, query.limit) });

function firstPage({ runtime }: Deps) {
  return async (c: Context, clientId: number): Promise<FirstPage> => {
    const { store, cursorSecret } = runtime.ports;
    const query = readQuery(c, clientId, cursorSecret);
    return { query, page: await sliceOf(store, query) };
  };
}

function list(deps: Deps): Route<FirstPage>['handle'] {
  return async (c, { clientId }, { query, page }) => {
    const { store, cursorSecret } = deps.runtime.ports;
    const { retentionMs } = deps.settings;
    const { limit, order = 'asc' } = query;
    const tasks: unknown[] = [];
    let last: ListedTask | undefined;
    for (;;) {
      for (const task of page.tasks) {
        tasks.push(listItem(task, await resultUrl(c, deps, task), retentionMs));
        last = task;
      }
      const left = limit - tasks.length;
      if (last === undefined || left === 0 || page.tasks.length < ROWS_PER_REQUEST) break;
      page = await sliceOf(store, { ...query, limit: left, after: last.id });
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
  const given = c.req.queries();
  const unknown = Object.keys(given).find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw badQuery(`${unknown} is not a parameter of the list: ${PARAMETERS.join(', ')}`);
  }
  const parameter = (name: string): string | undefined => {
    const values = given[name];
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
function remove(deps: Deps): OfTask {
  return async (c, caller, task) => {
    const { store, blobs } = deps.runtime.ports;
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
function result(deps: Deps): OfTask {
  return async (c, _, task) => {
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
