/// <reference lib="esnext.disposable" preserve="true" />
/** The types of this folder. Contains no code, so that every file can import it. */
import type { ReadableBytes } from '../shared/hostTypes.ts';

export type ParameterSet = 'falcon512' | 'falcon1024';

/**
 * The hash-to-point profile (docs/profiles.md). Keys, equation and norm bound are the same in all.
 *
 * - `round3`: Falcon as submitted to NIST, SHAKE256
 * - `eth-falcon`: ETHFALCON, Keccak-256 in counter mode; Falcon-512 only
 * - `fn-dsa-draft-2026-07`: FN-DSA as rust-fn-dsa 0.4.0 expects it, in round-3 encodings; salt and
 *   64-byte message representative, and no coefficient above 840 in magnitude
 */
export type Profile = 'round3' | 'eth-falcon' | 'fn-dsa-draft-2026-07';

/**
 * The encoding of a signature.
 *
 * - `compressed`: shortest, length varies (655 bytes on average at 512, 1271 at 1024)
 * - `padded`: the same, padded with zeros to a fixed length (666, 1280)
 * - `constantTime`: 12 bits per coefficient, fixed length (809, 1577)
 */
export type SignatureFormat = 'compressed' | 'padded' | 'constantTime';

/**
 * The reason why a signature is invalid.
 *
 * - `publicKeyLength`, `publicKeyHeader`, `publicKeyRange`: not a public key of this parameter set
 * - `signatureLength`, `signatureHeader`: not the length or first byte of any format of this set,
 *   or not of the requested one
 * - `signatureEncoding`: not the canonical encoding of its coefficients; or padded when the
 *   compressed format was requested
 * - `signatureMismatch`: well-formed, but not a signature of this message under this key
 */
export type InvalidReason =
  | 'publicKeyLength'
  | 'publicKeyHeader'
  | 'publicKeyRange'
  | 'signatureLength'
  | 'signatureHeader'
  | 'signatureEncoding'
  | 'signatureMismatch';

/** A public key, decoded and transformed by `preparePublicKey`. */
export interface PreparedPublicKey {
  readonly parameterSet: ParameterSet;
  /** The encoded key, a new copy each time. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

/**
 * A secret key with its FFT basis and LDL tree, from `expandSecretKey`. Holds secrets: destroy it.
 */
export interface ExpandedSecretKey {
  readonly parameterSet: ParameterSet;
  readonly destroyed: boolean;
  /** Overwrites the secrets with zeros; later use throws. Further calls do nothing. */
  destroy(): void;
  [Symbol.dispose](): void;
}

export interface BatchItem {
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array | PreparedPublicKey;
}

/** An invalid item, by its position in the batch. */
export interface InvalidBatchItem {
  readonly index: number;
  readonly reason: InvalidReason;
}

export interface KeyPair {
  publicKey: Uint8Array<ArrayBuffer>;
  secretKey: Uint8Array<ArrayBuffer>;
}

/** Options of `keygen`. */
export interface KeygenOptions {
  /**
   * Accepts seeds from 8 bytes. Only for known answers: whoever guesses a seed has the key. Default
   * false: from 32 bytes.
   */
  readonly allowShortSeed?: boolean;
}

/**
 * Replaces the host's randomness. Only for tests: signing two different messages with the same seed
 * reveals the key.
 */
export interface TestSeed {
  /** 40 bytes, part of the signature. */
  readonly salt: Uint8Array;
  /** 48 bytes, secret. */
  readonly samplerSeed: Uint8Array;
}

export interface SignOptions {
  /** Default `compressed`. */
  readonly format?: SignatureFormat;
  /** Only for known-answer tests. Default: fresh randomness of the host. */
  readonly testSeed?: TestSeed;
  /**
   * `derived`: derives salt and coins from the key and the message, by hashing. Each message then
   * has exactly one signature, the same on every host and in every format; verifiers see no
   * difference. Excludes `testSeed`. Read docs/profiles.md, "Derived salts", before you choose it.
   * Default: a fresh random salt
   */
  readonly salt?: 'derived';
}

/** Options of `verify` and `verifyBatch`. */
export interface VerifyOptions {
  /**
   * The only format to accept. Default: any of the three. A signature can be converted between
   * formats by anyone, so pin the format where a signature must have a unique encoding, as in an
   * identifier or a blockchain.
   */
  readonly format?: SignatureFormat;
}

/**
 * A message in pieces. Each piece is read before the next one is requested. Piece boundaries do not
 * matter.
 */
export type ByteStream = AsyncIterable<Uint8Array> | ReadableBytes;

/** Options of a call that has none yet: any option throws. */
export type NoOptions = Readonly<Record<string, never>>;
