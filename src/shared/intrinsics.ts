/**
 * The engine's built-in functions, captured when this module loads, so that neither own properties
 * of an array nor later changes to a prototype affect their results. They accept arrays of any
 * realm.
 */

/** Converts a method to a function whose first argument is the object. */
export const uncurry = Function.prototype.bind.bind(Function.prototype.call) as unknown as <
  T,
  A extends readonly unknown[],
  R,
>(
  method: (this: T, ...args: A) => R,
) => (self: T, ...args: A) => R;

/** apply(function, this, arguments) */
export const { apply } = Reflect;

/** %TypedArray%.prototype, from which all typed arrays inherit. */
const prototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

function getter<T, R>(name: string | symbol): (self: T) => R {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)!;
  return uncurry(get as (this: T) => R);
}

/** @returns the name of the type of a typed array; undefined for any other value */
export const kindOf = /* @__PURE__ */ getter<unknown, string | undefined>(Symbol.toStringTag);

/** @returns the number of elements; 0 for an array that is detached or out of bounds */
export const lengthOf = /* @__PURE__ */ getter<ArrayLike<number>, number>('length');

/** @returns the buffer; slow for a small array, whose buffer is allocated by the first access */
export const bufferOf = /* @__PURE__ */ getter<Uint8Array, ArrayBufferLike>('buffer');

export const byteOffsetOf = /* @__PURE__ */ getter<Uint8Array, number>('byteOffset');

/**
 * set(target, source, at): copies all of source.
 *
 * @throws RangeError if it does not fit, TypeError if one of them is detached
 */
export const set = /* @__PURE__ */ uncurry(
  prototype.set as (this: ArrayLike<number>, source: ArrayLike<number>, at?: number) => void,
);

/** fill(array, value) */
export const fill = /* @__PURE__ */ uncurry(
  prototype.fill as (this: Uint8Array, value: number) => Uint8Array,
);

/** slice(array, from, to): a copy of a part, for plain internal arrays. */
export const slice = /* @__PURE__ */ uncurry(
  prototype.slice as (
    this: Uint8Array<ArrayBuffer>,
    from: number,
    to: number,
  ) => Uint8Array<ArrayBuffer>,
);

/** subarray(array, from, to): a view of a part, for plain internal arrays. */
export const subarray = /* @__PURE__ */ uncurry(prototype.subarray) as <B extends ArrayBufferLike>(
  array: Uint8Array<B>,
  from: number,
  to: number,
) => Uint8Array<B>;

const Bytes = Uint8Array;

/**
 * A view of the bytes [from, to), which must exist. For secrets: unlike `subarray`, it does not use
 * the constructor of the array, which a page may have changed.
 */
export const viewOf = (array: Uint8Array<ArrayBuffer>, from = 0, to = lengthOf(array)) =>
  new Bytes(bufferOf(array) as ArrayBuffer, byteOffsetOf(array) + from, to - from);

/** A copy of the bytes [from, to), which must exist; for secrets, as `viewOf`. */
export function copyOf(array: Uint8Array<ArrayBuffer>, from = 0, to = lengthOf(array)) {
  const copy = new Bytes(to - from);
  set(copy, viewOf(array, from, to));
  return copy;
}

/** charCodeAt(text, index) */
export const charCodeAt = /* @__PURE__ */ uncurry(String.prototype.charCodeAt);

/** codePointAt(text, index) */
export const codePointAt = /* @__PURE__ */ uncurry(String.prototype.codePointAt);

/** sliceText(text, from, to) */
export const sliceText = /* @__PURE__ */ uncurry(String.prototype.slice) as (
  text: string,
  from: number,
  to?: number,
) => string;

export const { parse: parseJson } = JSON;
export const { hasOwn, getPrototypeOf } = Object;
export const { isArray } = Array;

/** indexOf(array, value). @throws TypeError if the array is detached or out of bounds */
export const indexOf = /* @__PURE__ */ uncurry(
  prototype.indexOf as (this: Uint8Array, value: number) => number,
);
