/**
 * The task file: a JSON array of `{digest, public_key, signature}`, all `0x` hex. Read by the
 * workers, by the direct endpoint (its `data` is the same array) and by the command line.
 *
 * This judges shape only: JSON, types, hex, and the size limits. Whether a key, a signature or a
 * pair of them is *valid* is for the library to say, item by item. No `node:` imports.
 */
import { CodedError } from '../errors.ts';
import { decodeWireHex, describeHexFault, encodeWireHex, type HexFault } from './hex.ts';

/** One element of a task file, as it is on the wire. */
export interface Triple {
  readonly digest: string;
  readonly public_key: string;
  readonly signature: string;
}

/** One element as the library wants it. */
export interface TaskItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** An element without its signature: what a verifier supplies. */
export interface Statement {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

export interface TaskFileLimits {
  /** Most elements; default 1722. */
  readonly maxSignatures?: number;
  /** Most bytes of one digest; default 4096. */
  readonly maxMessageBytes?: number;
  /** Most bytes of the whole file; default 32 MiB. */
  readonly maxFileBytes?: number;
}

export const DEFAULT_TASK_FILE_LIMITS: Required<TaskFileLimits> = Object.freeze({
  maxSignatures: 1722,
  maxMessageBytes: 4096,
  maxFileBytes: 32 * 1024 * 1024,
});

/**
 * More bytes than any key or signature has. What is shorter but still of a wrong length goes to
 * the library, which names it as an invalid item; what is longer is not even decoded.
 */
export const MAX_KEY_OR_SIGNATURE_BYTES = 2048;

/** What is wrong with the shape, and where: `path` is a JSON pointer (`/17/signature`, or ``). */
export interface ShapeFault {
  readonly path: string;
  readonly code: 'notAnArray' | 'empty' | 'tooMany' | 'notAnObject' | HexFault;
  readonly message: string;
  /** The element at fault; absent when the array itself is. */
  readonly index?: number;
}

/** Either every element, or every fault of the shape (never both). */
export type Checked<T> =
  | { readonly items: T[]; readonly faults?: undefined }
  | { readonly items?: undefined; readonly faults: ShapeFault[] };

/**
 * Judges a parsed array of triples. Unknown fields are ignored.
 *
 * @param value anything that came out of JSON
 * @returns the items in order, or every fault in order of index
 */
export function checkTriples(value: unknown, limits: TaskFileLimits = {}): Checked<TaskItem> {
  return checkArray(value, limits, (element, read) => ({
    publicKey: read('public_key', element.public_key),
    message: read('digest', element.digest),
    signature: read('signature', element.signature),
  }));
}

/**
 * Judges a parsed array of `{digest, public_key}`; a task file passes too, its signatures are
 * not looked at.
 */
export function checkStatements(value: unknown, limits: TaskFileLimits = {}): Checked<Statement> {
  return checkArray(value, limits, (element, read) => ({
    publicKey: read('public_key', element.public_key),
    message: read('digest', element.digest),
  }));
}

/**
 * Reads a whole task file.
 *
 * @throws CodedError `BODY_TOO_LARGE`, `MALFORMED_JSON`, `TOO_MANY_ITEMS`, or `BAD_TASK_FILE` whose
 *   `invalid` names every element at fault
 */
export function parseTaskFile(file: Uint8Array | string, limits: TaskFileLimits = {}): TaskItem[] {
  return itemsOrThrow(checkTriples(parseJson(file, limits), limits));
}

/** Reads a file of statements, or the statements of a task file; throws as parseTaskFile. */
export function parseStatementFile(
  file: Uint8Array | string,
  limits: TaskFileLimits = {},
): Statement[] {
  return itemsOrThrow(checkStatements(parseJson(file, limits), limits));
}

/** One item in wire form. */
export function toTriple(item: TaskItem): Triple {
  return {
    digest: encodeWireHex(item.message),
    public_key: encodeWireHex(item.publicKey),
    signature: encodeWireHex(item.signature),
  };
}

/** A task file of these items: one element a line, so that it can be read and compared. */
export function formatTaskFile(items: readonly TaskItem[]): string {
  return `[${items.map((item) => `\n${JSON.stringify(toTriple(item))}`).join(',')}\n]\n`;
}

/** The faults as one error: every element at fault in `invalid`, one line for each element. */
export function shapeError(faults: readonly ShapeFault[]): CodedError {
  const first = faults[0]!;
  if (first.index === undefined) {
    const code = first.code === 'tooMany' ? 'TOO_MANY_ITEMS' : 'BAD_TASK_FILE';
    return new CodedError(code, { message: `The task file ${first.message}` });
  }
  const reasons = new Map<number, string[]>();
  for (const { index, message } of faults) {
    const known = reasons.get(index!);
    if (known) known.push(message);
    else reasons.set(index!, [message]);
  }
  const invalid = Array.from(reasons, ([index, list]) => ({ index, reason: list.join('; ') }));
  return new CodedError('BAD_TASK_FILE', { invalid });
}

type Field = 'digest' | 'public_key' | 'signature';
type ReadField = (field: Field, value: unknown) => Uint8Array;

const NOTHING = new Uint8Array(0);

function checkArray<T>(
  value: unknown,
  limits: TaskFileLimits,
  convert: (element: Partial<Record<Field, unknown>>, read: ReadField) => T,
): Checked<T> {
  const { maxSignatures, maxMessageBytes } = { ...DEFAULT_TASK_FILE_LIMITS, ...limits };
  const whole = (code: ShapeFault['code'], message: string) => ({
    faults: [{ path: '', code, message }],
  });
  if (!Array.isArray(value)) return whole('notAnArray', 'must be an array');
  if (value.length === 0) return whole('empty', 'must hold at least one element');
  if (value.length > maxSignatures) {
    return whole('tooMany', `holds ${value.length} elements; at most ${maxSignatures} are allowed`);
  }

  const faults: ShapeFault[] = [];
  // Keys that repeat become one array: verification prepares each array once.
  const keys = new Map<unknown, Uint8Array>();
  let index = 0;
  const read: ReadField = (field, text) => {
    const known = field === 'public_key' ? keys.get(text) : undefined;
    if (known !== undefined) return known;
    const maxBytes = field === 'digest' ? maxMessageBytes : MAX_KEY_OR_SIGNATURE_BYTES;
    const bytes = decodeWireHex(text, maxBytes);
    if (typeof bytes !== 'string') {
      if (field === 'public_key') keys.set(text, bytes);
      return bytes;
    }
    const message = `${field} ${describeHexFault(bytes, maxBytes)}`;
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

function parseJson(file: Uint8Array | string, limits: TaskFileLimits): unknown {
  const maxFileBytes = limits.maxFileBytes ?? DEFAULT_TASK_FILE_LIMITS.maxFileBytes;
  if (file.length > maxFileBytes) {
    throw new CodedError('BODY_TOO_LARGE', {
      message: `The task file is larger than ${maxFileBytes} bytes`,
    });
  }
  try {
    return JSON.parse(
      typeof file === 'string' ? file : new TextDecoder('utf-8', { fatal: true }).decode(file),
    );
  } catch (cause) {
    throw new CodedError('MALFORMED_JSON', { message: 'The task file is not valid JSON', cause });
  }
}
