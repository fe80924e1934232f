/** Creates elements without HTML in strings, as the page's policy of trusted types requires. */

export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Listeners = {
  [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void;
};

/** Attributes by name; `true` means one without a value; `false`, null and undefined omit it. */
export interface Attributes {
  readonly on?: Listeners;
  readonly [name: string]: string | number | boolean | null | undefined | Listeners;
}

/** @returns a new element with attributes, listeners and children */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** @returns a new SVG element */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

function setAttributes(element: Element, { on, ...attributes }: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (typeof value === 'string' || typeof value === 'number') {
      element.setAttribute(name, String(value));
    }
  }
  for (const [name, listener] of Object.entries(on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else if (typeof child === 'string' || typeof child === 'number') parent.append(String(child));
  }
}

/** Replaces the children of an element. A focus that is lost by it goes to the heading above. */
export function fill(element: Element, ...children: Child[]): void {
  const active = document.activeElement;
  const held = active !== element && element.contains(active);
  element.replaceChildren();
  append(element, children);
  if (!held) return;
  if (active instanceof HTMLElement && active.isConnected) active.focus({ preventScroll: true });
  else focusNear(element);
}

/** Moves the focus to the heading of the panel, or else of the view, that an element is in. */
export function focusNear(element: Element): void {
  const above = element.closest('.panel')?.querySelector('h2');
  const heading = above ?? document.querySelector<HTMLElement>('#main h1') ?? byId('main');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Turns a control off or on. A focus cannot stay on one that is off: it goes to the neighbour. */
export function setOff(control: HTMLButtonElement, off: boolean, neighbour?: HTMLElement): void {
  const held = off && control === document.activeElement;
  control.disabled = off;
  if (!held) return;
  neighbour?.focus();
  if (neighbour === undefined || neighbour !== document.activeElement) focusNear(control);
}

/** The element of the template with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

let ids = 0;

/** @returns a new id, to connect a label with its control */
export const freshId = (name: string): string => `${name}-${++ids}`;

let lastSaid = '';

/** Announces a sentence to users of screen readers. */
export function announce(text: string): void {
  const region = byId('announcer');
  // A repeated text is announced only if it differs, hence the non-breaking space.
  region.textContent = text === lastSaid ? `${text} ` : text;
  lastSaid = region.textContent;
}

/** A button. */
export function button(
  label: Child,
  onClick: () => void,
  attributes: Attributes & { readonly look?: 'plain' | 'primary' | 'quiet' | 'danger' } = {},
): HTMLButtonElement {
  const { look = 'plain', ...others } = attributes;
  const own = { type: 'button', class: `button ${look}`, ...others, on: { click: onClick } };
  return h('button', own, label);
}

/** A `div` of a class. */
export const div = (name: string, ...children: Child[]): HTMLElement =>
  h('div', { class: name }, children);

/** A paragraph of a class. */
export const p = (name: string, ...children: Child[]): HTMLElement =>
  h('p', { class: name }, children);

export const strong = (text: string): HTMLElement => h('strong', {}, text);

/** A link; with a class it may look like a button. */
export const link = (href: string, label: Child, name?: string): HTMLElement =>
  h('a', { href, class: name }, label);

/** A value that is followed: listeners are called at every change. */
export class Watched<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Shows the value now, and again at every change. */
  follow(show: () => void): void {
    this.#listeners.add(show);
    show();
  }
}
