/**
 * Verifies and decodes the caller's items, a few at a time, so that the synchronous and the
 * asynchronous call share every step.
 */
import type { ParameterSet, Profile } from '../falcon/index.ts';
import { hasProfile, paramsIn } from '../falcon/params.ts';
import { type DecodedSignature, decodeSignature } from '../falcon/points.ts';
import { verifyItems } from '../falcon/verifyItems.ts';
import { CodedError, type InvalidItem } from '../shared/errors.ts';
import { type CodedSalts, codeSalts } from './salts.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/** A signature with its key and message. */
export interface AggregateItem extends Statement {
  readonly signature: Uint8Array;
}

/** Valid items, with the parts of their signatures. */
export interface VerifiedBatch {
  readonly items: readonly AggregateItem[];
  readonly signatures: readonly DecodedSignature[];
  /** the commitment to the statements, 32 bytes */
  readonly statement: Uint8Array;
  readonly profile: Profile;
  readonly salts: CodedSalts;
}

/** A batch under construction. */
export interface Batch {
  /**
   * Adds the next items. Their bytes are read again during encoding.
   *
   * @param refused the result of `invalidItems` for these items
   */
  add(items: readonly AggregateItem[], refused?: readonly InvalidItem[]): void;
  /**
   * Completes the batch after all items have been added.
   *
   * @throws CodedError `INVALID_SIGNATURES` that lists every invalid item with its reason
   */
  finish(): VerifiedBatch;
}

export function startBatch(profile: Profile = 'round3'): Batch {
  const taken: AggregateItem[] = [];
  const signatures: DecodedSignature[] = [];
  const invalid: InvalidItem[] = [];
  let added = 0;
  return {
    add(items, refused = invalidItems(items, profile)) {
      for (const { index, reason } of refused) invalid.push({ index: added + index, reason });
      added += items.length;
      if (invalid.length > 0) return;
      for (const item of items) {
        const decoded = decodeSignature(item.signature);
        // Every signature that verifies also decodes: the same code reads it.
        if (typeof decoded === 'string') throw new CodedError('INTERNAL', { cause: decoded });
        signatures.push(decoded);
        taken.push(item);
      }
    },
    finish() {
      if (invalid.length > 0) throw new CodedError('INVALID_SIGNATURES', { invalid });
      const salts = signatures.map(({ salt }) => salt);
      const statement = statementDigest(taken);
      return { items: taken, signatures, statement, profile, salts: codeSalts(salts, taken) };
    },
  };
}

/**
 * Returns the result of `findInvalid` of index.ts, for items whose types have been checked.
 *
 * @param profile the mapping from salt and message to a point
 */
export function invalidItems(
  items: readonly AggregateItem[],
  profile: Profile = 'round3',
): InvalidItem[] {
  // A key whose length matches no set of the profile is passed to Falcon-512, which reports why.
  const sets = items.map(({ publicKey }): ParameterSet => {
    const set = setOfPublicKey(publicKey);
    return hasProfile(profile, set) ? set : 'falcon512';
  });
  const invalid: InvalidItem[] = [];
  for (const set of new Set(sets)) {
    const indexes = Array.from(items.keys()).filter((i) => sets[i] === set);
    const own = indexes.map((i) => items[i]!);
    for (const { index, reason } of verifyItems(paramsIn(profile, set), own)) {
      invalid.push({ index: indexes[index]!, reason });
    }
  }
  return invalid.sort((a, b) => a.index - b.index);
}
