/**
 * Addresses of Algorand's post-quantum accounts: 32 bytes that commit to scheme, salt byte and
 * public key (go-algorand, data/basics, consensus version 42).
 *
 *   address = SHA-512/256("PQA" ‖ scheme ‖ salt byte ‖ public key)
 *
 * The canonical salt byte is the lowest one for which the address is not a point of Edwards25519,
 * so that no address is also an Ed25519 public key. Consensus accepts every salt byte.
 */
import { sha512_256 } from '@noble/hashes/sha2.js';
import { copyBytes } from '../../../shared/arguments.ts';
import { ascii, concat, equal } from '../../../shared/bytes.ts';
import { falcon1024 } from '../../index.ts';
import { isEdwardsPoint } from './edwards25519.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Identifier of Falcon-1024 in the list of schemes. */
export const SCHEME = 'f1';

const TAG = ascii(`PQA${SCHEME}`);
const CHECKSUM = 4;
const ADDRESS = 32;
const TEXT = 58;
const SALTS: readonly number[] = Array.from({ length: 256 }, (_, salt) => salt);
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The public data of an account. */
export interface AlgorandAddress {
  /** 58 characters: base32 of the bytes and their checksum. */
  readonly address: string;
  /** The 32 bytes. */
  readonly bytes: Bytes;
  /** The salt byte, `slt` in a signature. */
  readonly salt: number;
}

/**
 * Computes the address of a public key.
 *
 * @param publicKey 1793 bytes
 * @param salt 0 to 255. Default: the canonical salt byte, which wallets use
 * @throws TypeError or RangeError if it is not a public key of Falcon-1024, or if the salt is out
 *   of range
 * @example
 * ```ts
 * const { address, salt } = algorandAddress(publicKey);
 * ```
 */
export function algorandAddress(publicKey: Uint8Array, salt?: number): AlgorandAddress {
  const key = copyBytes('publicKey', publicKey, falcon1024.lengths.publicKey);
  falcon1024.preparePublicKey(key);
  if (salt !== undefined && !(Number.isInteger(salt) && salt >= 0 && salt <= 255)) {
    throw new RangeError('"salt" expected an integer, 0 to 255');
  }
  const chosen = salt ?? canonicalSalt(key);
  const bytes = addressBytes(key, chosen);
  return { address: encodeAddress(bytes), bytes, salt: chosen };
}

/** Computes the 32 bytes of an address. */
export const addressBytes = (publicKey: Uint8Array, salt: number): Bytes =>
  sha512_256(concat(TAG, Uint8Array.of(salt), publicKey)) as Bytes;

/** Returns the canonical salt byte. With probability 2^-256 none exists. */
const canonicalSalt = (publicKey: Uint8Array): number =>
  SALTS.find((salt) => !isEdwardsPoint(addressBytes(publicKey, salt)))!;

const checksum = (bytes: Uint8Array): Bytes => sha512_256(bytes).slice(-CHECKSUM) as Bytes;

/**
 * Encodes an address as text.
 *
 * @param bytes 32 bytes
 * @throws TypeError or RangeError for any other input
 */
export function encodeAddress(bytes: Uint8Array): string {
  const plain = copyBytes('bytes', bytes, ADDRESS);
  let window = 0;
  let bits = 0;
  let text = '';
  for (const byte of concat(plain, checksum(plain))) {
    window = ((window << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += DIGITS[(window >> (bits - 5)) & 31];
  }
  return text + DIGITS[(window << (5 - bits)) & 31];
}

/**
 * Decodes the text of an address to its 32 bytes.
 *
 * @throws TypeError if it is not a string; RangeError if it is not the text of an address, or if
 *   the checksum is wrong
 */
export function decodeAddress(address: string): Bytes {
  if (typeof address !== 'string') throw new TypeError('"address" expected a string');
  const wrong = () => new RangeError('"address" is not the text of an Algorand address');
  if (address.length !== TEXT) throw wrong();
  const bytes = new Uint8Array(ADDRESS + CHECKSUM);
  let window = 0;
  let bits = 0;
  let at = 0;
  for (const character of address) {
    const value = DIGITS.indexOf(character);
    if (value < 0) throw wrong();
    window = ((window << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = window >> bits;
  }
  const plain = bytes.slice(0, ADDRESS);
  const unused = window & ((1 << bits) - 1);
  if (unused !== 0 || !equal(bytes.subarray(ADDRESS), checksum(plain))) throw wrong();
  return plain;
}
