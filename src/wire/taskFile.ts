/**
 * The task file: a JSON array of `{digest, public_key, signature}`, all `0x` hex. Read by workers,
 * the direct endpoint (whose `data` is the same array), the page and the command line.
 *
 * Only its form is checked here: JSON, types, hex, and limits. The library checks keys and
 * signatures, item by item.
 */

import { CodedError } from '../shared/errors.ts';
import { decodeUtf8 } from '../shared/utf8.ts';
import { decodeWireHex, describeHexFault, type HexFault } from './hex.ts';
import type { Statement, TaskItem } from './triple.ts';

export interface TaskFileLimits {
  /** Maximum number of elements; default 1722. */
  readonly maxSignatures?: number;
  /** Maximum bytes of one digest; default 4096. */
  readonly maxMessageBytes?: number;
  /** Maximum bytes of the file; default 32 MiB. */
  readonly maxFileBytes?: number;
}

export const DEFAULT_TASK_FILE_LIMITS: Required<TaskFileLimits> = Object.freeze({
  maxSignatures: 1722,
  maxMessageBytes: 4096,
  maxFileBytes: 32 * 1024 * 1024,
});

/**
 * More than the length of any key or signature. Longer fields are not decoded. Shorter ones of a
 * wrong length are reported by the library as invalid items.
 */
export const MAX_KEY_OR_SIGNATURE_BYTES = 2048;

/** A fault of the form. `path` is a JSON pointer (`/17/signature`, or ``). */
export interface ShapeFault {
  readonly path: string;
  readonly code: 'notAnArray' | 'empty' | 'tooMany' | 'notAnObject' | HexFault;
  readonly message: string;
  /** The index of the faulty element; absent if the array itself is at fault. */
  readonly index?: number;
}

/** Either all elements or all faults of the form. */
export type Checked<T> =
  | { readonly items: T[]; readonly faults?: undefined }
  | { readonly items?: undefined; readonly faults: ShapeFault[] };

/**
 * Checks a parsed array of triples. Unknown fields are ignored.
 *
 * @param value any JSON value
 * @returns the items in order, or all faults in order of index
 */
export function checkTriples(
  value: unknown,
  limits: TaskFileLimits = {},
  form: BytesForm = HEX_FORM,
): Checked<TaskItem> {
  return checkArray(value, limits, form, (element, read) => ({
    publicKey: read('public_key', element.public_key),
    message: read('digest', element.digest),
    signature: read('signature', element.signature),
  }));
}

/**
 * Checks a parsed array of `{digest, public_key}`. A task file is accepted, too; its signatures are
 * ignored.
 */
export function checkStatements(
  value: unknown,
  limits: TaskFileLimits = {},
  form: BytesForm = HEX_FORM,
): Checked<Statement> {
  return checkArray(value, limits, form, (element, read) => ({
    publicKey: read('public_key', element.public_key),
    message: read('digest', element.digest),
  }));
}

/**
 * Reads a whole task file.
 *
 * @throws CodedError `BODY_TOO_LARGE`, `MALFORMED_JSON`, `TOO_MANY_ITEMS`, or `BAD_TASK_FILE` whose
 *   `invalid` lists every faulty element
 */
export function parseTaskFile(file: Uint8Array | string, limits: TaskFileLimits = {}): TaskItem[] {
  return itemsOrThrow(checkTriples(parse(file, limits), limits));
}

/** Reads a file of statements, or the statements of a task file. Throws like parseTaskFile. */
export function parseStatementFile(
  file: Uint8Array | string,
  limits: TaskFileLimits = {},
): Statement[] {
  return itemsOrThrow(checkStatements(parse(file, limits), limits));
}

/** Combines the faults into one error, with all faulty elements in `invalid`. */
export function shapeError(faults: readonly ShapeFault[]): CodedError {
  const first = faults[0]!;
  if (first.index === undefined) {
    const code = first.code === 'tooMany' ? 'TOO_MANY_ITEMS' : 'BAD_TASK_FILE';
    return new CodedError(code, { message: `The task file ${first.message}` });
  }
  const reasons = new Map<number, string[]>();
  for (const { index, message } of faults) {
    reasons.set(index!, [...(reasons.get(index!) ?? []), message]);
  }
  const invalid = Array.from(reasons, ([index, list]) => ({ index, reason: list.join('; ') }));
  return new CodedError('BAD_TASK_FILE', { invalid });
}

