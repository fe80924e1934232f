/** Batches in the worker: generated, read from files, or collected from single signatures. */
import { findInvalid } from '../../../../aggregate/index.ts';
import { falcon512, falcon1024 } from '../../../../falcon/index.ts';
import { encodeWireHex } from '../../../../wire/hex.ts';
import { reasonWords } from '../../../../wire/reasons.ts';
import { binarySizeText } from '../../../../wire/sizes.ts';
import { checkStatements, checkTriples, type ShapeFault } from '../../../../wire/taskFile.ts';
import {
  formatTaskFile,
  type Statement,
  type TaskItem,
  type Triple,
  toTriple,
} from '../../../../wire/triple.ts';
import { jsonPlaces, placeOf } from './jsonPlaces.ts';
import {
  type BatchSummary,
  type FileFault,
  type FileReading,
  type Limits,
  MAX_FAULTS,
  type SetName,
} from './protocol.ts';

/** Items, or statements alone. */
type Batch =
  | { readonly kind: 'task'; readonly name: string; readonly items: readonly TaskItem[] }
  | { readonly kind: 'statements'; readonly name: string; readonly items: readonly Statement[] };

/** Number of items in a summary. */
const PREVIEWS = 8;

const batches = new Map<number, Batch>();
let lastNumber = 0;

/** @throws Error for an unknown number, which is a bug in the page */
export function batchOf(number: number): Batch {
  const batch = batches.get(number);
  if (batch === undefined) throw new Error('there is no such batch');
  return batch;
}

/** @returns the parameter set of a public key, by its length */
export function setOf(publicKey: Uint8Array): SetName | 'unknown' {
  if (publicKey.length === falcon512.lengths.publicKey) return 'falcon512';
  if (publicKey.length === falcon1024.lengths.publicKey) return 'falcon1024';
  return 'unknown';
}

/** Stores a batch, verifies its signatures, and returns a summary. `text` is its file, if any. */
export function keep(batch: Batch, text?: string): BatchSummary {
  const number = ++lastNumber;
  batches.set(number, batch);
  const startMs = performance.now();
  const invalid = batch.kind === 'task' ? findInvalid(batch.items) : [];
  const checkMs = performance.now() - startMs;
  const shown = invalid.slice(0, MAX_FAULTS);
  const places = text === undefined || shown.length === 0 ? [] : jsonPlaces(text).elements;
  const keys = new Map(batch.items.map(({ publicKey }) => [encodeWireHex(publicKey), publicKey]));
  const sets = batch.items.map(({ publicKey }) => setOf(publicKey));
  const signatures = batch.kind === 'task' ? batch.items.map((item) => item.signature.length) : [];
  return {
    batch: number,
    name: batch.name,
    kind: batch.kind,
    count: batch.items.length,
    keys: keys.size,
    sets: {
      falcon512: sets.filter((set) => set === 'falcon512').length,
      falcon1024: sets.filter((set) => set === 'falcon1024').length,
    },
    bytes: {
      signatures: signatures.reduce((all, bytes) => all + bytes, 0),
      file: utf8.encode(text ?? formatted(batch)).length,
    },
    first: batch.items.slice(0, PREVIEWS).map((item, i) => ({
      digest: encodeWireHex(item.message.subarray(0, 64)),
      publicKey: encodeWireHex(item.publicKey.subarray(0, 64)),
      signatureBytes: signatures[i] ?? 0,
    })),
    invalid: shown.map(({ index, reason }) => ({
      index,
      message: reasonWords(reason),
      ...lineOf(text, places, index),
    })),
    invalidTotal: invalid.length,
    checkMs,
  };
}

const utf8 = new TextEncoder();

function formatted(batch: Batch): string {
  if (batch.kind === 'task') return formatTaskFile(batch.items);
  const none = new Uint8Array(0);
  return formatTaskFile(batch.items.map((item) => ({ ...item, signature: none })));
}

/** Returns the task file of a batch, as it is uploaded. */
export function taskFile({ batch }: { readonly batch: number }): Uint8Array<ArrayBuffer> {
  return utf8.encode(formatted(batchOf(batch)));
}

/** Returns the line of an item; nothing without a text. `places` are the offsets of its items. */
function lineOf(text: string | undefined, places: readonly number[], index: number) {
  const offset = places[index];
  return text === undefined || offset === undefined ? {} : { line: placeOf(text, offset).line };
}

interface FileToRead {
  /** Empty if the file is larger than the limit. */
  readonly bytes: ArrayBuffer;
  /** Size of the file. */
  readonly size: number;
  readonly name: string;
  readonly kind: BatchSummary['kind'];
  readonly limits: Limits;
}

/** Reads a file. @returns a summary of its content, or its faults */
export function readFile({ bytes, size, name, kind, limits }: FileToRead): FileReading {
  if (size > limits.maxFileBytes) {
    const most = binarySizeText(limits.maxFileBytes);
    return one(`The file exceeds the service's limit of ${most}`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return one('The file is not UTF-8 text');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { fault } = jsonPlaces(text);
    if (fault === undefined) return one('The file is not JSON');
    return one(`The file is not JSON: ${fault.message}`, placeOf(text, fault.offset));
  }
  const checked = kind === 'task' ? checkTriples(value, limits) : checkStatements(value, limits);
  if (checked.faults) return shapeFaults(checked.faults, text);
  return { summary: keep({ kind, name, items: checked.items } as Batch, text) };
}

function one(message: string, place: { line?: number; column?: number } = {}): FileReading {
  return { faults: [{ message, ...place }], total: 1 };
}

function shapeFaults(faults: readonly ShapeFault[], text: string): FileReading {
  const { elements } = jsonPlaces(text);
  const shown = faults.slice(0, MAX_FAULTS).map((fault): FileFault => {
    if (fault.index === undefined) return { message: `The file ${fault.message}` };
    return { message: fault.message, index: fault.index, ...lineOf(text, elements, fault.index) };
  });
  return { faults: shown, total: faults.length };
}

interface Addition {
  readonly triple: Triple;
  /** The number of the batch to extend; null for a new one. */
  readonly after: number | null;
  readonly limits: Limits;
}

/** Appends a signature to a batch. */
export function collect({ triple, after, limits }: Addition): FileReading {
  const before = after === null ? null : batchOf(after);
  const known = before?.kind === 'task' ? before.items.map(toTriple) : [];
  const checked = checkTriples([...known, triple], limits);
  if (checked.faults) {
    return { faults: checked.faults.slice(0, MAX_FAULTS), total: checked.faults.length };
  }
  const name = before?.name ?? 'Collected signatures';
  return { summary: keep({ kind: 'task', name, items: checked.items }) };
}
