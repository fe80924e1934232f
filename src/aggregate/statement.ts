/**
 * The statement commitment: one hash of what an aggregate claims, the ordered list of (parameter
 * set, public key, message).
 *
 *   SHAKE256, 32 bytes, of
 *     "falconry statement v1"           21 bytes of ASCII, the domain label
 *     count                             u32
 *     for every statement, in order:
 *       logn                            u8: 9 or 10
 *       public key                      897 or 1793 bytes, by logn
 *       length of the message           u32
 *       message
 *
 * Integers are big-endian. Every length is fixed or written before what it measures, so two
 * different lists never give the same input.
 */
import { shake256 } from '@noble/hashes/sha3.js';
import { falcon512, falcon1024, type ParameterSet } from '../falcon/index.ts';
import { COMMITMENT_BYTES } from './container.ts';

/** What is proved about one signature: it belongs to this key and this message. */
export interface Statement {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

const LABEL = new TextEncoder().encode('falconry statement v1');

/** The set whose public keys have this length. */
export function setOfPublicKey(publicKey: Uint8Array): ParameterSet | undefined {
  if (publicKey.length === falcon512.lengths.publicKey) return 'falcon512';
  if (publicKey.length === falcon1024.lengths.publicKey) return 'falcon1024';
  return undefined;
}

/** Absorbs statements one by one, for lists that arrive in parts. */
export interface StatementHasher {
  /** Keys of a wrong length must have been refused before. */
  update(statement: Statement): void;
  digest(): Uint8Array;
}

/** @param count how many statements will be given */
export function statementHasher(count: number): StatementHasher {
  const hash = shake256.create({ dkLen: COMMITMENT_BYTES });
  const word = new Uint8Array(4);
  const view = new DataView(word.buffer);
  const updateWord = (value: number) => {
    view.setUint32(0, value);
    hash.update(word);
  };
  hash.update(LABEL);
  updateWord(count);
  return {
    update({ publicKey, message }) {
      hash.update(Uint8Array.of(setOfPublicKey(publicKey) === 'falcon512' ? 9 : 10));
      hash.update(publicKey);
      updateWord(message.length);
      hash.update(message);
    },
    digest: () => hash.digest(),
  };
}
