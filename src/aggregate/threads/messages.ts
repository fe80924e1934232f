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

/** Work as it travels, and what is handed over with it. Lists of items become one buffer: views would take all that they view along. */
export function packWork(work: Work): { work: unknown; transfer: ArrayBuffer[] } {
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
  const work = packed as Work;
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

/** The buffers of typed arrays in an answer, or in the fields of one: they are handed over. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(ArrayBuffer.isView(value) ? {} : value)].flatMap((part) => {
    const isWhole =
      ArrayBuffer.isView(part) &&
      part.buffer instanceof ArrayBuffer &&
      part.byteLength === part.buffer.byteLength;
    return isWhole ? [part.buffer as ArrayBuffer] : [];
  });
}
