/** The message representative mu that the FN-DSA draft signs, from key, context and message. */
import { sha256, sha384, sha512, sha512_256 } from '@noble/hashes/sha2.js';
import { type InputBytes, readBytes, readOptions } from '../../shared/arguments.ts';
import { shake256 } from '../points.ts';
import { SHA3_256, SHA3_384, SHA3_512, SHAKE128_256, sponge } from './sha3.ts';

export const MU_BYTES = 64;
export const KEY_HASH_BYTES = 64;
const MAX_CONTEXT = 255;

/** Hash functions for pre-hashing. */
export type PreHash =
  | 'SHA-256'
  | 'SHA-384'
  | 'SHA-512'
  | 'SHA-512/256'
  | 'SHA3-256'
  | 'SHA3-384'
  | 'SHA3-512'
  | 'SHAKE128'
  | 'SHAKE256';

interface Hash {
  /** The last arc of its OID, 2.16.840.1.101.3.4.2.x. */
  readonly arc: number;
  readonly digest: (message: Uint8Array) => Uint8Array;
}

/** DER of the OID 2.16.840.1.101.3.4.2, NIST's hash functions, without the last arc. */
const OID = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];

/** OIDs: NIST's Computer Security Objects Register. SHAKE128 outputs 32 bytes, SHAKE256 64. */
const HASHES: Readonly<Record<PreHash, Hash>> = /* @__PURE__ */ Object.freeze({
  'SHA-256': { arc: 1, digest: sha256 },
  'SHA-384': { arc: 2, digest: sha384 },
  'SHA-512': { arc: 3, digest: sha512 },
  'SHA-512/256': { arc: 6, digest: sha512_256 },
  'SHA3-256': { arc: 8, digest: (message) => sponge(SHA3_256, message) },
  'SHA3-384': { arc: 9, digest: (message) => sponge(SHA3_384, message) },
  'SHA3-512': { arc: 10, digest: (message) => sponge(SHA3_512, message) },
  SHAKE128: { arc: 11, digest: (message) => sponge(SHAKE128_256, message) },
  SHAKE256: { arc: 12, digest: (message) => shake256([message], 64) },
});

/** Inputs that are signed with the message. */
export interface FnDsaMessageOptions {
  /** Domain separation for uses of one key, 0 to 255 bytes. Default: empty. */
  readonly context?: Uint8Array;
  /** Signs a hash of the message instead of the message. Default: none. */
  readonly preHash?: PreHash;
}

export const MESSAGE_OPTIONS = ['context', 'preHash'] as const;

/** The same options after validation. */
export interface ReadMessageOptions {
  readonly context: Uint8Array;
  readonly hash: Hash | undefined;
}

/**
 * @throws TypeError for unknown names and wrong types; RangeError for a context above 255 bytes or
 *   an unknown hash function
 */
export function readMessageOptions(value: unknown): ReadMessageOptions {
  return checkMessageOptions(readOptions(value, MESSAGE_OPTIONS));
}

/** Checks options that have been read already. */
export function checkMessageOptions({
  context = new Uint8Array(0),
  preHash,
}: {
  readonly [N in (typeof MESSAGE_OPTIONS)[number]]: unknown;
}): ReadMessageOptions {
  const copy = readBytes('context', context).copy();
  if (copy.length > MAX_CONTEXT) {
    throw new RangeError(`"context" expected at most ${MAX_CONTEXT} bytes, got ${copy.length}`);
  }
  if (preHash === undefined) return { context: copy, hash: undefined };
  if (typeof preHash !== 'string' || !Object.hasOwn(HASHES, preHash)) {
    throw new RangeError(`"preHash" expected one of ${Object.keys(HASHES).join(', ')}`);
  }
  return { context: copy, hash: HASHES[preHash as PreHash] };
}

/** SHAKE256 of an encoded public key, 64 bytes. */
export const hashOfKey = (publicKey: Uint8Array): Uint8Array<ArrayBuffer> =>
  shake256([publicKey], KEY_HASH_BYTES);

/**
 * Computes the message representative: SHAKE256, 64 bytes, of
 *
 *   hash of the key ‖ 0 or 1 ‖ length of context ‖ context ‖ OID of the hash, if 1 ‖ message
 *
 * where 1 means pre-hashing, and then the message is replaced by its hash (rust-fn-dsa 0.4.0,
 * compute_mu).
 */
export function representative(
  keyHash: Uint8Array,
  message: InputBytes,
  { context, hash }: ReadMessageOptions,
): Uint8Array<ArrayBuffer> {
  const length = context.length;
  const start = [keyHash, Uint8Array.of(hash === undefined ? 0 : 1, length), context];
  if (hash === undefined) return shake256([...start, message.view()], MU_BYTES);
  return shake256(
    [...start, Uint8Array.of(...OID, hash.arc), hash.digest(message.view())],
    MU_BYTES,
  );
}
