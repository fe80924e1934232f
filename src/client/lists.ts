/** The caller's tasks, page by page or all of them. */
import { ClientError } from './clientError.ts';
import type { Http } from './http.ts';
import { readPage } from './records.ts';
import type { CallOptions, TaskListItem, TaskPage } from './types.ts';

/** Options of lists. */
export interface ListOptions extends CallOptions {
  /** Only tasks with this status text. */
  readonly status?: string | undefined;
  /** The most tasks on a page, from 1 to 1000; the server's default is 100. */
  readonly limit?: number | undefined;
  /** Default: oldest first (`asc`). Other servers may not support `desc`. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Options of a single page. */
export interface PageOptions extends ListOptions {
  /** `next` of the previous page; default: the first page. */
  readonly cursor?: string | undefined;
}

/** One page of the list. */
export async function listPage(
  http: Http,
  path: string,
  { signal, ...options }: PageOptions,
): Promise<TaskPage> {
  const query = new URLSearchParams();
  for (const name of ['status', 'limit', 'order', 'cursor'] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, String(value));
  }
  const search = query.size > 0 ? `?${query}` : '';
  return readPage(
    await http.json({ method: 'GET', to: { path: path + search }, repeat: 'safe', signal }),
  );
}

/**
 * All tasks, fetched page by page on demand. The list ends with an empty `next` or an empty page.
 *
 * @throws ClientError `REPEATED_CURSOR` if the server repeats a cursor or a whole page
 */
export async function* allTasks(
  http: Http,
  path: string,
  options: ListOptions,
): AsyncGenerator<TaskListItem, void, undefined> {
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let before = '';
  for (;;) {
    const { tasks, next } = await listPage(http, path, { ...options, cursor });
    if (tasks.length === 0) return;
    const ids = tasks.map(({ id }) => id).join();
    if (ids === before) throw repeated();
    before = ids;
    yield* tasks;
    if (next === '') return;
    if (cursors.has(next)) throw repeated();
    cursors.add((cursor = next));
  }
}

const repeated = () =>
  new ClientError('malformed', {
    code: 'REPEATED_CURSOR',
    message: 'The server repeats a page of the list',
  });
