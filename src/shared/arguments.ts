/**
 * Reads and validates callers' arguments: bytes, lists, options.
 *
 * Each argument is read once, with the engine's built-in functions (intrinsics.ts), so that a
 * hostile object cannot misreport whether it is a Uint8Array, its length or its contents.
 *
 * | array | result |
 * |---|---|
 * | Uint8Array, Buffer, any subclass, of any realm | its bytes |
 * | on shared memory | its bytes, read once, so that the checked bytes are those used |
 * | on a resizable buffer | its bytes, with its length at the time of the call |
 * | detached, or out of bounds because its buffer shrank | TypeError |
 * | detached or resized by the time its bytes are read | TypeError |
 * | any other typed array, DataView, ArrayBuffer, Proxy, lookalike | TypeError |
 */
import {
  bufferOf,
  byteOffsetOf,
  getPrototypeOf,
  hasOwn,
  indexOf,
  isArray,
  kindOf,
  lengthOf,
  set,
  uncurry,
} from './intrinsics.ts';

/**
 * Returns whether a value is a Uint8Array, of this or another realm (an iframe's, a test runner's).
 */
export function isBytes(value: unknown): value is Uint8Array {
  return kindOf(value) === 'Uint8Array';
}

/** Returns whether a value is an Int16Array, of this or another realm. */
export function isInt16Array(value: unknown): value is Int16Array {
  return kindOf(value) === 'Int16Array';
}

/** A caller's byte array, with the length that was checked. */
export class InputBytes {
  readonly length: number;
  readonly #array: Uint8Array;

  /**
   * @param name name of the argument in errors
   * @param array a Uint8Array
   * @throws TypeError if it is detached or out of bounds
   */
  constructor(name: string, array: Uint8Array) {
    this.#array = array;
    this.length = lengthOf(array);
    if (this.length === 0 && !isAttached(array)) throw notBytes(name, array);
  }

