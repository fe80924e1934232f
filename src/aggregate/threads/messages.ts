/**
 * What travels between a crew and its threads. Every request is answered once; `hello` comes before all answers.
 */
import { CodedError, type ErrorCode, toCodedError } from '../../errors.ts';
import { packItems, unpackItems } from '../../falcon/verifyPack.ts';
import type { FoldJob, SectionItem, StepInput, StepName } from '../proof/index.ts';

/** What a thread can be asked for. */
export type Work =
  /** a step of the share that the thread holds for a proof */
  | {
      readonly kind: 'step';
      readonly proof: number;
      readonly step: StepName;
      readonly input: unknown;
    }
  /** the proof is done, or given up: its share goes */
  | { readonly kind: 'release'; readonly proof: number }
  /** a part of a verification */
  | { readonly kind: 'fold'; readonly job: FoldJob }
  /** which items are not valid */
  | { readonly kind: 'check'; readonly items: readonly SectionItem[] };

/** Items as one buffer, which is handed over. */
interface Packed {
  readonly packed: ArrayBuffer;
}

export interface Request {
  readonly id: number;
  readonly work: unknown;
}

export type Answer =
  | { readonly hello: true }
  | { readonly id: number; readonly value: unknown; readonly memoryBytes: number }
  | { readonly id: number; readonly fault: Fault };

/** An error loses its fields on its way between threads. */
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

/** Work as it travels, and what is handed over with it. Lists of items become one buffer. */
export function packWork(work: Work): { work: unknown; transfer: ArrayBuffer[] } {
  const { work: packed, transfer } = packLists(work);
  return { work: flatten(packed), transfer };
}

function packLists(work: Work): { work: unknown; transfer: ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  const pack = (items: readonly SectionItem[]): Packed => {
    const packed = packItems(items, 0, items.length, (size) => new ArrayBuffer(size));
    transfer.push(packed);
    return { packed };
  };
  if (work.kind === 'check') return { work: { ...work, items: pack(work.items) }, transfer };
  if (work.kind === 'fold' && work.job.kind === 'items') {
    const { items } = work.job;
    const stated = items.map(({ publicKey, message, salt }) => {
      return { publicKey, message, signature: salt };
    });
    return { work: { ...work, job: { ...work.job, items: pack(stated) } }, transfer };
  }
  if (work.kind === 'step' && work.step === 'openItems') {
    const input = work.input as StepInput<'openItems'>;
    return { work: { ...work, input: { ...input, items: pack(input.items) } }, transfer };
  }
  return { work, transfer };
}

/** The inverse of {@link packWork}. */
export function unpackWork(packed: unknown): Work {
  const work = unflatten(packed) as Work;
  const unpack = (items: unknown): SectionItem[] =>
    unpackItems((items as Packed).packed) as SectionItem[];
  if (work.kind === 'check') return { ...work, items: unpack(work.items) };
  if (work.kind === 'fold' && work.job.kind === 'items') {
    const items = unpack(work.job.items).map(({ publicKey, message, signature }) => {
      return { publicKey, message, salt: signature };
    });
    return { ...work, job: { ...work.job, items } };
  }
  if (work.kind === 'step' && work.step === 'openItems') {
    const input = work.input as StepInput<'openItems'>;
    return { ...work, input: { ...input, items: unpack(input.items) } };
  }
  return work;
}

/**
 * A view in a message, as its buffer: Deno looks at every element of a view that it is to hand over, and takes a second for two
 * megabytes.
 */
interface Flat {
  readonly view: ViewName;
  readonly buffer: ArrayBuffer;
}

const VIEWS = { Uint8Array, Int16Array, Int32Array, BigInt64Array } as const;
type ViewName = keyof typeof VIEWS;
type View = InstanceType<(typeof VIEWS)[ViewName]>;

/** Data with every view as its buffer; `buffers` gets those buffers. */
export function flatten(value: unknown, buffers: ArrayBuffer[] = []): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value)) {
    const view = value as View;
    const isWhole =
      view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength;
    const buffer = (isWhole ? view : view.slice()).buffer as ArrayBuffer;
    buffers.push(buffer);
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
