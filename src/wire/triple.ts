/**
 * One signature of a batch: a triple of hex strings on the wire, bytes in the library. An array of
 * triples is a task file.
 */
import { copyBytes } from '../shared/arguments.ts';
import { encodeWireHex } from './hex.ts';

/** One signature on the wire: hex with `0x`. */
export interface Triple {
  readonly digest: string;
  readonly public_key: string;
  readonly signature: string;
}

/** One signature in the library's form. */
export interface TaskItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** An item without its signature, as verifiers supply it. */
export type Statement = Omit<TaskItem, 'signature'>;

/**
 * Converts an item to the wire format. Of a triple, only the three fields are kept.
 *
 * @throws TypeError if a field of an item is not bytes
 */
export function toTriple(item: Triple | TaskItem): Triple {
  if (!('publicKey' in item)) {
    const { digest, public_key, signature } = item;
    return { digest, public_key, signature };
  }
  return {
    digest: encodeWireHex(copyBytes('message', item.message)),
    public_key: encodeWireHex(copyBytes('publicKey', item.publicKey)),
    signature: encodeWireHex(copyBytes('signature', item.signature)),
  };
}

/** Formats items as a task file, one triple per line, for reading and diffs. */
export function formatTaskFile(items: readonly (Triple | TaskItem)[]): string {
  return `[${items.map((item) => `\n${JSON.stringify(toTriple(item))}`).join(',')}\n]\n`;
}
