/**
 * The engine's own functions, taken when this module is loaded: neither a property of an array nor
 * a later change to a prototype has a say in what they answer. They take arrays of any realm.
 */

/** A method as a function of its object. */
const uncurry = Function.prototype.bind.bind(Function.prototype.call) as unknown as <
  T,
  A extends readonly unknown[],
  R,
>(
  method: (this: T, ...args: A) => R,
) => (self: T, ...args: A) => R;

/** apply(function, this, arguments) */
export const { apply } = Reflect;

/** %TypedArray%.prototype, which all kinds inherit from. */
const prototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

function getter<T, R>(name: string | symbol): (self: T) => R {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)!;
  return uncurry(get as (this: T) => R);
}

/** @returns the name of the kind of a typed array; undefined for everything else */
export const kindOf = /* @__PURE__ */ getter<unknown, string | undefined>(Symbol.toStringTag);

/** @returns the number of elements; 0 for an array that is detached or out of bounds */
export const lengthOf = /* @__PURE__ */ getter<ArrayLike<number>, number>('length');

/** @returns the buffer, which is made now for a small array that had none so far: dear */
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

/** slice(array, from, to): a copy of a part, for plain arrays of our own. */
export const slice = /* @__PURE__ */ uncurry(
  prototype.slice as (
    this: Uint8Array<ArrayBuffer>,
    from: number,
    to: number,
  ) => Uint8Array<ArrayBuffer>,
);

/** subarray(array, from, to): a view of a part, for plain arrays of our own. */
export const subarray = /* @__PURE__ */ uncurry(prototype.subarray) as <B extends ArrayBufferLike>(
  array: Uint8Array<B>,
  from: number,
  to: number,
) => Uint8Array<B>;

/** indexOf(array, value). @throws TypeError if the array is detached or out of bounds */
export const indexOf = /* @__PURE__ */ uncurry(
  prototype.indexOf as (this: Uint8Array, value: number) => number,
);
