/// <reference lib="esnext.disposable" preserve="true" />
/** The vocabulary of this room; no code, so that every file may import it. */

export type ParameterSet = 'falcon512' | 'falcon1024';

/**
 * How a signature is written.
 *
 * - `compressed`: shortest, length varies (655 bytes on average at 512, 1271 at 1024)
 * - `padded`: the same, filled up with zeros to a fixed length (666, 1280)
 * - `constantTime`: 12 bits per coefficient, fixed length (809, 1577)
 */
export type SignatureFormat = 'compressed' | 'padded' | 'constantTime';

/**
 * Why a signature is not valid.
 *
 * - `publicKeyLength`, `publicKeyHeader`, `publicKeyRange`: the key is not one of this parameter set
 * - `signatureLength`, `signatureHeader`: not the length or first byte of any form of this set
 * - `signatureEncoding`: not the one canonical encoding of its coefficients
 * - `signatureMismatch`: well-formed, but not of this message under this key
 */
export type InvalidReason =
  | 'publicKeyLength'
  | 'publicKeyHeader'
  | 'publicKeyRange'
  | 'signatureLength'
  | 'signatureHeader'
  | 'signatureEncoding'
  | 'signatureMismatch';

/** A public key that was decoded and transformed once, by `preparePublicKey`. */
export interface PreparedPublicKey {
  readonly parameterSet: ParameterSet;
  /** The encoded key: a new copy each time. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

/**
 * A secret key with its FFT basis and LDL tree, by `expandSecretKey`. Holds secrets: destroy it.
 */
export interface ExpandedSecretKey {
  readonly parameterSet: ParameterSet;
  readonly destroyed: boolean;
  /** Overwrites the secrets with zeros; later use throws. May be called again. */
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
 * Randomness in place of the host's. Two signatures of different messages with one seed reveal the
 * key: only for tests.
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
  /** For tests, known answers and nothing else; default: fresh randomness of the host. */
  readonly testSeed?: TestSeed;
}

/** The options of a call that has none yet: whatever is named in them throws. */
export type NoOptions = Readonly<Record<string, never>>;
