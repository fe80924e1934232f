/**
 * One signature of a batch: as a triple of hex strings on the wire, as bytes in the library. An
 * array of triples is a task file.
 */
import { copyBytes } from '../shared/arguments.ts';
import { encodeWireHex } from './hex.ts';

/** One signature on the wire: hex with `0x`. */
export interface Triple {
  readonly digest: string;
  readonly public_key: string;
  readonly signature: string;
}

/** One signature as the library has it. */
export interface TaskItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** An item without its signature: what a verifier supplies. */
export interface Statement {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

/**
 * One item in wire form; of a triple, its three fields.
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

/** A task file of these items: one triple a line, so that it can be read and compared. */
export function formatTaskFile(items: readonly (Triple | TaskItem)[]): string {
  return `[${items.map((item) => `\n${JSON.stringify(toTriple(item))}`).join(',')}\n]\n`;
}