type Field = 'digest' | 'public_key' | 'signature';
type ReadField = (field: Field, value: unknown) => Uint8Array;

const NOTHING = new Uint8Array(0);

/** Decodes the digests, keys and signatures of an array; callers may supply another. */
export interface BytesForm {
  decode(given: unknown, maxBytes: number): Uint8Array | HexFault;
  describe(fault: HexFault, maxBytes: number): string;
  /** Returns equal names for equal bytes; undefined for values not in this form. */
  nameOf(given: unknown): string | undefined;
}

export const HEX_FORM: BytesForm = {
  decode: decodeWireHex,
  describe: describeHexFault,
  nameOf: (given) => (typeof given === 'string' ? given : undefined),
};

function checkArray<T>(
  value: unknown,
  limits: TaskFileLimits,
  { decode, describe, nameOf }: BytesForm,
  convert: (element: Partial<Record<Field, unknown>>, read: ReadField) => T,
): Checked<T> {
  const { maxSignatures, maxMessageBytes } = { ...DEFAULT_TASK_FILE_LIMITS, ...limits };
  const whole = (code: ShapeFault['code'], message: string) => ({
    faults: [{ path: '', code, message }],
  });
  if (!Array.isArray(value)) return whole('notAnArray', 'must be an array');
  if (value.length === 0) return whole('empty', 'must have at least one element');
  if (value.length > maxSignatures) {
    return whole('tooMany', `has ${value.length} elements; at most ${maxSignatures} are allowed`);
  }

  const faults: ShapeFault[] = [];
  // Repeated keys share one array, since verification prepares each array once.
  const keys = new Map<string, Uint8Array>();
  let index = 0;
  const read: ReadField = (field, given) => {
    const name = field === 'public_key' ? nameOf(given) : undefined;
    const known = name === undefined ? undefined : keys.get(name);
    if (known !== undefined) return known;
    const maxBytes = field === 'digest' ? maxMessageBytes : MAX_KEY_OR_SIGNATURE_BYTES;
    const bytes = decode(given, maxBytes);
    if (typeof bytes !== 'string') {
      if (name !== undefined) keys.set(name, bytes);
      return bytes;
    }
    const message = `${field} ${describe(bytes, maxBytes)}`;
    faults.push({ path: `/${index}/${field}`, code: bytes, message, index });
    return NOTHING;
  };
  const items: T[] = [];
  for (; index < value.length; index++) {
    const element: unknown = value[index];
    if (typeof element !== 'object' || element === null || Array.isArray(element)) {
      faults.push({ path: `/${index}`, code: 'notAnObject', message: 'must be an object', index });
    } else {
      items.push(convert(element, read));
    }
  }
  return faults.length > 0 ? { faults } : { items };
}

function itemsOrThrow<T>(checked: Checked<T>): T[] {
  if (checked.faults) throw shapeError(checked.faults);
  return checked.items;
}

function parse(file: Uint8Array | string, { maxFileBytes }: TaskFileLimits): unknown {
  const maxBytes = maxFileBytes ?? DEFAULT_TASK_FILE_LIMITS.maxFileBytes;
  return parseJsonFile(file, 'task file', maxBytes);
}

/**
 * Parses a JSON file.
 *
 * @param file UTF-8 bytes, or text; a byte order mark is skipped
 * @param name name of the file in errors
 * @throws CodedError `BODY_TOO_LARGE` or `MALFORMED_JSON`
 */
export function parseJsonFile(file: Uint8Array | string, name: string, maxBytes: number): unknown {
  if (file.length > maxBytes) {
    throw new CodedError('BODY_TOO_LARGE', {
      message: `The ${name} is larger than ${maxBytes} bytes`,
    });
  }
  try {
    return JSON.parse(decodeUtf8(file));
  } catch (cause) {
    throw new CodedError('MALFORMED_JSON', { message: `The ${name} is not valid JSON`, cause });
  }
}
