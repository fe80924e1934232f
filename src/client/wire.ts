/** Between what callers have (bytes, ids of any type) and what the wire has (hex, digits). */
import { copyBytes, isBytes } from '../arguments.ts';
import { fromHex, toHex } from '../bytes.ts';
import { ClientError } from './clientError.ts';
import type { Batch, Item, StatementInput, TaskId, TaskIdInput, Triple } from './types.ts';

/** Hex with `0x`. */
export const encodeHex = (bytes: Uint8Array): string => `0x${toHex(bytes)}`;

/** @throws RangeError for anything but hex with `0x` */
export function decodeHex(text: string): Uint8Array {
  if (!text.startsWith('0x')) throw new RangeError('hex must start with 0x');
  return fromHex(text.slice(2));
}

/**
 * An id in digits.
 *
 * @throws TypeError for another type, RangeError for what is no id or a number that is not exact
 */
export function taskId(id: TaskIdInput): TaskId {
  if (typeof id === 'string' || typeof id === 'bigint') {
    const text = String(id);
    if (/^\d{1,30}$/.test(text)) return text;
    throw new RangeError('"id" expected a string of digits');
  }
  if (typeof id !== 'number') throw new TypeError(`"id" expected an id, got ${typeof id}`);
  if (Number.isSafeInteger(id) && id >= 0) return String(id);
  throw new RangeError('"id" is a number that is not exact: give it as a string or a bigint');
}

/** The id in an answer, or null where there is none. */
export function readId(value: unknown): TaskId | null {
  if (typeof value === 'bigint') return value >= 0n ? String(value) : null;
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? `${value}` : null;
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? value : null;
}

/** One item as it goes over the wire. */
export function toTriple(item: Triple | Item): Triple {
  if ('publicKey' in item) {
    return {
      digest: encodeHex(copyBytes('message', item.message)),
      public_key: encodeHex(copyBytes('publicKey', item.publicKey)),
      signature: encodeHex(copyBytes('signature', item.signature)),
    };
  }
  const { digest, public_key, signature } = item;
  return { digest, public_key, signature };
}

/** One statement as it goes over the wire. */
export function toWireStatement(statement: StatementInput): Pick<Triple, 'digest' | 'public_key'> {
  if ('publicKey' in statement) {
    return {
      digest: encodeHex(copyBytes('message', statement.message)),
      public_key: encodeHex(copyBytes('publicKey', statement.publicKey)),
    };
  }
  const { digest, public_key } = statement;
  return { digest, public_key };
}

/** One statement as the library takes it. */
export function toStatement(statement: StatementInput): Pick<Item, 'publicKey' | 'message'> {
  if ('publicKey' in statement) return statement;
  return {
    publicKey: decodeHex(statement.public_key),
    message: decodeHex(statement.digest),
  };
}

/** The task file of a batch: JSON, one triple a line; a file that is one already goes as it is. */
export async function taskFile(batch: Batch): Promise<Uint8Array> {
  if (isBytes(batch)) return batch;
  if (batch instanceof Blob) return new Uint8Array(await batch.arrayBuffer());
  if (typeof batch === 'string') return new TextEncoder().encode(batch);
  if (!Array.isArray(batch))
    throw new TypeError('"items" expected an array, bytes, a string or a Blob');
  const lines = (batch as readonly (Triple | Item)[]).map(
    (item) => `\n${JSON.stringify(toTriple(item))}`,
  );
  return new TextEncoder().encode(`[${lines.join(',')}\n]\n`);
}

/** An object of an answer. */
export function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw malformed(`${what} is not an object`);
}

/** What an answer outside the contract is told by. */
export const malformed = (message: string, cause?: unknown): ClientError =>
  new ClientError('malformed', { code: 'MALFORMED_ANSWER', message, cause });
