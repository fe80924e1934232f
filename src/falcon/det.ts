/** The interface of deterministic Falcon for one parameter set. No code. */
import type {
  BatchItem,
  ExpandedSecretKey,
  InvalidReason,
  NoOptions,
  PreparedPublicKey,
  SignatureFormat,
} from './types.ts';

/** Encodings of deterministic signatures. */
export type DeterministicFormat = Exclude<SignatureFormat, 'padded'>;

/** Byte lengths of deterministic signatures. */
export interface DeterministicLengths {
  /** Maximum length of a compressed signature. */
  readonly signature: number;
  /** Length of every constant-time signature. */
  readonly signatureConstantTime: number;
}

export interface DeterministicSignOptions {
  /** Default `compressed`. Both encodings hold the same coefficients. */
  readonly format?: DeterministicFormat;
}

export interface DeterministicVerifyOptions {
  /** Accepted salt versions, each 0 to 255, or `any`. Default `[0]`. */
  readonly saltVersions?: readonly number[] | 'any';
}

/** The reason why a deterministic signature is invalid. `saltVersion`: version not accepted. */
export type DeterministicInvalidReason = InvalidReason | 'saltVersion';

/** An invalid item, by its position in the batch. */
export interface InvalidDeterministicItem {
  readonly index: number;
  readonly reason: DeterministicInvalidReason;
}

/**
 * Deterministic Falcon (`det512`, `det1024`): a constant salt, and coins derived from key and
 * message. Each message has exactly one signature under a key, the same on every host. It uses the
 * keys of the parameter set.
 *
 *   | header, 0xb0 + logn or 0xd0 + logn | salt version | s2 |
 *
 * Spec: Deterministic Falcon Signatures (Lazar, Peikert), with the code of algorand/falcon
 */
export interface FalconDeterministic {
  readonly lengths: DeterministicLengths;

  /**
   * Signs with salt version 0.
   *
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options; CodedError
   *   `NOT_REPRODUCIBLE` if this host does not reproduce the known signatures, `INTERNAL` if the
   *   new signature does not verify
   * @example
   * ```ts
   * const signature = falcon1024.det.sign(message, secretKey);
   * falcon1024.det.verify(signature, message, publicKey); // true
   * ```
   */
  sign(
    message: Uint8Array,
    secretKey: Uint8Array | ExpandedSecretKey,
    options?: DeterministicSignOptions,
  ): Uint8Array<ArrayBuffer>;

  /**
   * Verifies a signature in either encoding. Returns true or false for any bytes of signature and
   * key.
   *
   * @throws TypeError if an argument is not bytes (or a key prepared for this parameter set), or
   *   for unknown options; RangeError for invalid salt versions
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: DeterministicVerifyOptions,
  ): boolean;

  /**
   * Verifies many signatures, like `verifyBatch` of the parameter set.
   *
   * @returns the invalid items with their reasons, by ascending index; `[]` if all are valid
   * @throws as `verifyBatch` and `verify`
   */
  verifyBatch(
    items: readonly BatchItem[],
    options?: DeterministicVerifyOptions,
  ): InvalidDeterministicItem[];

  /**
   * Returns the salt version of a signature. Does not check the coefficients.
   *
   * @returns 0 to 255
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a
   *   deterministic signature of this parameter set
   */
  saltVersion(signature: Uint8Array): number;

  /**
   * Converts a signature to the given encoding, which may be the one it has already.
   *
   * @throws TypeError or RangeError for wrong types or an unknown encoding; CodedError
   *   `INVALID_SIGNATURES` if the signature is not the canonical encoding of its coefficients
   * @example
   * ```ts
   * const fixedLength = falcon1024.det.convert(signature, 'constantTime');
   * falcon1024.det.convert(fixedLength, 'compressed'); // signature
   * ```
   */
  convert(signature: Uint8Array, format: DeterministicFormat): Uint8Array<ArrayBuffer>;

  /**
   * Converts a signature to an ordinary one, with its salt, as `verify` of the parameter set and
   * aggregates accept it.
   *
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a
   *   deterministic signature of this parameter set in canonical encoding
   */
  toRound3(signature: Uint8Array, options?: NoOptions): Uint8Array<ArrayBuffer>;

  /**
   * The inverse of `toRound3`. Padded signatures become compressed.
   *
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a signature
   *   of this parameter set in canonical encoding, or its salt is not constant
   */
  fromRound3(signature: Uint8Array, options?: NoOptions): Uint8Array<ArrayBuffer>;
}

/** The part of deterministic Falcon that needs no secret key. */
export interface DeterministicVerifier extends Omit<FalconDeterministic, 'sign'> {}
