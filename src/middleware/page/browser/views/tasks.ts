/** The list of tasks, by page and status, with live progress of unfinished tasks. */
import type { TaskListItem, TaskPage, TaskRecord } from '../../../../client/index.ts';
import { count, counted } from '../../../../wire/sizes.ts';
import { TASK_STATES } from '../../../../wire/taskStates.ts';
import type { App, View } from '../app.ts';
import { announce, button, div, fill, h, link, p, setOff } from '../dom.ts';
import { time } from '../format.ts';
import { empty, field, keyNotice, lead, meter, view } from '../parts/controls.ts';
import { isStopped, problemBox } from '../parts/problems.ts';
import { endTask, hasEnded, phaseWords, statusChip } from '../parts/status.ts';

const PAGE_TASKS = 20;
/** Browsers limit connections per host, so the remaining tasks are polled. */
const MAX_STREAMS = 2;
const POLL_MS = 2500;
const PAGER = { class: 'row apart', 'aria-label': 'Pages of the list' };

export function tasksView(app: App): View {
  const list = new TaskList(app);
  const text = 'Tasks submitted with your key, newest first. The list updates automatically.';
  return {
    title: 'Tasks',
    element: view(lead('Tasks', text), keyNotice(app), list.element),
    enter: () => list.enter(),
    leave: () => list.stop(),
  };
}

