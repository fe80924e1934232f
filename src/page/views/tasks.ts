/** The list of tasks: page by page, by status, and alive: unfinished tasks are followed while they are in sight. */
import type { TaskListItem, TaskPage } from '../../client/index.ts';
import type { App, View } from '../app.ts';
import { announce, button, fill, h } from '../dom.ts';

import { confirm, empty, field, lead } from '../parts/controls.ts';
import { keyNotice } from '../parts/keyNotice.ts';
import { isStopped, problemBox } from '../parts/problems.ts';
import { hasEnded, STATE_NAMES } from '../parts/status.ts';
import { TaskRow } from '../parts/taskRow.ts';

const PAGE_TASKS = 20;
/** Browsers open few connections to one host; the rest is polled. */
const MAX_STREAMS = 2;
const POLL_MS = 2500;

export function tasksView(app: App): View {
  const list = h('ul', { class: 'tasks', 'aria-label': 'Tasks, newest first' });
  const place = h('div', { class: 'stack' });
  const problem = h('div');
  const newer = button('Newer', () => void turn(-1));
  const older = button('Older', () => void turn(1));
  const pager = h('nav', { class: 'row apart', 'aria-label': 'Pages of the list' }, newer, older);
  const filter = h(
    'select',
    { on: { change: () => void restart(true) } },
    h('option', { value: '' }, 'All'),
    STATE_NAMES.map((name) => h('option', { value: name }, name)),
  );
  const heading = h('h2', { id: 'task-list', tabindex: -1 }, 'Your tasks');

  const rows = new Map<string, TaskRow>();
  const streams = new Map<string, AbortController>();
  /** Cursors of the pages up to this one; the first has none. */
  let cursors: (string | undefined)[] = [undefined];
  let next = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  let visit: AbortController | undefined;

  const load = async (signal: AbortSignal): Promise<void> => {
    const status = filter.value || undefined;
    const cursor = cursors.at(-1);
    const page = await app.client.page({
      status,
      cursor,
      limit: PAGE_TASKS,
      order: 'desc',
      signal,
    });
    if (!signal.aborted) show(page, status);
  };

  const show = (page: TaskPage, status: string | undefined) => {
    next = page.next;
    fill(problem);
    const ids = new Set(page.tasks.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (ids.has(id)) continue;
      if (row.element.contains(document.activeElement)) heading.focus();
      row.element.remove();
      rows.delete(id);
      streams.get(id)?.abort();
    }
    for (const [i, item] of page.tasks.entries()) {
      const row = rows.get(item.id) ?? newRow(item);
      row.showItem(item);
      if (list.children[i] !== row.element)
        list.insertBefore(row.element, list.children[i] ?? null);
    }
    const nothing = page.tasks.length === 0;
    if (nothing && (!place.querySelector('.empty') || place.dataset.status !== status)) {
      fill(place, nothingHere(status));
    } else if (!nothing && list.parentElement !== place) fill(place, list);
    place.dataset.status = status ?? '';
    pager.hidden = cursors.length === 1 && next === '';
    newer.disabled = cursors.length === 1;
    older.disabled = next === '';
    followSome(page.tasks);
  };

  const newRow = (item: TaskListItem): TaskRow => {
    const row = new TaskRow(item.id, () => void act(row));
    rows.set(item.id, row);
    return row;
  };

  /** Streams go to the newest unfinished tasks. */
  const followSome = (tasks: readonly TaskListItem[]) => {
    const open = tasks.filter(({ status }) => !hasEnded(status)).slice(0, MAX_STREAMS);
    const wanted = new Set(open.map(({ id }) => id));
    for (const [id, stream] of streams) if (!wanted.has(id)) stream.abort();
    for (const id of wanted) {
      if (streams.has(id)) continue;
      const stream = new AbortController();
      streams.set(id, stream);
      void follow(id, stream.signal).finally(() => {
        if (streams.get(id) === stream) streams.delete(id);
      });
    }
  };

  const follow = async (id: string, signal: AbortSignal) => {
    try {
      for await (const record of app.client.events(id, { signal }))
        rows.get(id)?.showRecord(record);
    } catch {
      // The list is polled anyway.
    }
  };

  const act = async (row: TaskRow) => {
    const sure = row.ended
      ? await confirm(`Delete task ${row.id}?`, 'Its result goes with it.', 'Delete')
      : await confirm(
          `Cancel task ${row.id}?`,
          'The service stops working on it.',
          'Cancel the task',
        );
    if (!sure) return;
    try {
      if (row.ended) await app.client.remove(row.id);
      else await app.client.cancel(row.id);
      announce(row.ended ? 'Deleted' : 'Cancelled');
      await restart();
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };

  const turn = async (by: 1 | -1) => {
    cursors = by === 1 ? [...cursors, next] : cursors.slice(0, -1);
    await restart();
    announce(`Page ${cursors.length}`);
  };

  const restart = async (fromStart = false): Promise<void> => {
    if (fromStart) cursors = [undefined];
    stop();
    if (app.session.key === null) return;
    visit = new AbortController();
    await poll(visit.signal);
  };

  const poll = async (signal: AbortSignal): Promise<void> => {
    clearTimeout(timer);
    try {
      if (!document.hidden) await load(signal);
    } catch (error) {
      if (signal.aborted || isStopped(error)) return;
      // The same again is not said again.
      const box = problemBox(error);
      if (problem.textContent !== box.textContent) fill(problem, box);
    }
    if (!signal.aborted) timer = setTimeout(() => void poll(signal), POLL_MS);
  };

  const stop = () => {
    clearTimeout(timer);
    visit?.abort();
    for (const stream of streams.values()) stream.abort();
    streams.clear();
  };

  const element = h(
    'div',
    { class: 'view' },
    lead(
      'Tasks',
      'What was submitted with your key, newest first. The list keeps itself up to date.',
    ),
    keyNotice(app),
    h(
      'section',
      { class: 'panel', 'aria-labelledby': 'task-list' },
      h('header', {}, heading, inline(field('Status', filter))),
      problem,
      place,
      pager,
    ),
  );
  return {
    title: 'Tasks',
    element,
    enter: () => {
      if (app.session.key === null) {
        rows.clear();
        list.replaceChildren();
        fill(place, empty('key', 'No API key yet', 'With a key, your tasks appear here.'));
        pager.hidden = true;
      }
      void restart();
    },
    leave: stop,
  };
}

function inline(control: HTMLElement): HTMLElement {
  control.className = 'row';
  return control;
}

function nothingHere(status: string | undefined): HTMLElement {
  if (status !== undefined) {
    return empty('list', `No task is ${status}`, 'Choose another status to see the others.');
  }
  return empty(
    'list',
    'No tasks yet',
    'What you submit appears here, and moves while you watch.',
    h('a', { class: 'button', href: '#build' }, 'Build a task'),
  );
}
