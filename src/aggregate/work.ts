/** The requests to the threads of an aggregate, and their encoding as messages. */
import type { Profile } from '../falcon/index.ts';
import { packItems, unpackItems } from '../shared/threads/packItems.ts';
import type { Parcel } from '../shared/threads/thread.ts';
import type { FoldJob, SectionItem, StepInput, StepName } from './proof/index.ts';

/** The name that these threads send in their hello. */
export const AGGREGATE_WORKER = 'falconry aggregate';

/** A request to a thread. */
export type Work =
  /** a step of the share that the thread holds for a proof */
  | {
      readonly kind: 'step';
      /** bytes of transformed keys that the thread may keep */
      readonly keyBytes: number;
      readonly proof: number;
      readonly step: StepName;
      readonly input: unknown;
    }
  /** the proof is done, or abandoned: its share is released */
  | { readonly kind: 'release'; readonly proof: number }
  /** a part of a verification */
  | { readonly kind: 'fold'; readonly keyBytes: number; readonly job: FoldJob }
  /** the search for invalid items */
  | {
      readonly kind: 'check';
      readonly profile: Profile;
      readonly items: readonly SectionItem[];
    };

/** Items as one buffer, which is transferred. */
interface Packed {
  readonly packed: ArrayBuffer;
}

/** Encodes work as a message: lists of items become one buffer. */
export function packWork(work: Work): Parcel {
  const transfer: ArrayBuffer[] = [];
  const pack = (items: readonly SectionItem[]): Packed => {
    const packed = packItems(items);
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
  if (work.kind === 'step') transfer.push(...ownBuffers(work.step, work.input));
  return { work, transfer };
}

/** The buffers of a step that nothing but its message needs. */
function ownBuffers(step: StepName, input: unknown): ArrayBuffer[] {
  const { rows, base, phiZ } = input as {
    readonly [name in 'rows' | 'base']?: { readonly buffer: ArrayBuffer };
  } & Partial<StepInput<'carryAmortised'>>;
  if (step === 'openRows') return [rows!.buffer];
  if (step === 'combine' && base !== undefined) return [base.buffer];
  return step === 'carryAmortised' ? phiZ!.map(({ buffer }) => buffer) : [];
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
