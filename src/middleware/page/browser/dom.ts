/** Creates elements without HTML strings, as required by the page's Trusted Types policy. */

export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Listeners = {
  [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void;
};

/** Attributes by name. `true` sets an empty value; `false`, null and undefined omit one. */
export interface Attributes {
  readonly on?: Listeners;
  readonly [name: string]: string | number | boolean | null | undefined | Listeners;
}

/** Creates an HTML element with attributes, listeners and children. */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] => build(document.createElement(tag), attributes, children);

/** Creates an SVG element. */
export const svg = <K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

function build<E extends Element>(
  element: E,
  { on, ...attributes }: Attributes,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  for (const [name, listener] of Object.entries(on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  append(element, children);
  return element;
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child || child === 0) parent.append(child as Node | string);
  }
}

/** Replaces the children of an element. If that removes the focus, the heading above gets it. */
export function fill(element: Element, ...children: Child[]): void {
  const active = document.activeElement;
  const held = active !== element && element.contains(active);
  element.replaceChildren();
  append(element, children);
  if (!held) return;
  if (active instanceof HTMLElement && active.isConnected) active.focus({ preventScroll: true });
  else focusNear(element);
}

/** Moves the focus to the heading of the element's panel or, without one, of the view. */
export function focusNear(element: Element): void {
  const above = element.closest('.panel')?.querySelector('h2');
  const heading = above ?? document.querySelector<HTMLElement>('#main h1') ?? byId('main');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Disables or enables a control. A disabled control passes its focus to the neighbour. */
export function setOff(control: HTMLButtonElement, off: boolean, neighbour?: HTMLElement): void {
  const held = off && control === document.activeElement;
  control.disabled = off;
  if (!held) return;
  neighbour?.focus();
  if (neighbour === undefined || neighbour !== document.activeElement) focusNear(control);
}

/** Returns the template's element with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

let ids = 0;

/** Returns a new id, for connecting a label with its control. */
export const freshId = (name: string): string => `${name}-${++ids}`;

let lastSaid = '';

/** Announces a sentence to screen readers. */
export function announce(text: string): void {
  const region = byId('announcer');
  // Screen readers skip an unchanged text, hence the non-breaking space.
  region.textContent = text === lastSaid ? `${text} ` : text;
  lastSaid = region.textContent;
}

export function button(
  label: Child,
  onClick: () => void,
  attributes: Attributes & { readonly look?: 'plain' | 'primary' | 'quiet' | 'danger' } = {},
): HTMLButtonElement {
  const { look = 'plain', ...others } = attributes;
  const own = { type: 'button', class: `button ${look}`, ...others, on: { click: onClick } };
  return h('button', own, label);
}

/** A `div` with a class. */
export const div = (name: string, ...children: Child[]): HTMLElement =>
  h('div', { class: name }, children);

/** A paragraph with a class. */
export const p = (name: string, ...children: Child[]): HTMLElement =>
  h('p', { class: name }, children);

export const strong = (text: string): HTMLElement => h('strong', {}, text);

export const link = (href: string, label: Child, name?: string): HTMLElement =>
  h('a', { href, class: name }, label);

/** A value with listeners, which are called at every change. */
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

  /** Calls `show` now and at every change. */
  follow(show: () => void): void {
    this.#listeners.add(show);
    show();
  }
}

/** Reads a text from the browser's storage. Browsers may forbid it; then nothing is kept. */
export function readStored(kind: StorageKind, place: string): string | null {
  try {
    return globalThis[kind].getItem(place);
  } catch {
    return null;
  }
}

/** Stores a text, or removes it. */
export function store(kind: StorageKind, place: string, text: string | null): void {
  try {
    if (text === null) globalThis[kind].removeItem(place);
    else globalThis[kind].setItem(place, text);
  } catch {}
}

type StorageKind = 'localStorage' | 'sessionStorage';
