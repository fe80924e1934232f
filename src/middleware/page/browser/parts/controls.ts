/** Controls shared by the views. */
import { sizeText } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import {
  announce,
  button,
  byId,
  type Child,
  div,
  fill,
  focusNear,
  freshId,
  h,
  link,
  p,
  strong,
  svg,
} from '../dom.ts';
import { shortHex } from '../format.ts';

const ICONS = {
  check: ['M4 12.5l5 5L20 6.5'],
  cross: ['M6 6l12 12M18 6L6 18'],
  turn: ['M20 12a8 8 0 1 1-3-6.2'],
  clock: ['M12 7v5l3.5 2', 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z'],
  key: ['M14.5 9.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0z', 'M13.2 12.7L20 19.5M17 16.5l-2 2'],
  pen: ['M4 20l4.5-1L20 7.5 16.5 4 5 15.5 4 20z', 'M14 6.5l3.5 3.5'],
  box: ['M4 8l8-4 8 4v8l-8 4-8-4V8z', 'M4 8l8 4 8-4M12 12v8'],
  list: ['M9 6h11M9 12h11M9 18h11', 'M4.5 6h.01M4.5 12h.01M4.5 18h.01'],
  seal: ['M12 3l7 3v5.5c0 4.5-3 7.8-7 9.5-4-1.7-7-5-7-9.5V6l7-3z', 'M8.5 12l2.5 2.5 4.5-5'],
  halves: [
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z',
    'M12 3.5v17',
    'M12 8h6M12 12h8M12 16h6',
  ],
} as const;

export type IconName = keyof typeof ICONS;

/** Returns an icon that assistive technology ignores. */
export function icon(name: IconName): SVGElement {
  const attributes = { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' };
  return svg(
    'svg',
    attributes,
    ICONS[name].map((d) => svg('path', { d })),
  );
}

/** A labelled control with a hint. */
export function field(label: string, control: HTMLElement, hint: Child = null): HTMLElement {
  control.id ||= freshId('field');
  const id = `${control.id}-hint`;
  if (hint !== null) control.setAttribute('aria-describedby', id);
  const below = hint !== null && h('p', { class: 'hint', id }, hint);
  return div('field', h('label', { for: control.id }, label), control, below);
}

/** Radio buttons under one name. */
export function choices<T extends string>(
  legend: string,
  options: readonly (readonly [value: T, label: string])[],
  onChange: (value: T) => void,
): HTMLFieldSetElement {
  const name = freshId('choice');
  const buttons = options.map(([value, label], i) => {
    const on = { change: () => onChange(value) };
    const input = h('input', { type: 'radio', name, value, checked: i === 0, on });
    return h('label', { class: 'choice' }, input, label);
  });
  return h('fieldset', {}, h('legend', {}, legend), div('row', buttons));
}

/** The content of a panel without data. */
export const empty = (name: IconName, title: string, text: Child, ...more: Child[]): HTMLElement =>
  div('empty', icon(name), p('', strong(title)), p('', text), more);

export function panel(title: string, ...children: Child[]): HTMLElement {
  const id = freshId('panel');
  const head = h('header', {}, h('h2', { id }, title));
  return h('section', { class: 'panel', 'aria-labelledby': id }, head, children);
}

export const view = (...children: Child[]): HTMLElement => div('view', children);

/** The heading of a view, which receives the focus when the view appears. */
export const lead = (title: string, text: Child): HTMLElement =>
  div('lead', h('h1', { tabindex: -1 }, title), p('', text));

/** A reminder, visible while there is no API key. */
export function keyNotice(app: App): HTMLElement {
  const text = p(
    '',
    strong('This needs an API key. '),
    link('#start', 'Enter it on the Start page'),
    '.',
  );
  const element = div('notice', text);
  app.followKey(() => {
    element.hidden = app.key !== null;
  });
  return element;
}

/** The name of a column, and the class of its cells. */
export type Column = readonly [name: string, kind?: string];

/** A scrollable table. Screen readers announce the label. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  last: Child = null,
): HTMLElement {
  const head = columns.map(([name, kind]) => h('th', { scope: 'col', class: kind }, name));
  const lines = rows.map((row) =>
    h(
      'tr',
      {},
      row.map((child, i) => h('td', { class: columns[i]?.[1] }, child)),
    ),
  );
  const rest = last !== null && h('tr', {}, h('td', { colspan: columns.length }, last));
  const body = h('table', {}, h('thead', {}, h('tr', {}, head)), h('tbody', {}, lines, rest));
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, body);
}

/** A list of names and values. */
export const facts = (pairs: readonly (readonly [name: string, value: Child])[]): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );

/** Shortened hex, with a button that copies the full value. */
export function hexValue(label: string, hex: string): HTMLElement {
  const copy = () =>
    navigator.clipboard.writeText(hex).then(
      () => announce(`${label} copied`),
      () => announce(`${label} could not be copied`),
    );
  const name = `Copy ${label.toLowerCase()}`;
  const attributes = { class: 'button quiet small', 'aria-label': name };
  const size = h('span', { class: 'hint' }, sizeText((hex.length - 2) / 2));
  return div(
    'hex',
    h('span', { class: 'label' }, label, ' ', size),
    div(
      'value',
      h('code', {}, shortHex(hex, 28)),
      navigator.clipboard !== undefined && button('Copy', () => void copy(), attributes),
    ),
  );
}

export type Tone = 'good' | 'bad' | 'busy' | 'wait' | 'plain';

const TONE_ICONS: Readonly<Record<Tone, IconName | null>> = {
  good: 'check',
  bad: 'cross',
  busy: 'turn',
  wait: 'clock',
  plain: null,
};

/** A word on a coloured background, with an icon, so that colour is not the only signal. */
export function chip(text: string, tone: Tone): HTMLElement {
  const name = TONE_ICONS[tone];
  return h('span', { class: `chip ${tone}` }, name !== null && icon(name), text);
}

/** Listeners of a form whose submission runs an action. */
export const onSubmit = (run: () => unknown): { submit(event: Event): void } => ({
  submit(event) {
    event.preventDefault();
    void run();
  },
});

/** A progress bar with a text; `set` updates both. */
export function meter(label: string): {
  element: HTMLElement;
  set(text: string, done: number, total: number): void;
} {
  const bar = h('progress', { max: 1, 'aria-label': label });
  const words = p('small soft');
  return {
    element: div('tight meter', bar, words),
    set(text, done, total) {
      if (total > 0) bar.value = Math.min(1, done / total);
      else bar.removeAttribute('value');
      if (words.textContent !== text) words.textContent = text;
    },
  };
}

/** A control for choosing or dropping a file. */
export function dropZone(options: {
  readonly label: string;
  readonly hint: string;
  readonly onFile: (file: File) => void;
}): { element: HTMLElement; show(name: string, hint: string): void } {
  const id = freshId('file');
  const name = h('span', { class: 'name' }, options.label);
  const hint = h('span', { class: 'hint', id: `${id}-hint` }, options.hint);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) options.onFile(file);
  };
  const input = h('input', {
    type: 'file',
    id,
    accept: '.json,application/json',
    'aria-describedby': `${id}-hint`,
    on: {
      change: () => {
        take(input.files);
        // Allows choosing the same file again after a correction.
        input.value = '';
      },
    },
  });
  const element = h('label', { class: 'drop', for: id }, name, hint, input);
  const over = (isOver: boolean) => (event: DragEvent) => {
    event.preventDefault();
    element.classList.toggle('over', isOver);
  };
  element.addEventListener('dragover', over(true));
  element.addEventListener('dragleave', over(false));
  element.addEventListener('drop', (event) => {
    over(false)(event);
    take(event.dataTransfer?.files);
  });
  return {
    element,
    show(text, hintText) {
      fill(name, text);
      fill(hint, hintText);
      element.classList.add('taken');
    },
  };
}

/** Asks for confirmation of an action that cannot be undone. */
export function confirm(title: string, text: string, yes: string): Promise<boolean> {
  const id = freshId('dialog');
  const answers = div(
    'row',
    h('button', { class: 'button', value: 'no', autofocus: true }, 'Keep it'),
    h('button', { class: 'button danger', value: 'yes' }, yes),
  );
  const form = h('form', { method: 'dialog' }, h('h2', { id }, title), p('soft', text), answers);
  const dialog = h('dialog', { 'aria-labelledby': id }, form);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      // The element that had the focus may no longer exist.
      if (document.activeElement === document.body) focusNear(byId('main'));
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export function download(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const anchor = h('a', { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Runs a button's action. The button is inactive meanwhile, but keeps the focus. */
export async function whileBusy(
  control: HTMLButtonElement,
  work: () => Promise<void>,
): Promise<void> {
  if (control.getAttribute('aria-disabled') === 'true') return;
  control.setAttribute('aria-disabled', 'true');
  try {
    await work();
  } finally {
    control.removeAttribute('aria-disabled');
  }
}
