/**
 * The statement commitment: a hash of the claim of an aggregate, the ordered list of (parameter
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
 * Integers are big-endian. Every length is fixed or precedes its data, so different lists always
 * produce different inputs.
 */

import type { ParameterSet } from '../falcon/index.ts';
import { FALCON_512, FALCON_1024 } from '../falcon/params.ts';
import { shake256, startShake256 } from '../falcon/points.ts';
import { readBytes } from '../shared/arguments.ts';
import { ascii, concat } from '../shared/bytes.ts';
import { lengthOf, set } from '../shared/intrinsics.ts';

export const COMMITMENT_BYTES = 32;

/** The claim that a signature is valid for this key and message. */
export interface Statement {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

const LABEL = ascii('falconry statement v1');

/** Returns the parameter set whose public keys have this length. */
export function setOfPublicKey(publicKey: Uint8Array): ParameterSet | undefined {
  const length = lengthOf(publicKey);
  if (length === FALCON_512.lengths.publicKey) return 'falcon512';
  if (length === FALCON_1024.lengths.publicKey) return 'falcon1024';
  return undefined;
}

/**
 * Returns the commitment, 32 bytes. The caller must have rejected keys of wrong length and copied
 * the bytes to private memory.
 *
 * @throws RangeError for a message of 2^32 bytes or more, whose length would be ambiguous
 */
export function statementDigest(statements: readonly Statement[]): Uint8Array<ArrayBuffer> {
  return shake256([LABEL, u32(statements.length), ...framed(statements)], COMMITMENT_BYTES);
}

/** The commitment to statements that arrive in blocks. */
export class StatementHash {
  readonly #hash: ReturnType<typeof startShake256>;

  /** @param count number of statements in all blocks */
  constructor(count: number) {
    this.#hash = startShake256(concat(LABEL, u32(count)));
  }

  /** Adds the next statements; see `statementDigest`. */
  add({ bytes }: StatementBlock): void {
    this.#hash.update(bytes);
  }

  /** Returns the commitment; make no further calls then. */
  digest(): Uint8Array<ArrayBuffer> {
    return this.#hash.squeeze(COMMITMENT_BYTES);
  }
}

/** Room for 128 keys of Falcon-512, with messages of 100 bytes. */
const ROOM_BYTES = 2 ** 17;

/** Copies of consecutive statements in one buffer, as they are hashed; see `statementDigest`. */
export class StatementBlock {
  /** the copies: views of the buffer */
  readonly statements: Statement[] = [];
  #buffer = new Uint8Array(ROOM_BYTES);
  #length = 0;

  /** number of their bytes */
  get length(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Copies a statement. @throws TypeError if one of its arrays is detached */
  add({ publicKey, message }: Statement): void {
    const [key, text] = [readBytes('publicKey', publicKey), readBytes('message', message)];
    const keyAt = this.#length + 1;
    const lengthAt = keyAt + key.length;
    const textAt = lengthAt + 4;
    const end = textAt + text.length;
    this.#reserve(end);
    const buffer = this.#buffer;
    buffer[this.#length] = lognOf(publicKey);
    key.copyTo(buffer, keyAt);
    set(buffer, u32(text.length), lengthAt);
    text.copyTo(buffer, textAt);
    this.#length = end;
    this.statements.push({
      publicKey: buffer.subarray(keyAt, lengthAt),
      message: buffer.subarray(textAt, end),
    });
  }

  /** Makes room for this number of bytes. Earlier copies stay where they are. */
  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
    set(larger, this.bytes);
    this.#buffer = larger;
  }

  /** Makes room for other statements: these are overwritten. */
  clear(): void {
    this.statements.length = 0;
    this.#length = 0;
    if (this.#buffer.length > 16 * ROOM_BYTES) this.#buffer = new Uint8Array(ROOM_BYTES);
  }
}

const lognOf = (publicKey: Uint8Array): number =>
  setOfPublicKey(publicKey) === 'falcon512' ? 9 : 10;

function* framed(statements: readonly Statement[]): Generator<Uint8Array> {
  for (const { publicKey, message } of statements) {
    yield Uint8Array.of(lognOf(publicKey));
    yield publicKey;
    yield u32(message.length);
    yield message;
  }
}

/**
 * The four bytes of a length.
 *
 * @throws RangeError for one that does not fit and would alias another one
 */
export function u32(value: number): Uint8Array<ArrayBuffer> {
  if (value >= 2 ** 32) throw new RangeError('a message expected less than 2^32 bytes');
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}
