/**
 * The messages between a pool and its threads. A thread first sends a hello. It then answers every
 * request once, and may send news before the answer.
 */
import { CodedError, type ErrorCode, toCodedError } from '../errors.ts';

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
  readonly text: string;
}

export function faultOf(error: unknown): Fault {
  const { code, message, cause } = toCodedError(error);
  return { code, text: cause instanceof Error ? String(cause.stack) : message };
}

export const errorOf = ({ code, text }: Fault): CodedError =>
  new CodedError(code, { cause: new Error(text) });

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
 * Returns plain data with every view replaced by its buffer.
 *
 * @param buffers collects every buffer, once
 */
export function flatten(value: unknown, buffers: Set<ArrayBuffer> = new Set()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ArrayBuffer) {
    buffers.add(value);
    return value;
  }
  if (ArrayBuffer.isView(value)) {
    const view = value as View;
    const isWhole =
      view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength;
    const buffer = (isWhole ? view : view.slice()).buffer as ArrayBuffer;
    buffers.add(buffer);
    return { view: view.constructor.name as ViewName, buffer } satisfies Flat;
  }
  if (Array.isArray(value)) return value.map((element) => flatten(element, buffers));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, flatten(field, buffers)]),
  );
}

/** The inverse of {@link flatten}. */
export function unflatten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ArrayBuffer) return value;
  if (Array.isArray(value)) return value.map(unflatten);
  const { view, buffer } = value as Partial<Flat>;
  if (view !== undefined) return new VIEWS[view](buffer!);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, unflatten(field)]));
}
