/// <reference lib="esnext.disposable" preserve="true" />
/** The types of this folder. No code, so that every file can import it. */

export type ParameterSet = 'falcon512' | 'falcon1024';

/**
 * How salt and message become a point (docs/profiles.md). Keys, equation and norm bound are the
 * same.
 *
 * - `round3`: Falcon as submitted to NIST, SHAKE256
 * - `eth-falcon`: ETHFALCON, Keccak-256 in counter mode; Falcon-512 alone
 * - `fn-dsa-draft-2026-07`: FN-DSA as rust-fn-dsa 0.4.0 expects it, in round-3 encodings; salt and
 *   64-byte message representative, and no coefficient beyond 840
 */
export type Profile = 'round3' | 'eth-falcon' | 'fn-dsa-draft-2026-07';

/**
 * How a signature is encoded.
 *
 * - `compressed`: shortest, length varies (655 bytes on average at 512, 1271 at 1024)
 * - `padded`: the same, padded with zeros to a fixed length (666, 1280)
 * - `constantTime`: 12 bits per coefficient, fixed length (809, 1577)
 */
export type SignatureFormat = 'compressed' | 'padded' | 'constantTime';

/**
 * Why a signature is invalid.
 *
 * - `publicKeyLength`, `publicKeyHeader`, `publicKeyRange`: not a public key of this parameter set
 * - `signatureLength`, `signatureHeader`: not the length or first byte of any form of this set, or
 *   not of the format that was asked for
 * - `signatureEncoding`: not the canonical encoding of its coefficients; or padded, where the
 *   compressed format was asked for
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

/** An item that does not verify, by its position in the batch. */
export interface InvalidBatchItem {
  readonly index: number;
  readonly reason: InvalidReason;
}

export interface KeyPair {
  publicKey: Uint8Array<ArrayBuffer>;
  secretKey: Uint8Array<ArrayBuffer>;
}

/**
 * Replaces the host's randomness. Only for tests: two signatures of different messages with the
 * same seed reveal the key.
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
  /** Only for tests with known answers. Default: fresh randomness of the host. */
  readonly testSeed?: TestSeed;
  /**
   * `derived`: salt and coins follow from the key and the message, by hashing. One message has one
   * signature then, the same on every host, whatever the format; verifiers see no difference.
   * Excludes `testSeed`. Read docs/profiles.md, "Derived salts", before you choose it. Default:
   * a fresh random salt
   */
  readonly salt?: 'derived';
}

/** Options of `verify` and `verifyBatch`. */
export interface VerifyOptions {
  /**
   * The only format to accept. Default: any of the three. One signature has an encoding in each, so
   * whoever sees one form can compute the others: pin the format where a signature must have one
   * encoding only, as in an identifier or a chain of blocks.
   */
  readonly format?: SignatureFormat;
}

/**
 * A message piece by piece. Every piece is read before the next one is asked for. It makes no
 * difference where the cuts are.
 */
export type ByteStream = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** The options of a call that has none yet: any option throws. */
export type NoOptions = Readonly<Record<string, never>>;
