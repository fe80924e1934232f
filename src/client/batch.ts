/** Converts callers' input (bytes, hex or whole files) to the wire format. */
import { copyBytes, isBytes } from '../shared/arguments.ts';
import { encodeWireHex, requireWireHex } from '../wire/hex.ts';
import { formatTaskFile, type Statement, type Triple } from '../wire/triple.ts';
import type { Batch, StatementInput } from './types.ts';

/** Converts a statement to the wire format. */
export function toWireStatement(statement: StatementInput): Pick<Triple, 'digest' | 'public_key'> {
  if ('publicKey' in statement) {
    return {
      digest: encodeWireHex(copyBytes('message', statement.message)),
      public_key: encodeWireHex(copyBytes('publicKey', statement.publicKey)),
    };
  }
  const { digest, public_key } = statement;
  return { digest, public_key };
}

/**
 * Converts a statement to the library's form.
 *
 * @throws RangeError if a field is not hex with `0x`
 */
export function toStatement(statement: StatementInput): Statement {
  if ('publicKey' in statement) return statement;
  return {
    publicKey: requireWireHex('public_key', statement.public_key),
    message: requireWireHex('digest', statement.digest),
  };
}

/** Returns the task file of a batch; a batch that is a task file already is returned unchanged. */
export async function taskFile(batch: Batch): Promise<Uint8Array> {
  if (isBytes(batch)) return batch;
  if (batch instanceof Blob) return new Uint8Array(await batch.arrayBuffer());
  if (typeof batch === 'string') return new TextEncoder().encode(batch);
  if (Array.isArray(batch)) return new TextEncoder().encode(formatTaskFile(batch));
  throw new TypeError('"items" must be an array, bytes, a string or a Blob');
}

/** A body, and the headers that declare its encoding. */
export interface Packed {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Compresses a body with gzip; returns it unchanged on hosts without compression. */
export async function packed(body: Uint8Array): Promise<Packed> {
  if (typeof CompressionStream !== 'function') return { body, headers: {} };
  const plain = new Blob([body as Uint8Array<ArrayBuffer>]).stream();
  const stream = plain.pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return { body: bytes, headers: { 'content-encoding': 'gzip' } };
}
