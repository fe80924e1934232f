/** The interface of deterministic Falcon for one parameter set. No code. */
import type {
  BatchItem,
  ExpandedSecretKey,
  InvalidReason,
  NoOptions,
  PreparedPublicKey,
  SignatureFormat,
} from './types.ts';

/** The two forms of deterministic signatures. */
export type DeterministicFormat = Exclude<SignatureFormat, 'padded'>;

/** Byte lengths of deterministic signatures. */
export interface DeterministicLengths {
  /** The longest compressed signature. */
  readonly signature: number;
  /** Every signature of the constant-time form. */
  readonly signatureConstantTime: number;
}

export interface DeterministicSignOptions {
  /** Default `compressed`. Both forms carry the same coefficients. */
  readonly format?: DeterministicFormat;
}

export interface DeterministicVerifyOptions {
  /** The salt versions that are accepted, each 0 to 255, or `any` of them. Default `[0]`. */
  readonly saltVersions?: readonly number[] | 'any';
}

/** Why a deterministic signature is invalid. `saltVersion`: its version is not accepted. */
export type DeterministicInvalidReason = InvalidReason | 'saltVersion';

/** An item that does not verify, by its position in the batch. */
export interface InvalidDeterministicItem {
  readonly index: number;
  readonly reason: DeterministicInvalidReason;
}

/**
 * Deterministic Falcon (`det512`, `det1024`): a constant salt, coins that follow from key and
 * message. A message has one signature under a key, the same on every host. Keys are those of the
 * parameter set.
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
   *   `NOT_REPRODUCIBLE` if this host does not compute the known signatures, `INTERNAL` if the new
   *   signature did not verify
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
   * Verifies a signature of either form. Returns true or false for any bytes of signature and key.
   *
   * @throws TypeError if an argument is not bytes (or a key prepared for this parameter set), or
   *   for unknown options; RangeError for salt versions that are none
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: DeterministicVerifyOptions,
  ): boolean;

  /**
   * Verifies many signatures, as `verifyBatch` of the parameter set.
   *
   * @returns the invalid items with their reasons, by ascending index; `[]` if all are valid
   * @throws as `verifyBatch` and `verify`
   */
  verifyBatch(
    items: readonly BatchItem[],
    options?: DeterministicVerifyOptions,
  ): InvalidDeterministicItem[];

  /**
   * The salt version of a signature. Its coefficients are not judged.
   *
   * @returns 0 to 255
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a
   *   deterministic signature of this parameter set
   */
  saltVersion(signature: Uint8Array): number;

  /**
   * The same signature in the other form, or in the one that it has already.
   *
   * @throws TypeError or RangeError for wrong types or an unknown form; CodedError
   *   `INVALID_SIGNATURES` if the signature is not the canonical encoding of its coefficients
   * @example
   * ```ts
   * const fixedLength = falcon1024.det.convert(signature, 'constantTime');
   * falcon1024.det.convert(fixedLength, 'compressed'); // signature
   * ```
   */
  convert(signature: Uint8Array, format: DeterministicFormat): Uint8Array<ArrayBuffer>;

  /**
   * The same signature as an ordinary one, with its salt: what `verify` of the parameter set and
   * aggregates take.
   *
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a
   *   deterministic signature of this parameter set in canonical encoding
   */
  toRound3(signature: Uint8Array, options?: NoOptions): Uint8Array<ArrayBuffer>;

  /**
   * The inverse of `toRound3`. The padded form becomes the compressed one.
   *
   * @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` if it is not a signature
   *   of this parameter set in canonical encoding, or its salt is not a constant one
   */
  fromRound3(signature: Uint8Array, options?: NoOptions): Uint8Array<ArrayBuffer>;
}

/** What of deterministic Falcon needs no secret. */
export interface DeterministicVerifier extends Omit<FalconDeterministic, 'sign'> {}
