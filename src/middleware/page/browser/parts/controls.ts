/** The controls that several views use. */
import { sizeText } from '../../../../wire/sizes.ts';
import { announce, button, byId, type Child, fill, focusNear, freshId, h } from '../dom.ts';
import { shortHex } from '../format.ts';
import { type IconName, icon } from './icons.ts';

/** A labelled control with a hint. */
export function field(label: string, control: HTMLElement, hint: Child = null): HTMLElement {
  control.id ||= freshId('field');
  const hintId = `${control.id}-hint`;
  if (hint !== null) control.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    hint !== null && h('p', { class: 'hint', id: hintId }, hint),
  );
}

/** Radio buttons under one name. */
export function choices<T extends string>(
  legend: string,
  options: readonly (readonly [value: T, label: string])[],
  onChange: (value: T) => void,
): HTMLFieldSetElement {
  const name = freshId('choice');
  return h(
    'fieldset',
    {},
    h('legend', {}, legend),
    h(
      'div',
      { class: 'row' },
      options.map(([value, label], i) =>
        h(
          'label',
          { class: 'choice' },
          h('input', {
            type: 'radio',
            name,
            value,
            checked: i === 0,
            on: { change: () => onChange(value) },
          }),
          label,
        ),
      ),
    ),
  );
}

/** The content of an empty panel. */
export function empty(name: IconName, title: string, text: Child, ...more: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    icon(name),
    h('p', {}, h('strong', {}, title)),
    h('p', {}, text),
    more,
  );
}

/** A panel with a heading. */
export function panel(title: string, ...children: Child[]): HTMLElement {
  const id = freshId('panel');
  return h(
    'section',
    { class: 'panel', 'aria-labelledby': id },
    h('header', {}, h('h2', { id }, title)),
    children,
  );
}

/** The element of a view. */
export const view = (...children: Child[]): HTMLElement => h('div', { class: 'view' }, children);

/** The heading of a view, which takes the focus when the view appears. */
export function lead(title: string, text: Child): HTMLElement {
  return h('div', { class: 'lead' }, h('h1', { tabindex: -1 }, title), h('p', {}, text));
}

/** A table that scrolls within the page; the label names it to those who hear it. */
export function table(label: string, head: readonly Child[], ...rows: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h('table', {}, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows)),
  );
}

/** Facts in pairs. */
export function facts(
  pairs: readonly (readonly [name: string, value: Child] | null)[],
  kind = '',
): HTMLElement {
  return h(
    'dl',
    { class: `facts ${kind}` },
    pairs.map((pair) => pair && h('div', {}, h('dt', {}, pair[0]), h('dd', {}, pair[1]))),
  );
}

/** Hex, shortened, with a button that copies all of it. */
export function hexValue(label: string, hex: string): HTMLElement {
  const size = sizeText((hex.length - 2) / 2);
  const canCopy = navigator.clipboard !== undefined;
  return h(
    'div',
    { class: 'hex' },
    h('span', { class: 'label' }, label, ' ', h('span', { class: 'hint' }, size)),
    h(
      'div',
      { class: 'value' },
      h('code', {}, shortHex(hex, 28)),
      canCopy &&
        button(
          'Copy',
          () => {
            navigator.clipboard.writeText(hex).then(
              () => announce(`${label} copied`),
              () => announce(`${label} could not be copied`),
            );
          },
          {
            look: 'quiet',
            class: 'button quiet small',
            'aria-label': `Copy ${label.toLowerCase()}`,
          },
        ),
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

/** A word on a coloured background; an icon and the word say the same as the colour. */
export function chip(text: string, tone: Tone): HTMLElement {
  const name = TONE_ICONS[tone];
  return h('span', { class: `chip ${tone}` }, name !== null && icon(name), text);
}

/** A bar with words; `set` moves both. */
export function meter(label: string): {
  element: HTMLElement;
  set(text: string, done: number, total: number): void;
} {
  const bar = h('progress', { max: 1, 'aria-label': label });
  const words = h('p', { class: 'small soft' });
  return {
    element: h('div', { class: 'tight meter' }, bar, words),
    set(text, done, total) {
      if (total > 0) bar.value = Math.min(1, done / total);
      else bar.removeAttribute('value');
      if (words.textContent !== text) words.textContent = text;
    },
  };
}

/** A place to drop or choose a file. */
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
        // Lets the user choose the same file again after correcting it.
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

/** Asks for confirmation of what cannot be undone. */
export function confirm(title: string, text: string, yes: string): Promise<boolean> {
  const id = freshId('dialog');
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': id },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id }, title),
        h('p', { class: 'soft' }, text),
        h(
          'div',
          { class: 'row' },
          h('button', { class: 'button', value: 'no', autofocus: true }, 'Keep it'),
          h('button', { class: 'button danger', value: 'yes' }, yes),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      // What had the focus before may be gone by now.
      if (document.activeElement === document.body) focusNear(byId('main'));
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Downloads bytes as a file. */
export function download(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Runs the work of a button, which is disabled meanwhile but keeps the focus. */
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
