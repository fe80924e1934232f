/**
 * From the caller's items to signatures that are known to be valid, some at a time, so that the
 * synchronous and the asynchronous call share every step.
 */
import { CodedError, type InvalidItem } from '../errors.ts';
import { falcon512, falcon1024 } from '../falcon/index.ts';
import { type DecodedSignature, decodeSignature } from '../falcon/points.ts';
import { type Statement, setOfPublicKey } from './statement.ts';

/** One signature with what it signs. */
export interface AggregateItem extends Statement {
  readonly signature: Uint8Array;
}

/** Items that verify, with the parts of their signatures. */
export interface VerifiedBatch {
  readonly items: readonly AggregateItem[];
  readonly signatures: readonly DecodedSignature[];
}

/** A batch in the making. */
export interface Batch {
  /**
   * Takes in the next items. Their bytes are read once more when they are encoded.
   *
   * @param refused what `invalidItems` says of them
   */
  add(items: readonly AggregateItem[], refused?: readonly InvalidItem[]): void;
  /**
   * All items added.
   *
   * @throws CodedError `INVALID_SIGNATURES` that names every invalid item with its reason
   */
  finish(): VerifiedBatch;
}

export function startBatch(): Batch {
  const taken: AggregateItem[] = [];
  const signatures: DecodedSignature[] = [];
  const invalid: InvalidItem[] = [];
  let added = 0;
  return {
    add(items, refused = invalidItems(items)) {
      for (const { index, reason } of refused) invalid.push({ index: added + index, reason });
      added += items.length;
      if (invalid.length > 0) return;
      for (const item of items) {
        const decoded = decodeSignature(item.signature);
        // What verifies also decodes: both read signatures with the same code.
        if (typeof decoded === 'string') throw new CodedError('INTERNAL', { cause: decoded });
        signatures.push(decoded);
        taken.push(item);
      }
    },
    finish() {
      if (invalid.length > 0) throw new CodedError('INVALID_SIGNATURES', { invalid });
      return { items: taken, signatures };
    },
  };
}

/** What `findInvalid` of index.ts returns, for items that are known to be of the right types. */
export function invalidItems(items: readonly AggregateItem[]): InvalidItem[] {
  // A key of no set's length is given to Falcon-512, which names the reason.
  const is1024 = items.map((item) => setOfPublicKey(item.publicKey) === 'falcon1024');
  const invalid: InvalidItem[] = [];
  for (const falcon of [falcon512, falcon1024]) {
    const wanted = falcon === falcon1024;
    const indexes = Array.from(items.keys()).filter((i) => is1024[i] === wanted);
    if (indexes.length === 0) continue;
    for (const { index, reason } of falcon.verifyBatch(indexes.map((i) => items[i]!))) {
      invalid.push({ index: indexes[index]!, reason });
    }
  }
  return invalid.sort((a, b) => a.index - b.index);
}
