/**
 * Reads the caller's arguments. Wrong types and lengths are caller errors and throw immediately.
 *
 * Every field of every element is read exactly once. Input to asynchronous work is also copied
 * immediately, so later changes to the caller's arrays cannot separate what was verified from what
 * is proved.
 */
import { toOrdinary } from '../falcon/deterministic.ts';
import { copyBytes, isIntact, notBytes, readList, typeName } from '../shared/arguments.ts';
import type { AggregateItem } from './batch.ts';
import { MAX_ITEMS } from './container.ts';
import type { Statement } from './statement.ts';

/** Maximum length of any list; same limit as `verifyBatch` of src/falcon. */
const MAX_LIST = 2 ** 22;

/**
 * Reads signatures with their keys and messages, without copying. Deterministic signatures are
 * converted to the equivalent ordinary ones.
 *
 * @throws TypeError unless the argument is a list of objects whose fields are bytes
 */
export function readItems(items: unknown): AggregateItem[] {
  return readElements('items', items, itemOf);
}

/**
 * Reads keys and messages, without copying.
 *
 * @throws TypeError unless the argument is a list of objects whose fields are bytes
 */
export function readStatements(statements: unknown): Statement[] {
  return readElements('statements', statements, statementOf);
}

/**
 * Reads the next statement of a stream, without copying.
 *
 * @throws TypeError unless it is an object whose fields are bytes
 */
export const readStatement = (value: unknown, index: number): Statement =>
  readElement('statements', value, index, statementOf);

/**
 * Copies the next item of a stream. Deterministic signatures are converted, as by `readItems`.
 *
 * @throws TypeError unless it is an object whose fields are bytes
 */
export function copyItem(value: unknown, index: number): AggregateItem {
  const { publicKey, message, signature } = readElement('items', value, index, itemOf);
  return {
    publicKey: copyBytes('publicKey', publicKey),
    message: copyBytes('message', message),
    signature: copyBytes('signature', signature),
  };
}

/**
 * Copies the items of one aggregate into private memory.
 *
 * @throws TypeError, RangeError unless the argument is a list of 1 to 8192 signatures with their
 *   keys and messages
 */
export function copyItems(items: unknown): AggregateItem[] {
  const read = readItems(items);
  checkCount('items', read);
  const statements = copyStatements(read);
  return statements.map((statement, i) => {
    return { ...statement, signature: copyBytes('signature', read[i]!.signature) };
  });
}

/** Copies the statements into private memory. Elements that share a key object share its copy. */
export function copyStatements(statements: readonly Statement[]): Statement[] {
  const keys = new Map<Uint8Array, Uint8Array>();
  return statements.map(({ publicKey, message }) => {
    const key = keys.get(publicKey) ?? copyBytes('publicKey', publicKey);
    keys.set(publicKey, key);
    return { publicKey: key, message: copyBytes('message', message) };
  });
}

/** @throws RangeError if the list is empty or too long */
export function checkCount(name: string, list: readonly unknown[]): void {
  if (list.length < 1 || list.length > MAX_ITEMS) {
    throw new RangeError(`"${name}" expected 1 to ${MAX_ITEMS} elements, got ${list.length}`);
  }
}

type Field = (name: keyof AggregateItem) => Uint8Array;

const itemOf = (field: Field): AggregateItem => ({
  publicKey: field('publicKey'),
  message: field('message'),
  signature: toOrdinary(field('signature')),
});

const statementOf = (field: Field): Statement => ({
  publicKey: field('publicKey'),
  message: field('message'),
});

function readElements<T>(name: string, list: unknown, read: (field: Field) => T): T[] {
  return readList(name, list, MAX_LIST, (element, i) => readElement(name, element, i, read));
}

/** @param read makes an element of its fields, by an object literal: see `readOptions` */
function readElement<T>(
  name: string,
  element: unknown,
  index: number,
  read: (field: Field) => T,
): T {
  if (typeof element !== 'object' || element === null) {
    throw new TypeError(`"${name}[${index}]" expected an object, got ${typeName(element)}`);
  }
  return read((field) => {
    const value = (element as Record<string, unknown>)[field];
    if (!isIntact(value)) throw notBytes(`${name}[${index}].${field}`, value);
    return value;
  });
}
