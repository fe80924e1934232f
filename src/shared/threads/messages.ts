/**
 * The messages between a pool and its threads. A thread first sends a hello. It then answers every
 * request once, and may send news before the answer.
 */
import { CodedError, defineFields, type ErrorCode, toCodedError } from '../errors.ts';

export type Request =
  | { readonly id: number; readonly work: unknown }
  /**
   * The answer to this request is no longer wanted: the thread should answer soon, even if
   * incompletely.
   */
  | { readonly cancel: number };

export type Answer =
  /** The worker's name. A thread with another name runs some other module and is not used. */
  | { readonly hello: string }
  | { readonly id: number; readonly news: unknown }
  | { readonly id: number; readonly value: unknown; readonly memoryBytes: number }
  | { readonly id: number; readonly fault: Fault };

/** An error as plain data, since errors lose their fields between threads. */
interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  /** Text of the cause, for the log. */
  readonly text: string;
  /** Its further fields, such as `invalid`, and those of a subclass. */
  readonly fields: object;
}

export function faultOf(error: unknown): Fault {
  const { code, message, cause, ...fields } = toCodedError(error);
  const text = cause instanceof Error ? String(cause.stack) : message;
  return { code, message, text, fields };
}

/** Returns the error with its fields; of a subclass, only they remain. */
export const errorOf = ({ code, message, text, fields = {} }: Fault): CodedError =>
  defineFields(new CodedError(code, { message, cause: new Error(text) }), fields);

/**
 * A view is sent as its buffer: Deno inspects every element of a view that it transfers, which
 * takes a second for two megabytes.
 */
interface Flat {
  readonly view: ViewName;
  readonly buffer: ArrayBuffer;
}

const VIEWS = { Uint8Array, Int16Array, Int32Array, BigInt64Array } as const;
type ViewName = keyof typeof VIEWS;
type View = InstanceType<(typeof VIEWS)[ViewName]>;

/**
 * Returns plain data with every view replaced by its buffer. Sets, maps and shared memory are sent
 * as they are.
 *
 * @param buffers collects every buffer, once
 */
export function flatten(value: unknown, buffers: Set<ArrayBuffer> = new Set()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ArrayBuffer) {
    buffers.add(value);
    return value;
  }
  if (!ArrayBuffer.isView(value)) return mapFields(value, (field) => flatten(field, buffers));
  const view = value as View;
  const isWhole = view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength;
  const buffer = (isWhole ? view : view.slice()).buffer as ArrayBuffer;
  buffers.add(buffer);
  return { view: view.constructor.name as ViewName, buffer } satisfies Flat;
}

/** The inverse of {@link flatten}. */
export function unflatten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { view, buffer } = value as Partial<Flat>;
  return view === undefined ? mapFields(value, unflatten) : new VIEWS[view](buffer!);
}

/** Converts the fields of an object or the elements of an array; copies it only if one changes. */
function mapFields(value: object, convert: (field: unknown) => unknown): object {
  const isArray = Array.isArray(value);
  if (!isArray && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const converted = convert(fields[name]);
    if (converted === fields[name]) continue;
    copy ??= (isArray ? [...value] : { ...fields }) as Record<string, unknown>;
    copy[name] = converted;
  }
  return copy ?? value;
}
