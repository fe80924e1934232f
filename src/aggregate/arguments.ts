/** Checks of what callers hand in: wrong types and lengths are theirs, and are told at once. */
import { abytes } from '../bytes.ts';
import { MAX_ITEMS } from './container.ts';

/** @throws TypeError unless it is a list of objects whose named fields are bytes */
export function checkList(name: string, list: unknown, fields: readonly string[]): void {
  if (!Array.isArray(list)) throw new TypeError(`"${name}" expected an array, got ${typeof list}`);
  for (let i = 0; i < list.length; i++) {
    const element: unknown = list[i];
    if (typeof element !== 'object' || element === null) {
      throw new TypeError(`"${name}[${i}]" expected an object, got ${String(element)}`);
    }
    for (const field of fields) {
      abytes(`${name}[${i}].${field}`, (element as Record<string, unknown>)[field]);
    }
  }
}

/** @throws RangeError for an empty or too long list */
export function checkCount(name: string, list: readonly unknown[]): void {
  if (list.length < 1 || list.length > MAX_ITEMS) {
    throw new RangeError(`"${name}" expected 1 to ${MAX_ITEMS} elements, got ${list.length}`);
  }
}

/** @throws TypeError, RangeError unless it is a list of signatures with what they sign */
export function checkItems(items: unknown): void {
  checkList('items', items, ['publicKey', 'message', 'signature']);
  checkCount('items', items as readonly unknown[]);
}

/** @throws TypeError for something else than an object with these names alone */
export function checkNames(options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`"options" expected an object, got ${String(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`unknown option "${name}"`);
  }
}

/** @throws TypeError for something else than a function or undefined */
export function checkHook(name: string, hook: unknown): void {
  if (hook !== undefined && typeof hook !== 'function') {
    throw new TypeError(`"${name}" expected a function, got ${typeof hook}`);
  }
}
