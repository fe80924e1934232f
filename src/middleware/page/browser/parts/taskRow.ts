/** A task in the list; it is updated in place, so that the focus stays where it is. */
import type { TaskListItem, TaskRecord } from '../../../../client/index.ts';
import { button, fill, h } from '../dom.ts';
import { count, counted, time } from '../format.ts';
import { meter } from './controls.ts';
import { hasEnded, phaseWords, statusChip } from './status.ts';

export class TaskRow {
  readonly id: string;
  readonly element: HTMLLIElement;
  readonly #subtitle = h('p', { class: 'small soft' });
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
    this.element = h(
      'li',
      {},
      h(
        'div',
        {},
        h('a', { class: 'name', href: `#tasks/${id}`, 'aria-label': `Task ${id}` }, id),
        this.#subtitle,
      ),
      this.#state,
      this.#meter.element,
      h('div', { class: 'actions' }, this.#action),
    );
  }

  get ended(): boolean {
    return hasEnded(this.#status);
  }

  showItem({ status, meta }: TaskListItem): void {
    this.#count = meta.count;
    this.#time =
      meta.finished_at === undefined
        ? `created ${time(meta.created_at)}`
        : `finished ${time(meta.finished_at)}`;
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
    // It still takes its place, so that nothing moves.
    this.#meter.element.classList.add('idle');
  }
}