class TaskList {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #list = h('ul', { class: 'tasks', 'aria-label': 'Tasks, newest first' });
  readonly #place = div('stack');
  readonly #problem = h('div');
  readonly #heading = h('h2', { id: 'task-list', tabindex: -1 }, 'Your tasks');
  readonly #newer = button('Newer', () => void this.#turn(-1));
  readonly #older = button('Older', () => void this.#turn(1));
  readonly #pager = h('nav', PAGER, this.#newer, this.#older);
  readonly #filter = h(
    'select',
    { on: { change: () => void this.#restart(true) } },
    h('option', { value: '' }, 'All'),
    TASK_STATES.map((name) => h('option', { value: name }, name)),
  );
  readonly #rows = new Map<string, TaskRow>();
  /** Event streams of the newest unfinished tasks. */
  readonly #streams = new Map<string, AbortController>();
  /** Cursors of the pages up to this one; the first has none. */
  #cursors: (string | undefined)[] = [undefined];
  #next = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #visit: AbortController | undefined;

  constructor(app: App) {
    this.#app = app;
    const status = field('Status', this.#filter);
    status.className = 'row';
    this.element = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'task-list' },
      h('header', {}, this.#heading, status),
      this.#problem,
      this.#place,
      this.#pager,
    );
  }

  enter(): void {
    if (this.#app.key === null) {
      this.#rows.clear();
      this.#list.replaceChildren();
      fill(this.#place, empty('key', 'No API key yet', 'With a key, your tasks appear here.'));
      this.#pager.hidden = true;
    }
    void this.#restart();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#visit?.abort();
    for (const stream of this.#streams.values()) stream.abort();
    this.#streams.clear();
  }

  async #restart(fromStart = false): Promise<void> {
    if (fromStart) this.#cursors = [undefined];
    this.stop();
    if (this.#app.key === null) return;
    this.#visit = new AbortController();
    await this.#poll(this.#visit.signal);
  }

  async #turn(by: 1 | -1): Promise<void> {
    this.#cursors = by === 1 ? [...this.#cursors, this.#next] : this.#cursors.slice(0, -1);
    await this.#restart();
    announce(`Page ${this.#cursors.length}`);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    try {
      if (!document.hidden) await this.#load(signal);
    } catch (error) {
      if (signal.aborted || isStopped(error)) return;
      // An unchanged problem is not announced again.
      const box = problemBox(error);
      if (this.#problem.textContent !== box.textContent) fill(this.#problem, box);
    }
    if (!signal.aborted) this.#timer = setTimeout(() => void this.#poll(signal), POLL_MS);
  }

  async #load(signal: AbortSignal): Promise<void> {
    const status = this.#filter.value || undefined;
    const cursor = this.#cursors.at(-1);
    const query = { status, cursor, limit: PAGE_TASKS, order: 'desc', signal } as const;
    const page = await this.#app.client.page(query);
    if (!signal.aborted) this.#show(page, status);
  }

  #show({ tasks, next }: TaskPage, status: string | undefined): void {
    this.#next = next;
    fill(this.#problem);
    this.#dropAllBut(new Set(tasks.map(({ id }) => id)));
    for (const [i, item] of tasks.entries()) {
      const row = this.#rows.get(item.id) ?? new TaskRow(item.id, () => void this.#end(row));
      this.#rows.set(item.id, row);
      row.showItem(item);
      const there = this.#list.children[i];
      if (there !== row.element) this.#list.insertBefore(row.element, there ?? null);
    }
    const place = this.#place;
    if (tasks.length > 0) {
      if (this.#list.parentElement !== place) fill(place, this.#list);
    } else if (!place.querySelector('.empty') || place.dataset.status !== status) {
      fill(place, nothingHere(status));
    }
    place.dataset.status = status ?? '';
    const first = this.#cursors.length === 1;
    const last = next === '' || tasks.length < PAGE_TASKS;
    if (!first) setOff(this.#newer, false);
    if (!last) setOff(this.#older, false);
    setOff(this.#newer, first, this.#older);
    setOff(this.#older, last, this.#newer);
    this.#pager.hidden = this.#newer.disabled && this.#older.disabled;
    this.#follow(tasks);
  }

  #follow(tasks: readonly TaskListItem[]): void {
    const open = tasks.filter(({ status }) => !hasEnded(status)).slice(0, MAX_STREAMS);
    const wanted = new Set(open.map(({ id }) => id));
    for (const [id, stream] of this.#streams) if (!wanted.has(id)) stream.abort();
    for (const id of wanted) {
      if (!this.#streams.has(id)) void this.#stream(id);
    }
  }

  async #stream(id: string): Promise<void> {
    const stream = new AbortController();
    this.#streams.set(id, stream);
    try {
      for await (const record of this.#app.client.events(id, { signal: stream.signal })) {
        this.#rows.get(id)?.showRecord(record);
      }
    } catch {
      // Polling covers a lost stream.
    }
    if (this.#streams.get(id) === stream) this.#streams.delete(id);
  }

  /** Removes the rows of other tasks. If one has the focus, the heading receives it. */
  #dropAllBut(ids: ReadonlySet<string>): void {
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue;
      if (row.element.contains(document.activeElement)) this.#heading.focus();
      row.element.remove();
      this.#rows.delete(id);
    }
  }

  async #end({ id, ended }: TaskRow): Promise<void> {
    try {
      if (await endTask(this.#app, id, ended)) await this.#restart();
    } catch (error) {
      fill(this.#problem, problemBox(error));
    }
  }
}

/** A task in the list, updated in place to preserve the focus. */
class TaskRow {
  readonly id: string;
  readonly element: HTMLLIElement;
  readonly #subtitle = p('small soft');
  readonly #state = h('div');
  readonly #meter;
  readonly #action: HTMLButtonElement;
  #status = '';
  #count = 0;
  #time = '';

  constructor(id: string, onAction: () => void) {
    this.id = id;
    this.#meter = meter(`Progress of task ${id}`);
    this.#action = button('', onAction, { class: 'button quiet small' });
    const name = h('a', { class: 'name', href: `#tasks/${id}`, 'aria-label': `Task ${id}` }, id);
    this.element = h(
      'li',
      {},
      h('div', {}, name, this.#subtitle),
      this.#state,
      this.#meter.element,
      div('actions', this.#action),
    );
  }

  get ended(): boolean {
    return hasEnded(this.#status);
  }

  showItem({ status, meta }: TaskListItem): void {
    this.#count = meta.count;
    const { created_at, finished_at } = meta;
    this.#time = finished_at ? `finished ${time(finished_at)}` : `created ${time(created_at)}`;
    this.#show(status);
  }

  showRecord({ status, progress, batch_size, finished_at }: TaskRecord): void {
    this.#count = batch_size;
    if (finished_at !== undefined) this.#time = `finished ${time(finished_at)}`;
    this.#show(status);
    if (progress && !this.ended) {
      const { phase, done, total } = progress;
      this.#meter.set(`${phaseWords(phase)} ${count(done)}/${count(total)}`, done, total);
      this.#meter.element.classList.remove('idle');
    }
  }

  #show(status: string): void {
    const size = this.#count === 0 ? '' : `${counted(this.#count, 'signature')}, `;
    const text = size + this.#time;
    if (this.#subtitle.textContent !== text) this.#subtitle.textContent = text;
    if (status === this.#status) return;
    this.#status = status;
    fill(this.#state, statusChip(status));
    const word = this.ended ? 'Delete' : 'Cancel';
    fill(this.#action, word);
    this.#action.setAttribute('aria-label', `${word} task ${this.id}`);
    // The hidden meter keeps its space, so that nothing moves.
    this.#meter.element.classList.add('idle');
  }
}

function nothingHere(status: string | undefined): HTMLElement {
  if (status !== undefined) {
    return empty('list', `No ${status} tasks`, 'Choose another status to see other tasks.');
  }
  const text = 'Tasks that you submit appear here, with their progress.';
  return empty('list', 'No tasks yet', text, link('#build', 'Build a task', 'button'));
}