  /**
   * Copies all bytes.
   *
   * @throws TypeError if the length has changed
   */
  copyTo(target: Uint8Array, at = 0): void {
    if (lengthOf(this.#array) !== this.length) throw new TypeError('bytes changed their length');
    set(target, this.#array, at);
  }

  /** @returns fresh memory */
  copy(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.length);
    this.copyTo(bytes);
    return bytes;
  }

  /**
   * @returns a plain view of the caller's memory, to be read immediately
   * @throws TypeError if the length has changed
   */
  view(): Uint8Array {
    if (lengthOf(this.#array) !== this.length) throw new TypeError('bytes changed their length');
    return new Uint8Array(bufferOf(this.#array), byteOffsetOf(this.#array), this.length);
  }
}

/** Returns whether a value is a Uint8Array that is not detached. */
export function isIntact(value: unknown): value is Uint8Array {
  return isBytes(value) && (lengthOf(value) > 0 || isAttached(value));
}

/**
 * Returns whether an array without elements is really empty, neither detached nor out of bounds.
 */
function isAttached(array: Uint8Array): boolean {
  try {
    indexOf(array, 0);
    return true;
  } catch {
    return false;
  }
}

/** Creates the error for a value that is not {@link isIntact}. */
export function notBytes(name: string, value: unknown): TypeError {
  return isBytes(value)
    ? new TypeError(`"${name}" is detached or out of the bounds of its buffer`)
    : new TypeError(`"${name}" expected Uint8Array, got ${typeName(value)}${hintFor(value)}`);
}

const HINTS: Readonly<Record<string, string>> = {
  ArrayBuffer: ' (wrap it: new Uint8Array(it))',
  SharedArrayBuffer: ' (wrap it: new Uint8Array(it))',
  array: ' (convert it: Uint8Array.from(it))',
  CryptoKey: ' (export it)',
  KeyObject: ' (export it)',
};

/** Says how to get bytes from a value that is often given in their place. */
function hintFor(value: unknown): string {
  const name = typeName(value);
  if (name !== 'object') return hasOwn(HINTS, name) ? HINTS[name]! : '';
  try {
    return isJsonOfBytes(value as object) ? ' (bytes that went through JSON: encode them)' : '';
  } catch {
    return '';
  }
}

/** Returns whether an object is what JSON makes of bytes: {"0":1,…}, or that of a Buffer. */
export function isJsonOfBytes(value: object): boolean {
  const own = (name: string) => Object.getOwnPropertyDescriptor(value, name)?.value as unknown;
  return (
    isPlainObject(value) &&
    (typeof own('0') === 'number' || (own('type') === 'Buffer' && isArray(own('data'))))
  );
}

/**
 * Reads an argument that must be bytes.
 *
 * @param name name of the argument in errors
 * @param lengths the only lengths allowed; any length if omitted
 * @throws TypeError if it is not a Uint8Array, or detached; RangeError if its length is not allowed
 */
export function readBytes(name: string, value: unknown, ...lengths: readonly number[]): InputBytes {
  if (!isBytes(value)) throw notBytes(name, value);
  const bytes = new InputBytes(name, value);
  if (lengths.length > 0 && !lengths.includes(bytes.length)) {
    throw new RangeError(`"${name}" expected ${lengths.join(' or ')} bytes, got ${bytes.length}`);
  }
  return bytes;
}

/**
 * Copies the bytes of an argument to fresh memory.
 *
 * @throws as `readBytes`
 */
export function copyBytes(
  name: string,
  value: unknown,
  ...lengths: readonly number[]
): Uint8Array<ArrayBuffer> {
  return readBytes(name, value, ...lengths).copy();
}

/**
 * Reads the elements of a list: the length once, then each element once, in order.
 *
 * @param most maximum number of elements
 * @param read converts an element
 * @throws TypeError if it is not an array, of this or of another realm; RangeError if it has too
 *   many elements
 */
export function readList<T>(
  name: string,
  value: unknown,
  most: number,
  read: (element: unknown, index: number) => T,
): T[] {
  if (!isArray(value)) {
    throw new TypeError(`"${name}" expected an array, got ${typeName(value)}`);
  }
  const { length } = value;
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new TypeError(`"${name}" has no length`);
  }
  if (length > most) throw new RangeError(`"${name}" expected at most ${most} elements`);
  const elements: T[] = [];
  for (let i = 0; i < length; i++) elements.push(read(value[i], i));
  return elements;
}

/**
 * Reads the options of a call, each once. Inherited properties are ignored, so that a polluted
 * prototype can neither set options nor observe them.
 *
 * @param known accepted names
 * @param name name of the object in errors
 * @returns their values, without a prototype; missing options are undefined
 * @throws TypeError if it is not a plain object, or has an unknown name
 */
export function readOptions<K extends string>(
  value: unknown,
  known: readonly K[],
  name = 'options',
): { readonly [N in K]: unknown } {
  // Without a prototype: an accessor on Object.prototype would intercept what is written here.
  const options = Object.create(null) as { [N in K]: unknown };
  for (const key of known) options[key] = undefined;
  if (value === undefined) return options;
  if (!isPlainObject(value)) {
    throw new TypeError(`"${name}" expected a plain object, got ${typeName(value)}`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key as K)) throw new TypeError(`unknown option "${key}" in "${name}"`);
    options[key as K] = value[key];
  }
  return options;
}

/**
 * Returns whether a value is an object like `{}` or `Object.create(null)`, of this or another
 * realm: not an array, a map or an instance of a class.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || isArray(value)) return false;
  const prototype: unknown = getPrototypeOf(value);
  return prototype === null || getPrototypeOf(prototype) === null;
}

/** @throws TypeError if the value is neither a function nor undefined */
export function checkHook(name: string, hook: unknown): void {
  if (hook !== undefined && typeof hook !== 'function') {
    throw new TypeError(`"${name}" expected a function, got ${typeName(hook)}`);
  }
}

/** @throws TypeError unless it is a signal, of any realm, or undefined */
export function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener } = Object(signal);
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return;
  throw new TypeError(`"signal" expected an AbortSignal, got ${typeName(signal)}`);
}

/**
 * Returns the type name of an unexpected value, for errors: `null`, `string`, `Map`, `object`.
 * Never throws.
 */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    if (isArray(value)) return 'array';
    const tag = kindOf(value) ?? tagOf(value).slice(8, -1);
    if (tag === 'Promise') return 'Promise (await it)';
    // What calls itself Uint8Array and is none has no name.
    const isKnown = /^[A-Z]\w{1,39}$/.test(tag) && tag !== 'Object';
    return isKnown && (tag !== 'Uint8Array' || isBytes(value)) ? tag : 'object';
  } catch {
    return 'object';
  }
}

const tagOf = /* @__PURE__ */ uncurry(Object.prototype.toString) as (value: unknown) => string;
